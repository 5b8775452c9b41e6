"""Libraries with their versions, pages and outlines, synonyms, enrichments and health."""

from datetime import datetime
from typing import Any

from pgrag.ground.values.base import Value, Versioned, described


class Library(Value):
    """A set of documentation."""

    library: str = described("", "harbour")
    language: str = described("Language of pages that neither name nor show one.", "en")
    model: str | None = described("Embedding model.", "static-en-de-ru-256")
    versions: int = described("Number of versions.", 3)
    newest: str | None = described("The version that a search without a version uses.", "2.1")
    pages: int = described("Pages of all versions.", 120)
    documents: int = described("Searchable passages of all versions.", 1890)
    settings: dict[str, Any] = described("Retrieval settings in force.")
    updated_at: datetime | None


class FoundLibrary(Versioned):
    """A library that may answer a query, with its version that a search reads."""

    title: str = described("Title of its front page; empty: none.", "Harbour handbook")
    description: str = described("Description or summary of its front page.")
    score: float = described("Above 0, at most 1: 1 if its name has all words of the query.", 0.42)
    words: tuple[str, ...] = described("Matching lexemes, the strongest first.", ("tide", "moor"))
    pages: int = described("", 40)
    documents: int = described("Searchable passages.", 630)


class Version(Versioned):
    """One version of a library."""

    version_id: int = described("", 3)
    class_: str = described("semver, partial, tag or unversioned.", "partial", alias="class")
    status: str = described("indexing or ready.", "ready")
    is_newest: bool = described("Whether a search without a version uses this version.")
    pages: int = described("", 40)
    documents: int = described("Searchable passages.", 630)
    source: dict[str, Any] = described("Where the version was indexed from.")
    updated_at: datetime


class ReadingState(Value):
    """What reading lost in one version of a library."""

    version: str = described("Empty for the unversioned documentation.", "2.1")
    pages: int = described("", 40)
    warned_pages: int = described("Those with warnings.", 2)
    warnings: int = described("Repairs made while reading the pages.", 3)
    words_shown: int = described("Words that readers see, of the pages whose words are counted.")
    words_kept: int = described("Those of them that are indexed.")
    broken_links: int = described("Links that lead to no page or heading, or to several.", 1)


#: What says a date of a page.
DATE_FROM = "What says the date: front matter, name (of the file), git, file or server."


class PageName(Value):
    """A page and its names."""

    page_id: int = described("", 7)
    key: str = described("Path of the page in its source.", "tides.md")
    url: str = described("", "https://harbour.example/tides")
    title: str = described("", "Reading the tide table")


class PageSummary(PageName):
    """One page in a list."""

    path: tuple[str, ...] = described("", ("Navigation", "Reading the tide table"))
    topic: str | None
    type: str | None = described("", "guide")
    tags: tuple[str, ...] = described("", ("tides",))
    language: str = described("", "en")
    created: datetime | None
    created_from: str | None = described(DATE_FROM, "name")
    modified: datetime | None
    modified_from: str | None = described(DATE_FROM, "git")
    documents: int = described("Searchable passages.", 6)
    warnings: tuple[str, ...] = described("Repairs made while reading the page.")
    words_shown: int | None = described("Words that a reader of the file sees, if counted.")
    words_kept: int | None = described("Those of them that are indexed.")


class PageList(Versioned):
    """Pages of one version, by key."""

    pages: tuple[PageSummary, ...]
    next: str | None = described("As `after`: the next pages. Null at the end.", "tides.md")


class Page(Value):
    """One page with its text and all of its front matter."""

    page_id: int = described("", 7)
    library: str = described("", "harbour")
    version: str = described("", "2.1")
    key: str = described("Path of the page in its source.", "tides.md")
    url: str
    title: str
    path: tuple[str, ...]
    front_matter: dict[str, Any]
    head: str = described("The front matter as written, with its fences.")
    body: str = described("Markdown, without the front matter.")
    uuid: str | None
    link: str | None
    topic: str | None
    type: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    language: str
    created: datetime | None
    created_from: str | None = described(DATE_FROM, "name")
    modified: datetime | None
    modified_from: str | None = described(DATE_FROM, "git")
    source_hash: str
    warnings: tuple[str, ...]
    words_shown: int | None
    words_kept: int | None
    document_count: int
    indexed_at: datetime


