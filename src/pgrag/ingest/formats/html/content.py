"""Which part of a page is its text.

All of the body is, unless something says that it is not:

- elements and roles for navigation, and the banner and the foot of the page;
- blocks that are named like navigation and made of links, lines that lead to the neighbours of the
  page, its own table of contents;
- what surrounds the elements in which a known generator, `<main>` or `<article>` puts the text.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from pgrag.ingest.formats.html.code import are_numbers
from pgrag.ingest.formats.html.dom import (
    BLOCKS,
    MAYBE_SKIPPED,
    SKIPPED_TAGS,
    TEXT,
    Node,
    all_text,
    is_skipped,
)
from pgrag.ingest.formats.html.navigation import EDGES, and_above, drop, drop_navigation


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
        " .hideme, .notable-traits",
    ),
    Rule("Javadoc", "main[role=main]:has(> .header)", ".sub-nav"),
    Rule("AsciiDoc", "body.manpage, body.article, body.book", "#footer, #toc"),
    Rule("Doxygen", "div.header > .headertitle, div.header + div.contents", ".qindex"),
    Rule("YARD", "#main > #header ~ #content", ".showSource, .source_code"),
)
_ANY_RULE = ", ".join(rule.main for rule in RULES)
#: Elements for the text of a page of unknown origin, and the most prose that they may leave outside
#: as a share of their own: `<article>` may be one story of several, `<main>` is all of the text.
_STRUCTURE = (("main, [role=main]", 1.0), ("article", 0.1))
#: Characters of prose that do not speak against them: a date, a name, a notice of copyright.
_LITTLE = 150
_UNSEEN = 'script:not([type^="math/"]), style, template, noscript'
#: Characters that a notice has which only asks for scripts.
_NOTICE = 300


def main_content(tree: LexborHTMLParser) -> Node | None:
    """Return the element with the text of a page, without navigation; None if empty."""
    body = tree.body
    if body is None:
        return None
    _show_fallback(body)
    drop(body, _UNSEEN, lambda _: True)
    rules = RULES if tree.css_first(_ANY_RULE) is not None else ()
    for rule in rules:
        if area := _around(tree.css(rule.main)):
            drop_navigation(area)
            if rule.dropped:
                drop(area, rule.dropped, lambda _: True)
            return area
    drop_navigation(body)
    area = body
    for selector, share in _STRUCTURE:
        inner = _around(area.css(selector))
        if inner is not None and _holds_the_text(inner, area, share):
            area = inner
    return area


def _show_fallback(body: Node) -> None:
    """Read what a page has for browsers without scripts if it shows nothing else."""
    fallbacks = body.css("noscript")
    if not fallbacks or any(text.strip() for text in _texts(body, set())):
        return
    for each in fallbacks:
        text = all_text(each)
        if len(text) > _NOTICE or "javascript" not in text.lower():
            each.unwrap()


def shown_text(body: Node, area: Node) -> str:
    """Return the text that a reader sees: all of the area, and around it what is not linked."""
    left_out = {each.mem_id for each in body.css(MAYBE_SKIPPED) if _is_left_out(each)}
    inside = "".join(_texts(area, left_out))
    if area.mem_id == body.mem_id:
        return inside
    around = (each.mem_id for each in body.css(f"a, {', '.join(EDGES)}"))
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
    attributes = node.attributes
    return is_skipped("", attributes) or are_numbers(node, attributes)


def _has_text(node: Node) -> bool:
    return bool(all_text(node)) and "hidden" not in node.attributes


def _around(nodes: list[Node]) -> Node | None:
    """Return the smallest element that holds all of these, which are in the order of the page, less
    those without text; None if there are none.
    """
    first = next(filter(_has_text, nodes), None)
    last = next(filter(_has_text, reversed(nodes)), None)
    if first is None or last is None:
        return None
    above = {each.mem_id for each in and_above(first)}
    return next(each for each in and_above(last) if each.mem_id in above)


def _holds_the_text(inner: Node, area: Node, share: float) -> bool:
    """Whether what an element leaves outside is no text: little prose, and not the title."""
    inside = _prose(inner)
    outside = _prose(area) - inside
    loses_title = area.css_first("h1") is not None and inner.css_first("h1") is None
    return outside <= max(_LITTLE, share * inside) and not loses_title


def _prose(node: Node) -> int:
    return len(all_text(node)) - sum(len(all_text(link)) for link in node.css("a"))
