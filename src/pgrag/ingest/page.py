"""A source file becomes a page: decoded, its front matter read, its text cut into chunks."""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urljoin

from pgrag.ingest import decoding, front_matter, markdown
from pgrag.ingest.chunks import make_chunks
from pgrag.ingest.content_tags import tag_chunks
from pgrag.ingest.edges import assign_documents, find_edges, with_defaults
from pgrag.ingest.front_matter_links import find_front_matter_edges
from pgrag.ingest.page_types import PageTypes, Reading, injected
from pgrag.ingest.properties import FOLDER_PAGES, Properties, read_properties
from pgrag.ingest.semantic import Similarities
from pgrag.ingest.unlinked import without_link_texts
from pgrag.models import CHUNK_PROFILES, ChunkProfile, Edge, Page, Section

CHUNKER_VERSION = 3
"""Raised whenever the same file would give other chunks or edges, so that it is read again."""

_DATE_PREFIX = re.compile(r"^\d{4}-\d{2}-\d{2}[-_ ]")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_UNSAFE = re.compile(r"[\x00-\x20\"<>\\^`{|}%]")


@dataclass(frozen=True, slots=True)
class PageOptions:
    """What a page is read with, besides its file.

    `base_url` is where the source's pages are published, "" if nowhere; `language` is the
    library's, for pages that name none. `profile` is how every page is cut; None leaves it to the
    page's type, and without one to the standard profile. `types` are the page types that the
    configuration has. Without `link_texts` the words of links are left out of the chunks; the
    edges stay (see `pgrag.ingest.unlinked`).
    """

    base_url: str = ""
    language: str | None = None
    profile: ChunkProfile | None = None
    types: PageTypes = field(default_factory=PageTypes, repr=False)
    link_texts: bool = True

    def reading(self, declared_type: str | None, key: str) -> dict[str, Any]:
        """Return what of the page types decides how a page is read; see `Reading.document`."""
        reading = self.types.reading(declared_type, key)
        return reading.document(is_profile_given=self.profile is not None)


def source_hash(
    key: str, data: bytes, options: PageOptions, declared_type: str | None = None
) -> str:
    """Return the SHA-256 of all that decides what `read_page` makes of a file, in hexadecimal.

    `declared_type` is what the file's front matter names as its type. An equal hash means an
    equal page, without reading it: of the page types only the one that applies to it counts.
    """
    reading = json.dumps(options.reading(declared_type, key), sort_keys=True)
    fingerprint = f"{CHUNKER_VERSION}\n{options!r}\n{reading}\n".encode()
    return hashlib.sha256(fingerprint + data).hexdigest()


def read_page(
    key: str, data: bytes, options: PageOptions, similarities: Similarities | None = None
) -> Page:
    """Read one Markdown file; `key` is its path below the source, with "/".

    What can be repaired is repaired, and noted in the page's warnings, which name the file.
    `similarities` is for profiles that cut by meaning; its answers must follow from the texts
    alone. Raises SourceError for a file that is no text.
    """
    text, warnings = decoding.decode(key, data)
    matter = front_matter.split(key, text)
    properties, doubts = read_properties(key, matter.fields)
    head = text[: len(text) - len(matter.body)]
    sections, prose = markdown.read(matter.body, matter.first_line)
    if not options.link_texts:
        sections, _ = markdown.read(without_link_texts(matter.body), matter.first_line)
    title = properties.title or _first_heading(sections) or _title_from_key(key)
    path = properties.path or (title,)
    reading = options.types.reading(properties.type, key)
    entry = reading.entry
    context = injected(entry, matter.fields)
    edges, faults = find_edges(key, prose)
    edges = with_defaults(edges, entry.name, entry.edge_defaults)
    edges[:0] = find_front_matter_edges(matter.fields, head, properties.tags, entry.link_keys)
    chunks = tag_chunks(
        make_chunks(
            sections,
            title=title,
            path=path,
            description=properties.description,
            last_line=text.count("\n") + (not text.endswith("\n") or not text),
            profile=options.profile or _profile(reading),
            similarities=similarities,
        ),
        page_path=path,
        page_type=reading.type,
    )
    return Page(
        key=key,
        url=_url(key, properties, options.base_url),
        title=title,
        path=path,
        body=matter.body,
        source_hash=source_hash(key, data, options, properties.type),
        front_matter=matter.fields,
        uuid=properties.uuid,
        link=properties.link,
        topic=properties.topic,
        type=reading.type,
        tags=_with_inline_tags(properties.tags, edges),
        language=properties.language or options.language,
        created=properties.created,
        modified=properties.modified,
        warnings=(*warnings, *matter.warnings, *doubts, *faults),
        chunks=tuple(replace(chunk, context=context) for chunk in chunks) if context else chunks,
        head=head,
        aliases=properties.aliases,
        edges=assign_documents(edges, chunks),
        reading=options.reading(properties.type, key),
    )


def _profile(reading: Reading) -> ChunkProfile:
    return CHUNK_PROFILES.get(reading.entry.chunk_profile or "", ChunkProfile())


def _first_heading(sections: Sequence[Section]) -> str | None:
    return next((section.heading for section in sections if section.level == 1), None)


def _with_inline_tags(tags: Sequence[str], edges: Sequence[Edge]) -> tuple[str, ...]:
    """Return the tags of the front matter, then those of the text; of equal ones the first."""
    found: dict[str, str] = {}
    for tag in (*tags, *(edge.target for edge in edges if edge.rule == "tag")):
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _title_from_key(key: str) -> str:
    """Make a file name readable: `2024-01-31-getting_started.md` gives "Getting started"."""
    stem = _stem(key)
    folder, _, name = stem.rpartition("/")
    if name.lower() in FOLDER_PAGES and folder:
        name = folder.rpartition("/")[2]
    words = " ".join(re.sub(r"[-_]+", " ", _DATE_PREFIX.sub("", name)).split())
    return words[:1].upper() + words[1:] or name


def _stem(key: str) -> str:
    return posixpath.splitext(key)[0]


def _url(key: str, properties: Properties, base_url: str) -> str:
    """Return where a page is published.

    `url` or `permalink`, else `slug` (a whole path if it has a "/", else the last part of the
    file's), else the file's path without suffix, or its folder for an index page. An address
    that is not absolute is below the base url, or the site's root if it begins with "/".
    """
    address = properties.address
    if not address:
        address = _stem(key)
        folder, _, name = address.rpartition("/")
        if name.lower() in FOLDER_PAGES:
            address = folder
        if (slug := properties.slug) is not None:
            parent = "" if "/" in slug else address.rpartition("/")[0]
            address = f"{parent}/{slug}" if parent else slug
    address = _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", address)
    if _ABSOLUTE.match(address):
        return address
    if address.startswith("/"):
        return urljoin(base_url, address) if base_url else address
    return f"{base_url.rstrip('/')}/{address}".rstrip("/") or "/"
