"""Read a source file as a page: decode it, parse its front matter, split its text into chunks."""

import hashlib
import json
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, Literal
from urllib.parse import urljoin

from pgrag.ingest import values
from pgrag.ingest.child import Limits, bounded
from pgrag.ingest.chunks.chunks import make_chunks, same_words
from pgrag.ingest.chunks.content_tags import declared_audience, tag_chunks
from pgrag.ingest.chunks.semantic import Similarities
from pgrag.ingest.edges.edges import assign_documents, find_edges, with_defaults
from pgrag.ingest.edges.front_matter_links import find_front_matter_edges
from pgrag.ingest.formats import formats
from pgrag.ingest.matter import front_matter
from pgrag.ingest.matter.inline_fields import inline_fields
from pgrag.ingest.matter.named_dates import date_in_name, without_date
from pgrag.ingest.matter.page_types import PageTypes, Reading, injected
from pgrag.ingest.matter.properties import FOLDER_PAGES, MAX_PATH_DEPTH, Properties, read_properties
from pgrag.ingest.source.sites import without_numbers
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.text import markdown
from pgrag.ingest.text.slugs import SlugStyle

#: Incremented when the same file would give different chunks or edges: forces a new reading.
CHUNKER_VERSION = 11
#: Warnings of a page that are kept; the others are counted.
MOST_WARNINGS = 100

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_UNSAFE = re.compile(r"[\x00-\x20\"<>\\^`{|}%]")


@dataclass(frozen=True)
class PageOptions:
    """The options with which a page is read. `base_url` is where the source's pages are published.
    `language` is that of pages that neither name
    nor clearly show one. `profile` is the chunk profile; without one the
    page's type chooses, else it is medium. `slugs` names the site generator whose anchors the
    headings get. `converter` reads PDF. None is what the version remembers (see
    `remembered.complete`), "" forgets it. `types` are the configured page types; `overlap_size` and
    `overlap_strategy`, settings of the library, say how much of the end of a chunk the next one
    repeats, and from where.
    """

    base_url: str | None = None
    language: str | None = None
    profile: values.ChunkProfile | Literal[""] | None = None
    slugs: SlugStyle | Literal[""] | None = None
    converter: Literal["docling", ""] | None = field(default=None, repr=False)
    types: PageTypes = field(default_factory=PageTypes, repr=False)
    overlap_size: int = 50
    overlap_strategy: values.OverlapStrategy = "words"

    @property
    def cuts_by_meaning(self) -> bool:
        """Whether a page may be cut by meaning, which needs a model."""
        if self.profile:
            return self.profile.by_meaning
        names = (entry.chunk_profile or "" for entry in self.types.entries)
        profiles = map(values.CHUNK_PROFILES.get, names)
        return any(profile.by_meaning for profile in profiles if profile)

    @cached_property
    def fingerprint(self) -> str:
        """The version of the chunker, and the options of every page."""
        return f"{CHUNKER_VERSION}\n{self!r}"

    def reading(self, declared_type: str | None, key: str) -> dict[str, Any]:
        """Return the part of the page types that affects this page; see `Reading.document`."""
        reading = self.types.reading(declared_type, key)
        return reading.document(is_profile_given=bool(self.profile))


def source_hash(
    key: str,
    digest: str,
    options: PageOptions,
    declared_type: str | None = None,
    origin: values.Origin = values.NOWHERE,
) -> str:
    """Return the SHA-256, in hexadecimal, of everything that affects the result of `read_page`.
    `digest` is that of the file's bytes, `declared_type` the type in its front matter. The hash
    depends on no page type but the one that applies, and on the format that the name or the media
    type says: the file need not be read.
    """
    version = formats.fingerprint(key, origin, options.converter)
    reading = options.types.reading(declared_type, key)
    decisions = _decisions(reading, bool(options.profile), origin, version)
    return hashlib.sha256(f"{options.fingerprint}\n{decisions}\n{digest}".encode()).hexdigest()


