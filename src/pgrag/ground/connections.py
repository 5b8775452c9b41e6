"""The pool of connections to a database."""

import logging
import selectors
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from functools import partial
from threading import Lock
from time import monotonic, sleep
from typing import Any, Protocol, Self

import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.abc import PQGen
from psycopg.generators import send
from psycopg.rows import dict_row, tuple_row
from psycopg_pool import ConnectionPool, PoolTimeout

from pgrag.ground import callers, notices, waits
from pgrag.ground.calls import Row, asked, composed
from pgrag.ground.cancelling import cancellable
from pgrag.ground.driver_errors import translated_errors
from pgrag.ground.errors import DatabaseUnavailable
from pgrag.ground.identity import (
    afresh,
    identity,
    is_pooled,
    limits,
    of_service,
    own_settings,
    setting,
)
from pgrag.ground.locks import Locks
from pgrag.ground.requests import current_request

_GRACE_MS = 500
"""Grace beyond its own limit, so that a function can report more than "cancelled"."""

_PROMPT = 1.0
"""Seconds within which a connection is usually established."""

_TRUSTED = 5.0
"""Seconds after use within which an open socket is enough to trust a connection."""

_AWAIT = b"select _pgrag.await_replay(%s::pg_catalog.pg_lsn, %s)"

# Unlike the default selector, it makes no descriptor of its own; Windows has only the latter.
_Selector = getattr(selectors, "PollSelector", selectors.DefaultSelector)

log = logging.getLogger(__name__)

# Without a handler the pool's warnings reach the terminal; this module raises them as errors.
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class Reading(Protocol):
    """What answers for a database the calls that only read; see `replicas.Replicas`."""

    @property
    def databases(self) -> Sequence["Database"]:
        """The servers that are read."""

    def asking(self, function: str, primary: Callable[..., list[Row]]) -> Callable[..., list[Row]]:
        """What asks for the rows of a function."""

    def position(self, primary: Callable[..., list[Row]]) -> str | None:
        """Where the log of the primary is after what the caller has written."""

    def close(self) -> None:
        """Close every connection."""


class _Pipeline(psycopg.Pipeline):
    """One that ends with its sync. That of psycopg then asks for a flush, too: if it comes after
    the reply, a pooler takes it for a new transaction, and keeps a session for it that never ends.
    """

    def _exit_gen(self) -> PQGen[None]:
        try:
            self._enqueue_sync()
            yield from self._communicate_gen()
        finally:
            # What a socket did not take at once is still to be sent.
            yield from send(self.pgconn)
            yield from self._fetch_gen(flush=False)


class _Connection(psycopg.Connection[Row]):
    """A pooled connection that remembers when it was returned, and its `own_settings`; `first` is
    what each transaction begins with.
    """

    used_at = -_TRUSTED
    first: tuple[bytes, ...] = ()
    own: dict[str, str]


def _check(connection: _Connection) -> None:
    """Raise if a connection is dead.

    A server that closes a connection makes its socket readable, so no query is needed. Only a
    connection that was idle for a while can be lost without a trace.
    """
    with _Selector() as selector:
        selector.register(connection, selectors.EVENT_READ)
        is_quiet = not selector.select(0)
    if not is_quiet or monotonic() - connection.used_at >= _TRUSTED:
        ConnectionPool.check_connection(connection)


