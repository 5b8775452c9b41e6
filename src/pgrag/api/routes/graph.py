"""The graph: what links to a page, what stands around it, and how two pages hang together."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import PageId
from pgrag.api.models.graph import (
    BacklinkParameters,
    Backlinks,
    EdgeParameters,
    Edges,
    EdgeSearchParameters,
    FoundEdges,
    Neighbourhood,
    NeighbourhoodParameters,
    PathParameters,
    RelatedPages,
    RelatedParameters,
    Way,
)
from pgrag.api.openapi import problems
from pgrag.results import Results

router = APIRouter(tags=["graph"], responses=problems(404))


@router.get("/pages/{page_id}/backlinks", response_model=Backlinks)
def backlinks(
    page_id: PageId, parameters: Annotated[BacklinkParameters, Query()], database: Database
) -> Response:
    """List who links to a page, where, and in which sentence."""
    rows = database.call(
        "backlinks", page_id=page_id, kinds=parameters.kind_names, match_count=parameters.limit
    )
    return database.answer({"backlinks": rows})


@router.get("/pages/{page_id}/related", response_model=RelatedPages)
def related(
    page_id: PageId, parameters: Annotated[RelatedParameters, Query()], database: Database
) -> Response:
    """List the pages that have most to do with a page, and why."""
    rows = database.call("related_pages", page_id=page_id, match_count=parameters.limit)
    return database.answer({"related": rows})


@router.get("/pages/{page_id}/neighbourhood", response_model=Neighbourhood)
def neighbourhood(
    page_id: PageId, parameters: Annotated[NeighbourhoodParameters, Query()], database: Database
) -> Response:
    """List the pages around a page, as far as links lead in so many steps."""
    rows = database.call(
        "neighbourhood",
        page_id=page_id,
        depth=parameters.depth,
        kinds=parameters.kind_names,
        direction=parameters.direction,
        fan_out=parameters.fan_out,
        total=parameters.total,
    )
    return database.answer({"neighbourhood": rows})


@router.get("/pages/{page_id}/edges", response_model=Edges)
def edges(
    page_id: PageId, parameters: Annotated[EdgeParameters, Query()], database: Database
) -> Response:
    """List the edges of a page, in whatever state they are."""
    [found] = database.call("page", page_id=page_id)
    rows = database.call(
        "edges",
        library=found["page"]["library"],
        page_id=page_id,
        direction=parameters.direction,
        kinds=parameters.kind_names,
        structure=parameters.structure,
        match_count=parameters.limit,
        after=parameters.after,
    )
    stored = [row["edge_id"] for row in rows if row["edge_id"] is not None]
    is_full = len(stored) == parameters.limit
    return database.answer({"edges": rows, "next": stored[-1] if is_full else None})


@router.get("/path", response_model=Way)
def path(parameters: Annotated[PathParameters, Query()], database: Database) -> Response:
    """Find a shortest way from a page to another along links."""
    rows = database.call(
        "shortest_path",
        from_page=parameters.from_page,
        to_page=parameters.to_page,
        max_depth=parameters.max_depth,
        kinds=parameters.kind_names,
        direction=parameters.direction,
    )
    return database.answer({"path": rows})


@router.get("/edges/search", response_model=FoundEdges)
def search_edges(
    parameters: Annotated[EdgeSearchParameters, Query()], database: Database
) -> Response:
    """Find edges between pages by what their sentences say."""
    found = database.search(
        Results.edges,
        parameters.query,
        library=parameters.library,
        version=parameters.version,
        kinds=parameters.kind_names,
        min_score=parameters.min_score,
        match_count=parameters.limit,
    )
    return database.answer({"edges": found.rows, "notices": found.notices})
