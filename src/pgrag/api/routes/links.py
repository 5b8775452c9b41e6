"""Links of a library: where they lead, and which lead nowhere."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import LibraryPath
from pgrag.api.models.links import LinkParameters, Links
from pgrag.api.openapi import problems

router = APIRouter(tags=["libraries"], responses=problems(404))


@router.get("/libraries/{library:path}/links", response_model=Links)
def links(
    library: LibraryPath, parameters: Annotated[LinkParameters, Query()], database: Database
) -> Response:
    """List links with where they are written and where they lead."""
    [found] = database.call("resolve_version", library=library, wanted=parameters.version)
    rows = database.call(
        "links",
        library=library,
        version=found["version"],
        state=parameters.state,
        page=parameters.page,
        kind=parameters.kind,
        match_count=parameters.limit,
        after=parameters.after,
    )
    [progress] = database.call("link_progress", library=library, version=found["version"])
    last = "target_page_id" if parameters.state == "orphan" else "edge_id"
    return database.answer(
        {
            "library": library,
            "version": found["version"],
            "is_finished": progress["is_finished"],
            "unread_pages": progress["unread_pages"],
            "links": rows,
            "next": rows[-1][last] if len(rows) == parameters.limit else None,
        }
    )