class OutlineEntry(Value):
    """The page itself, or one of its sections."""

    document_id: int = described("", 42)
    parent_id: int | None
    heading: str = described("", "Depth over the sill")
    heading_level: int
    depth: int
    path: tuple[str, ...]
    position: str
    root_section: str
    anchor: str
    sort_order: int
    line_start: int
    line_end: int
    paragraphs: int = described("Paragraphs directly below.")


class Synonym(Value):
    """The expansions of a term."""

    term: str = described("", "PTO")
    expansions: tuple[str, ...] = described("", ("paid time off", "leave"))
    weight: float = described("As a share of the weight of the query's own terms.", 0.5)
    mutual: bool = described("Whether each expansion finds the others.")


class EnrichmentState(Value):
    """The progress of one kind of text that language models write."""

    kind: str = described("context: of paragraphs; summary: of pages and sections.", "context")
    setting: bool = described("Whether indexing writes these texts.")
    documents: int = described("Passages to be given a text.", 1200)
    enriched: int = described("Passages that have a text.", 1180)
    failed: int = described("Passages that a model failed on.", 2)
    kept: int = described("Texts of the whole library, used or not.", 1400)
    models: tuple[str, ...] = described("Models that wrote the texts.", ("qwen3:8b",))


class EnrichmentFailure(Value):
    """A passage that a model failed on; it stays unchanged."""

    kind: str = described("", "context")
    document_id: int = described("", 12)
    label: str = described("Label of the version.", "2.1")
    key: str = described("Key of the page.", "tides.md")
    path: tuple[str, ...] = described("", ("Harbour", "Tides"))
    model: str = described("", "qwen3:8b")
    reason: str
    attempts: int = described("", 1)
    failed_at: datetime


class Enrichment(Value):
    """What language models wrote for a library, or one of its versions."""

    library: str = described("", "harbour")
    version: str | None = described("Null: all versions.", "2.1")
    kinds: tuple[EnrichmentState, ...]
    failures: tuple[EnrichmentFailure, ...]


class LibraryFinding(Value):
    """An inconsistency of a library."""

    check: str = described("", "links")
    problem: str = described("", "links that wait to be resolved")
    count: int = described("Number of occurrences.", 3)
    examples: tuple[str, ...] = described("The first five.")
    repairable: bool = described("Whether `pgrag doctor LIBRARY --repair` repairs it.")
    remedy: str | None = described("Otherwise the command that repairs it.")


class LibraryHealth(Value):
    """The inconsistencies of a library; usually none."""

    library: str = described("", "harbour")
    healthy: bool
    findings: tuple[LibraryFinding, ...]


class TextMatch(Value):
    """A part of a line that matches; columns count characters from 1."""

    start: int = described("", 5)
    end: int = described("Exclusive.", 16)


class TextLine(Value):
    """A line of a source that matches a pattern."""

    page_id: int = described("", 7)
    key: str = described("Path of the page in its source.", "tides.md")
    title: str = described("", "Reading the tide table")
    line: int = described("Line of the file, from 1.", 12)
    column: int = described("Column of the first match, from 1.", 5)
    content: str = described("The line.", "The spring tide is high.")
    matches: tuple[TextMatch, ...] = described("The first hundred.")
    lines_before: tuple[str, ...]
    lines_after: tuple[str, ...]
    document_id: int | None = described("The passage with the line.", 42)
    cursor: str = described("As `after`: continues behind this line.")


class TextLines(Versioned):
    """Lines by key and line."""

    lines: tuple[TextLine, ...]
    next: str | None = described("As `after`: the next lines. Null at the end.", "tides.md:12")
