"""What is made of hits: pages, counts, and many searches at once."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from pgrag.api.exchange import Database
from pgrag.api.models.arguments import NoParameters
from pgrag.api.models.queries import SearchBody
from pgrag.api.models.results import (
    BatchAnswer,
    BatchBody,
    FacetBody,
    FacetParameters,
    FacetsAnswer,
    PagesAnswer,
    PageSearchBody,
    PageSearchParameters,
)
from pgrag.api.openapi import problems
from pgrag.db import Row
from pgrag.results import Results

router = APIRouter(tags=["search"], responses=problems(404))

#: What makes one arm of `pgrag.search`.
_MODES: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "keyword": {"alpha": 0},
    "semantic": {"alpha": 1},
}


@router.get("/search/pages", response_model=PagesAnswer)
def search_pages(
    parameters: Annotated[PageSearchParameters, Query()], database: Database
) -> Response:
    """Find pages: one row each, with the passage that speaks for it."""
    return _pages(parameters, database)


@router.post("/search/pages", response_model=PagesAnswer, responses=problems(400, 413))
def search_pages_with_body(body: PageSearchBody, database: Database, _: NoParameters) -> Response:
    """Find pages; also with a vector of one's own."""
    return _pages(body, database)


@router.post("/search/batch", response_model=BatchAnswer, responses=problems(400, 413))
def search_batch(body: BatchBody, database: Database, _: NoParameters) -> Response:
    """Search for many queries at once; one that fails does not spoil the others."""
    found = database.search(
        Results.many,
        [query.query for query in body.queries],
        arguments=[_arguments(query) for query in body.queries],
    )
    rows = {
        number: list(group) for number, group in groupby(found.rows, itemgetter("query_number"))
    }
    answers = [
        _answered(query, rows.get(number, [])) for number, query in enumerate(body.queries, start=1)
    ]
    return database.answer({"answers": answers, "notices": found.notices})


@router.get("/facets", response_model=FacetsAnswer)
def facets(parameters: Annotated[FacetParameters, Query()], database: Database) -> Response:
    """Count what the pages of a search are, by library, version, topic, type, tag and language."""
    return _facets(parameters, database)


@router.post("/facets", response_model=FacetsAnswer, responses=problems(400, 413))
def facets_with_body(body: FacetBody, database: Database, _: NoParameters) -> Response:
    """Count what the pages of a search are; also with a vector of one's own."""
    return _facets(body, database)


def _pages(arguments: PageSearchParameters | PageSearchBody, database: Database) -> Response:
    found = database.search(Results.pages, arguments.query, **arguments.arguments())
    is_full = len(found.rows) == arguments.limit
    return database.answer(
        {
            "pages": found.rows,
            "search_id": found.search_id,
            "next": found.rows[-1]["cursor"] if is_full else None,
            "notices": found.notices,
        }
    )


def _facets(arguments: FacetParameters | FacetBody, database: Database) -> Response:
    found = database.search(Results.facets, arguments.query or "", **arguments.arguments())
    counted: dict[str, list[Row]] = {}
    for row in found.rows:
        counted.setdefault(row.pop("facet"), []).append(row)
    return database.answer({"facets": counted, "notices": found.notices})


def _arguments(query: SearchBody) -> dict[str, Any]:
    given = _MODES[query.mode] | query.arguments()
    return {name: given[name] for name in given if not name.startswith("rerank")}


def _answered(query: SearchBody, rows: list[Row]) -> dict[str, Any]:
    added = ("query_number", "query", "error_code", "error", "error_hint")
    failed = rows[0] if rows and rows[0]["error_code"] else None
    if failed:
        error = {
            "code": failed["error_code"],
            "detail": failed["error"],
            "hint": failed["error_hint"],
        }
        return {"query": query.query, "hits": [], "next": None, "error": error}
    hits = [{name: row[name] for name in row if name not in added} for row in rows]
    is_full = len(hits) == query.limit
    return {
        "query": query.query,
        "hits": hits,
        "next": hits[-1]["cursor"] if is_full else None,
        "error": None,
    }
