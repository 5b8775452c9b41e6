"""Connections, and calls of SQL functions by name."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from selectors import EVENT_READ, DefaultSelector
from time import monotonic
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.adapt import PyFormat
from psycopg.rows import dict_row, tuple_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool, PoolTimeout

from pgrag import errors
from pgrag.driver_errors import one_sentence, translated_errors

Row = dict[str, Any]

_GRACE_MS = 500
"""What a function that looks at the clock itself gets, to say more than that it was cancelled."""

_PROMPT = 1.0
"""Seconds that making a connection usually takes at most."""

_TRUSTED = 5.0
"""Seconds for which a connection is not asked whether it lives, if its server has not hung up."""

# The pool would tell the terminal what is raised here.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


class _Connection(psycopg.Connection[Row]):
    """A connection of the pool, which knows when it was given back."""

    used_at = -_TRUSTED


def _check(connection: _Connection) -> None:
    """Raise where a connection is dead.

    A server that ends a connection says so, which is seen without asking; only one that has been
    idle for a while may have been lost on the way.
    """
    with DefaultSelector() as selector:
        selector.register(connection, EVENT_READ)
        is_quiet = not selector.select(0)
    if not is_quiet or monotonic() - connection.used_at >= _TRUSTED:
        ConnectionPool.check_connection(connection)


class Database:
    """A pool of connections to one database.

    `url` is a libpq connection string or URL. `hybrid_alpha`, if given, is the share of the vector
    arm for libraries and models that set none. Connections are made when first needed, and made
    again after a loss. `timeout`: seconds to wait for one while all `pool_size` are in use.
    `revive` is called when the server does not answer; where it says True, it does again.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        hybrid_alpha: float | None = None,
        timeout: float = 10.0,
        revive: Callable[[], bool] | None = None,
    ) -> None:
        self.url = url
        self._revive = revive
        self._hybrid_alpha = hybrid_alpha
        self._timeout = timeout
        self._pool: ConnectionPool[_Connection] = ConnectionPool(
            url,
            connection_class=_Connection,
            min_size=0,
            max_size=pool_size,
            reconnect_timeout=0,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "application_name": "pgrag",
                "client_encoding": "UTF8",
                "connect_timeout": int(timeout),
            },
            configure=self._configure,
            open=False,
        )

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes every connection."""
        self._pool.close()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Row]]:
        """Lends a connection in autocommit mode; driver errors leave as errors of this project."""
        with translated_errors():
            self._pool.open()
            connection = self._borrowed()
            try:
                with connection:
                    yield connection
            finally:
                connection.used_at = monotonic()
                self._pool.putconn(connection)

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Calls `pgrag.<function>` with named arguments and returns its rows.

        An argument that is None is left out, so that the default of the SQL signature holds.
        """
        with self.connection() as connection:
            return call(connection, function, **arguments)

    def call_in_time(self, function: str, /, *, timeout_ms: int, **arguments: Any) -> list[Row]:
        """Calls a function that keeps to `timeout_ms` where it can; the server ends it elsewhere.

        A single pattern on a single text may take longer than a lifetime, and asks no clock.
        Raises `TimeExceeded`.
        """
        return self.call_within(
            timeout_ms + _GRACE_MS, function, timeout_ms=timeout_ms, **arguments
        )

    def call_within(self, milliseconds: int, function: str, /, **arguments: Any) -> list[Row]:
        """Calls a function that the server ends after a time; raises `TimeExceeded` then."""
        with self.connection() as connection, connection.transaction():
            connection.execute(
                "select set_config('statement_timeout', %s, true)", [f"{milliseconds}ms"]
            )
            return call(connection, function, **arguments)

    def stream(self, function: str, /, **arguments: Any) -> Iterator[Row]:
        """Yields the rows of `pgrag.<function>` one by one; only some are in memory at a time."""
        with self.connection() as connection, connection.transaction():
            statement, values = _statement(function, _given(arguments))
            with connection.cursor(name="stream") as cursor:
                cursor.itersize = 100
                yield from cursor.execute(statement, values)

    def query(self, statement: str, arguments: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        """Runs one statement of this package and returns its rows."""
        with self.connection() as connection:
            return connection.execute(statement.encode(), arguments).fetchall()

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        """Holds an advisory lock while it lasts; False where another session holds it.

        On a connection of its own, so that long work does not keep one of the pool.
        """
        with (
            translated_errors(),
            psycopg.connect(
                self.url, autocommit=True, connect_timeout=int(self._timeout), row_factory=tuple_row
            ) as connection,
        ):
            statement = "select pg_try_advisory_lock(hashtextextended(%s, 0))"
            row = connection.execute(statement, [name]).fetchone()
            yield row is not None and bool(row[0])

    def _borrowed(self) -> _Connection:
        try:
            return self._living(_PROMPT)
        except PoolTimeout:
            # All in use, or none to be had? Only an attempt of our own says which, and why.
            try:
                psycopg.connect(self.url, connect_timeout=int(self._timeout)).close()
            except psycopg.OperationalError:
                if self._revive is None or not self._revive():
                    raise
        try:
            return self._living(self._timeout)
        except PoolTimeout as error:
            raise errors.DatabaseUnavailable(
                f"All {self._pool.max_size} connections have been in use for"
                f" {self._timeout + _PROMPT:.0f} s.",
                hint="Raise PGRAG_POOL_SIZE.",
            ) from error

    def _living(self, timeout: float) -> _Connection:
        """A connection that lives; raises `PoolTimeout` where there is none in so many seconds.

        The dead are thrown away at once, however many a restart of the server has left: the
        pool's own check would wait longer after each of them.
        """
        deadline = monotonic() + timeout
        while (left := deadline - monotonic()) > 0:
            connection = self._pool.getconn(timeout=left)
            try:
                _check(connection)
            except BaseException as error:
                connection.close()
                self._pool.putconn(connection)
                if not isinstance(error, psycopg.Error | OSError):
                    raise
            else:
                return connection
        raise PoolTimeout(f"no living connection after {timeout:.2f} s")

    def _configure(self, connection: psycopg.Connection[Row]) -> None:
        connection.add_notice_handler(_note)
        if self._hybrid_alpha is not None:
            connection.execute(
                "select set_config('pgrag.hybrid_alpha', %s, false)", [str(self._hybrid_alpha)]
            )
        register_vector_types(connection)


def call(connection: psycopg.Connection[Row], function: str, /, **arguments: Any) -> list[Row]:
    """Calls `pgrag.<function>` on a connection; see `Database.call`."""
    given = _given(arguments)
    statement, values = _statement(function, given)
    with translated_errors():
        try:
            return connection.execute(statement, values).fetchall()
        except psycopg.errors.UndefinedFunction as error:
            if _exists(connection, function, list(given)) and error.diag.context is None:
                raise errors.InvalidInput(
                    f"A value has another type than pgrag.{function} takes:"
                    f" {one_sentence(error.diag.message_primary or '')}"
                ) from error
            raise


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _statement(function: str, given: dict[str, Any]) -> tuple[bytes, list[Any]]:
    """Compose the call of a function with named arguments, and its values."""
    statement = _composed(function, tuple((name, _format(value)) for name, value in given.items()))
    values = [Jsonb(value) if _is_document(value) else value for value in given.values()]
    return statement, values


@lru_cache(maxsize=1024)
def _composed(function: str, arguments: tuple[tuple[str, PyFormat], ...]) -> bytes:
    return (
        sql.SQL("select * from {}({})")
        .format(
            sql.Identifier("pgrag", function),
            sql.SQL(", ").join(
                sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(format=format_))
                for name, format_ in arguments
            ),
        )
        .as_bytes()
    )


