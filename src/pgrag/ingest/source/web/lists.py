"""Lists of pages that sites publish: sitemaps, objects.inv of Sphinx, llms.txt."""

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from itertools import islice
from typing import Any
from xml.etree import ElementTree

from pgrag.ground.errors import PgragError, SourceError
from pgrag.ingest.source.web.addresses import normalised
from pgrag.ingest.source.web.fetcher import LARGEST_LIST, Fetcher, NoAnswer

#: Sitemaps of one site, those of indexes included; addresses of one sitemap, by the protocol.
MOST_SITEMAPS = 200
MOST_ENTRIES = 50_000

_SOURCE_LINE = re.compile(r"\A\s*(?:Source|URL):\s*<?(https?://[^\s<>]+)>?[^\n]*\n?", re.IGNORECASE)
_PRIORITY = re.compile(r"-?\d+")
_TITLE = re.compile(r"^# ", re.MULTILINE)


@dataclass(slots=True)
class Sitemap:
    """The addresses in sitemaps, each with its last change (None: unknown)."""

    pages: dict[str, datetime | None] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def read_sitemaps(
    fetcher: Fetcher, run: Callable[..., Any], urls: Iterable[str], most: int
) -> Sitemap:
    """Read sitemaps, and those that their indexes name on the same host, up to `most` pages. `run`
    calls a function in a child process. A sitemap that exists but cannot be read is a fault.
    """
    sitemap = Sitemap()
    waiting = list(dict.fromkeys(urls))
    known = {*waiting}
    while waiting and len(sitemap.pages) < most:
        url = waiting.pop(0)
        try:
            answer = fetcher.follow(url)
            if answer.status != 200:
                continue
            if answer.is_cut:
                sitemap.faults.append(f"{url}: is larger than {LARGEST_LIST:,} bytes.")
                continue
            pages, more = run(parse_sitemap, answer.url, answer.body)
        except NoAnswer as error:
            sitemap.faults.append(f"{url}: {error}")
            continue
        except PgragError as error:
            sitemap.faults.append(error.message)
            continue
        sitemap.pages.update(pages)
        host = url.split("/")[2]
        for each in more:
            if each not in known and each.split("/")[2] == host and len(known) < MOST_SITEMAPS:
                known.add(each)
                waiting.append(each)
    return sitemap


def parse_sitemap(url: str, body: bytes) -> tuple[dict[str, datetime | None], list[str]]:
    """Return the pages and sitemaps of a sitemap. Raises SourceError for others."""
    if body[:2] == b"\x1f\x8b":
        body = _unpacked(url, body, 31)
    if body.lstrip()[:1] != b"<":
        lines = body.decode("utf-8", "replace").splitlines()
        urls = (normalised(line) for line in lines if line.startswith("http"))
        return {url: None for url in islice(urls, MOST_ENTRIES) if url}, []
    if b"<!DOCTYPE" in body[:1000] or b"<!ENTITY" in body[:10_000]:
        raise SourceError(f"{url}: is not a sitemap.")
    pages: dict[str, datetime | None] = {}
    more = []
    for entry in _entries(url, body):
        values = {_name(child): (child.text or "").strip() for child in entry}
        location = normalised(values.get("loc", ""), url)
        if location is not None and _name(entry) == "sitemap":
            more.append(location)
        elif location is not None:
            pages[location] = _moment(values.get("lastmod", ""))
    return pages, more


def _entries(url: str, body: bytes) -> Iterator[ElementTree.Element]:
    count, depth = 0, 0
    root: ElementTree.Element | None = None
    try:
        for event, element in ElementTree.iterparse(BytesIO(body), ("start", "end")):
            depth += 1 if event == "start" else -1
            root = element if root is None else root
            if event == "end" and depth == 1 and count < MOST_ENTRIES:
                count += 1
                yield element
                root.clear()
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise SourceError(f"{url}: is not a sitemap: {error}.") from error


def parse_inventory(url: str, body: bytes) -> list[str]:
    """Return the pages of the objects of a Sphinx inventory (version 2). Raises SourceError."""
    head, _, packed = body.partition(b"zlib")
    if not head.startswith(b"# Sphinx inventory version 2"):
        raise SourceError(f"{url}: is not an inventory of Sphinx.")
    lines = _unpacked(url, packed.partition(b"\n")[2], 15).decode("utf-8", "replace").splitlines()
    pages: dict[str, None] = {}
    for line in lines:
        address = _entry_address(line)
        page = None if address is None else normalised(address.partition("#")[0] or ".", url)
        if page is not None:
            pages[page] = None
    return list(pages)


def _entry_address(line: str) -> str | None:
    """Return the address in an entry: name, role, priority, address, title. Names and titles may
    contain blanks.
    """
    parts = line.split()
    for at in range(1, len(parts) - 2):
        if ":" in parts[at][1:-1] and _PRIORITY.fullmatch(parts[at + 1]):
            return parts[at + 2] if at + 3 < len(parts) else ""
    return None


def parse_versions(url: str, body: bytes) -> list[str]:
    """Return the addresses of the versions that a site's switcher offers. That is versions.json of
    mike, beside the versions, or switcher.json of the theme of PyData.
    """
    try:
        entries = json.loads(body)
    except (ValueError, RecursionError):
        return []
    listed = entries if isinstance(entries, list) else []
    versions = [each for each in listed if isinstance(each, dict) and each.get("version")]
    urls = (normalised(str(each.get("url") or f"{each['version']}/"), url) for each in versions)
    return [*dict.fromkeys(filter(None, urls))]


def split_full_text(url: str, text: str) -> dict[str, str]:
    """Return the pages of an llms-full.txt by address; each begins with a title and its address."""
    pages: defaultdict[str, list[str]] = defaultdict(list)
    starts = [match.start() for match in _TITLE.finditer(text)]
    if starts[:1] != [0]:
        starts.insert(0, 0)
    here = url
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        title, _, rest = text[start:end].partition("\n")
        source = _SOURCE_LINE.match(rest)
        address = normalised(source[1], url) if source else None
        if source and address:
            here = address
            pages[here] = [f"{title}\n\n{rest[source.end() :].lstrip()}"]
        elif text[start:end].strip():
            pages[here].append(text[start:end])
    return {address: "".join(parts) for address, parts in pages.items()}


def _unpacked(url: str, data: bytes, window: int) -> bytes:
    """Decompress at most `LARGEST_LIST` bytes. Raises SourceError for bad or larger data."""
    unpacker = zlib.decompressobj(window)
    try:
        unpacked = unpacker.decompress(data, LARGEST_LIST)
    except zlib.error as error:
        raise SourceError(f"{url}: cannot be decompressed: {error}.") from error
    if unpacker.unconsumed_tail:
        raise SourceError(f"{url}: is larger than {LARGEST_LIST:,} bytes.")
    return unpacked


def _name(element: ElementTree.Element) -> str:
    return str(element.tag).rpartition("}")[2]


def _moment(text: str) -> datetime | None:
    """Return the time up to which a page may have changed: for a date, the end of the day."""
    with suppress(ValueError):
        moment = datetime.fromisoformat(text)
        if len(text) == len("2026-11-23"):
            moment = moment.replace(hour=23, minute=59, second=59)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return None
