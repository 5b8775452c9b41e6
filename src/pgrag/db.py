"""Connections, calls of SQL functions by name, and the one door from driver errors to ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.adapt import PyFormat
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool, PoolTimeout

from pgrag import errors

Row = dict[str, Any]

#: What the SQL functions raise, and what the code becomes here.
_ERRORS: dict[str, type[errors.PgragError]] = {
    "PGR01": errors.InvalidInput,
    "PGR02": errors.UnknownLibrary,
    "PGR03": errors.UnknownVersion,
    "PGR04": errors.UnknownPage,
    "PGR05": errors.UnknownDocument,
    "PGR06": errors.InvalidFilter,
    "PGR07": errors.InvalidCursor,
    "PGR08": errors.DimensionMismatch,
    "PGR09": errors.UnknownModel,
}
#: Undefined function, table, schema, column: the database is older than the code that calls it.
_OUTDATED = {"42883", "42P01", "3F000", "42703", "42704"}
#: Classes of SQLSTATE that say that a value, not the database, is at fault.
_BAD_VALUE = ("22", "23")


class Database:
    """A pool of connections to one database.

    `url` is a libpq connection string or URL. `hybrid_alpha`, if given, is the share of the vector
    arm for libraries and models that set none. `on_notice` gets what functions have to say
    besides their rows. Connections are made when first needed, and made again after a loss.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        hybrid_alpha: float | None = None,
        timeout: float = 10.0,
    ) -> None:
        self.url = url
        self._hybrid_alpha = hybrid_alpha
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            url,
            min_size=0,
            max_size=pool_size,
            timeout=timeout,
            reconnect_timeout=timeout,
            kwargs={"autocommit": True, "row_factory": dict_row, "application_name": "pgrag"},
            configure=self._configure,
            check=ConnectionPool.check_connection,
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
            with self._pool.connection() as connection:
                yield connection

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Calls `pgrag.<function>` with named arguments and returns its rows.

        An argument that is None is left out, so that the default of the SQL signature holds.
        """
        with self.connection() as connection:
            return call(connection, function, **arguments)

    def query(self, statement: str, arguments: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        """Runs one statement of this package and returns its rows."""
        with self.connection() as connection:
            return connection.execute(statement.encode(), arguments).fetchall()

    def _configure(self, connection: psycopg.Connection[Row]) -> None:
        connection.add_notice_handler(_note)
        if self._hybrid_alpha is not None:
            connection.execute(
                "select set_config('pgrag.hybrid_alpha', %s, false)", [str(self._hybrid_alpha)]
            )
        register_vector_types(connection)


def call(connection: psycopg.Connection[Row], function: str, /, **arguments: Any) -> list[Row]:
    """Calls `pgrag.<function>` on a connection; see `Database.call`."""
    given = {name: value for name, value in arguments.items() if value is not None}
    statement = sql.SQL("select * from {}({})").format(
        sql.Identifier("pgrag", function),
        sql.SQL(", ").join(
            sql.SQL("{} => {}").format(sql.Identifier(name), _placeholder(name, value))
            for name, value in given.items()
        ),
    )
    values = {
        name: Jsonb(value) if isinstance(value, dict) else value for name, value in given.items()
    }
    with translated_errors():
        return connection.execute(statement, values).fetchall()


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


def _placeholder(name: str, value: Any) -> sql.Placeholder:
    # Vectors by the thousand travel as bytes; as text they would take longer than to compute.
    is_vectors = isinstance(value, list) and value and isinstance(value[0], HalfVector)
    return sql.Placeholder(name, PyFormat.BINARY if is_vectors else PyFormat.AUTO)


def register_vector_types(connection: psycopg.Connection[Any]) -> None:
    """Teaches a connection pgvector's types, where the extension is installed."""
    if connection.execute("select to_regtype('vector') is not null as known").fetchone() in (
        {"known": True},
        (True,),
    ):
        register_vector(connection)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Lets errors of the driver leave as errors of this project."""
    try:
        yield
    except PoolTimeout as error:
        raise errors.DatabaseUnavailable(
            f"The database gave no connection in time: {error}.",
            hint="Check that it runs and that PGRAG_DATABASE_URL is right.",
        ) from error
    except psycopg.Error as error:
        raise _translated(error) from error


def _translated(error: psycopg.Error) -> errors.PgragError:
    state = error.sqlstate or ""
    message = error.diag.message_primary or str(error).strip() or type(error).__name__
    hint = error.diag.message_hint
    if state in _ERRORS:
        return _ERRORS[state](message, hint=hint)
    if state in _OUTDATED:
        return errors.SchemaOutdated(
            f"The database is not what this version of pgrag expects: {message}.",
            hint="Run `pgrag db upgrade`.",
        )
    if state == "57014":
        return errors.DatabaseError(
            f"The query was cancelled: {message}.",
            hint="Raise statement_timeout or narrow the search.",
        )
    if state[:2] in _BAD_VALUE or isinstance(error, psycopg.DataError):
        return errors.InvalidInput(f"{message[0].upper()}{message[1:]}.", hint=hint)
    if isinstance(error, psycopg.OperationalError):
        return errors.DatabaseUnavailable(
            f"The database cannot be used: {message}.",
            hint="Check that it runs and that PGRAG_DATABASE_URL is right.",
        )
    return errors.DatabaseError(f"The database refused: {message}.", hint=hint)
