"""How a query is read, and what else may have been meant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.parsing import (
    ParsedQuery,
    ParseParameters,
    SuggestionParameters,
    Suggestions,
)
from pgrag.api.openapi import problems

router = APIRouter(tags=["search"], responses=problems(404))


@router.get("/parse", response_model=ParsedQuery)
def parse(parameters: Annotated[ParseParameters, Query()], database: Database) -> Response:
    """Show which words and which filters a query holds."""
    [row] = database.call("parse_query", query=parameters.q)
    return database.answer(row)


@router.get("/suggestions", response_model=Suggestions)
def suggestions(
    parameters: Annotated[SuggestionParameters, Query()], database: Database
) -> Response:
    """Suggest near words for those of a query that no document has."""
    rows = database.call(
        "suggest",
        query=parameters.q,
        library=parameters.library,
        version=parameters.version,
        suggestion_count=parameters.limit,
    )
    return database.answer({"suggestions": rows})
