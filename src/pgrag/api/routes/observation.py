"""Feedback on recorded searches, and what they tell."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import NoParameters
from pgrag.api.models.observation import (
    AnswersMetrics,
    EmptyQueries,
    FeedbackAnswer,
    FeedbackBody,
    Metrics,
    Observed,
    ObservedPeriods,
    ObservedRows,
    PastSearches,
    PopularQueries,
    SearchRecord,
)
from pgrag.api.openapi import problems

router = APIRouter(tags=["observation"], responses=problems(404))


@router.post("/feedback", response_model=FeedbackAnswer, responses=problems(400, 413))
def feedback(body: FeedbackBody, database: Database, _: NoParameters) -> Response:
    """Rate a recorded search, or one hit of it."""
    [row] = database.call("give_feedback", **body.model_dump())
    return database.answer({"feedback_id": row["give_feedback"]})


@router.get("/searches", response_model=PastSearches)
def past_searches(parameters: Annotated[ObservedRows, Query()], database: Database) -> Response:
    """List recorded searches, the latest first."""
    return database.answer({"searches": database.call("search_history", **_asked(parameters))})


@router.get("/searches/{search_id}", response_model=SearchRecord)
def search_record(
    search_id: Annotated[UUID, Path(description="Of a recorded search.")],
    database: Database,
    _: NoParameters,
) -> Response:
    """Give one recorded search with its hits, their scores, and its feedback."""
    [row] = database.call("search_record", search_id=search_id)
    return database.answer(row["search_record"])


@router.get("/metrics/searches", response_model=Metrics)
def search_metrics(parameters: Annotated[ObservedPeriods, Query()], database: Database) -> Response:
    """Sum up number, empty share, latency and relevance of searches by period and library."""
    return database.answer({"metrics": database.call("search_metrics", **_asked(parameters))})


@router.get("/metrics/answers", response_model=AnswersMetrics)
def answer_metrics(parameters: Annotated[ObservedPeriods, Query()], database: Database) -> Response:
    """Sum up number, outcome, latency and tokens of answers by period and library."""
    return database.answer({"metrics": database.call("answer_metrics", **_asked(parameters))})


@router.get("/metrics/popular-queries", response_model=PopularQueries)
def popular_queries(parameters: Annotated[ObservedRows, Query()], database: Database) -> Response:
    """List the queries that are asked most."""
    return database.answer({"queries": database.call("popular_queries", **_asked(parameters))})


@router.get("/metrics/empty-queries", response_model=EmptyQueries)
def empty_queries(parameters: Annotated[ObservedRows, Query()], database: Database) -> Response:
    """List the queries that found nothing."""
    return database.answer({"queries": database.call("empty_queries", **_asked(parameters))})


@router.get("/metrics/slow-searches", response_model=PastSearches)
def slow_searches(parameters: Annotated[ObservedRows, Query()], database: Database) -> Response:
    """List the searches that took longest."""
    rows = database.call("search_history", slowest=True, **_asked(parameters))
    return database.answer({"searches": rows})


def _asked(parameters: Observed) -> dict[str, object]:
    """The arguments of the SQL functions, where a limit is a match_count."""
    return {
        "match_count" if name == "limit" else name: value
        for name, value in parameters.model_dump().items()
    }
