"""What a page of HTML holds beside its text: navigation, by its marks, names, links and places."""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from pgrag.ingest.formats.html.dom import HEADINGS, TEXT, Node, all_text, tag_of, texts

_ROLES = frozenset(("navigation", "search", "banner", "contentinfo", "complementary"))
EDGES = frozenset(("header", "footer", "aside"))
"""Elements at the edges of a page, or of a part of its text."""
#: There they belong to the text.
_IN_TEXT = ", ".join(
    f"{around} {edge}"
    for around in ("main", "article", "section", "blockquote", "figure")
    for edge in sorted(EDGES)
)
#: What may be navigation; `_is_navigation` looks closer.
_CANDIDATES = ", ".join((
    "nav", *sorted(EDGES), "[role]",
    *(
        f'[{attribute}*="{name}" i]'
        for name in ("nav", "menu", "sidebar", "breadcrumb", "pag", "footer", "toc", "contents")
        for attribute in ("class", "id")
    ),
))  # fmt: skip
_NAME = re.compile(
    r"(?:^|[\s_-]|top|bottom|sub|side|main|page|site|left|right)"
    r"(?:nav(?:bar|list|path|row|links|igation)?|menu|side-?bar|breadcrumbs?|pager|pagination"
    r")(?=$|[\s_-]|\d)|(?:^|\s)(?:(?:page|site|main|doc)[_-]?)?footer(?=$|\s)",
    re.IGNORECASE,
)
_FOOT = re.compile("footer(?:$| )", re.IGNORECASE)
#: The names of tables of contents of the page itself.
_CONTENTS = re.compile(r"(?:^|\s)(?:toc|(?:element-|table-of-)?contents)(?=\s|$)", re.IGNORECASE)
_NAMED = frozenset(("div", "ul", "ol", "dl", "p", "table", "td", "address", "center"))
#: A block that has more of the text than this share is the text, whatever its name.
_MOST = 0.8
#: Letters that the title of a block of links may have.
_TITLE = 20
_ANY_HEADING = ", ".join(sorted(HEADINGS))
_NEIGHBOUR = "a[rel~=next], a[rel~=prev], a[rel~=previous], a[rel~=up]"
#: The words of lines that lead to the neighbours of a page.
_LABELS = re.compile(
    r"\b(?:next|prev(?:ious)?|up|top|home|index|(?:table of )?contents|back|forward|to|the|main"
    r"|page|chapter|section|skip|go|manual|download|search)\b|[\W\d_]",
    re.IGNORECASE,
)
#: Where such lines stand: among the first and the last links of a page.
_ENDS = 8
_MOST_LINKS = 12
_MOST_LEVELS = 8
_LONGEST_LINE = 1000
#: Bounds for the time that a page of nothing else takes.
_MOST_LOOKS = 100
_MOST_BEFORE = 50
_ONWARD = re.compile(
    r"\W*(?:(?:next|prev(?:ious)?|up)(?: (?:page|chapter|section))?\W*$"
    r"|(?:next|prev(?:ious)?)\s*[:»→›]|skip to|jump to)",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"\b(?:next|prev(?:ious)?|up)\s*:", re.IGNORECASE)
_TOLD_BEFORE = re.compile(rf"{_LABELLED.pattern}\s*$", re.IGNORECASE)


def drop_navigation(area: Node) -> None:
    """Drop what an element holds beside its text."""
    is_page = tag_of(area) == "body"
    in_text = {each.mem_id for each in area.css(_IN_TEXT)} if is_page else set()
    whole = _length(area)
    looks = 0

    def is_navigation(node: Node) -> bool:
        nonlocal looks
        attributes, tag = node.attributes, tag_of(node)
        if tag == "nav" or attributes.get("role") in _ROLES:
            return node.css_first("main, article") is None
        if is_page and tag in EDGES and node.mem_id not in in_text:
            return _is_edge(node) and _length(node) < whole
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        is_contents, is_named = _CONTENTS.search(names), _NAME.search(names)
        if tag not in _NAMED or not (is_contents or is_named) or looks > _MOST_LOOKS:
            return False
        looks += 1
        if is_contents:
            return _is_contents(node) and _length(node) < whole
        return _is_named(node, names) and _length(node) < _MOST * whole

    drop(area, _CANDIDATES, is_navigation)
    _drop_neighbours(area)


