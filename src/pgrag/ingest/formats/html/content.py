"""Which part of a page is its text.

All of the body is, unless something says that it is not:

- elements and roles for navigation, and the banner and the foot of the page;
- blocks that are named like navigation and made of links, lines that lead to the neighbours of the
  page, its own table of contents;
- what surrounds the elements in which a known generator, `<main>` or `<article>` puts the text.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from selectolax.lexbor import LexborHTMLParser

from pgrag.ingest.formats.html.dom import (
    BLOCKS,
    HEADINGS,
    MAYBE_SKIPPED,
    SKIPPED_TAGS,
    TEXT,
    Node,
    all_text,
    is_skipped,
    tag_of,
    texts,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Selectors: the elements into which a generator puts the text, and what to drop from them."""

    generator: str
    main: str
    dropped: str = ""


RULES = (
    Rule("Docusaurus", "article .theme-doc-markdown", ".theme-doc-toc-mobile"),
    Rule("VitePress", "main .vp-doc, .VPDoc main .vp-doc"),
    Rule("MkDocs Material", "article.md-content__inner", ".md-source-date, .md-content__button"),
    Rule("Docsy", ".td-content", ".td-toc, .section-index, .feedback--container, #feedback"),
    Rule("Sphinx, Read the Docs", "[itemprop=articleBody]", ".toc-backref > .section-number"),
    Rule("Sphinx, Furo", "article#furo-main-content"),
    Rule("Sphinx, PyData", "article.bd-article"),
    Rule("Sphinx", "div.body[role=main], .documentwrapper .body", "#searchbox"),
    Rule(
        "rustdoc",
        ".rustdoc #main-content, .rustdoc section.content",
        "#copy-path, .search-form, .sub, .src, .srclink, .rightside, .out-of-band, .tooltip,"
        " .hideme",
    ),
    Rule("Javadoc", "main[role=main]:has(> .header)", ".sub-nav"),
    Rule("AsciiDoc", "body.manpage, body.article, body.book", "#footer, #toc"),
    Rule("Doxygen", "div.header > .headertitle, div.header + div.contents", ".qindex"),
    Rule("YARD", "#main > #content", ".showSource, .source_code"),
)
_ANY_RULE = ", ".join(rule.main for rule in RULES)
#: Elements for the text of a page of unknown origin, and the most prose that they may leave outside
#: as a share of their own: `<article>` may be one story of several, `<main>` is all of the text.
_STRUCTURE = (("main, [role=main]", 1.0), ("article", 0.1))
#: Characters of prose that do not speak against them: a date, a name, a notice of copyright.
_LITTLE = 150
#: Letters that the title of a block of links may have.
_TITLE = 20
_UNSEEN = 'script:not([type^="math/"]), style, template, noscript'
_ROLES = frozenset(("navigation", "search", "banner", "contentinfo", "complementary"))
_EDGES = frozenset(("header", "footer", "aside"))
#: There they belong to the text.
_IN_TEXT = ", ".join(
    f"{around} {edge}"
    for around in ("main", "article", "section", "blockquote", "figure")
    for edge in sorted(_EDGES)
)
#: What may be navigation; `_is_navigation` looks closer.
_CANDIDATES = ", ".join((
    "nav", *sorted(_EDGES), "[role]",
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


def main_content(tree: LexborHTMLParser) -> Node | None:
    """Return the element with the text of a page, without navigation; None if empty."""
    body = tree.body
    if body is None:
        return None
    _drop(body, _UNSEEN, lambda _: True)
    rules = RULES if tree.css_first(_ANY_RULE) is not None else ()
    for rule in rules:
        if area := _around(tree.css(rule.main)):
            _drop_navigation(area)
            if rule.dropped:
                _drop(area, rule.dropped, lambda _: True)
            return area
    _drop_navigation(body)
    area = body
    for selector, share in _STRUCTURE:
        inner = _around(area.css(selector))
        if inner is not None and _holds_the_text(inner, area, share):
            area = inner
    return area


def shown_text(body: Node, area: Node) -> str:
    """Return the text that a reader sees: all of the area, and around it what is not linked."""
    left_out = {each.mem_id for each in body.css(MAYBE_SKIPPED) if _is_left_out(each)}
    inside = "".join(_texts(area, left_out))
    if area.mem_id == body.mem_id:
        return inside
    around = (each.mem_id for each in body.css(f"a, {', '.join(_EDGES)}"))
    return inside + "".join(_texts(body, left_out.union(around, (area.mem_id,))))


def _texts(node: Node, left_out: set[int]) -> Iterator[str]:
    """Yield the text in a node, a space where a block begins or ends."""
    pending: list[tuple[Node | None, str]] = [(node.child, " ")]
    while pending:
        child, space = pending.pop()
        yield space
        while child is not None:
            tag = child.tag
            if tag == TEXT:
                yield child.text_content or ""
            elif tag not in SKIPPED_TAGS and child.mem_id not in left_out:
                space = " " if tag in BLOCKS or tag == "br" else ""
                yield space
                if (first := child.child) is not None:
                    pending.append((child.next, space))
                    child = first
                    continue
            child = child.next


def _is_left_out(node: Node) -> bool:
    return is_skipped(tag_of(node), node.attributes)


def _has_text(node: Node) -> bool:
    return bool(all_text(node)) and "hidden" not in node.attributes


def _length(node: Node) -> int:
    return len(node.text(deep=True))


def _drop(area: Node, selector: str, is_dropped: Callable[[Node], bool]) -> None:
    """Drop the matches below an element for which the function says so."""
    gone = {area.mem_id}
    for each in area.css(selector):
        if each.mem_id not in gone and is_dropped(each):
            gone |= {inner.mem_id for inner in each.css(selector)}
            each.decompose()


def _around(nodes: list[Node]) -> Node | None:
    """Return the smallest element that holds all of these, which are in the order of the page, less
    those without text; None if there are none.
    """
    first = next(filter(_has_text, nodes), None)
    last = next(filter(_has_text, reversed(nodes)), None)
    if first is None or last is None:
        return None
    above = {each.mem_id for each in _and_above(first)}
    return next(each for each in _and_above(last) if each.mem_id in above)


def _and_above(node: Node) -> Iterator[Node]:
    """Yield an element and those around it, the root last."""
    each: Node | None = node
    while each is not None:
        yield each
        each = each.parent


def _holds_the_text(inner: Node, area: Node, share: float) -> bool:
    """Whether what an element leaves outside is no text: little prose, and not the title."""
    inside = _prose(inner)
    outside = _prose(area) - inside
    loses_title = area.css_first("h1") is not None and inner.css_first("h1") is None
    return outside <= max(_LITTLE, share * inside) and not loses_title


def _prose(node: Node) -> int:
    return len(all_text(node)) - sum(len(all_text(link)) for link in node.css("a"))


def _drop_navigation(area: Node) -> None:
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
        if is_page and tag in _EDGES and node.mem_id not in in_text:
            return _is_edge(node) and _length(node) < whole
        names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
        is_contents, is_named = _CONTENTS.search(names), _NAME.search(names)
        if tag not in _NAMED or not (is_contents or is_named) or looks > _MOST_LOOKS:
            return False
        looks += 1
        if is_contents:
            return _is_contents(node) and _length(node) < whole
        return _is_named(node, names) and _length(node) < _MOST * whole

    _drop(area, _CANDIDATES, is_navigation)
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
    return _ONWARD.match(_label(link)) is not None


def _label(link: Node) -> str:
    image = link.css_first("img[alt]")
    return all_text(link) or (image.attributes.get("alt") or "" if image else "")


def _line_around(link: Node, area: Node) -> Node | None:
    """Return the largest element around a link that shows only links to neighbours."""
    line: Node | None = None
    for each in islice(_and_above(link), 1, _MOST_LEVELS):
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
