"""Frozen values shared by all parts of ingest, independent of database, network and clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the bytes of a page come from: the media type and URL of a server; None for a file. In
    a tree of versions (see `source.trees`) the site serves it as `key` below `route` and `branch`;
    `labels` are those of the categories that its sidebar shows it in.
    """

    media_type: str | None = None
    address: str | None = None
    route: str = ""
    branch: str = ""
    key: str | None = None
    labels: tuple[str, ...] = ()


#: The origin of a file.
NOWHERE = Origin()


#: What says a date: the text of the page, and the name of its file.
FRONT_MATTER = "front matter"
NAME = "name"


@dataclass(frozen=True, slots=True)
class Dates:
    """When a page was made and last changed, in ISO 8601, and what says so: "front matter", "name"
    (of the file), "git", "file" or "server". None: nothing does.
    """

    created: str | None = None
    created_from: str | None = None
    modified: str | None = None
    modified_from: str | None = None

    def over(self, other: "Dates") -> "Dates":
        """Return these dates, and those of the other where there are none."""
        created = self if self.created else other
        modified = self if self.modified else other
        return Dates(
            created.created, created.created_from, modified.modified, modified.modified_from
        )

    def stated(self) -> "Dates":
        """Return the dates that the page states itself, by its text or its name."""
        created = self if self.created_from in {FRONT_MATTER, NAME} else UNDATED
        modified = self if self.modified_from == FRONT_MATTER else UNDATED
        return Dates(
            created.created, created.created_from, modified.modified, modified.modified_from
        )

    def complete(self) -> "Dates":
        """Return these dates; a page that nothing says to have changed was written on its day."""
        if self.modified is None and self.created_from == NAME:
            return Dates(self.created, NAME, self.created, NAME)
        return self


UNDATED = Dates()


@dataclass(frozen=True, slots=True)
class Block:
    """One block of Markdown: a paragraph, a list, a table, a fence. `type` is "text", "code",
    "table", "list", "quote", "callout", "html" or "math" and decides how the block may be split;
    `contains` lists the types of nested blocks (a fence in a list). Lines are 1-based and
    inclusive, counted in the whole source file.
    """

    type: str
    text: str
    line_start: int
    line_end: int
    contains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with the blocks directly below it, as a node of the page's heading tree. `level`
    is 1-6, or 0 for the text before the first heading: that section has no heading and an empty
    path, and is outside the tree. `path` lists the headings from the root down to this one; `depth`
    is its length. `parent`, `root` and `children` are indexes into the page's sections; a subtree
    is contiguous, and `last` is its last section. `position` is "intro" for the first section of
    the page, "conclusion" for the last one, else "middle". `anchor` is the fragment that links to
    the heading. `line_end` is the last line before the next heading.
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
    children: tuple[int, ...] = ()
    blocks: tuple[Block, ...] = ()
    anchor: str = ""


#: Where the overlap of a chunk with the previous one begins: at a word or a sentence.
OverlapStrategy = Literal["words", "sentences"]


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """How a page is split into chunks; sizes in characters. A chunk never crosses a heading. It has
    at least `minimum` characters, unless it is the only one of its section, aims for `preferred`,
    and has at most `maximum`. Only a chunk with code that must stay whole exceeds it, by less than
    twice `minimum`: fragments that fit nowhere else. With `by_meaning` a chunk ends where the topic
    changes. Raises ValueError for contradictory sizes.
    """

    name: str = "medium"
    minimum: int = 150
    preferred: int = 900
    maximum: int = 1200
    by_meaning: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.minimum <= self.preferred <= self.maximum:
            raise ValueError(f"{self}: needs 0 <= minimum <= preferred <= maximum")
        if self.maximum < max(2 * self.minimum, 80):
            raise ValueError(f"{self}: maximum must be at least twice minimum, and at least 80")


ProfileName = Literal["by_heading", "by_meaning", "short", "medium", "long"]

#: The named profiles.
CHUNK_PROFILES: dict[str, ChunkProfile] = {
    profile.name: profile
    for profile in (
        ChunkProfile("by_heading", minimum=150, preferred=2400, maximum=2400),
        ChunkProfile("by_meaning", by_meaning=True),
        ChunkProfile("short", minimum=100, preferred=400, maximum=600),
        ChunkProfile(),
        ChunkProfile("long", minimum=300, preferred=1800, maximum=2400),
    )
}


@dataclass(frozen=True, slots=True)
class Chunk:
    """One row of `pgrag.documents` before it has an id. `level` is 0 for the page's summary, 1 for
    a section, 2 for a paragraph. `parent` is an index into the page's chunks. `covers` is a bit
    mask of the levels that this chunk represents in a search (1 = level 0, 2 = level 1, 4 = level
    2): the only chunk of a section also covers the section, and a row whose text another row
    covers, covers nothing (0). `path` begins with the page's path; `depth` counts the headings
    within the page. `url#anchor` links to the section; the page itself has no anchor.
    `content_tags` classify the content: procedural, definition, warning … `context` is indexed and
    embedded in front of the content, but never shown.
    """

    level: int
    covers: int
    sort_order: int
    content: str
    path: tuple[str, ...]
    line_start: int
    line_end: int
    position: str = "intro"
    depth: int = 0
    heading: str = ""
    heading_level: int = 0
    root_section: str = ""
    anchor: str = ""
    types: tuple[str, ...] = ("text",)
    parent: int | None = None
    overlap: str = ""
    is_summary: bool = False
    content_tags: tuple[str, ...] = ()
    context: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """One link, relation or tag as written in the source; the database resolves its target. `rule`
    is the syntax that produced it: "explicit:wikilink", "explicit:embed", "explicit:link",
    "inline:rel", "callout:edge", "front_matter:KEY", "tag" or "edge_defaults:TYPE". `kind` is its
    meaning: "references", "embeds", "tagged", or the name of the relation. `target` is the written
    target without `fragment` (the part after "#", or None); empty for a link within the page.
    `text` is the link text, `sentence` the sentence around it. `line` is 1-based in the whole file;
    `document` is an index into the page's chunks.
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
class SourcePage:
    r"""One source file, parsed and chunked. `key` is its path below the source, with "/".

    `head` is the verbatim front matter with its fences, `body` the rest: together they are the
    source as Markdown with "\n" line ends, macros, and without NUL bytes. `front_matter` has every
    field as JSON values, and those of the text. Dates are as in `Dates`. `chunks` are in reading
    order, `edges` in source order. `reading` is the part of the configuration that the page was
    read with (see `ingest.matter.page_types`). `words_shown` are those that a reader of
    the file sees, outside navigation, `words_kept` those of them in the Markdown; None if its
    reader does not count them.
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
    created_from: str | None = None
    modified: str | None = None
    modified_from: str | None = None
    warnings: tuple[str, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    head: str = ""
    aliases: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    reading: dict[str, Any] = field(default_factory=dict)
    words_shown: int | None = None
    words_kept: int | None = None


@dataclass(frozen=True, slots=True)
class ProseBlock:
    """The text of one block as written, without the marks of lists and quotes before it, on `line`
    from 1. `kind` is "text", "table" or "html"; `callout` the number of its `> [!edge]`, or None.
    """

    text: str
    line: int
    kind: str = "text"
    callout: int | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """The text of a page without code, and the addresses of its `[label]: address` by label."""

    blocks: tuple[ProseBlock, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)


def definition_label(written: str) -> str:
    """Normalise a label, so that all spellings of the same definition are equal."""
    return " ".join(written.split()).lower().upper()
