"""Which part of a page is its text. All of the body is, unless something says that it is not:

- elements and roles for navigation, and the banner and the foot of the page;
- blocks that are named like navigation and made of links, lines that lead to the neighbours of the
  page, its own table of contents;
- what surrounds the elements in which a known generator, `<main>` or `<article>` puts the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from pgrag.ingest.formats.html.dom import (
    BLOCKS,
    HEADINGS,
    MAYBE_SKIPPED,
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
        "#copy-path, .search-form, .sub, .src, .srclink, .rightside, .out-of-band, .tooltip, .hideme",
    ),
    Rule("Javadoc", "main[role=main]:has(> .header)", ".sub-nav"),
    Rule("AsciiDoc", "body.manpage, body.article, body.book", "#footer, #toc"),
    Rule("Doxygen", "div.header > .headertitle, div.header + div.contents", ".qindex"),
    Rule("YARD", "#main > #content", ".showSource, .source_code"),
)
#: Elements for the text of a page of unknown origin, and the most prose that they may leave outside
#: as a share of their own: `<article>` may be one story of several, `<main>` is all of the text.
_STRUCTURE = (("main, [role=main]", 1.0), ("article", 0.1))
#: Characters of prose that do not speak against them: a date, a name, a notice of copyright.
_LITTLE = 150
#: Letters that the title of a block of links may have.
_TITLE = 20
_UNSEEN = 'script:not([type^="math/"]), style, template, noscript'
_MARKED = (
    "nav, [role=navigation], [role=search], [role=banner], [role=contentinfo],"
    " [role=complementary]"
)
_AT_THE_EDGE = "header, footer, aside"
_PARTS_OF_TEXT = frozenset(("main", "article", "section", "blockquote", "figure"))
#: What may be named like navigation; `_NAME` looks closer.
_NAMED = ", ".join(
    f'[{attribute}*="{name}" i]'
    for name in ("nav", "menu", "sidebar", "breadcrumb", "pager", "pagination", "footer")
    for attribute in ("class", "id")
)
_NAME = re.compile(
    r"(?:^|[\s_-]|top|bottom|sub|side|main|page|site|left|right)"
    r"(?:nav(?:bar|list|path|row|links|igation)?|menu|side-?bar|breadcrumbs?|pager|pagination"
    r"|(footer))(?=$|[\s_-]|\d)",
    re.IGNORECASE,
)
#: Tables of contents of the page itself.
_CONTENTS = ".toc, .contents, .table-of-contents, #toc, #TOC, #table-of-contents, .element-contents"
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
    _drop(_below(body, _UNSEEN))
    for rule in RULES:
        if area := _common([each for each in tree.css(rule.main) if _has_text(each)]):
            _drop_navigation(area)
            _drop(_below(area, rule.dropped) if rule.dropped else ())
            return area
    _drop_navigation(body)
    area = body
    for selector, share in _STRUCTURE:
        inner = _common([each for each in area.css(selector) if _has_text(each)])
        if inner is not None and _holds_the_text(inner, area, share):
            area = inner
    return area


def shown_text(body: Node, area: Node) -> str:
    """Return the text that a reader sees: all of the area, and around it what is not linked."""
    left_out = {each.mem_id for each in body.css(MAYBE_SKIPPED) if _is_left_out(each)}
    inside = "".join(_texts(area, left_out))
    if area.mem_id == body.mem_id:
        return inside
    around = (each.mem_id for each in body.css(f"a, {_AT_THE_EDGE}"))
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
            elif child.mem_id not in left_out:
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


def _drop(nodes: Iterable[Node]) -> None:
    for each in nodes:
        each.decompose()


def _above(node: Node) -> list[Node]:
    """Return an element and those around it, the root last."""
    line = [node]
    while (parent := line[-1].parent) is not None:
        line.append(parent)
    return line


def _common(nodes: list[Node]) -> Node | None:
    """Return the smallest element that holds all of these; None if there are none."""
    if len(nodes) < 2:
        return nodes[0] if nodes else None
    line = _above(nodes[0])
    for other in nodes[1:]:
        around = {each.mem_id for each in _above(other)}
        line = line[next(at for at, each in enumerate(line) if each.mem_id in around) :]
    return line[0]


def _holds_the_text(inner: Node, area: Node, share: float) -> bool:
    """Whether what an element leaves outside is no text: little prose, and not the title."""
    inside = _prose(inner)
    outside = _prose(area) - inside
    loses_title = area.css_first("h1") is not None and inner.css_first("h1") is None
    return outside <= max(_LITTLE, share * inside) and not loses_title


def _prose(node: Node) -> int:
    return len(all_text(node)) - sum(len(all_text(link)) for link in node.css("a"))


def _drop_navigation(area: Node) -> None:
    _drop(each for each in _below(area, _MARKED) if each.css_first("main, article") is None)
    if tag_of(area) == "body":
        _drop(each for each in _below(area, _AT_THE_EDGE) if _is_edge(each))
    whole = len(all_text(area))
    for each in _below(area, _NAMED):
        if _is_named(each) and len(all_text(each)) < 0.8 * whole:
            each.decompose()
    for each in _below(area, _CONTENTS):
        if _is_contents(each) and len(all_text(each)) < whole:
            each.decompose()
    _drop_neighbours(area)


def _below(area: Node, selector: str) -> list[Node]:
    """Return the matches below an element, those inside another match left out."""
    found = {each.mem_id: each for each in area.css(selector) if each.mem_id != area.mem_id}
    return [
        each
        for each in found.values()
        if found.keys().isdisjoint(above.mem_id for above in _above(each)[1:])
    ]


def _is_edge(node: Node) -> bool:
    """Whether a header, footer or aside is that of the page, and not the only one with a title."""
    if any(tag_of(each) in _PARTS_OF_TEXT for each in _above(node)[1:]):
        return False
    if tag_of(node) == "aside":
        return _is_links(node)
    if tag_of(node) == "footer" or node.css_first("h1") is None:
        return node.css_first("main, article") is None
    return False


def _is_named(node: Node) -> bool:
    """Whether a block is named like navigation and made of links. A menu below a heading is text:
    it lists the parts of what the heading names.
    """
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    found = _NAME.search(names)
    if not found or "tab" in names or node.css_first("h1, main, article") is not None:
        return False
    if found[1]:
        return node.css_first(_ANY_HEADING) is None and tag_of(node) not in ("section", "tfoot", "td")
    before = node.prev
    while before is not None:
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
    if tag_of(node) in HEADINGS:
        return False
    links = [link.attributes.get("href") or "" for link in node.css("a[href]")]
    inside = sum(href.startswith("#") for href in links)
    return bool(links) and inside >= 0.9 * len(links) and _is_links(node)


def _drop_neighbours(area: Node) -> None:
    """Drop the lines that lead to the next page, the previous one and those above."""
    links = area.css("a[href]")
    named = [link for link in (*links[:_ENDS], *links[_ENDS:][-_ENDS:]) if _leads_on(link)]
    gone: set[int] = set()
    for link in (*area.css(_NEIGHBOUR), *named):
        if link.mem_id not in gone and (line := _line_around(link, area)) is not None:
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
    for each in _above(link)[1:]:
        if each.mem_id == area.mem_id or each.css_first(_ANY_HEADING) is not None:
            break
        links = each.css("a[href]")
        unlinked = "".join(texts(each, lambda inner: tag_of(inner) == "a"))
        if len(links) > _MOST_LINKS or _LABELS.sub("", unlinked):
            break
        is_told = link.attributes.get("rel") or _LABELLED.search(unlinked)
        if is_told or not any(_LABELS.sub("", _label(other)) for other in links):
            line = each
    return line
