"""One request's dealings with the database: calls, what they took, and the answer."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from pydantic_core import to_json

from pgrag.app import App
from pgrag.db import Row
from pgrag.search import Result


class Exchange:
    """Calls functions for a route and times them. Made for one request, used by one thread."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._seconds = 0.0

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Rows of `pgrag.<function>`; see `Database.call`."""
        started = perf_counter()
        try:
            return self._app.database.call(function, **arguments)
        finally:
            self._seconds += perf_counter() - started

    def search(self, function: Callable[..., Result], query: str, **arguments: Any) -> Result:
        """Rows and notices of one of the methods of `Search`, such as `Search.context`."""
        started = perf_counter()
        try:
            return function(self._app.searching_as("rest"), query, **arguments)
        finally:
            self._seconds += perf_counter() - started

    def answer(self, content: Any) -> Response:
        """The content as JSON.

        Rows come from typed columns: they are written as they are, not validated once more.
        """
        return Response(
            to_json(content, inf_nan_mode="null"),
            headers={"Server-Timing": f"db;dur={1000 * self._seconds:.1f}"},
            media_type="application/json",
        )


async def _exchange(request: Request) -> Exchange:
    return Exchange(request.app.state.pgrag)


Database = Annotated[Exchange, Depends(_exchange)]
