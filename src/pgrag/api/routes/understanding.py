"""What kind of question a query is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import Arguments, Text
from pgrag.api.models.understanding import Intent

router = APIRouter(tags=["search"])


class IntentParameters(Arguments):
    """The query."""

    q: Annotated[Text, Field(min_length=1, max_length=10_000)] = Field(
        description="What somebody asks.", examples=["how do I moor a boat"]
    )


@router.get("/intent", response_model=Intent)
def intent(parameters: Annotated[IntentParameters, Query()], database: Database) -> Response:
    """Say what kind of question a query is, by which rule, and what it chooses for a search."""
    [row] = database.call("detect_intent", query=parameters.q)
    return database.answer(row)
