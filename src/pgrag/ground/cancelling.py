"""Cancelling of statements: another thread ends what runs for a caller who no longer waits."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

import psycopg

from pgrag.ground.errors import DatabaseError
from pgrag.ground.scoped import holding

R = TypeVar("R")

_CANCEL_SECONDS = 1.0
"""How long a request to cancel may take; without it the statement ends by its timeout."""


class Statements:
    """The running statements of one caller, so that another thread can cancel them.

    `is_cancelled`: the caller no longer waits.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._connections: list[psycopg.Connection[Any]] = []
        self.is_cancelled = False

    def run(self, function: Callable[[], R]) -> R:
        """Call a function; `cancel` ends its statements."""
        with holding(_statements, self):
            return function()

    def cancel(self) -> None:
        """End the running statement, and refuse further ones."""
        # Under the lock: a connection that is returned meanwhile may run a statement of others.
        with self._lock:
            self.is_cancelled = True
            for connection in self._connections:
                with suppress(psycopg.Error):
                    connection.cancel_safe(timeout=_CANCEL_SECONDS)


_statements: ContextVar[Statements | None] = ContextVar("statements", default=None)


@contextmanager
def cancellable(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """Let the statements on a connection be cancelled. Raises `DatabaseError` if they were."""
    statements = _statements.get()
    if statements is None:
        yield
        return
    with statements._lock:
        if statements.is_cancelled:
            raise DatabaseError("The caller no longer waits.")
        statements._connections.append(connection)
    try:
        yield
    finally:
        with statements._lock:
            statements._connections.remove(connection)


def is_abandoned() -> bool:
    """Whether the caller of this thread's work no longer waits."""
    statements = _statements.get()
    return statements is not None and statements.is_cancelled


def uncancelled() -> AbstractContextManager[object]:
    """Within the block statements run to their end, even if their caller no longer waits."""
    return holding(_statements, None)
