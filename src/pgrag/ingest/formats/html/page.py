"""A page of HTML as Markdown with front matter."""

import re
from dataclasses import dataclass
from html import escape

from selectolax.lexbor import LexborHTMLParser

from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.html.blocks import Blocks
from pgrag.ingest.formats.html.content import main_content, shown_text
from pgrag.ingest.formats.html.dom import all_text, words
from pgrag.ingest.formats.html.ids import Ids, fragment_of, is_permalink
from pgrag.ingest.formats.html.inline import Inline
from pgrag.ingest.formats.html.limits import within_limits
from pgrag.ingest.formats.html.xhtml import as_html, is_xhtml
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.text.inline import heading_text
from pgrag.ingest.values import Origin

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


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Return the main content of a page; raises SourceError if its elements nest without end."""
    text, warnings = decode(key, data, origin)
    if is_xhtml(key, text, origin.media_type):
        text = as_html(text)
    text, surplus = within_limits(key, text)
    warnings += surplus
    tree = _unframed(LexborHTMLParser(text))
    head = read_head(tree)
    base = tree.css_first("base[href]")
    inline = Inline(origin.address, base.attributes.get("href") if base else None)
    main = main_content(tree)
    blocks: list[str] = []
    headings: list[tuple[int, str]] = []
    shown = ""
    if main is not None and tree.body is not None:
        shown = shown_text(tree.body, main)
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
    return Converted(
        with_front_matter(fields, body), tuple(warnings), words=count_words(shown, body)
    )


def _unframed(tree: LexborHTMLParser) -> LexborHTMLParser:
    """Return a page of frames as a list of links: to the frames, and those it has instead of them.
    A page without frames stays.
    """
    frames = tree.css("frame[src]")
    if not frames:
        return tree
    links = {
        (attributes.get("src") or ""): attributes.get("title") or attributes.get("name") or ""
        for attributes in (frame.attributes for frame in frames)
    }
    for instead in tree.css("noframes"):
        for link in LexborHTMLParser(instead.text(deep=True)).css("a[href]"):
            links.setdefault(link.attributes["href"] or "", all_text(link))
    items = "".join(
        f'<li><a href="{escape(href)}">{escape(words or href)}</a></li>'
        for href, words in links.items()
    )
    head = tree.head.html if tree.head is not None else ""
    return LexborHTMLParser(f"<html>{head}<body><ul>{items}</ul></body></html>")


def _title(head: Head, headings: list[tuple[int, str]]) -> str:
    """Return the title of a page: its only heading of level 1, unless others precede it, else the
    title in its head, else the first heading of level 1.
    """
    largest = [heading_text(words) for level, words in headings if level == 1]
    is_first = len(largest) == 1 and headings[0][0] == 1
    return largest[0] if largest and (is_first or not head.title) else head.title
