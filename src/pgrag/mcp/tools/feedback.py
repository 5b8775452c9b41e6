"""Why hits stand where they do, and what an agent thought of them."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, Field

from pgrag.mcp.documentation import Documentation, label, shown
from pgrag.mcp.replies import breadcrumbs, on_one_line
from pgrag.mcp.tool import (
    Arguments,
    DocumentId,
    Filters,
    LibraryName,
    Query,
    Reply,
    Tool,
    VersionWish,
)


class ExplainSearch(Arguments):
    """A search to explain."""

    library: LibraryName
    query: Annotated[Query, Field(description="The query of the search.")]
    version: VersionWish = None
    limit: Annotated[int, Field(ge=1, le=10, description="At most so many hits.")] = 5
    filters: Annotated[Filters, Field(description="The filters of the search.")] = None


class Explanation(BaseModel):
    """Why a hit stands where it does."""

    rank: int
    id: int = Field(description="For read_document.")
    breadcrumbs: str
    score: float
    keyword_score: float | None
    semantic_score: float | None
    reasons: list[str]
    numbers: dict[str, Any] = Field(description="Every number behind the score.")


class Explanations(BaseModel):
    """Why the hits of a search stand where they do."""

    library: str
    version: str
    version_reason: str
    hits: list[Explanation]


class SendFeedback(Arguments):
    """A rating of a search, or of one of its passages."""

    search_id: Annotated[UUID, Field(description="From the last lines of a search's reply.")]
    rating: Annotated[
        int, Field(ge=1, le=5, description="1 useless, 5 exactly what was asked for.")
    ]
    document_id: Annotated[
        DocumentId | None,
        Field(description="id of one passage; leave it out to rate the answer as a whole."),
    ] = None
    comment: Annotated[
        str | None, Field(max_length=10_000, description="Why, or what was missing.")
    ] = None


class KeptFeedback(BaseModel):
    """A rating was kept."""

    feedback_id: int


def _explain_search(documentation: Documentation, given: ExplainSearch) -> Reply:
    read = documentation.resolve(given.library, given.version)
    found = documentation.unrecorded.search(
        given.query,
        library=given.library,
        version=label(given.version),
        match_count=given.limit,
        filters=given.filters,
        explain=True,
    )
    hits = [
        Explanation(
            rank=rank,
            id=row["document_id"],
            breadcrumbs=breadcrumbs(row),
            score=row["score"],
            keyword_score=row["keyword_score"],
            semantic_score=row["semantic_score"],
            reasons=row["explanation"]["reasons"],
            numbers=row["explanation"],
        )
        for rank, row in enumerate(found.rows, start=1)
    ]
    lines = [f"# Why {on_one_line(given.query)!r} finds what it finds", f"From: {read}"]
    lines += [f"Note: {notice}" for notice in found.notices]
    for hit in hits:
        lines += ["", f"## {hit.rank}. {hit.breadcrumbs}", f"id={hit.id} {_formula(hit)}"]
        lines += [f"- {reason}" for reason in hit.reasons]
    if not hits:
        lines += ["", "It finds nothing; search_docs says why, and what to relax."]
    content = Explanations(
        library=read.library,
        version=shown(read.label),
        version_reason=read.reason,
        hits=hits,
    )
    return Reply("\n".join(lines), content)


def _formula(hit: Explanation) -> str:
    """`score=0.93 = 0.7 × words 0.96 + 0.3 × meaning 0.86`, where that is how it came about."""
    alpha = hit.numbers.get("alpha")
    if alpha is None or hit.numbers.get("fusion") != "absolute":
        return f"score={hit.score:.2f}"
    words = f"{1 - alpha:.2g} × words {hit.keyword_score or 0:.2f}"
    return f"score={hit.score:.2f}: {words} + {alpha:.2g} × meaning {hit.semantic_score or 0:.2f}"


def _send_feedback(documentation: Documentation, given: SendFeedback) -> Reply:
    [row] = documentation.call(
        "give_feedback",
        search_id=given.search_id,
        rating=given.rating,
        document_id=given.document_id,
        comment=given.comment,
    )
    return Reply("Thank you, it is noted.", KeptFeedback(feedback_id=row["give_feedback"]))


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="explain_search",
        title="Explain a search",
        description="Say why the hits of a search stand where they do: which words and what meaning"
        " gave which score. Use it only when results surprise you and you want to ask better.",
        arguments=ExplainSearch,
        output=Explanations,
        run=_explain_search,
    ),
    Tool(
        name="send_feedback",
        title="Rate a search",
        description="Tell how good the passages of a search were, 1 to 5, so that the search can be"
        " tuned. Use it when you have answered, or when nothing was found that should be there.",
        arguments=SendFeedback,
        output=KeptFeedback,
        run=_send_feedback,
        writes=True,
    ),
)
