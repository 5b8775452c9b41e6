"""Which part of a page is its text: by the generator, then the structure, then the words."""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from pgrag.ingest.formats.html.dom import Node, all_text, elements, is_skipped, tag_of


@dataclass(frozen=True, slots=True)
class Rule:
    """Where a generator puts the text of a page, and what in it is none; both are selectors."""

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
    Rule("rustdoc", "#main-content, section.content", "#copy-path, .search-form, .sub"),
    Rule("Javadoc", "main[role=main] > .header ~ *, main[role=main]", ".sub-nav"),
    Rule("AsciiDoc", "body.manpage, body.article, body.book", "#footer, #toc"),
    Rule("DocBook", "div.refentry, div.chapter, div.preface, div.appendix, div.part"),
)
#: Of pages whose generator is not known.
_STRUCTURE = ("main article", "main", "[role=main]", "article")
#: Tables of contents of the page itself.
_CONTENTS = ".toc, .contents, .table-of-contents, #toc, #TOC, #table-of-contents"
#: The share of its parent's words that the element with the text has.
_DOMINANT = 0.7
_MOST_LEVELS = 40
_CONTAINERS = frozenset(("div", "section", "table", "tbody", "tr", "td", "center", "form"))


def main_content(tree: LexborHTMLParser) -> Node | None:
    """Return the element with the text of a page, without what in it is none; None if empty."""
    body = tree.body
    if body is None:
        return None
    for rule in RULES:
        if (main := tree.css_first(rule.main)) is not None:
            return _without(main, rule.dropped)
    for selector in _STRUCTURE:
        several = tree.css(selector)
        if len(several) == 1 or (several and selector != "article"):
            return _without(several[0], "")
    return _without(_densest(body), "")


def _without(node: Node, dropped: str) -> Node:
    for each in node.css(dropped) if dropped else ():
        each.decompose()
    for each in node.css(_CONTENTS):
        link = each.css_first("li a[href]")
        leads_here = link is not None and (link.attributes.get("href") or "").startswith("#")
        if leads_here and 2 * _size(each) < len(all_text(each)):  # a section may be called so, too
            each.decompose()
    return node


def _densest(node: Node) -> Node:
    """Return the smallest element with most of the page's words that are not those of links."""
    for _ in range(_MOST_LEVELS):
        sizes = [
            (_size(each), each)
            for each in elements(node)
            if not is_skipped(tag_of(each), each.attributes)
            and tag_of(each) not in ("header", "footer")
        ]
        if not sizes:
            return node
        size, largest = max(sizes, key=lambda pair: pair[0])
        if tag_of(largest) not in _CONTAINERS:
            return node
        if size < _DOMINANT * sum(other for other, _ in sizes):
            return node
        node = largest
    return node


def _size(node: Node) -> int:
    linked = sum(len(all_text(link)) for link in node.css("a"))
    return max(0, len(all_text(node)) - 2 * linked)