@lru_cache(maxsize=256)
def _decisions(
    reading: Reading,
    is_profile_given: bool,
    origin: values.Origin,
    version: str,
) -> str:
    """Return how a page is read, which is the same for most pages of a source."""
    document = json.dumps(reading.document(is_profile_given=is_profile_given), sort_keys=True)
    return f"{document}\n{origin!r}\n{version}"


def read_page(
    key: str,
    data: bytes,
    options: PageOptions,
    similarities: Similarities | None = None,
    *,
    origin: values.Origin = values.NOWHERE,
    digest: str | None = None,
    limit: int | None = None,
) -> values.SourcePage:
    """Read one file; `key` is its path below the source, with "/". Repairable faults are repaired,
    with warnings that name the file. `similarities` is for profiles that cut by meaning; its
    results must depend on the texts alone. `digest` identifies the file, by default that of `data`.
    Raises SourceError if the format cannot be read, or becomes far more than a page of `limit`
    bytes.
    """
    converted = formats.convert(key, data, origin, options.converter, limit)
    text, words = converted.markdown, converted.words
    with bounded(max(len(data), len(text))):
        matter = front_matter.split(key, text)
        properties, doubts = read_properties(key, matter.fields)
        head = text[: len(text) - len(matter.body)]
        sections, prose = markdown.read(
            matter.body, matter.first_line, None if converted.has_ids else options.slugs or "github"
        )
        first_heading = next((section.heading for section in sections if section.level == 1), None)
        title = properties.title or first_heading or _title_from_key(key)
        heading = "" if options.slugs == "hugo" else _page_heading(sections)
        name = title if not heading or same_words(heading, title) else heading
        path = properties.path or (*origin.labels, name)[-MAX_PATH_DEPTH:]
        reading = options.types.reading(properties.type, key)
        entry = reading.entry
        profile = values.CHUNK_PROFILES.get(entry.chunk_profile or "", values.ChunkProfile())
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
            profile=options.profile or profile,
            similarities=similarities,
            overlap_size=options.overlap_size,
            overlap_strategy=options.overlap_strategy,
        ),
        page_path=path,
        page_type=reading.type,
        audience=declared_audience(matter.fields, properties.tags),
    )
    stated = _stated_dates(key, properties)
    return values.SourcePage(
        key=key,
        url=_url(key, properties, matter.fields.get("id"), options, origin),
        title=title,
        path=path,
        body=matter.body,
        source_hash=source_hash(key, digest or digest_of(data), options, properties.type, origin),
        front_matter=(
            matter.fields if converted.has_ids else _with_inline_fields(matter.fields, prose)
        ),
        uuid=properties.uuid,
        link=properties.link,
        topic=properties.topic,
        type=reading.type,
        tags=_with_inline_tags(properties.tags, edges),
        language=properties.language or None,
        created=stated.created,
        created_from=stated.created_from,
        modified=stated.modified,
        modified_from=stated.modified_from,
        warnings=_first(key, (*converted.warnings, *matter.warnings, *doubts, *faults)),
        chunks=tuple(replace(chunk, context=context) for chunk in chunks) if context else chunks,
        head=head,
        aliases=properties.aliases,
        edges=assign_documents(edges, chunks),
        reading=options.reading(properties.type, key),
        words_shown=words.shown if words else None,
        words_kept=words.kept if words else None,
    )


def read_properties_of(key: str, data: bytes, origin: values.Origin = values.NOWHERE) -> Properties:
    """Read the front matter alone, which only Markdown has. Raises SourceError if it is binary."""
    if formats.format_of(key, data, origin) is not formats.MARKDOWN:
        return Properties()
    matter = front_matter.split(key, formats.convert(key, data, origin).markdown)
    return read_properties(key, matter.fields)[0]


def _first(key: str, warnings: tuple[str, ...]) -> tuple[str, ...]:
    more = len(warnings) - MOST_WARNINGS
    if more <= 0:
        return warnings
    return (*warnings[:MOST_WARNINGS], f"{key}: and {more:,} more warnings")


def _with_inline_fields(fields: dict[str, Any], prose: values.Prose) -> dict[str, Any]:
    """Add the fields of the text that the front matter lacks, in any spelling."""
    written = {name.casefold() for name in fields}
    found = inline_fields(prose.blocks)
    return fields | {name: found[name] for name in found if name.casefold() not in written}