def _exists(connection: psycopg.Connection[Row], function: str, names: list[str]) -> bool:
    """Whether the database has a function with arguments of these names, of whatever types."""
    if connection.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
        return False
    found = connection.execute(
        "select from pg_proc as p where p.pronamespace = to_regnamespace('pgrag')"
        " and p.proname = %s and p.proargnames @> %s::text[]",
        [function, names],
    )
    return found.rowcount > 0


_notices: ContextVar[list[str] | None] = ContextVar("notices", default=None)


@contextmanager
def collected_notices() -> Iterator[list[str]]:
    """Collects what functions say besides their rows (RAISE NOTICE) while it lasts."""
    notices: list[str] = []
    token = _notices.set(notices)
    try:
        yield notices
    finally:
        _notices.reset(token)


def _note(diagnostic: psycopg.errors.Diagnostic) -> None:
    notices = _notices.get()
    if notices is not None and diagnostic.severity_nonlocalized == "NOTICE":
        notices.append(diagnostic.message_primary or "")


def _is_document(value: Any) -> bool:
    """Whether a value goes as JSON: an object, or a list of them."""
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    )


def _format(value: Any) -> PyFormat:
    # Vectors by the thousand travel as bytes; as text they would take longer than to compute.
    is_vectors = isinstance(value, list) and value and isinstance(value[0], HalfVector)
    return PyFormat.BINARY if is_vectors else PyFormat.AUTO


def register_vector_types(connection: psycopg.Connection[Any]) -> None:
    """Teaches a connection pgvector's types, where the extension is installed, in any schema."""
    with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(
            "select set_config('search_path', quote_ident(n.nspname), true)"
            " from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace"
            " where e.extname = 'vector'"
        )
        if cursor.fetchone():
            register_vector(connection)
