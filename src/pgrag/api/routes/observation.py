"""Feedback on recorded searches, and metrics of them."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from pgrag.api.arguments import LARGEST_ID, Arguments, Body, LibraryName, Text, at_most
from pgrag.api.declared import Exchange, Router
from pgrag.api.openapi import problems
from pgrag.ground.values import observation as values
from pgrag.search.recording import give_feedback
from pgrag.search.result import NO_MATCH

router = Router(tags=["observation"], responses=problems(404))


class FeedbackBody(Body):
    """A rating of a recorded search, or of one hit of it."""

    search_id: UUID = Field(
        strict=False, description="A recorded search.", examples=[values.SEARCH_ID_EXAMPLE]
    )
    rating: int = Field(ge=1, le=5, description="1 useless, 5 exactly right.", examples=[4])
    document_id: Annotated[int, Field(ge=1, le=LARGEST_ID)] | Text | None = Field(
        default=None,
        description="One of the hits, or its `chunk_key`; by default the answer as a whole is"
        " rated.",
        examples=[42],
    )
    comment: Text | None = Field(default=None, max_length=10_000, description="Why.")


class _Observed(Arguments):
    days: int = Field(default=30, ge=1, le=36_500, description="How many days to look back.")
    library: LibraryName | None = Field(
        default=None, description="Only searches in this library alone.", examples=["harbour"]
    )


class _Periods(_Observed):
    period: Literal["day", "week", "month", "all"] = Field(
        default="day", description="What one row covers; days are in UTC."
    )


class _Rows(_Observed):
    top_k: int = at_most(20, 1000, "rows")


@router.answers("/feedback", values.FeedbackReceipt, method="POST")
def feedback(exchange: Exchange, body: FeedbackBody) -> Any:
    """Rate a recorded search, or one hit of it."""
    with exchange.timed() as database:
        return {"feedback_id": give_feedback(database, **body.for_sql())}


router.declare(
    "/searches",
    list[values.RecordedSearch],
    "List recorded searches, the latest first.",
    function="search_history",
    name="past_searches",
    key="searches",
    base=_Rows,
    rated=(bool, Field(default=False, description="Only those that were rated.")),
)
router.declare(
    "/searches/{search_id}",
    values.SearchRecord,
    "Give one recorded search with its hits, their scores, and its feedback.",
    function="search_record",
    column="search_record",
)
router.declare(
    "/metrics/searches",
    list[values.SearchMetrics],
    "Summarise searches by period and library: number, share without hits, latency and relevance.",
    function="search_metrics",
    key="metrics",
    base=_Periods,
)
router.declare(
    "/metrics/answers",
    list[values.AnswerMetrics],
    "Summarise answers by period and library: number, outcome, latency and tokens.",
    function="answer_metrics",
    key="metrics",
    base=_Periods,
)
router.declare(
    "/metrics/popular-queries",
    list[values.PopularQuery],
    "List the most frequent queries.",
    function="popular_queries",
    key="queries",
    base=_Rows,
)
router.declare(
    "/metrics/empty-queries",
    list[values.EmptyQuery],
    "List the most frequent queries without a hit.",
    function="empty_queries",
    key="queries",
    base=_Rows,
)
router.declare(
    "/metrics/gaps",
    list[values.Gap],
    "List the topics that readers looked for and did not find, with the nearest pages.",
    function="gaps",
    key="gaps",
    base=_Rows,
    weak_confidence=(
        float,
        Field(
            default=NO_MATCH,
            ge=0,
            le=1,
            description="Searches whose best hit has a lower confidence found little.",
        ),
    ),
)
router.declare(
    "/metrics/slow-searches",
    list[values.RecordedSearch],
    "List the searches that took longest.",
    function="search_history",
    name="slow_searches",
    key="searches",
    base=_Rows,
    fixed={"slowest": True},
)