def _with_inline_tags(tags: Sequence[str], edges: Sequence[values.Edge]) -> tuple[str, ...]:
    spelling_of: dict[str, str] = {}
    for tag in (*tags, *(edge.target for edge in edges if edge.rule == "tag")):
        spelling_of.setdefault(tag.casefold(), tag)
    return tuple(spelling_of.values())


def _page_heading(sections: Sequence[values.Section]) -> str:
    """Return the heading of level 1 that a page begins with if it is the only one, else "": readers
    see it, unlike the title.
    """
    top = [section for section in sections if section.level == 1]
    return top[0].heading if len(top) == 1 and top[0] is sections[0] else ""


def _title_from_key(key: str) -> str:
    """Derive a title from a file name: `2024-01-31-getting_started.md` gives "Getting started"."""
    stem = _stem(key)
    folder, _, name = stem.rpartition("/")
    if name.lower() in FOLDER_PAGES and folder:
        name = folder.rpartition("/")[2]
    undated = without_date(name)
    if undated == name and date_in_name(name):
        return name  # only a date, which keeps its hyphens
    words = " ".join(re.sub(r"[-_]+", " ", undated).split())
    return words[:1].upper() + words[1:] or name


def _stated_dates(key: str, properties: Properties) -> values.Dates:
    """Return the dates of the front matter, else that of the name."""
    created, modified = properties.created, properties.modified
    said_by = values.FRONT_MATTER
    stated = values.Dates(created, created and said_by, modified, modified and said_by)
    named = date_in_name(key)
    return stated.over(values.Dates(named, named and values.NAME))


def _stem(key: str) -> str:
    return posixpath.splitext(key)[0]


def _url(
    key: str, properties: Properties, own_id: object, options: PageOptions, origin: values.Origin
) -> str:
    """Return the URL at which a page is published: the address of its origin, else its own, else
    its slug or file below the base URL.
    """
    base_url = _base_url(options.base_url or "", origin)
    is_docusaurus = options.slugs == "docusaurus"
    address = origin.address or properties.address
    if not address:
        key = origin.key or key
        named = formats.named_format(key, origin)
        address = key if named and named.is_published else _stem(key)
        folder, _, name = _stem(key).rpartition("/")
        if name.lower() in FOLDER_PAGES:
            address = folder
        slug = properties.slug
        if is_docusaurus:
            address = without_numbers(address)
            slug = own_id if slug is None and isinstance(own_id, str) else slug
        if slug is not None:
            parent = "" if "/" in slug else address.rpartition("/")[0]
            address = f"{parent}/{slug}" if parent else slug
            # The slugs of Docusaurus begin at its docs, not at the site.
            address = address.lstrip("/") if is_docusaurus else address
    address = _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", address)
    if _ABSOLUTE.match(address):
        return address
    if address.startswith("/"):
        return urljoin(base_url, address) if base_url else address
    return f"{base_url.rstrip('/')}/{address}".rstrip("/") or "/"


def _base_url(base_url: str, origin: values.Origin) -> str:
    """Return where the site serves the version that a page belongs to; the base URL may name the
    whole site or its documentation.
    """
    if not origin.key:
        return base_url
    base_url = base_url.rstrip("/")
    route = "" if f"{base_url}/".endswith(f"/{origin.route}/") else origin.route
    return "/".join([base_url, *filter(None, (route, origin.branch))])


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The version that is indexed, and how its pages are read. With `in_child` all pages, else
    those in other formats than Markdown, are read in a child process. With `adds` pages that the
    source lacks are kept.
    """

    library: str
    version: str = ""
    options: PageOptions = field(default_factory=PageOptions)
    embeds_edges: bool = False
    max_page_bytes: int | None = None
    in_child: bool = False
    limits: Limits = field(default_factory=Limits)
    adds: bool = False

    @property
    def names(self) -> dict[str, str]:
        """Library and version, as the SQL functions take them."""
        return {"library": self.library, "version": self.version}
