"""Explanations of rankings, and feedback from agents."""

from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from pgrag.mcp import fields
from pgrag.mcp.corpus import Documentation, label
from pgrag.mcp.replies import breadcrumbs, on_one_line
from pgrag.mcp.tool import Arguments, FromVersion, Reply, tool
from pgrag.search.recording import give_feedback


class ExplainSearch(Arguments):
    """A search to explain."""

    library: fields.LibraryName
    query: fields.Query = Field(description="The query of the search.")
    version: fields.VersionWish = None
    top_k: int = Field(default=5, ge=1, le=10, description="The maximum number of hits.")
    filters: fields.Filters = Field(default=None, description="The filters of the search.")


class Explanation(BaseModel):
    """Why a hit has its rank."""

    rank: int
    id: int = Field(validation_alias="document_id", description="For read_docs.")
    breadcrumbs: str
    score: float
    keyword_score: float | None
    semantic_score: float | None
    reasons: list[str]
    numbers: dict[str, Any] = Field(description="Every number behind the score.")


class Explanations(FromVersion):
    """Why the hits of a search have their ranks."""

    hits: list[Explanation]


class SendFeedback(Arguments):
    """A rating of a search, or of one of its passages."""

    search_id: UUID = Field(description="From the last lines of a search's reply.")
    rating: int = Field(ge=1, le=5, description="1 useless, 5 exactly what was asked for.")
    document_id: fields.Id | None = Field(
        default=None, description="id of one passage; leave it out to rate the answer as a whole."
    )
    comment: str | None = fields.optional_text(10_000, "Why, or what was missing.")


class StoredFeedback(BaseModel):
    """A stored rating."""

    feedback_id: int


@tool("explain_search", "Explain a search", Explanations)
def explain_search(documentation: Documentation, request: ExplainSearch) -> Reply:
    """Explain the ranks of a search's hits: what each word and the meaning added to the score. Use
    it only when results surprise you and you want to ask better.
    """
    read = documentation.resolve(request.library, request.version)
    result = documentation.unrecorded.search(
        request.query, library=request.library, version=label(request.version),
        top_k=request.top_k, filters=request.filters, explain=True,
    )  # fmt: skip
    hits = [
        Explanation(
            **row, rank=rank, breadcrumbs=breadcrumbs(row),
            reasons=row["explanation"]["reasons"], numbers=row["explanation"],
        )
        for rank, row in enumerate(result.rows, start=1)
    ]  # fmt: skip
    lines = [f"# Ranks of the hits for {on_one_line(request.query)!r}", f"From: {read}"]
    lines += [f"Note: {notice}" for notice in result.notices]
    for hit in hits:
        lines += ["", f"## {hit.rank}. {hit.breadcrumbs}", f"id={hit.id} {_formula(hit)}"]
        lines += [f"- {reason}" for reason in hit.reasons]
    if not hits:
        lines += ["", "There are no hits; search_docs says why, and what to relax."]
    return Reply("\n".join(lines), Explanations(**read.content, hits=hits))


def _formula(hit: Explanation) -> str:
    """`score=0.93 = 0.7 × words 0.96 + 0.3 × meaning 0.86`, if the score is that sum."""
    alpha = hit.numbers.get("alpha")
    if alpha is None or hit.numbers.get("fusion") != "absolute":
        return f"score={hit.score:.2f}"
    words = f"{1 - alpha:.2g} × words {hit.keyword_score or 0:.2f}"
    return f"score={hit.score:.2f}: {words} + {alpha:.2g} × meaning {hit.semantic_score or 0:.2f}"


@tool("send_feedback", "Rate a search", StoredFeedback, writes=True)
def send_feedback(documentation: Documentation, request: SendFeedback) -> Reply:
    """Rate the passages of a search from 1 to 5, so that the search can be tuned. Use it when you
    have answered, or when the passages that you expected are missing.
    """
    feedback_id = give_feedback(documentation.app.database, **request.model_dump())
    return Reply("Thank you, the rating is stored.", StoredFeedback(feedback_id=feedback_id))
