"""One request's dealings with the database: calls, what they took, and the answer."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from pydantic_core import to_json

from pgrag.answer.tools import Toolbox
from pgrag.app import App
from pgrag.db import Row
from pgrag.evaluation import runs
from pgrag.evaluation.configurations import Configuration
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

    def call_in_time(self, function: str, /, *, timeout_ms: int, **arguments: Any) -> list[Row]:
        """The same, ended after a time; see `Database.call_in_time`."""
        started = perf_counter()
        try:
            return self._app.database.call_in_time(function, timeout_ms=timeout_ms, **arguments)
        finally:
            self._seconds += perf_counter() - started

    def call_within(self, milliseconds: int, function: str, /, **arguments: Any) -> list[Row]:
        """The same, ended after a time; see `Database.call_within`."""
        started = perf_counter()
        try:
            return self._app.database.call_within(milliseconds, function, **arguments)
        finally:
            self._seconds += perf_counter() - started

    def search(
        self, function: Callable[..., Result], query: str | list[str], **arguments: Any
    ) -> Result:
        """Rows and notices of one of the methods of `Search`, such as `Search.context`."""
        started = perf_counter()
        try:
            return function(self._app.searching_as("rest"), query, **arguments)
        finally:
            self._seconds += perf_counter() - started

    def toolbox(self, **scope: Any) -> Toolbox:
        """The tools of a language model; see `Toolbox`."""
        return Toolbox(self._app.searching_as("rest"), self.call, **scope)

    def evaluation_set(self, name: str) -> Row:
        """The set of this name. Raises UnknownEvaluationSet."""
        return runs.find_set(self._app, name)

    def evaluation_run(self, run_id: int) -> Row:
        """The run of this id. Raises UnknownEvaluationRun."""
        self.call("evaluation_metrics", run_id=run_id, metrics=["mrr@1"])
        [row] = [row for row in self.call("evaluation_runs") if row["run_id"] == run_id]
        return row

    def evaluate(self, name: str, config: str, configuration: dict[str, Any] | None) -> int:
        """Run a set; the id of the run. Without a configuration it is the built-in one."""
        started = perf_counter()
        try:
            if configuration is None:
                [chosen] = runs.chosen(self._app, [config])
            else:
                chosen = Configuration(config, configuration)
            return int(runs.run(self._app, name, chosen)["run"])
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
