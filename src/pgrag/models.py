"""The values that cross the house, frozen. They know no database, network, clock or environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Block:
    """One block of Markdown: a paragraph, a list, a table, a fence.

    `type` is "text", "code", "table", "list", "quote", "callout", "html" or "math" and decides
    how the block may be split; `contains` names the types of the blocks inside it (the fence
    in a list). `line_start` and `line_end` are 1-based and inclusive, counted in the whole
    source file.
    """

    type: str
    text: str
    line_start: int
    line_end: int
    contains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with the blocks directly below it, placed in the heading tree of its page.

    `level` is the heading level 1-6, or 0 for text before the first heading (such a section has
    no heading, an empty path and stands outside the tree). `path` holds the headings from the
    root down to this one, `depth` is its length. `parent`, `root`, `previous`, `next` (in
    reading order) and `children` are indexes into the page's list of sections; the sections of
    a subtree follow each other, and `last` is the last one. `position` is "intro", "middle" or
    "conclusion" among its siblings. `anchor` is the fragment that links to the heading.
    `line_start` is the line of the heading, `line_end` the last line before the next heading.
    """

    heading: str
    level: int
    path: tuple[str, ...]
    depth: int
    position: str
    line_start: int
    line_end: int
    parent: int | None = None
    root: int = 0
    last: int = 0
    previous: int | None = None
    next: int | None = None
    children: tuple[int, ...] = ()
    blocks: tuple[Block, ...] = ()
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """How a page is cut; sizes in characters.

    A chunk is at least `minimum` (unless it is the only one of its page), aims for `preferred`
    and is at most `maximum`. Only code that must stay whole can exceed it, by the fragments next
    to it that have nowhere else to go: by less than twice `minimum`. `overlap` is how much of
    the previous chunk is kept beside a chunk. With `by_meaning` a chunk ends where the text turns
    to something else, not where it has the preferred size. Raises ValueError for sizes that
    contradict each other.
    """

    name: str = "by_heading"
    minimum: int = 150
    preferred: int = 900
    maximum: int = 1200
    overlap: int = 50
    by_meaning: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= self.preferred <= self.maximum:
            raise ValueError(f"{self}: needs 0 <= minimum <= preferred <= maximum")
        if self.maximum < max(2 * self.minimum, 80):
            raise ValueError(f"{self}: maximum must be at least twice minimum, and at least 80")
        if self.overlap < 0:
            raise ValueError(f"{self}: overlap must not be negative")


#: The profiles that have a name.
CHUNK_PROFILES = {
    profile.name: profile
    for profile in (
        ChunkProfile(),
        ChunkProfile("by_meaning", by_meaning=True),
        ChunkProfile("short", minimum=100, preferred=400, maximum=600),
        ChunkProfile("medium", minimum=150, preferred=900, maximum=1200),
        ChunkProfile("long", minimum=300, preferred=1800, maximum=2400),
    )
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """One row of `pgrag.documents` before it has an id.

    `level` is 0 for the page's summary, 1 for a section, 2 for a paragraph. `parent` is an index
    into the page's list of chunks. `covers` is a bit mask of the levels that this chunk stands
    for in a search (1 = level 0, 2 = level 1, 4 = level 2): the only chunk of a section also
    covers its section, and a row whose text is covered by another row covers nothing (0).
    `path` begins with the page's path, `depth` counts only the headings within the page.
    `url#anchor` leads to the section; the anchor is empty for the page itself.
    `content_tags` say of what kind the content is: procedural, definition, warning …
    `context` is searched and embedded in front of the content, and never shown.
    """

    level: int
    covers: int
    sort_order: int
    content: str
    path: tuple[str, ...]
    depth: int
    heading: str
    heading_level: int
    root_section: str
    position: str
    types: tuple[str, ...]
    line_start: int
    line_end: int
    parent: int | None = None
    overlap: str = ""
    anchor: str = ""
    is_summary: bool = False
    content_tags: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """One link, relation or tag as it is written; where it leads, the database finds out.

    `rule` says by what it was found: "explicit:wikilink", "explicit:embed", "explicit:link",
    "inline:rel", "callout:edge", "front_matter:KEY", "tag" or "edge_defaults:TYPE"; `kind` what
    it means: "links_to", "embeds", "tagged", or the name of the relation. `target` is what is
    written, without `fragment` (what follows "#"; None if there is none); it is empty for a link
    into the same page. `text` is the text of the link, `sentence` the line of words around it.
    `line` counts from 1 in the whole source file, `document` is an index into the page's chunks.
    """

    rule: str
    kind: str
    confidence: float
    target: str
    line: int
    document: int
    fragment: str | None = None
    text: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    r"""One source file, read and cut. `key` is its path below the source, with "/".

    `head` is the front matter as it is written, with its fences, and `body` the rest: together
    they are the source, with "\n" line ends and without NUL bytes; macros are still in it.
    `front_matter` holds every field as JSON values. `created` and `modified` are ISO 8601.
    `chunks` is in reading order; the first one is the page's summary. `edges` are in the order of
    the source. `reading` is what of the configuration it was read with (see `ingest.page_types`).
    """

    key: str
    url: str
    title: str
    path: tuple[str, ...]
    body: str
    source_hash: str
    front_matter: dict[str, Any] = field(default_factory=dict)
    uuid: str | None = None
    link: str | None = None
    topic: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    language: str | None = None
    created: str | None = None
    modified: str | None = None
    warnings: tuple[str, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    head: str = ""
    aliases: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)
