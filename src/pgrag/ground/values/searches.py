"""Results of searches: hits, pages, contexts, counts, and batches."""

from typing import Any
from uuid import UUID

from pgrag.ground.values.base import Value, Versioned, described
from pgrag.ground.values.lists import Listing
from pgrag.ground.values.passages import ContextBlock, Hit, PageHit

_SEARCH_ID = "Feedback names this id; null if the search was not recorded."
_NOTICES = "Notices of the database, such as why a retriever did not run."
_NO_GOOD_MATCH = (
    "Whether even the best hit is unlikely to answer: a notice names the nearest pages. Never with"
    " `min_confidence`."
)
_RESOLVED = "The version of each library that was read, and why; empty for `*`."


class VersionRead(Versioned):
    """The version of a library that a search read, and why."""

    reason: str = described("", "the newest release")


class Resolution(Versioned):
    """The version that a label or range resolves to, and why."""

    version_id: int = described("", 3)
    reason: str = described("", "the newest release")


class PinnedVersion(Versioned):
    """The version of a library that a project pins."""

    version_id: int = described("", 3)
    dependency: str = described("The name that the project gives it.", "@babel/core")
    wanted: str = described("The version or range that it pins.", "^26.0")
    reason: str = described("", "the newest version in the range ^26.0, pinned in package.json")


class PageGroup(Versioned):
    """A page with its best hits, at most three."""

    page_id: int = described("", 3)
    key: str = described("", "guide/restore.md")
    url: str = described("", "/guide/restore")
    title: str = described("", "Restore a folder")
    score: float = described("Of its best hit.", 0.61)
    confidence: float | None = described("Of its best hit.", 0.83)
    hits: tuple[Hit, ...] = described("The best first.")


class SearchResult(Listing[Hit]):
    """Hits, the best first; with `group` page, `pages` in their place."""

    list_field = "hits"
    list_columns = ("score", "title", "url")
    hits: tuple[Hit, ...] = described("Over REST empty with `group` page.")
    pages: tuple[PageGroup, ...] = described("Only with `group` page.", default=())
    cursor: str | None = described(
        "As `after`; null at the end.", "P-OFHrhR64UAAoDTKg", alias="next"
    )
    no_good_match: bool = described(_NO_GOOD_MATCH)
    notices: tuple[str, ...] = described(_NOTICES)
    resolved: tuple[VersionRead, ...] = described(_RESOLVED)
    search_id: UUID | None = described(_SEARCH_ID)


class PageResult(Listing[PageHit]):
    """Pages, the best first."""

    list_field = "pages"
    list_columns = ("score", "title", "url")
    pages: tuple[PageHit, ...]
    cursor: str | None = described("As `after`; null at the end.", "p10:100", alias="next")
    no_good_match: bool = described(_NO_GOOD_MATCH)
    notices: tuple[str, ...] = described(_NOTICES)
    resolved: tuple[VersionRead, ...] = described(_RESOLVED)
    search_id: UUID | None = described(_SEARCH_ID)


class Context(Listing[ContextBlock]):
    """Text for a reader or a language model, and the passages it is made of."""

    list_field = "blocks"
    list_columns = ("relation", "tokens", "title", "path")
    text: str = described("The blocks, with an empty line between them.")
    tokens: int = described("Sum of the tokens of the blocks.", 1870)
    blocks: tuple[ContextBlock, ...]
    no_good_match: bool = described(_NO_GOOD_MATCH)
    notices: tuple[str, ...] = described(_NOTICES)
    resolved: tuple[VersionRead, ...] = described(_RESOLVED)
    search_id: UUID | None = described(_SEARCH_ID)


class FacetValue(Value):
    """One value of a facet."""

    value: str = described("As a filter it narrows the search to these pages.", "guide")
    page_count: int = described("Pages that the search lists with this value as a filter.", 12)
    passage_count: int = described("Passages of these pages; without words, pages.", 31)
    is_chosen: bool = described("Whether a filter names it; then it is also listed with 0.", False)
    is_exact: bool = described("Else only those of the best `top_k` hits are counted.", True)


class FacetTotal(Value):
    """What a search finds."""

    pages: int = described("", 11)
    passages: int = described("Without words, or filters on passages: pages.", 38)
    exact: bool = described("Else only those of the best `top_k` hits are counted.", True)


class Facets(Value):
    """Counts of the matching pages by facet and value."""

    total: FacetTotal
    facets: dict[str, tuple[FacetValue, ...]] = described(
        "By the name of the filter: library, version, topic, type, path (folders, `/guide`), tags,"
        " language, content_tags; those without a value are left out. The most frequent values"
        " first; each facet is counted without the filter on it."
    )
    notices: tuple[str, ...] = described(_NOTICES)


class QueryFailure(Value):
    """Why one query of a batch failed."""

    code: str = described("SQLSTATE.", "PGR02")
    detail: str = described("", "There is no library 'harbor'.")
    hint: str | None = described("", "Did you mean harbour?")


class BatchItem(Listing[Hit]):
    """The answer to one query of a batch."""

    list_field = "hits"
    list_columns = ("score", "title", "url")
    query: str
    hits: tuple[Hit, ...] = described("The best first.")
    next: str | None = described("As `after` of this query: the next hits.")
    error: QueryFailure | None = described("Null where the search succeeded.")


class BatchResult(Listing[BatchItem]):
    """The answers to many queries, in the order of the queries."""

    list_field = "answers"
    list_columns = ("query",)
    answers: tuple[BatchItem, ...]
    notices: tuple[str, ...] = described(_NOTICES)


class ParsedQuery(Value):
    """The two parts of a query."""

    words: str = described("The terms to search for.", "restore")
    filters: dict[str, Any] | None = described(
        "The filters written in the query, as `filters` of a search takes them; null without any.",
        {"type": "guide", "created": {">=": "2024-12-01"}},
    )


class Suggestion(Value):
    """A query with one term replaced."""

    suggestion: str = described("The whole query.", "restore a backup")
    word: str = described("The term that no passage has.", "resotre")
    replacement: str = described("A term that some passage has.", "restore")
    distance: int = described("Edits between the two.", 1)
    document_count: int = described("Passages with the replacement.", 12)
    score: float = described("0 to 1; more is nearer.", 0.96)


class Intent(Value):
    """The kind of question a query is, and the search arguments that follow."""

    intent: str = described("", "PROCEDURAL")
    query_type: str = described("", "procedural")
    confidence: float = described("0: no rule matched.", 0.9)
    rule: str | None = described("The rule that decided the intent.", "how-to-en")
    matched: str | None = described("The words that the rule matched.", "how do I")
    type_rule: str | None = described("The rule that decided the query type.", "how-to-en")
    type_matched: str | None = described("", "how do I")
    levels: tuple[int, ...] = described("", (1, 2))
    unit: str = described("document or page.", "document")
    aggregate: str = described("max, mean or rrf.", "max")
    alpha: float | None = described("Null: the alpha of the library.")
    alpha_offset: float | None = described("Added to alpha.")
    hierarchy: str = described("none, depth, breadth or overview.", "depth")
    arguments: dict[str, Any] = described(
        "Other arguments of searches, contexts and answers.", {"inject_types": ["guide"]}
    )
