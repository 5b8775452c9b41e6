"""The values that cross the house, frozen. They know no database, network, clock or environment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Block:
    """One block of Markdown: a paragraph, a list, a table, a fence.

    `line_start` and `line_end` are 1-based and inclusive, counted in the whole source file.
    `atomic` blocks (fences, tables) are never split unless they alone exceed the maximum.
    """

    type: str
    text: str
    line_start: int
    line_end: int
    atomic: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with the blocks directly below it, placed in the heading tree of its page.

    `level` is the heading level 1-6, or 0 for text before the first heading. `parent`, `root`,
    `previous`, `next` and `children` are indexes into the page's list of sections. `path` holds
    the headings from the root down to this one, `depth` is its length, `position` is "intro",
    "middle" or "conclusion" among its siblings.
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
    previous: int | None = None
    next: int | None = None
    children: tuple[int, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """How a page is cut; sizes in characters.

    A chunk is at least `minimum` (unless its page is smaller), aims for `preferred` and is at
    most `maximum` (unless one line of code is longer).
    """

    name: str = "by_heading"
    minimum: int = 150
    preferred: int = 900
    maximum: int = 1200
    overlap: int = 50


@dataclass(frozen=True, slots=True)
class Chunk:
    """One row of `pgrag.documents` before it has an id.

    `level` is 0 for the page's summary, 1 for a section, 2 for a paragraph. `parent` is an index
    into the page's list of chunks. `covers` is a bit mask of the levels that this chunk stands
    for in a search (1 = level 0, 2 = level 1, 4 = level 2): the only chunk of a section also
    covers its section, and a row whose text is covered by another row covers nothing (0).
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
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One source file, read and cut. `key` is its path below the source, with "/"."""

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
