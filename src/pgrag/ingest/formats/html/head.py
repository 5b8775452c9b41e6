"""What a page says of itself in its head: title, description, language."""

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from pgrag.ingest.formats.html.dom import all_text, words

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
