"""A page of HTML as Markdown with front matter."""

import re
from itertools import accumulate

from selectolax.lexbor import LexborHTMLParser

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.formats.html.blocks import Blocks, with_reopened
from pgrag.ingest.formats.html.content import main_content
from pgrag.ingest.formats.html.head import read_head
from pgrag.ingest.formats.html.ids import Ids
from pgrag.ingest.formats.html.inline import Inline, fragment_of, is_permalink
from pgrag.ingest.text.inline import heading_text
from pgrag.ingest.values import Origin

#: The parser takes quadratic time for elements in elements.
_DEEPEST = 5000
_NESTING = re.compile(
    rb"<(/?)(?:div|section|article|main|aside|blockquote|ul|ol|dl|details|figure|center|form|nav)\b",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{3,40})", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Return the main content of a page; raises SourceError if its elements nest without end."""
    _refuse_depth(key, data)
    text, warnings = _decoded(key, data, origin)
    tree = LexborHTMLParser(text)
    head = read_head(tree)
    base = tree.css_first("base[href]")
    inline = Inline(origin.address, base.attributes.get("href") if base else None)
    main = main_content(tree)
    blocks: list[str] = []
    if main is not None:
        linked = frozenset(
            fragment_of(link.attributes)
            for link in main.css('a[href^="#"]')
            if not is_permalink(link, link.attributes)
        )
        blocks = with_reopened(Blocks(inline, Ids(linked)).flow(main))
    if not blocks and head.refresh:
        blocks = [f"[{head.refresh}]({inline.href({'href': head.refresh})})"]
    if not blocks:
        warnings.append(f"{key}: shows no text; a page that scripts write cannot be read")
    body = "\n\n".join(blocks) + "\n"
    first = _HEADING.search(body)
    title = heading_text(first[1]) if first and first[0].startswith("# ") else head.title
    fields = {"title": title, "description": head.description, "language": head.language}
    return Converted(with_front_matter(fields, body), tuple(warnings))


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
