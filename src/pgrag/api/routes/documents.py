"""Documents and their neighbours."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import Arguments, Count, DocumentId, NoParameters
from pgrag.api.models.documents import (
    Ancestors,
    Children,
    Parent,
    Passage,
    Siblings,
    Surroundings,
)
from pgrag.api.openapi import problems

router = APIRouter(prefix="/documents", tags=["documents"], responses=problems(404))


class SiblingsParameters(Arguments):
    """How far to look."""

    before: Count = Field(default=1000, description="At most so many before.")
    after: Count = Field(default=1000, description="At most so many after.")


class SurroundingsParameters(Arguments):
    """How far to look."""

    before: Count = Field(default=1, description="At most so many siblings before.")
    after: Count = Field(default=1, description="At most so many siblings after.")
    max_chunks_per_document: Count = Field(
        default=20, description="At most so many documents of the page, the nearest ones."
    )


@router.get("/{document_id}", response_model=Passage)
def document(document_id: DocumentId, database: Database, _: NoParameters) -> Response:
    """Give one document."""
    [row] = database.call("document", document_id=document_id)
    return database.answer(row)


@router.get("/{document_id}/parent", response_model=Parent)
def parent(document_id: DocumentId, database: Database, _: NoParameters) -> Response:
    """Give the section of a paragraph, the section or page above a section, the page above."""
    rows = database.call("parent", document_id=document_id)
    return database.answer({"parent": rows[0] if rows else None})


@router.get("/{document_id}/children", response_model=Children)
def children(document_id: DocumentId, database: Database, _: NoParameters) -> Response:
    """List the documents one level below; for a page also the pages below."""
    return database.answer({"children": database.call("children", document_id=document_id)})


@router.get("/{document_id}/siblings", response_model=Siblings)
def siblings(
    document_id: DocumentId,
    parameters: Annotated[SiblingsParameters, Query()],
    database: Database,
) -> Response:
    """List the documents of the same level under the same parent."""
    rows = database.call(
        "siblings", document_id=document_id, before=parameters.before, after=parameters.after
    )
    return database.answer({"siblings": rows})


@router.get("/{document_id}/ancestors", response_model=Ancestors)
def ancestors(document_id: DocumentId, database: Database, _: NoParameters) -> Response:
    """List the documents above, the nearest first, up to the root of the documentation."""
    return database.answer({"ancestors": database.call("ancestors", document_id=document_id)})


@router.get("/{document_id}/context", response_model=Surroundings)
def surroundings(
    document_id: DocumentId,
    parameters: Annotated[SurroundingsParameters, Query()],
    database: Database,
) -> Response:
    """Give a document with its parent, its nearest siblings and its page around it."""
    [row] = database.call("document", document_id=document_id)
    above = database.call("parent", document_id=document_id)
    beside = database.call(
        "siblings", document_id=document_id, before=parameters.before, after=parameters.after
    )
    around = database.call(
        "expand_documents",
        document_ids=[document_id],
        scores=[1.0],
        max_chunks_per_document=parameters.max_chunks_per_document,
    )
    return database.answer(
        {
            "document": row,
            "parent": above[0] if above else None,
            "siblings": beside,
            "expansion": around,
        }
    )
