"""Recorded searches and answers, and metrics of them."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from pgrag.ground.values.base import Value, described

SEARCH_ID_EXAMPLE = "4f0c7d0e-3c0b-4d6a-9a53-1f2f6f1f4a11"


class SearchMetrics(Value):
    """The searches of a period in a library, summed up."""

    starts_on: date
    library_name: str | None = described("Null for searches in several libraries.")
    searches: int = described("Without further pages of results.", 120)
    empty_share: float | None = described("Share without a hit.", 0.02)
    p50_ms: float | None = described("Median latency.", 4.1)
    p95_ms: float | None = described("95th percentile of the latency.", 11.8)
    max_ms: float | None = described("", 31.0)
    mean_hits: float | None = described("", 9.7)
    mean_top_score: float | None = described("Mean top score, without fusion by ranks.", 0.58)
    mean_rating: float | None = described("", 4.2)
    feedback_share: float | None = described("Share that was rated.", 0.1)


class AnswerMetrics(Value):
    """The answers of a period in a library, summed up."""

    starts_on: date
    library_name: str | None = described("Null for answers from several libraries.")
    answers: int = described("", 40)
    answered_share: float | None = described("", 0.85)
    not_in_documentation_share: float | None = described("", 0.1)
    failed_share: float | None = described("", 0.025)
    cancelled_share: float | None = described("", 0.025)
    p50_ms: float | None = described("Median latency.", 2400.0)
    p95_ms: float | None = described("95th percentile of the latency.", 7100.0)
    mean_prompt_tokens: float | None = described("", 3900.0)
    mean_completion_tokens: float | None = described("", 180.0)
    mean_rating: float | None = described("Mean rating of whole answers.", 4.2)


class PopularQuery(Value):
    """A frequent query."""

    query: str = described("", "mooring fees")
    searches: int = described("", 14)
    last_at: datetime
    empty_share: float | None
    mean_top_score: float | None
    mean_rating: float | None
    median_ms: float | None


class EmptyQuery(Value):
    """A query without a hit."""

    query: str = described("", "submarine permit")
    library_name: str | None
    searches: int = described("", 3)
    last_at: datetime


class NearPage(Value):
    """A page near a topic without hits."""

    library: str = described("", "harbour")
    key: str = described("", "fees.md")
    title: str | None = described("", "Fees")
    url: str | None = described("", "/fees")
    score: float = described("Of the page for the topic's query.", 0.24)


class Gap(Value):
    """A topic that readers searched for in vain."""

    topic: str = described("Its most frequent query.", "submarine permit")
    library_name: str | None = described("Null for searches in several libraries.")
    searches: int = described("Searches that failed.", 9)
    found_nothing: int = described("How many of them had no hit.", 3)
    found_little: int = described("How many had a weak best hit.", 5)
    rephrased: int = described("How many were asked again in other words.", 2)
    rated_badly: int = described("How many were rated 2 or less.", 1)
    examples: tuple[str, ...] = described(
        "Up to five queries.", ("submarine permit", "permit for a submarine")
    )
    last_at: datetime
    pages: tuple[NearPage, ...] = described("The three nearest pages today.")


class RecordedSearch(Value):
    """A recorded search."""

    search_id: UUID = described("", SEARCH_ID_EXAMPLE)
    at: datetime
    client: str = described("", "rest")
    library_name: str | None
    version: str | None
    query: str = described("", "mooring fees")
    hit_count: int = described("", 10)
    top_score: float | None
    duration_ms: float | None
    timings: dict[str, Any] = described("Milliseconds by step.")
    parameters: dict[str, Any]
    mean_rating: float | None = described("Of the search and its hits; null: not rated.", 4.5)


class SearchRecord(Value):
    """A recorded search with its hits and feedback."""

    search_id: UUID
    at: datetime
    client: str
    query: str
    library: str | None
    version: str | None
    continued: bool = described("Whether the search continued an earlier one.")
    parameters: dict[str, Any]
    timings: dict[str, Any] = described("Milliseconds by step.")
    duration_ms: float | None
    hit_count: int
    top_score: float | None
    mean_score: float | None
    confidence: float | None = described("The largest of a hit; null: not known.", 0.93)
    caller: str | None = described("The key or database role that searched.", "docs-bot")
    hits: tuple[dict[str, Any], ...] = described("With rank, names, ids, scores and their parts.")
    feedback: tuple[dict[str, Any], ...] = described("Ratings with document_id and comment.")
    answer: dict[str, Any] | None = described("The answer made of the hits, if any.")


class FeedbackReceipt(Value):
    """A stored rating."""

    feedback_id: int = described("", 3)