def _is_edge(node: Node) -> bool:
    """Whether a header, footer or aside of the page is navigation: not if it has the title."""
    if tag_of(node) == "aside":
        return _is_links(node)
    if tag_of(node) == "header" and node.css_first("h1") is not None:
        return False
    return node.css_first("main, article") is None


def _is_named(node: Node, names: str) -> bool:
    """Whether a block that is named like navigation is made of links, or is the foot of the page. A
    menu below a heading is text: it lists the parts of what the heading names.
    """
    if "tab" in names or node.css_first("h1, main, article") is not None:
        return False
    if _FOOT.search(names):
        return node.css_first(_ANY_HEADING) is None
    before = node.prev
    for _ in range(_MOST_BEFORE):
        if before is None:
            break
        if tag_of(before) in HEADINGS:
            return False
        before = before.prev
    return _is_links(node)


def _is_links(node: Node) -> bool:
    """Whether an element shows links, and beside them only a title and words such as "next"."""
    unlinked = len(_LABELS.sub("", "".join(texts(node, lambda each: tag_of(each) == "a"))))
    linked = sum(len(all_text(link)) for link in node.css("a"))
    return linked > 0 and unlinked <= 0.5 * linked + _TITLE


def _is_contents(node: Node) -> bool:
    """Whether an element lists the parts of the page: a section may be called so, too."""
    links = [link.attributes.get("href") or "" for link in node.css("a[href]")]
    inside = sum(href.startswith("#") for href in links)
    return bool(links) and inside >= 0.9 * len(links) and _is_links(node)


def _drop_neighbours(area: Node) -> None:
    """Drop the lines that lead to the next page, the previous one and those above."""
    links = area.css("a[href]")
    told = [link for link in (*links[:_ENDS], *links[_ENDS:][-_ENDS:]) if _leads_on(link)]
    gone: set[int] = set()
    looks = 0
    for link in (*area.css(_NEIGHBOUR), *told):
        if link.mem_id in gone or looks > _MOST_LOOKS:
            continue
        if (line := _line_around(link, area)) is None:
            looks += 1
        else:
            gone |= {each.mem_id for each in line.css("a")}
            line.decompose()


def _leads_on(link: Node) -> bool:
    before = link.prev
    said = before.text_content or "" if before is not None and tag_of(before) == TEXT else ""
    return _ONWARD.match(_label(link)) is not None or _TOLD_BEFORE.search(said) is not None


def _label(link: Node) -> str:
    image = link.css_first("img[alt]")
    return all_text(link) or (image.attributes.get("alt") or "" if image else "")


def _line_around(link: Node, area: Node) -> Node | None:
    """Return the largest element around a link that shows only links to neighbours."""
    line: Node | None = None
    for each in islice(and_above(link), 1, _MOST_LEVELS):
        if each.mem_id == area.mem_id or _length(each) > _LONGEST_LINE:
            break
        links = each.css("a[href]")
        unlinked = "".join(texts(each, lambda inner: tag_of(inner) == "a"))
        is_text = len(links) > _MOST_LINKS or _LABELS.sub("", unlinked)
        if is_text or each.css_first(_ANY_HEADING) is not None:
            break
        is_told = link.attributes.get("rel") or _LABELLED.search(unlinked)
        if is_told or not any(_LABELS.sub("", _label(other)) for other in links):
            line = each
    return line


def _length(node: Node) -> int:
    return len(node.text(deep=True))


def drop(area: Node, selector: str, is_dropped: Callable[[Node], bool]) -> None:
    """Drop the matches below an element for which the function says so."""
    gone = {area.mem_id}
    for each in area.css(selector):
        if each.mem_id not in gone and is_dropped(each):
            gone |= {inner.mem_id for inner in each.css(selector)}
            each.decompose()


def and_above(node: Node) -> Iterator[Node]:
    """Yield an element and those around it, the root last."""
    each: Node | None = node
    while each is not None:
        yield each
        each = each.parent
