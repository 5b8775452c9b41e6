"""The units of searches and contexts: hits, pages, passages, blocks."""

from typing import Any
from uuid import UUID

from pgrag.ground.values.base import Value, described

_LEVEL = "0 page, 1 section, 2 paragraph."
_TYPES = "text, code, table, list …"


class _Placed(Value):
    document_id: int = described("Stays the same while the text stays the same.", 42)
    page_id: int = described("", 7)
    library: str = described("", "harbour")
    version: str = described("Empty for the unversioned documentation.", "2.1")
    url: str = described("", "https://harbour.example/tides")
    title: str = described("Title of the page.", "Reading the tide table")
    path: tuple[str, ...] = described(
        "Headings from the root of the documentation down to the page or section.",
        ("Navigation", "Reading the tide table", "Depth over the sill"),
    )
    content: str = described("Markdown.", "Yachts wait for half tide.")


class _Keyed(_Placed):
    key: str = described("Path of the page in its source.", "tides.md")
    heading: str = described("Heading above the passage.", "Depth over the sill")
    anchor: str = described("`url#anchor` leads to the passage.", "depth-over-the-sill")


class _Found(_Keyed):
    score: float = described("0 to 1, unless fused by ranks; more is better.", 0.61)
    keyword_score: float | None = described("BM25F; null without the keyword retriever.", 0.58)
    semantic_score: float | None = described("Cosine; null without the vector retriever.", 0.67)
    hybrid_score: float | None = described("Fused score, where `score` is another one.", 0.61)
    confidence: float | None = described(
        "Whether it answers the query, 0 to 1; null for filters alone and for models without a"
        " calibration.",
        0.93,
    )
    link: str | None = described("The page in the system it was exported from.")
    snippet: str | None = described("With `snippets`.", "Yachts wait for half **tide**.")
    cursor: str = described("As `after`: continues behind this hit.", "P-OFHrhR64UAAoDTKg")
    version_reason: str = described("Why this version was read.", "the newest release")


class Hit(_Found):
    """One passage that a search found."""

    level: int = described(_LEVEL, 2)
    types: tuple[str, ...] = described(_TYPES, ("text",))
    sort_order: int = described("Position in the page.", 3)
    line_start: int = described("First line in the source file, from 1.", 11)
    line_end: int = described("", 13)
    explanation: dict[str, Any] | None = described("With `explain`.")
    search_id: UUID | None = described("The recorded search that found the hit.")
    since: str | None = described("With `history`: the version that first had the section.", "1.4")
    changed_in: str | None = described(
        "With `history`: the version that last changed the section; null for none since then.",
        "2.1",
    )
    chunk_key: str = described("Key of the page and `sort_order`.", "tides.md#c3")
    has_children: bool = described("Whether the passage's section has sections below it.")
    previous_section: int | None = described("`document_id` of the section before.", 40)
    next_section: int | None = described("`document_id` of the section after it.", 43)
    sibling_sections: tuple[int, ...] = described(
        "`document_id` of sections under the same parent: the nearest ten on each side.",
        (40, 43),
    )


class PageHit(_Found):
    """One page that a search found.

    `document_id`, `heading`, `anchor`, `snippet` and the scores by retriever are those of its best
    passage; so is `content`, unless `whole` asks for the page.
    """

    aggregate: str = described("How the page's score was made.", "max")
    passage_count: int = described("Passages with a term of the query.", 3)


class Passage(_Keyed):
    """One passage and its position in the page."""

    level: int = described(_LEVEL, 2)
    types: tuple[str, ...] = described(_TYPES, ("text",))
    sort_order: int = described("Position in the page.", 3)
    line_start: int = described("First line in the source file, from 1.", 11)
    line_end: int = described("", 13)
    score: float | None = described("Set in expansions; passages added to the hits have 0.1.")
    relation: str | None = described(
        "parent, child, before, after, ancestor, hit or expansion.", "before"
    )
    distance: int | None = described("Steps away, in that relation.", -1)
    heading_level: int = described("1 to 6, 0 without a heading.", 2)
    depth: int = described("Number of headings above, with the passage's own.", 2)
    position: str = described("intro, middle or conclusion.", "middle")
    root_section: str = described("", "Reading the tide table")
    overlap: str = described("How the passage before ends.")


class ContextBlock(_Placed):
    """One passage of a context."""

    score: float
    relation: str = described("hit, injected, expansion, parent or sibling.", "hit")
    tokens: int = described("Estimated size of the block.", 57)
    block: str = described("The text, with the headings above the passage in the context.")
    version_reason: str = described("Why this version was read.", "the newest release")
    hybrid_score: float | None = described("Of a hit: the fused score.", 0.41)
    keyword_score: float | None = described("Of a hit: by the keyword retriever.", 0.58)
    semantic_score: float | None = described("Of a hit: by the vector retriever.", 0.67)
    keyword_rank: int | None = described("Of a hit: among those of the keyword retriever.", 2)
    semantic_rank: int | None = described("Of a hit: among those of the vector retriever.", 1)
    confidence: float | None = described("Of a hit: whether it answers the query.", 0.93)


class Surroundings(Value):
    """A passage with the passages around it."""

    document: Passage
    parent: Passage | None
    siblings: tuple[Passage, ...]
    expansion: tuple[Passage, ...] = described(
        "The page around the passage, in reading order; the passage itself is the `hit`."
    )
