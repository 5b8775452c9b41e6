"""Where the links of a rendered page lead: to indexed pages, to other sites, or nowhere."""

from collections.abc import Iterable, Mapping
from html import escape, unescape
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

_AWAY = ("http", "https", "mailto")


class Links:
    """The links of a page: `rows` of `pgrag.link_targets`, the `url` of the page, its `page_id`."""

    def __init__(self, url: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self._url = url
        self._pages = {_key(row["target"], row["fragment"]): row for row in rows}

    def attributes(self, href: str) -> str:
        """The attributes of a link as HTML, from its escaped `href`; none if it leads nowhere."""
        written = unescape(href)
        is_wikilink = written.startswith("wiki:")
        target, sign, fragment = written.removeprefix("wiki:").partition("#")
        if row := self._pages.get(_key(target, fragment if sign else None)):
            address = row["url"] + (f"#{row['anchor']}" if row["anchor"] else "")
            return f'{_href(address)} data-page-id="{row["target_page_id"]}"'
        if is_wikilink:
            return ""
        if not target:
            return _href(written) if fragment else ""
        address = self._absolute(written)
        return f'{_href(address)} rel="noopener noreferrer"' if address else ""

    def _absolute(self, written: str) -> str:
        """The address of a link out of what is indexed; empty where only the site knows it."""
        try:
            address = urljoin(self._url, written)
            parts = urlsplit(address)
        except ValueError:
            return ""
        is_whole = parts.netloc or parts.scheme == "mailto"
        return address if parts.scheme in _AWAY and is_whole else ""


def _key(target: str, fragment: str | None) -> tuple[str, str | None]:
    """Markdown encodes the addresses that edges keep as they are written."""
    return unquote(target).strip(), None if fragment is None else unquote(fragment).strip()


def _href(address: str) -> str:
    return f' href="{escape(address)}"'
