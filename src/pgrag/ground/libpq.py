"""A session of the database without psycopg, whose import takes longer than a search.

It calls the libpq that psycopg's wheel brings, and knows only what one search needs. `Unusual` says
that the driver is to be used: for errors, which it explains, behind a pooler, and where the library
is elsewhere.
"""

import ctypes
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import copy_context
from glob import glob
from threading import Event, Thread
from typing import Any, Self
from uuid import UUID

from pgrag.ground import notices, tree

Row = dict[str, Any]

_LIBRARIES = ("psycopg_binary.libs/libpq-*.so.5*", "psycopg_binary/.dylibs/libpq.5*.dylib")
_CONNECTED, _ROWS = 0, 2
#: The types real and double precision.
_FLOATS = {700, 701}
# Fields of a notice; see PQresultErrorField.
_SEVERITY, _SQLSTATE, _MESSAGE = ord("V"), ord("C"), ord("M")
#: Seconds that a request to cancel a statement may take.
_CANCEL_SECONDS = 1.0
#: What the driver sets for each transaction is as if nothing had been set for the session.
_STATE = """
select pg_backend_pid() as process, current_setting('role') as role,
    concat(current_setting('pgrag.caller', true), current_setting('pgrag.library_ids', true))
        as caller,
    (select max(a.version_num) from pgrag.alembic_version as a) as revision,
    (select max(f.digest) from pgrag.installed_functions as f) as functions
"""
_Receiver = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Unusual(Exception):
    """What happened is for the driver to handle."""


class Session:
    """A connection with `parameters` of libpq; a context manager. Raises `Unusual`, as each method
    does. An interrupt (Ctrl+C) ends each wait, and the running statement.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self._pq = _library()
        names, values = (
            [*map(_bytes, each), None] for each in zip(*parameters.items(), strict=True)
        )
        count = len(names)
        self._connection = ctypes.c_void_p(
            self._awaited(
                self._pq.PQconnectdbParams,
                (ctypes.c_char_p * count)(*names), (ctypes.c_char_p * count)(*values), 1,
            )
        )  # fmt: skip
        if self._pq.PQstatus(self._connection) != _CONNECTED:
            self._pq.PQfinish(self._connection)
            raise Unusual
        self._receiver = _Receiver(self._keep)
        self._pq.PQsetNoticeReceiver(self._connection, self._receiver, None)

    replicas = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # After an interrupt a statement may still run.
        if kind is None or issubclass(kind, Exception):
            self._pq.PQfinish(self._connection)

    def require_current(self) -> None:
        """Raise `Unusual` unless the schema is that of this package and no pooler is between."""
        [state] = self.query(_STATE)
        revisions = os.listdir(tree.resource("alembic") / "versions")
        head = max(name for name in revisions if name.endswith(".py")).removesuffix(".py")
        if state != {
            "process": self._pq.PQbackendPID(self._connection),
            "role": "none",
            "caller": "",
            "revision": head,
            "functions": tree.digest(tree.resource("sql")),
        }:
            raise Unusual

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Call `pgrag.<function>`, which returns rows; see `Database.call`."""
        given = {name: value for name, value in arguments.items() if value is not None}
        listed = ", ".join(f"{name} => ${nth}" for nth, name in enumerate(given, 1))
        return self._rows(f"select * from pgrag.{function}({listed})", given.values())

    def query(self, statement: str, arguments: Sequence[Any] = ()) -> list[Row]:
        """Run one statement; see `Database.query`."""
        for nth in range(1, len(arguments) + 1):
            statement = statement.replace("%s", f"${nth}", 1)
        return self._rows(statement, arguments)

    def _rows(self, statement: str, arguments: Iterable[Any]) -> list[Row]:
        """The rows as the server writes them in JSON: it knows the types. A whole number may be one
        of a column of others, so the columns follow for their types.
        """
        values = [*map(_sent, arguments)]
        result = ctypes.c_void_p(
            self._awaited(
                self._pq.PQexecParams, self._connection,
                _bytes(f"select row_to_json(r), r.* from ({statement}) as r"),
                len(values), None, (ctypes.c_char_p * len(values))(*values), None, None, 0,
            )
        )  # fmt: skip
        try:
            if self._pq.PQresultStatus(result) != _ROWS:
                raise Unusual
            numbers = [
                self._pq.PQfname(result, column).decode()
                for column in range(1, self._pq.PQnfields(result))
                if self._pq.PQftype(result, column) in _FLOATS
            ]
            rows = [
                json.loads(self._pq.PQgetvalue(result, nth, 0))
                for nth in range(self._pq.PQntuples(result))
            ]
            for row in rows:
                row |= {name: float(row[name]) for name in numbers if row[name] is not None}
            return rows
        finally:
            self._pq.PQclear(result)

    def _awaited(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function of libpq returns that may wait: Python hears no signal in it."""
        try:
            return _apart(copy_context().run, function, *arguments)
        except KeyboardInterrupt:
            if function is self._pq.PQexecParams:
                request = ctypes.c_void_p(self._pq.PQgetCancel(self._connection))
                text = ctypes.create_string_buffer(256)
                _apart(self._pq.PQcancel, request, text, len(text), seconds=_CANCEL_SECONDS)
            raise

    def _keep(self, _: Any, result: int) -> None:
        severity, sqlstate, message = (
            (self._pq.PQresultErrorField(ctypes.c_void_p(result), field) or b"").decode()
            for field in (_SEVERITY, _SQLSTATE, _MESSAGE)
        )
        notices.keep(severity, sqlstate, message)


def _apart(function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
    """What a function returns that is called in another thread; None after so many seconds."""
    returned: list[Any] = []
    is_done = Event()

    def call() -> None:
        returned.append(function(*arguments))
        is_done.set()

    Thread(target=call, daemon=True).start()
    return returned[0] if is_done.wait(seconds) else None


def _sent(value: Any) -> bytes:
    if isinstance(value, dict):
        return _bytes(json.dumps(value))
    if isinstance(value, str | int | float | UUID):
        return _bytes(str(value))
    raise Unusual


def _bytes(text: str) -> bytes:
    if "\0" in text:
        raise Unusual
    return text.encode()


def _library() -> ctypes.CDLL:
    found = (
        path for folder in sys.path for name in _LIBRARIES for path in glob(f"{folder}/{name}")
    )
    try:
        library = ctypes.CDLL(next(found))
    except (StopIteration, OSError):
        raise Unusual from None
    for name in ("PQconnectdbParams", "PQexecParams", "PQgetCancel"):
        getattr(library, name).restype = ctypes.c_void_p
    for name in ("PQgetvalue", "PQfname", "PQresultErrorField"):
        getattr(library, name).restype = ctypes.c_char_p
    return library
