"""Searching, and the context for a question."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import Arguments, LibraryName, NoParameters, VersionWish
from pgrag.api.models.documents import ContextAnswer, Resolution, SearchAnswer
from pgrag.api.models.queries import (
    AnyQuery,
    ContextBody,
    ContextParameters,
    SearchBody,
    SearchParameters,
)
from pgrag.api.openapi import problems
from pgrag.search import Search

router = APIRouter(tags=["search"], responses=problems(404))

MODES = {
    "hybrid": Search.search,
    "keyword": Search.keyword_search,
    "semantic": Search.semantic_search,
}


@router.get("/search", response_model=SearchAnswer)
def search(parameters: Annotated[SearchParameters, Query()], database: Database) -> Response:
    """Find documents by words and by meaning."""
    return _search(parameters, database)


@router.post("/search", response_model=SearchAnswer, responses=problems(400, 413))
def search_with_body(body: SearchBody, database: Database, _: NoParameters) -> Response:
    """Find documents by words and by meaning; also with a vector of one's own."""
    return _search(body, database)


@router.get("/context", response_model=ContextAnswer)
def context(parameters: Annotated[ContextParameters, Query()], database: Database) -> Response:
    """Make the text that answers a question: hits, what belongs to them, within a budget."""
    return _context(parameters, database)


@router.post("/context", response_model=ContextAnswer, responses=problems(400, 413))
def context_with_body(body: ContextBody, database: Database, _: NoParameters) -> Response:
    """Make the text that answers a question; also with a vector of one's own."""
    return _context(body, database)


class ResolveParameters(Arguments):
    """Parameters of a resolution."""

    library: LibraryName = Field(description="Name of a library.", examples=["harbour"])
    version: VersionWish | None = Field(
        default=None,
        description="A label (`2.1`), a range (`^2`), `latest`, or `-` for the unversioned"
        " documentation; by default the newest release.",
    )


@router.get("/resolve", response_model=Resolution)
def resolve(parameters: Annotated[ResolveParameters, Query()], database: Database) -> Response:
    """Say which version a wish stands for, and why."""
    return database.answer(_resolution(database, parameters.library, parameters.version))


def _search(arguments: SearchParameters | SearchBody, database: Database) -> Response:
    found = database.search(MODES[arguments.mode], arguments.query, **arguments.arguments())
    is_full = len(found.rows) == arguments.limit
    return database.answer(
        {
            "hits": found.rows,
            "search_id": found.search_id,
            "next": found.rows[-1]["cursor"] if is_full else None,
            "notices": found.notices,
            "resolved": _resolved(arguments, database),
        }
    )


def _context(arguments: ContextParameters | ContextBody, database: Database) -> Response:
    made = database.search(Search.context, arguments.query, **arguments.arguments())
    return database.answer(
        {
            "text": "\n\n".join(row["block"] for row in made.rows),
            "tokens": sum(row["tokens"] for row in made.rows),
            "blocks": made.rows,
            "search_id": made.search_id,
            "notices": made.notices,
            "resolved": _resolved(arguments, database),
        }
    )


def _resolved(arguments: AnyQuery, database: Database) -> list[dict[str, Any]]:
    """The version of each library that was named, after a search that found it."""
    filters = arguments.filters or {}
    wanted = arguments.version if arguments.version is not None else filters.get("version")
    if wanted == "*":
        return []
    wish = None if wanted is None else str(wanted)
    named = arguments.library or filters.get("library") or []
    names = named if isinstance(named, list) else [named]
    return [_resolution(database, str(name), wish) for name in dict.fromkeys(names)]


def _resolution(database: Database, library: str, version: str | None) -> dict[str, Any]:
    [row] = database.call("resolve_version", library=library, wanted=version)
    return {"library": library.strip().lower(), **row}
