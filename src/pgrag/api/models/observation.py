"""Feedback and metrics: what goes in, and what comes out."""

from __future__ import annotations

import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field

from pgrag.api.models.arguments import Arguments, LibraryName, Text

_SEARCH_ID = "4f0c7d0e-3c0b-4d6a-9a53-1f2f6f1f4a11"


class FeedbackBody(Arguments):
    """A rating of a recorded search, or of one hit of it."""

    search_id: UUID = Field(description="Of a search that was recorded.", examples=[_SEARCH_ID])
    rating: int = Field(ge=1, le=5, description="1 useless, 5 exactly right.", examples=[4])
    document_id: int | None = Field(
        default=None,
        ge=1,
        le=2**63 - 1,
        description="Of one of its hits; by default the answer as a whole is rated.",
        examples=[42],
    )
    comment: Text | None = Field(default=None, max_length=10_000, description="Why.")


class FeedbackAnswer(BaseModel):
    """A rating was kept."""

    feedback_id: int = Field(examples=[3])


class Observed(Arguments):
    """Which searches to look at."""

    days: int = Field(default=30, ge=1, le=36_500, description="How many days to look back.")
    library: LibraryName | None = Field(
        default=None, description="Only searches in this library alone.", examples=["harbour"]
    )


class ObservedPeriods(Observed):
    """Which searches to look at, and how to sum them up."""

    period: Literal["day", "week", "month", "all"] = Field(
        default="day", description="What one row is about; days are those of UTC."
    )


class ObservedRows(Observed):
    """Which searches to look at, and how many rows to give."""

    limit: int = Field(default=20, ge=1, le=1000, description="Rows at most.")


class SearchMetrics(BaseModel):
    """What the searches of a period in a library were like."""

    starts_on: datetime.date
    library_name: str | None = Field(description="Null for searches in several libraries.")
    searches: int = Field(description="Without further pages of results.", examples=[120])
    empty_share: float | None = Field(description="Share without a hit.", examples=[0.02])
    p50_ms: float | None = Field(description="Half of them took no longer.", examples=[4.1])
    p95_ms: float | None = Field(description="95 % of them took no longer.", examples=[11.8])
    max_ms: float | None = Field(examples=[31.0])
    mean_hits: float | None = Field(examples=[9.7])
    mean_top_score: float | None = Field(
        description="Of the first hits; without searches fused by ranks.", examples=[0.58]
    )
    mean_rating: float | None = Field(examples=[4.2])
    feedback_share: float | None = Field(description="Share that was rated.", examples=[0.1])


class AnswerMetrics(BaseModel):
    """What the answers of a period in a library were like."""

    starts_on: datetime.date
    library_name: str | None = Field(description="Null for answers from several libraries.")
    answers: int = Field(examples=[40])
    answered_share: float | None = Field(examples=[0.85])
    not_in_documentation_share: float | None = Field(examples=[0.1])
    failed_share: float | None = Field(examples=[0.025])
    cancelled_share: float | None = Field(examples=[0.025])
    p50_ms: float | None = Field(description="Half of them took no longer.", examples=[2400.0])
    p95_ms: float | None = Field(description="95 % of them took no longer.", examples=[7100.0])
    mean_prompt_tokens: float | None = Field(examples=[3900.0])
    mean_completion_tokens: float | None = Field(examples=[180.0])
    mean_rating: float | None = Field(description="Of whole answers.", examples=[4.2])


class AnswersMetrics(BaseModel):
    """Metrics of answers, the latest period first."""

    metrics: list[AnswerMetrics]


class PopularQuery(BaseModel):
    """A query that is asked often."""

    query: str = Field(examples=["mooring fees"])
    searches: int = Field(examples=[14])
    last_at: datetime.datetime
    empty_share: float | None
    mean_top_score: float | None
    mean_rating: float | None
    median_ms: float | None


class EmptyQuery(BaseModel):
    """A query that found nothing."""

    query: str = Field(examples=["submarine permit"])
    library_name: str | None
    searches: int = Field(examples=[3])
    last_at: datetime.datetime


class PastSearch(BaseModel):
    """A recorded search."""

    search_id: UUID = Field(examples=[_SEARCH_ID])
    at: datetime.datetime
    client: str = Field(examples=["rest"])
    library_name: str | None
    version: str | None
    query: str = Field(examples=["mooring fees"])
    hit_count: int = Field(examples=[10])
    top_score: float | None
    duration_ms: float | None
    timings: dict[str, Any] = Field(description="Milliseconds by step.")
    parameters: dict[str, Any]


class Metrics(BaseModel):
    """Metrics, the latest period first."""

    metrics: list[SearchMetrics]


class PopularQueries(BaseModel):
    """Queries, those asked most often first."""

    queries: list[PopularQuery]


class EmptyQueries(BaseModel):
    """Queries without a hit, those asked most often first."""

    queries: list[EmptyQuery]


class PastSearches(BaseModel):
    """Searches."""

    searches: list[PastSearch]


class SearchRecord(BaseModel):
    """A recorded search with its hits and feedback."""

    search_id: UUID
    at: datetime.datetime
    client: str
    query: str
    library: str | None
    version: str | None
    continued: bool = Field(description="Whether it is a further page of results.")
    parameters: dict[str, Any]
    timings: dict[str, Any] = Field(description="Milliseconds by step.")
    duration_ms: float | None
    hit_count: int
    top_score: float | None
    mean_score: float | None
    hits: list[dict[str, Any]] = Field(description="With rank, names, ids and scores.")
    feedback: list[dict[str, Any]] = Field(description="Ratings with document_id and comment.")
    answer: dict[str, Any] | None = Field(description="The answer that was made of it, if any.")
