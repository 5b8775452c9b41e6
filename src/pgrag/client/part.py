"""What the parts of the client share: calls of SQL functions, with rows as values."""

from typing import Any, TypeVar

from pgrag.ground.calls import Row
from pgrag.ground.values.base import Value
from pgrag.service.app import App

V = TypeVar("V", bound=Value)


class Part:
    """A part of the client, over an application."""

    def __init__(self, app: App) -> None:
        self._app = app

    def _call(self, function: str, **arguments: Any) -> list[Row]:
        return self._app.database.call(function, **arguments)

    def _rows(self, value: type[V], function: str, **arguments: Any) -> list[V]:
        return [value.from_row(row) for row in self._call(function, **arguments)]

    def _row(self, value: type[V], function: str, **arguments: Any) -> V:
        [row] = self._rows(value, function, **arguments)
        return row
