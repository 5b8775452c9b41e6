"""Tables, lists and tasks from the properties of pages, and the properties."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import LibraryPath, NoParameters, PageId
from pgrag.api.models.page_queries import (
    PageProperties,
    PageQueryAnswer,
    PageQueryBody,
    PageQueryParameters,
    Properties,
    PropertiesParameters,
)
from pgrag.api.openapi import problems
from pgrag.db import collected_notices

router = APIRouter(tags=["libraries"], responses=problems(404))


@router.get("/libraries/{library:path}/query", response_model=PageQueryAnswer)
def query_pages(
    library: LibraryPath, parameters: Annotated[PageQueryParameters, Query()], database: Database
) -> Response:
    """Ask for pages or tasks by the properties of their front matter."""
    return _query_pages(library, parameters, database)


@router.post(
    "/libraries/{library:path}/query", response_model=PageQueryAnswer, responses=problems(400, 413)
)
def query_pages_with_body(
    library: LibraryPath, body: PageQueryBody, database: Database, _: NoParameters
) -> Response:
    """Ask for pages or tasks by their properties; also with a long query."""
    return _query_pages(library, body, database)


@router.get("/libraries/{library:path}/properties", response_model=Properties)
def properties(
    library: LibraryPath, parameters: Annotated[PropertiesParameters, Query()], database: Database
) -> Response:
    """List the properties of pages with their types as they are found."""
    [found] = database.call("resolve_version", library=library, wanted=parameters.version)
    rows = database.call(
        "properties",
        library=library,
        version=found["version"],
        example_count=parameters.examples,
    )
    return database.answer({"library": library, "version": found["version"], "properties": rows})


@router.get("/pages/{page_id}/properties", response_model=PageProperties)
def page_properties(page_id: PageId, database: Database, _: NoParameters) -> Response:
    """List the properties of one page with their types."""
    rows = database.call("page_properties", page_id=page_id)
    return database.answer(
        {"properties": [{name: row[name] for name in ("name", "type", "value")} for row in rows]}
    )


def _query_pages(
    library: str, asked: PageQueryParameters | PageQueryBody, database: Database
) -> Response:
    [found] = database.call("resolve_version", library=library, wanted=asked.version)
    with collected_notices() as notices:
        rows = database.call_within(
            asked.timeout_ms,
            "query_pages",
            query=asked.query,
            library=library,
            version=found["version"],
            match_count=asked.limit,
        )
    columns = rows[0]["columns"] if rows else []
    for row in rows:
        del row["columns"]
    return database.answer(
        {
            "library": library,
            "version": found["version"],
            "columns": columns,
            "rows": rows,
            "notices": notices,
        }
    )
