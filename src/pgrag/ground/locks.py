"""Advisory locks of a run, all on one connection, outside of the pool."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from typing import Any

import psycopg

from pgrag.ground.errors import LeaseLost

_ENDLESS = """
select set_config(s.name, '0', true)
from pg_settings as s
where s.name in ('idle_in_transaction_session_timeout', 'transaction_timeout')
"""
_TRY = """
select l.name
from unnest(%s::text[]) with ordinality as l (name, nth)
where not case
        when l.nth = 1 then pg_try_advisory_xact_lock(hashtextextended(l.name, 0))
        else pg_try_advisory_xact_lock_shared(hashtextextended(l.name, 0))
    end
limit 1
"""


class Locks:
    """The locks of one run. They are those of a transaction, because a pooler leaves a transaction
    on one session of the server; between its statements it has no snapshot, so it delays no vacuum.
    A savepoint before each lets it go without the ones before it. Thread-safe.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]]) -> None:
        self._connect = connect
        self._connection: psycopg.Connection[Any] | None = None
        self._lock = Lock()
        #: The names of the locks, in the order in which they were taken.
        self._held: dict[object, list[str]] = {}
        self._released: set[object] = set()

    @contextmanager
    def held(self, name: str, *shared: str) -> Iterator[str | None]:
        """Hold a lock, and share others; yields the first that another session prevents."""
        taken = object()
        with self._lock:
            try:
                prevented = self._take(taken, [name, *shared])
            except BaseException:
                self._held.pop(taken, None)
                self._disconnect()
                raise
        try:
            yield prevented
        finally:
            with self._lock:
                self._release(taken)

    def keep(self) -> None:
        """Take all again if their connection was lost. Raises `LeaseLost` if another session has
        one by now.
        """
        with self._lock:
            if self._held:
                self._connected()

    def _take(self, taken: object, names: list[str]) -> str | None:
        # The server would give a session the same lock twice.
        for key, (exclusive, *shared) in self._held.items():
            if key not in self._released:
                for name in {exclusive} & {*names} or {*shared} & {names[0]}:
                    return name
        prevented = _try(self._connected(), len(self._held), names)
        self._held[taken] = names
        return prevented

    def _connected(self) -> psycopg.Connection[Any]:
        """The connection, which holds all that was taken."""
        if self._connection is not None:
            try:
                self._connection.execute("select")
            except psycopg.OperationalError:
                self._disconnect()
            else:
                return self._connection
        connection = self._connect()
        try:
            connection.execute(_ENDLESS)
            for nth, (key, names) in enumerate(self._held.items()):
                _require(_try(connection, nth, [] if key in self._released else names))
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _release(self, taken: object) -> None:
        """Let a lock go. One that others were taken after goes with them."""
        if taken not in self._held:
            return
        self._released.add(taken)
        before = len(self._held)
        while self._held and (last := next(reversed(self._held))) in self._released:
            self._released.remove(last)
            del self._held[last]
        if not self._held:
            self._end()
        elif len(self._held) < before and self._connection is not None:
            # A lost connection holds nothing, until `keep` takes again what is left.
            with suppress(psycopg.OperationalError):
                self._connection.execute(f"rollback to savepoint s{len(self._held)}".encode())

    def _end(self) -> None:
        self._held.clear()
        self._released.clear()
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            # The server would notice the closed connection later than a next run may begin.
            with suppress(psycopg.OperationalError):
                self._connection.rollback()
            self._connection.close()
            self._connection = None


def _try(connection: psycopg.Connection[Any], nth: int, names: list[str]) -> str | None:
    connection.execute(f"savepoint s{nth}".encode())
    # Values in the text of the statement: otherwise its portal keeps a snapshot until the next.
    with psycopg.ClientCursor(connection) as cursor:
        row = cursor.execute(_TRY, [names]).fetchone()
    return None if row is None else row[0]


def _require(prevented: str | None) -> None:
    if prevented is not None:
        raise LeaseLost(
            f"The connection that held {prevented!r} was lost, and another session has it now.",
            hint="Run again later: what is stored stays.",
        )
