"""Pages and their heading trees."""

from __future__ import annotations

from fastapi import APIRouter, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import NoParameters, PageId
from pgrag.api.models.libraries import Outline, Page
from pgrag.api.openapi import problems

router = APIRouter(prefix="/pages", tags=["pages"], responses=problems(404))


@router.get("/{page_id}", response_model=Page)
def page(page_id: PageId, database: Database, _: NoParameters) -> Response:
    """Give a page with its text and all of its front matter."""
    [row] = database.call("page", page_id=page_id)
    return database.answer(row["page"])


@router.get("/{page_id}/outline", response_model=Outline)
def outline(page_id: PageId, database: Database, _: NoParameters) -> Response:
    """Give the heading tree of a page, in reading order."""
    rows = database.call("outline", page_id=page_id)
    return database.answer({"page_id": page_id, "outline": rows})