class Database:
    """A pool of connections to one database.

    `url` is a libpq connection string or URL. `hybrid_alpha` is the share of the vector retriever
    for libraries and models that set none. Connections are opened on demand and replaced when
    lost. `timeout` is how many seconds to wait for one while all `pool_size` are in use. `revive`
    is called when the server does not answer, and returns True if it restarted the server.
    `replicas` answer the calls of functions that only read.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 10,
        hybrid_alpha: float | None = None,
        timeout: float = 10.0,
        revive: Callable[[], bool] | None = None,
        replicas: "Reading | None" = None,
    ) -> None:
        self.url = url
        self.replicas = replicas
        self._revive = revive
        self._hybrid_alpha = hybrid_alpha
        self._timeout = timeout
        self._lock = Lock()
        self._pool = self._new_pool(pool_size)
        self._further_pools: dict[tuple[str, bool], ConnectionPool[_Connection]] = {}
        self._locks: ContextVar[Locks] = ContextVar("locks")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        for pool in self.pools().values():
            pool.close()
        if self.replicas is not None:
            self.replicas.close()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Row]]:
        """Lend a connection in a transaction in the name of the caller, which ends with the block;
        driver errors become `pgrag.ground.errors`.
        """
        with translated_errors(), self._lent() as connection, connection.transaction():
            for statement in connection.first:
                connection.execute(statement)
            connection.execute(*identity(connection.own))
            yield connection

    def query(
        self, statement: str | bytes, arguments: Sequence[Any] | dict[str, Any] = ()
    ) -> list[Row]:
        """Run one statement of this package in a transaction of its own; return its rows."""
        with translated_errors():
            return self._asked(statement, arguments)

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Call `pgrag.<function>` with named arguments and return its rows.

        An argument that is None is omitted, so the default of the SQL signature applies.
        """
        with translated_errors():
            return asked(self._asking(function), function, arguments)

    def position(self) -> str | None:
        """Where the log of the primary is after what this caller has written: a read that gets it
        sees that; None if the caller has written nothing, or there are no replicas.
        """
        if self.replicas is None:
            return None
        with translated_errors():
            return self.replicas.position(self._asked)

    def call_last(self, function: str, /, **arguments: Any) -> list[Row]:
        """Call the last function of a request, which ends in the same transaction; not on a
        standby, which writes nothing.
        """
        if self.replicas is not None:
            return self.call(function, **arguments)
        with translated_errors():
            return asked(partial(self._asked, is_last=True), function, arguments)

    def call_in_time(self, function: str, /, *, timeout_ms: int, **arguments: Any) -> list[Row]:
        """Call a function that checks `timeout_ms` itself, with `statement_timeout` as fallback.

        One regular expression on one text can run practically for ever, without checking a clock.
        Raises `TimeExceeded`.
        """
        if (limit := callers.statement_limit()) is not None:
            timeout_ms = min(timeout_ms, max(1, limit - _GRACE_MS))
        return self.call_within(
            timeout_ms + _GRACE_MS, function, timeout_ms=timeout_ms, **arguments
        )

    def call_within(self, milliseconds: int, function: str, /, **arguments: Any) -> list[Row]:
        """Call a function under a statement timeout; raises `TimeExceeded` when it expires.

        The timeout of the class of work or of the caller, if shorter, holds.
        """
        with translated_errors():
            ask = partial(self._asking(function), milliseconds=milliseconds)
            return asked(ask, function, arguments)

    def stream(self, function: str, /, *, batch: int = 100, **arguments: Any) -> Iterator[Row]:
        """Yield the rows of `pgrag.<function>` one by one, `batch` in memory at once."""
        with self.connection() as connection:
            _, statement, values = composed(function, arguments)
            with connection.cursor(name="stream") as cursor:
                cursor.itersize = batch
                yield from cursor.execute(statement, values)

    def run_alone(self, *statements: str, **settings: str) -> None:
        """Run statements that a transaction may not contain, such as VACUUM, with the rights of the
        service, on a connection of their own. Behind a pooler they run with the server's settings:
        what is set there reaches other sessions.
        """
        with translated_errors(), self._own_connection(autocommit=True) as connection:
            if not is_pooled(connection):
                given = limits(own_settings(connection)) | settings
                connection.execute(*setting(given, is_local=False))
            for statement in statements:
                connection.execute(statement.encode())

    @contextmanager
    def lock(self, name: str, *shared: str) -> Iterator[str | None]:
        """Hold an advisory lock, and share others; yields the first that another session prevents.

        All locks of a thread are on one connection of their own, so that long work does not occupy
        one of the pool; one that is not the last may be let go together with those after it.
        """
        locks = self._locks.get(None)
        if locks is None:
            self._locks.set(locks := Locks(self._own_connection))
        with translated_errors(), locks.held(name, *shared) as prevented:
            yield prevented

    def keep_locks(self) -> None:
        """Take the locks of this thread again if their connection was lost. Raises `LeaseLost` if
        another session has one by now.
        """
        with translated_errors():
            if (locks := self._locks.get(None)) is not None:
                locks.keep()

    @contextmanager
    def listening(self, channel: str) -> Iterator[Callable[[float], bool]]:
        """Listen to notifications within the block.

        Yields a function that waits some seconds for a notification, and returns whether one came.
        A pooler passes none on; behind one there may always be one.
        """
        with translated_errors(), self._own_connection(autocommit=True) as connection:
            if not is_pooled(connection):
                connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
                yield lambda seconds: any(
                    True for _ in connection.notifies(timeout=seconds, stop_after=1)
                )
                return
        yield _always

    def _own_connection(self, *, autocommit: bool = False) -> psycopg.Connection[Any]:
        name = callers.current_caller().application
        made = partial(connect, self.url, autocommit=autocommit, application_name=name)
        try:
            return made()
        except psycopg.OperationalError:
            if self._revive is None or not self._revive():
                raise
        return made()

    @contextmanager
    def _lent(self) -> Iterator[_Connection]:
        pool = self._pool_for(callers.current_work(), callers.current_caller())
        pool.open()
        connection = self._borrowed(pool)
        try:
            with cancellable(connection):
                yield connection
        finally:
            connection.used_at = monotonic()
            pool.putconn(connection)

    def _asking(self, function: str) -> Callable[..., list[Row]]:
        replicas = self.replicas
        return self._asked if replicas is None else replicas.asking(function, self._asked)

    def _asked(
        self,
        statement: str | bytes,
        arguments: Sequence[Any] | dict[str, Any],
        milliseconds: int | None = None,
        after: tuple[str, timedelta] | None = None,
        *,
        is_last: bool = False,
    ) -> list[Row]:
        """The rows of a statement, which is sent together with the identity of its caller, and the
        `last` one of a request with what ends it: what arrives in one pipeline is one transaction,
        and costs one round trip. A standby answers `after` it has followed the log to a position,
        for which it waits so long.
        """
        request = current_request() if is_last else None
        ended = None
        sent = statement.encode() if isinstance(statement, str) else statement
        with self._lent() as connection:
            connection._pipeline = _Pipeline(connection)
            try:
                with connection.pipeline():
                    for first in connection.first:
                        connection.execute(first)
                    if after is not None:
                        connection.execute(_AWAIT, after)
                    connection.execute(*identity(connection.own, milliseconds))
                    cursor = connection.execute(sent, arguments)
                    if request is not None and request.ending is not None:
                        connection.execute(*of_service(connection.own))
                        ended = connection.execute(*request.ending())
            except psycopg.Error as error:
                # psycopg takes a statement for prepared even if its preparation failed, or was
                # skipped after a failure before it: from then on each use would fail. What a
                # function refuses was prepared, but not what ends a request behind it.
                is_ended = request is not None and request.ending is not None
                if is_ended or not (error.sqlstate or "").startswith("PGR"):
                    connection._prepared.clear()
                raise
            if request is not None and ended is not None:
                [row] = ended.fetchall()
                request.ending = None if row["has_ended"] else request.ending
            return cursor.fetchall()

    def _new_pool(self, size: int) -> ConnectionPool[_Connection]:
        return ConnectionPool(
            waits.bounded(self.url),
            connection_class=_Connection,
            min_size=0,
            max_size=size,
            reconnect_timeout=0,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "application_name": "pgrag",
                "client_encoding": "UTF8",
            },
            configure=self._configure,
            open=False,
        )

    def pools(self) -> dict[tuple[str, bool], ConnectionPool[Any]]:
        """The pools by the class of work, "" for all without one of their own, and by whether their
        callers have a role of their own.
        """
        with self._lock:
            return {("", False): self._pool, **self._further_pools}

    def _pool_for(
        self, work: callers.Work | None, caller: callers.Caller
    ) -> ConnectionPool[_Connection]:
        """The pool of a class of work, and in it of callers with or without a role of their own.

        A session's cached plans must not serve callers both with and without row-level security.
        """
        own = work and work.connections
        is_restricted = caller.role is not None
        if own is None and not is_restricted:
            return self._pool
        kind = (work.name if work and own else "", is_restricted)
        with self._lock:
            if kind not in self._further_pools:
                self._further_pools[kind] = self._new_pool(own or self._pool.max_size)
            return self._further_pools[kind]

    def _borrowed(self, pool: ConnectionPool[_Connection]) -> _Connection:
        try:
            return self._living(pool, _PROMPT)
        except PoolTimeout:
            # Pool exhausted, server down, or none of its sessions can be made ready? Only a direct
            # attempt tells which, and why.
            try:
                with connect(self.url) as direct:
                    own_settings(direct)
                    register_vector_types(direct)
            except psycopg.OperationalError:
                if self._revive is None or not self._revive():
                    raise
        try:
            return self._living(pool, self._timeout)
        except PoolTimeout as error:
            raise DatabaseUnavailable(
                f"All {pool.max_size} connections have been in use for"
                f" {self._timeout + _PROMPT:.0f} s.",
                hint="Raise PGRAG_POOL_SIZE.",
            ) from error

    def _living(self, pool: ConnectionPool[_Connection], timeout: float) -> _Connection:
        """A live connection; raises `PoolTimeout` if there is none within `timeout` seconds.

        Dead connections are discarded at once, however many a server restart has left: the
        pool's own check would back off longer after each of them.
        """
        deadline = monotonic() + timeout
        while (left := deadline - monotonic()) > 0:
            connection = pool.getconn(timeout=left)
            try:
                _check(connection)
            except BaseException as error:
                connection.close()
                pool.putconn(connection)
                if not isinstance(error, psycopg.Error | OSError):
                    raise
            else:
                return connection
        raise PoolTimeout(f"no living connection after {timeout:.2f} s")

    def _configure(self, connection: _Connection) -> None:
        connection.add_notice_handler(_note)
        if is_pooled(connection):
            # The session in which a statement is prepared is another one the next time.
            connection.prepare_threshold = None
            connection.first = afresh(connection)
        connection.own = own_settings(connection)
        if self._hybrid_alpha is not None:
            connection.own["pgrag.hybrid_alpha"] = str(self._hybrid_alpha)
        register_vector_types(connection)


