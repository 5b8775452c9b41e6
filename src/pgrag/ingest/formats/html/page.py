"""A page of HTML as Markdown with front matter."""

import re
from dataclasses import dataclass
from itertools import accumulate

from selectolax.lexbor import LexborHTMLParser

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.html.blocks import Blocks
from pgrag.ingest.formats.html.dom import Node, all_text, elements, is_skipped, tag_of, words
from pgrag.ingest.formats.html.ids import Ids, fragment_of, is_permalink
from pgrag.ingest.formats.html.inline import Inline
from pgrag.ingest.formats.html.xhtml import as_html, is_xhtml
from pgrag.ingest.text.inline import heading_text
from pgrag.ingest.values import Origin


@dataclass(frozen=True, slots=True)
class Rule:
    """Selectors: where a generator puts the text of a page, and what to drop from it."""

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
    """Return the element with the text of a page, without navigation; None if empty."""
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
        is_dominant = size >= _DOMINANT * sum(other for other, _ in sizes)
        if not is_dominant or tag_of(largest) not in _CONTAINERS:
            return node
        node = largest
    return node


def _size(node: Node) -> int:
    linked = sum(len(all_text(link)) for link in node.css("a"))
    return max(0, len(all_text(node)) - 2 * linked)


_PARTS = re.compile(r"\s+(?:—|–|\||·|::|»|-)\s+")


@dataclass(frozen=True, slots=True)
class Head:
    """The fields of a page's head; empty if it lacks them. `title` is without the site's name."""

    title: str = ""
    description: str = ""
    language: str = ""
    refresh: str = ""


def read_head(tree: LexborHTMLParser) -> Head:
    """Read the head of a page."""
    metas: dict[str, str] = {}
    for meta in tree.css("meta[content]"):
        attributes = meta.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
        if name:
            metas.setdefault(name.lower(), words(attributes.get("content") or "").strip())
    element = tree.css_first("title")
    title = all_text(element) if element is not None else ""
    root = tree.css_first("html")
    language = (
        (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root else ""
    )
    _, _, refresh = metas.get("refresh", "").partition("url=")
    return Head(
        _without_site(title, metas.get("og:site_name", "")) or metas.get("og:title", ""),
        metas.get("description") or metas.get("og:description", ""),
        language.strip(),
        refresh.strip("'\" "),
    )


def _without_site(title: str, site: str) -> str:
    """Drop the site's name from a title: as the page names it, else what follows the last sign. A
    hyphen separates only what is known to be the name: "Client - Server" is a title.
    """
    parts = _PARTS.split(title)
    if len(parts) < 2:
        return title
    if site and site in (parts[0], parts[-1]):
        kept = parts[1:] if parts[0] == site else parts[:-1]
        return _between(title, kept)
    sign = title[len(title) - len(parts[-1]) - 2]
    return title if sign == "-" else _between(title, parts[:-1])


def _between(title: str, parts: list[str]) -> str:
    start = title.index(parts[0])
    return title[start : title.rindex(parts[-1]) + len(parts[-1])]


#: The parser takes quadratic time for elements in elements.
_DEEPEST = 5000
_NESTING = re.compile(
    rb"<(/?)(?:div|section|article|main|aside|blockquote|ul|ol|dl|details|figure|center|form|nav)\b",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{3,40})", re.IGNORECASE)


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Return the main content of a page; raises SourceError if its elements nest without end."""
    _refuse_depth(key, data)
    text, warnings = _decoded(key, data, origin)
    if is_xhtml(key, text, origin.media_type):
        text = as_html(text)
    tree = LexborHTMLParser(text)
    head = read_head(tree)
    base = tree.css_first("base[href]")
    inline = Inline(origin.address, base.attributes.get("href") if base else None)
    main = main_content(tree)
    blocks: list[str] = []
    headings: list[tuple[int, str]] = []
    if main is not None:
        linked = frozenset(
            fragment_of(link.attributes)
            for link in main.css('a[href^="#"]')
            if not is_permalink(link, link.attributes)
        )
        reader = Blocks(inline, Ids(linked))
        blocks, headings = reader.read(main), reader.headings
    if not blocks and head.refresh:
        blocks = [f"[{head.refresh}]({inline.href({'href': head.refresh})})"]
    if not blocks:
        warnings.append(f"{key}: shows no text; a page that scripts write cannot be read")
    body = "\n\n".join(blocks) + "\n"
    title = _title(head, headings)
    fields = {"title": title, "description": head.description, "language": head.language}
    return Converted(with_front_matter(fields, body), tuple(warnings))


def _title(head: Head, headings: list[tuple[int, str]]) -> str:
    """Return the title of a page: its only heading of level 1, unless others precede it, else the
    title in its head, else the first heading of level 1.
    """
    largest = [heading_text(words) for level, words in headings if level == 1]
    is_first = len(largest) == 1 and headings[0][0] == 1
    return largest[0] if largest and (is_first or not head.title) else head.title


def _refuse_depth(key: str, data: bytes) -> None:
    depth = accumulate(-1 if closes else 1 for closes in _NESTING.findall(data))
    if max(depth, default=0) > _DEEPEST:
        raise SourceError(f"{key}: nests more than {_DEEPEST:,} elements in each other.")


def _decoded(key: str, data: bytes, origin: Origin) -> tuple[str, list[str]]:
    """Decode a page with the encoding that the server or the page declares, else as any text."""
    _, _, declared = (origin.media_type or "").partition("charset=")
    in_page = _CHARSET.search(data[:4096])
    name = declared.split(";")[0].strip(" \"'") or (in_page[1].decode() if in_page else "")
    if name and name.lower() not in ("utf-8", "utf8"):
        try:
            return data.decode(name).replace("\r\n", "\n").replace("\0", ""), []
        except (LookupError, UnicodeDecodeError):
            pass
    return decode(key, data)
