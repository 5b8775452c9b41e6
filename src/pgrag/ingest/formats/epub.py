"""Books in EPUB: the chapters in reading order, each read as HTML."""

import re
from html import escape
from xml.etree.ElementTree import Element

from selectolax.lexbor import LexborHTMLParser

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.html import page
from pgrag.ingest.formats.html.limits import within_limits
from pgrag.ingest.formats.loss import count_words
from pgrag.ingest.formats.zipped import Parts, attribute, below, first, local
from pgrag.ingest.values import NOWHERE, Origin

_FRONT = re.compile(r"\A---\n.*?\n---\n\n?", re.DOTALL)
_DOCUMENT = ("application/xhtml+xml", "text/html")
_FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a book as one page; the anchor of a heading is `chapter.xhtml#id`, as in its links."""
    parts = Parts(key, data, "a book in EPUB")
    _refuse_protection(parts)
    root = first(parts.xml("META-INF/container.xml"), "rootfile")
    package = attribute(root, "full-path") if root is not None else ""
    book = parts.xml(package)
    chapters, titles = _reading_order(parts, package, book)
    written: list[str] = []
    shown: list[str] = []
    missing = [each for each in chapters if each not in parts.names]
    warnings = [f"{key}: lacks its chapter {each}" for each in missing[:5]]
    for chapter in chapters:
        if chapter not in missing:
            content, surplus = within_limits(key, _decoded(parts.read(chapter)))
            warnings += surplus
            html, text = _chapter(chapter, content, titles.get(chapter, ""))
            written.append(html)
            shown.append(text)
    html = f"<html><body><main>{''.join(written)}</main></body></html>"
    converted = page.convert(key, html.encode(), NOWHERE)
    body = _FRONT.sub("", converted.markdown)
    words = count_words("\n".join(shown), body)
    warnings += converted.warnings
    return Converted(with_front_matter(_fields(book), body), tuple(warnings), words=words)


def _refuse_protection(parts: Parts) -> None:
    if "META-INF/encryption.xml" in parts.names:
        ways = parts.xml("META-INF/encryption.xml").iter()
        names = [attribute(each, "Algorithm") for each in ways if local(each) == "EncryptionMethod"]
        if not all(name in _FONTS for name in names):
            raise SourceError(
                f"{parts.key}: is protected against copying, and cannot be read.",
                hint="Use an edition without protection.",
            )


def _fields(book: Element) -> dict[str, str]:
    found = {}
    for field in ("title", "description", "language"):
        element = first(book, field)
        plain = re.sub(r"<[^>]*>", " ", (element.text or "") if element is not None else "")
        found[field] = " ".join(plain.split())
    return found


def _reading_order(parts: Parts, package: str, book: Element) -> tuple[list[str], dict[str, str]]:
    """Return the chapters, and the titles that the table of contents gives them."""
    items = {attribute(each, "id"): each for each in book.iter() if local(each) == "item"}
    chapters: list[str] = []
    titles: dict[str, str] = {}
    for reference in (each for each in book.iter() if local(each) == "itemref"):
        item = items.get(attribute(reference, "idref"))
        is_text = item is not None and attribute(item, "media-type") in _DOCUMENT
        if item is not None and is_text and "nav" not in attribute(item, "properties").split():
            chapters.append(below(package, attribute(item, "href")))
    for item in items.values():
        name = below(package, attribute(item, "href"))
        if name not in parts.names:
            continue
        if "nav" in attribute(item, "properties").split():
            tree = LexborHTMLParser(parts.read(name).decode(errors="replace"))
            for link in tree.css("nav a[href]"):
                href = link.attributes.get("href") or ""
                titles.setdefault(below(name, href), " ".join(link.text().split()))
        elif attribute(item, "media-type") == "application/x-dtbncx+xml":
            for point in (each for each in parts.xml(name).iter() if local(each) == "navPoint"):
                label, content = first(point, "text"), first(point, "content")
                if label is not None and content is not None and label.text:
                    titles.setdefault(below(name, attribute(content, "src")), label.text.strip())
    return list(dict.fromkeys(chapters)), titles


def _chapter(name: str, content: str, title: str) -> tuple[str, str]:
    """Return a chapter as HTML, and its words; a chapter without a heading gets its title."""
    text = re.sub(r"<(script|style|title|a|span|div|p)\b([^<>]*)/>", r"<\1\2></\1>", content)
    tree = LexborHTMLParser(text)
    body = tree.body
    if body is None:
        return "", ""
    for each in tree.css("[id]"):
        each.attrs["id"] = f"{name}#{each.attributes.get('id')}"
    for link in tree.css("a[href]"):
        href = link.attributes.get("href") or ""
        if not re.match(r"[a-z][\w+.-]*:|//", href, re.IGNORECASE):
            fragment = href.partition("#")[2]
            target = below(name, href) + (f"%23{fragment}" if fragment else "")
            link.attrs["href"] = f"#{target}"
    has_heading = body.css_first("h1, h2, h3, h4, h5, h6") is not None
    first = f'<a id="{name}"></a>'
    if title and not has_heading:
        first = f'<h1 id="{name}">{escape(title)}</h1>'
    for each in tree.css("script, style"):
        each.decompose()
    inner = re.sub(r"\A<body[^>]*>|</body>\Z", "", (body.html or "").strip())
    return f"<div>{first}{inner}</div>", body.text(separator=" ")


def _decoded(data: bytes) -> str:
    """Decode a chapter, which is UTF-8 unless it says otherwise."""
    declared = re.match(rb"[^>]*\bencoding\s*=\s*[\"']([\w.-]+)", data[:200])
    name = declared[1].decode() if declared else "utf-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        name = "utf-16"
    try:
        return data.decode(name, errors="replace").removeprefix("\ufeff")
    except LookupError:
        return data.decode(errors="replace")
