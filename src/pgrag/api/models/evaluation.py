"""Labelled sets, runs and comparisons of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from pgrag.api.models.arguments import Arguments, LibraryName, Name

METRIC = r"^(ndcg|ndcg_exp|mrr|recall|precision|hit_rate)(@[1-9][0-9]{0,3})?$"


class EvaluationSet(BaseModel):
    """Queries with graded judgements about one library."""

    name: str = Field(examples=["harbour-questions"])
    library: str = Field(examples=["eval-harbour-questions"])
    unit: str = Field(description="What is judged: page, section or document.", examples=["page"])
    queries: int = Field(examples=[40])
    judgements: int = Field(examples=[52])
    runs: int = Field(examples=[3])
    source: dict[str, Any] = Field(description="Where it was imported from.")
    created_at: datetime


class EvaluationSets(BaseModel):
    """All sets, by name."""

    sets: list[EvaluationSet]


class EvaluationRun(BaseModel):
    """One pass over a set, with everything that it was made with."""

    run_id: int = Field(examples=[7])
    set_name: str = Field(examples=["harbour-questions"])
    set_digest: str = Field(description="Of queries and judgements; equal runs are comparable.")
    unit: str = Field(examples=["page"])
    name: str = Field(description="Of the configuration.", examples=["hybrid"])
    configuration: dict[str, Any]
    library: str
    version: str
    model: str | None
    settings: dict[str, Any] = Field(description="Retrieval settings that were in force.")
    functions: str | None = Field(description="Digest of the SQL functions.")
    query_count: int
    averages: dict[str, float] = Field(examples=[{"ndcg@10": 0.71, "recall@20": 0.93}])
    started_at: datetime
    finished_at: datetime | None


class EvaluationRuns(BaseModel):
    """The runs of a set, the latest first."""

    set: str
    runs: list[EvaluationRun]


class RunBody(Arguments):
    """How to search. Without `function` the built-in configuration called `name` is run."""

    name: Name = Field(
        default="hybrid", description="keyword, semantic, hybrid, rrf, or a name for your own."
    )
    function: Name | None = Field(
        default=None, description="A search function of the database.", examples=["search"]
    )
    arguments: dict[str, Any] = Field(
        default={}, description="Its arguments by name.", examples=[{"alpha": 0.5}]
    )
    aggregate: Literal["max", "mean", "sum", "rrf"] = Field(
        default="max", description="How the hits of one page become one."
    )
    depth: int = Field(default=20, ge=1, le=1000, description="Results kept for a query.")

    @model_validator(mode="after")
    def _says_what_to_ask(self) -> Self:
        own = sorted({"arguments", "aggregate", "depth"} & self.model_fields_set)
        if self.function is None and own:
            raise ValueError(f"{', '.join(own)} without function: name one, such as search")
        return self


class ImportBody(Arguments):
    """A labelled set about a library that is indexed."""

    library: LibraryName = Field(description="What the queries ask.", examples=["harbour"])
    queries: list[dict[str, Any]] = Field(
        min_length=1,
        description="`id`, `text`, `judgements` (`{target: grade}`), and where wanted `excluded`"
        " (pages that do not count).",
        examples=[[{"id": "q1", "text": "tide table", "judgements": {"navigation/tides.md": 1}}]],
    )
    unit: Literal["page", "section", "document"] = Field(
        default="page", description="What the targets name."
    )
    source: dict[str, Any] = Field(default={}, description="Where it comes from; kept with it.")


class ImportAnswer(BaseModel):
    """A set was made, or replaced."""

    name: str = Field(examples=["harbour-questions"])
    queries: int = Field(examples=[40])
    judgements: int = Field(examples=[52])
    unjudged: list[str] = Field(description="Queries that were left out: nothing is relevant.")


class RemovedSet(BaseModel):
    """A set is gone."""

    set: str
    runs: int = Field(description="So many runs went with it.")


class RemovedRun(BaseModel):
    """A run is gone."""

    run_id: int


class ComparisonParameters(Arguments):
    """What to compare by."""

    other: int = Field(ge=1, description="The other run.", examples=[8])
    metric: str = Field(default="ndcg@10", pattern=METRIC, description="Such as mrr@10.")
    moved: int = Field(
        default=10, ge=0, le=1000, description="At most so many queries that moved most."
    )


class MovedQuery(BaseModel):
    """A query whose metric differs between the runs."""

    query_id: str
    query: str
    score: float
    other_score: float
    difference: float


class Comparison(BaseModel):
    """How the other run differs from the first."""

    run_id: int
    other_run_id: int
    metric: str
    queries: int
    score: float = Field(description="Mean of the first run.")
    other_score: float
    difference: float = Field(description="other_score - score.")
    lower_bound: float | None = Field(description="Of its 95 % confidence interval.")
    upper_bound: float | None
    p_value: float = Field(description="Of a two-sided paired randomisation test.")
    wins: int = Field(description="Queries for which the other run is better.")
    losses: int
    ties: int
    moved: list[MovedQuery]


class EvaluatedResult(BaseModel):
    """A result of a query; rank is null for what was expected and not returned."""

    rank: int | None
    target: str
    grade: int
    score: float | None
    title: str | None
    heading: str | None
    document_id: int | None
    words: str | None = Field(description="What each word of the query added, today.")
    explanation: dict[str, Any] | None


class EvaluatedQuery(BaseModel):
    """What a run returned for a query, best first, and what it should have returned."""

    run_id: int
    query_id: str
    results: list[EvaluatedResult]
