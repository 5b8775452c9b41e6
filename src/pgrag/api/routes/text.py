"""`/v1/libraries/{library}/text` and `/v1/libraries/{library}/health`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import LibraryPath
from pgrag.api.models.text import HealthParameters, LibraryHealth, TextLines, TextParameters
from pgrag.api.openapi import problems

router = APIRouter(tags=["libraries"], responses=problems(404))


@router.get("/libraries/{library:path}/text", response_model=TextLines)
def text(
    library: LibraryPath, parameters: Annotated[TextParameters, Query()], database: Database
) -> Response:
    """List the lines of the sources that hold a text, as ripgrep does."""
    [found] = database.call("resolve_version", library=library, wanted=parameters.version)
    rows = database.call_in_time(
        "search_text",
        timeout_ms=parameters.timeout_ms,
        pattern=parameters.pattern,
        library=library,
        version=found["version"],
        mode=parameters.mode,
        case_mode=parameters.case,
        context=parameters.context,
        path=parameters.path,
        match_count=parameters.limit,
        after=parameters.after,
    )
    return database.answer(
        {
            "library": library,
            "version": found["version"],
            "lines": rows,
            "next": rows[-1]["cursor"] if len(rows) == parameters.limit else None,
        }
    )


@router.get("/libraries/{library:path}/health", response_model=LibraryHealth)
def health(
    library: LibraryPath, parameters: Annotated[HealthParameters, Query()], database: Database
) -> Response:
    """Check a library: its ids, links, vectors and statistics. Reads everything, mends nothing."""
    rows = database.call(
        "check_library",
        library=library,
        version=parameters.version,
        checks=parameters.checks.split(",") if parameters.checks else None,
    )
    return database.answer({"library": library, "healthy": not rows, "findings": rows})