def _always(seconds: float) -> bool:
    sleep(seconds)
    return True


def connect(url: str, **options: Any) -> psycopg.Connection[Any]:
    """Open a connection outside of a pool; its rows are tuples. It prepares no statements, it sends
    SQL as UTF-8 whatever PGCLIENTENCODING says, and its first transaction begins afresh.
    """
    with waits.told("Waiting for a connection to the database."):
        connection = psycopg.connect(
            waits.bounded(url), prepare_threshold=None, client_encoding="UTF8", **options
        )
    if not connection.autocommit:
        begin_afresh(connection)
    return connection


def begin_afresh(connection: psycopg.Connection[Any]) -> None:
    """Behind a pooler, begin a transaction without what others have set in the session."""
    if is_pooled(connection):
        statements = (*afresh(connection), b"set role none")
        connection.rollback()
        for statement in statements:
            connection.execute(statement)
    else:
        connection.rollback()


def _note(diagnostic: psycopg.errors.Diagnostic) -> None:
    message = diagnostic.message_primary or ""
    notices.keep(diagnostic.severity_nonlocalized, diagnostic.sqlstate, message)


def register_vector_types(connection: psycopg.Connection[Any]) -> None:
    """Register pgvector's types on a connection if the extension is installed, in any schema."""
    with connection.transaction(), connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(
            "select set_config('search_path', quote_ident(n.nspname), true)"
            " from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace"
            " where e.extname = 'vector'"
        )
        if cursor.fetchone():
            register_vector(connection)
