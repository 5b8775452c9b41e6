"""Connections, and calls of SQL functions by name."""

import logging
import selectors
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from time import monotonic
from typing import Any, Self, TypeVar

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.adapt import PyFormat
from psycopg.rows import dict_row, tuple_row
from psycopg_pool import ConnectionPool, PoolTimeout

from pgrag.ground import errors
from pgrag.ground.driver_errors import one_sentence, translated_errors
from pgrag.ground.sent import sent, wrong_type

Row = dict[str, Any]
R = TypeVar("R")

_GRACE_MS = 500
"""Grace beyond its own limit, so that a function can report more than "cancelled"."""

_PROMPT = 1.0
"""Seconds within which a connection is usually established."""

_TRUSTED = 5.0
"""Seconds without a liveness check after use, unless the server closed the connection."""

# Unlike the default selector, it makes no descriptor of its own; Windows has only the latter.
_Selector = getattr(selectors, "PollSelector", selectors.DefaultSelector)

log = logging.getLogger(__name__)

# Without a handler the pool's warnings reach the terminal; this module raises them as errors.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Work:
    """A class of work: its connections, and how many seconds its statements may take.

    `connections`: so many of its own, or None for the database's own pool. `lock_timeout` limits
    each wait for a lock. The server's own timeouts hold where they are shorter.
    """

    name: str
    connections: int | None
    statement_timeout: float
    lock_timeout: float

    @property
    def milliseconds(self) -> int:
        """The statement timeout."""
        return max(1, round(1000 * self.statement_timeout))


_work: ContextVar[Work | None] = ContextVar("work", default=None)


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a service calls: the name of a key, and what its calls may see and change.

    `role`: the database role that the calls take on, None for that of the service. `library_ids`:
    the libraries that row-level security shows to that role, as an array literal of their ids, or
    "*" for all. No statement takes longer than `timeout_ms`, if that is set. `lease`: job and claim
    of a worker; what it writes after the end of its lease is refused. `is_served`: the service, for
    statements that take on the rights of a caller; see `by_service`.
    """

    name: str
    role: str | None = None
    library_ids: str = "*"
    timeout_ms: int | None = None
    lease: str = ""
    is_served: bool = False


_SERVICE = Caller("", library_ids="")

_caller: ContextVar[Caller | None] = ContextVar("caller", default=None)


@contextmanager
def calling(caller: Caller | None) -> Iterator[None]:
    """Let the calls within the block be on behalf of a caller; None is the service itself."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


@contextmanager
def as_service() -> Iterator[None]:
    """Let the calls within the block have the rights of the service, in the name of the caller.

    For records that a service keeps for itself, which its callers may not write.
    """
    caller = _caller.get()
    with calling(caller and replace(caller, role=None, library_ids="*")):
        yield


@contextmanager
def by_service() -> Iterator[Caller | None]:
    """Let the calls within the block be of the service, in the time that their caller has.

    For statements that take on the rights of the caller, which is yielded, for a part of their
    work. They share connections that need not be set up for each caller. Without a caller it does
    nothing.
    """
    caller = _caller.get()
    served = caller and replace(_SERVICE, timeout_ms=caller.timeout_ms, is_served=True)
    with calling(served):
        yield caller


def is_restricted() -> bool:
    """Whether calls have fewer rights than the service."""
    caller = _caller.get()
    return caller is not None and caller.role is not None


@contextmanager
def working(work: Work | None) -> Iterator[None]:
    """Let the calls within the block be work of this class; None limits nothing."""
    token = _work.set(work)
    try:
        yield
    finally:
        _work.reset(token)


class _Connection(psycopg.Connection[Row]):
    """A pooled connection that remembers when it was returned, and for whom it was set up."""

    used_at = -_TRUSTED
    work: Work | None = None
    caller: Caller | None = None
    own_limits: dict[str, int | None] | None = None


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


class Calls:
    """The running statements of one caller, so that another thread can cancel them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._connections: list[psycopg.Connection[Row]] = []
        self._is_cancelled = False

    def run(self, function: Callable[[], R]) -> R:
        """Call a function; `cancel` ends its statements."""
        token = _calls.set(self)
        try:
            return function()
        finally:
            _calls.reset(token)

    @property
    def is_cancelled(self) -> bool:
        """Whether the caller no longer waits."""
        return self._is_cancelled

    def cancel(self) -> None:
        """End the running statement, and refuse further ones."""
        # Under the lock: a connection that is returned meanwhile may run a statement of others.
        with self._lock:
            self._is_cancelled = True
            for connection in self._connections:
                with suppress(psycopg.Error):  # the statement ends by its timeout
                    connection.cancel_safe(timeout=_PROMPT)

    @contextmanager
    def using(self, connection: psycopg.Connection[Row]) -> Iterator[None]:
        """Register a connection for `cancel` within the block. Raises `DatabaseError` after it."""
        with self._lock:
            if self._is_cancelled:
                raise errors.DatabaseError("The caller no longer waits.")
            self._connections.append(connection)
        try:
            yield
        finally:
            with self._lock:
                self._connections.remove(connection)


_calls: ContextVar[Calls | None] = ContextVar("calls", default=None)


@contextmanager
def uncancelled() -> Iterator[None]:
    """Within the block statements run to their end, even if their caller no longer waits."""
    token = _calls.set(None)
    try:
        yield
    finally:
        _calls.reset(token)


class Database:
    """A pool of connections to one database.

    `url` is a libpq connection string or URL. `hybrid_alpha` is the share of the vector retriever
    for libraries and models that set none. Connections are opened on demand and replaced when
    lost. `timeout` is how many seconds to wait for one while all `pool_size` are in use. `revive`
    is called when the server does not answer, and returns True if it restarted the server.
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
        self._lock = Lock()
        self._pool = self._new_pool(pool_size)
        self._further_pools: dict[tuple[str, bool, bool], ConnectionPool[_Connection]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            pools = [self._pool, *self._further_pools.values()]
        for pool in pools:
            pool.close()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Row]]:
        """Lend a connection in autocommit mode; driver errors become `pgrag.ground.errors`."""
        with translated_errors():
            work, caller = _work.get(), _caller.get()
            pool = self._pool_for(work, caller)
            pool.open()
            connection = self._borrowed(pool)
            calls = _calls.get()
            try:
                with calls.using(connection) if calls else nullcontext(), connection:
                    if (connection.work, connection.caller) != (work, caller):
                        _set_up(connection, work, caller)
                    yield connection
            finally:
                connection.used_at = monotonic()
                pool.putconn(connection)

    def call(self, function: str, /, **arguments: Any) -> list[Row]:
        """Call `pgrag.<function>` with named arguments and return its rows.

        An argument that is None is omitted, so the default of the SQL signature applies.
        """
        with self.connection() as connection:
            return call(connection, function, **arguments)

    def call_in_time(self, function: str, /, *, timeout_ms: int, **arguments: Any) -> list[Row]:
        """Call a function that checks `timeout_ms` itself, with `statement_timeout` as fallback.

        One regular expression on one text can run practically for ever, without checking a clock.
        Raises `TimeExceeded`.
        """
        if (limit := _milliseconds(_work.get(), _caller.get())) is not None:
            timeout_ms = min(timeout_ms, max(1, limit - _GRACE_MS))
        return self.call_within(
            timeout_ms + _GRACE_MS, function, timeout_ms=timeout_ms, **arguments
        )

    def call_within(self, milliseconds: int, function: str, /, **arguments: Any) -> list[Row]:
        """Call a function under a statement timeout; raises `TimeExceeded` when it expires.

        The timeout of the class of work or of the caller, if shorter, holds.
        """
        if (limit := _milliseconds(_work.get(), _caller.get())) is not None:
            milliseconds = min(milliseconds, limit)
        with self.connection() as connection, connection.transaction():
            connection.execute(
                "select set_config('statement_timeout', %s, true)", [f"{milliseconds}ms"]
            )
            return call(connection, function, **arguments)

    def stream(self, function: str, /, *, batch: int = 100, **arguments: Any) -> Iterator[Row]:
        """Yield the rows of `pgrag.<function>` one by one, `batch` in memory at once."""
        with self.connection() as connection, connection.transaction():
            statement, values = _statement(function, _given(arguments))
            with connection.cursor(name="stream") as cursor:
                cursor.itersize = batch
                yield from cursor.execute(statement, values)

    def query(self, statement: str, arguments: Sequence[Any] | dict[str, Any] = ()) -> list[Row]:
        """Run one statement of this package and return its rows."""
        with self.connection() as connection:
            return connection.execute(statement.encode(), arguments).fetchall()

    @contextmanager
    def lock(self, name: str, *shared: str) -> Iterator[str | None]:
        """Hold an advisory lock, and share others; yields the first that another session prevents.

        Uses a separate connection, so that long work does not occupy one of the pool.
        """
        with (
            translated_errors(),
            psycopg.connect(
                self.url,
                autocommit=True,
                connect_timeout=int(self._timeout),
                application_name=_application(_caller.get()),
                row_factory=tuple_row,
            ) as connection,
        ):
            statement = (
                "select l.name from unnest(%s::text[]) with ordinality as l (name, nth)"
                " where not case when l.nth = 1"
                " then pg_try_advisory_lock(hashtextextended(l.name, 0))"
                " else pg_try_advisory_lock_shared(hashtextextended(l.name, 0)) end limit 1"
            )
            row = connection.execute(statement, [[name, *shared]]).fetchone()
            try:
                yield row[0] if row else None
            finally:
                # The server notices a closed connection a moment later: the next run may be sooner.
                with suppress(psycopg.OperationalError):
                    connection.execute("select pg_advisory_unlock_all()")

    @contextmanager
    def listening(self, channel: str) -> Iterator[Callable[[float], bool]]:
        """Listen to notifications within the block.

        Yields a function that waits so many seconds for one, and returns whether there was one.
        """
        with (
            translated_errors(),
            psycopg.connect(
                self.url, autocommit=True, connect_timeout=int(self._timeout)
            ) as connection,
        ):
            connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
            yield lambda seconds: any(
                True for _ in connection.notifies(timeout=seconds, stop_after=1)
            )

    def _new_pool(self, size: int) -> ConnectionPool[_Connection]:
        return ConnectionPool(
            self.url,
            connection_class=_Connection,
            min_size=0,
            max_size=size,
            reconnect_timeout=0,
            kwargs={
                "autocommit": True,
                "row_factory": dict_row,
                "application_name": "pgrag",
                "client_encoding": "UTF8",
                "connect_timeout": int(self._timeout),
            },
            configure=self._configure,
            open=False,
        )

    def _pool_for(self, work: Work | None, caller: Caller | None) -> ConnectionPool[_Connection]:
        """The pool of a class of work, and of those who have the same rights there.

        Others for callers with a role of their own, and for statements that take on a role: the
        plans of a session must not go from those whom row-level security restricts to others.
        """
        own = work and work.connections
        is_restricted = caller is not None and caller.role is not None
        is_served = caller is not None and caller.is_served
        if own is None and not (is_restricted or is_served):
            return self._pool
        kind = (work.name if work and own else "", is_restricted, is_served)
        with self._lock:
            pool = self._further_pools.get(kind)
            if pool is None:
                pool = self._new_pool(own or self._pool.max_size)
                self._further_pools[kind] = pool
            return pool

    def _borrowed(self, pool: ConnectionPool[_Connection]) -> _Connection:
        try:
            return self._living(pool, _PROMPT)
        except PoolTimeout:
            # Pool exhausted or server down? Only a direct attempt tells which, and why.
            try:
                psycopg.connect(self.url, connect_timeout=int(self._timeout)).close()
            except psycopg.OperationalError:
                if self._revive is None or not self._revive():
                    raise
        try:
            return self._living(pool, self._timeout)
        except PoolTimeout as error:
            raise errors.DatabaseUnavailable(
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

    def _configure(self, connection: psycopg.Connection[Row]) -> None:
        connection.add_notice_handler(_note)
        if self._hybrid_alpha is not None:
            connection.execute(
                "select set_config('pgrag.hybrid_alpha', %s, false)", [str(self._hybrid_alpha)]
            )
        register_vector_types(connection)


_OWN_LIMITS = """
select s.name, nullif(s.reset_val::bigint, 0) as ms
from pg_settings as s
where s.name in ('statement_timeout', 'lock_timeout')
"""
_SET_UP = """
select
    set_config('role', %s, false),
    set_config('pgrag.library_ids', %s, false),
    set_config('pgrag.caller', %s, false),
    set_config('pgrag.lease', %s, false),
    set_config('application_name', %s, false),
    set_config('statement_timeout', %s, false),
    set_config('lock_timeout', %s, false)
"""


def _set_up(connection: _Connection, work: Work | None, caller: Caller | None) -> None:
    """Give a connection the role of a caller, and the timeouts of caller and class of work.

    Without a caller it has the rights of the service, without limits the timeouts of the server.
    """
    if connection.own_limits is None:
        # Once: the view of all settings takes longer to read than most callers' statements.
        rows = connection.execute(_OWN_LIMITS).fetchall()
        connection.own_limits = {row["name"]: row["ms"] for row in rows}
    limits = {
        "statement_timeout": _milliseconds(work, caller),
        "lock_timeout": None if work is None else max(1, round(1000 * work.lock_timeout)),
    }
    timeouts = [
        min((ms for ms in (own, limits[name]) if ms is not None), default=0)
        for name, own in sorted(connection.own_limits.items(), reverse=True)
    ]
    on_behalf = caller or _SERVICE
    # One statement: a connection must never have the role of one caller and the sight of another.
    connection.execute(
        _SET_UP,
        [
            on_behalf.role or "none",
            on_behalf.library_ids,
            on_behalf.name,
            on_behalf.lease,
            _application(caller),
            *map(str, timeouts),
        ],
    )
    connection.work, connection.caller = work, caller


def _application(caller: Caller | None) -> str:
    """How the server lists a session: that of a worker is ended when its lease ends."""
    return f"pgrag job {caller.lease}" if caller and caller.lease else "pgrag"


def _milliseconds(work: Work | None, caller: Caller | None) -> int | None:
    """The statement timeout of a class of work on behalf of a caller, if either has one."""
    limits = [] if work is None else [work.milliseconds]
    if caller is not None and caller.timeout_ms is not None:
        limits.append(caller.timeout_ms)
    return min(limits, default=None)


def call(connection: psycopg.Connection[Row], function: str, /, **arguments: Any) -> list[Row]:
    """Call `pgrag.<function>` on a connection; see `Database.call`."""
    arguments_set = _given(arguments)
    statement, values = _statement(function, arguments_set)
    with translated_errors():
        try:
            return connection.execute(statement, values).fetchall()
        except psycopg.errors.UndefinedFunction as error:
            omitted = [name for name in arguments if name not in arguments_set]
            if missing := _required(connection, function, omitted):
                raise errors.InvalidInput(f"{missing[0]} must not be None.") from error
            types = _types(connection, function)
            if types and arguments_set.keys() <= types.keys() and error.diag.context is None:
                raise errors.InvalidInput(
                    wrong_type(dict(zip(arguments_set, values, strict=True)), types)
                    or f"A value has the wrong type for pgrag.{function}:"
                    f" {one_sentence(error.diag.message_primary or '')}"
                ) from error
            raise


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _statement(function: str, arguments: dict[str, Any]) -> tuple[bytes, list[Any]]:
    """Compose the call of a function with named arguments; return statement and values."""
    values = [sent(name, value) for name, value in arguments.items()]
    formats = zip(arguments, map(_format, values), strict=True)
    return _composed(function, tuple(formats)), values


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


def _types(connection: psycopg.Connection[Row], function: str) -> dict[str, str]:
    """The types of a function's arguments by their names; empty if there is none."""
    if connection.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
        return {}
    rows = connection.execute(
        "select a.name, format_type(a.type, null) as type from pg_proc as p"
        " cross join unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) as a (name, type)"
        " where p.pronamespace = to_regnamespace('pgrag') and p.proname = %s",
        [function],
    )
    return {row["name"]: row["type"] for row in rows}


def _required(connection: psycopg.Connection[Row], function: str, names: list[str]) -> list[str]:
    """Return those of these arguments without which the function cannot be called."""
    if connection.info.transaction_status is psycopg.pq.TransactionStatus.INERROR:
        return []
    rows = connection.execute(
        "select r.name from pg_proc as p"
        " cross join unnest(p.proargnames[:p.pronargs - p.pronargdefaults]) as r (name)"
        " where p.pronamespace = to_regnamespace('pgrag') and p.proname = %s"
        " and r.name = any (%s::text[])",
        [function, names],
    )
    return [row["name"] for row in rows]


_notices: ContextVar[list[str] | None] = ContextVar("notices", default=None)


@contextmanager
def collected_notices() -> Iterator[list[str]]:
    """Collect the notices that functions raise (RAISE NOTICE) within the block."""
    notices: list[str] = []
    token = _notices.set(notices)
    try:
        yield notices
    finally:
        _notices.reset(token)


def _note(diagnostic: psycopg.errors.Diagnostic) -> None:
    notices = _notices.get()
    severity, message = diagnostic.severity_nonlocalized, diagnostic.message_primary or ""
    # Only what functions raise: a server that goes down warns its sessions, too.
    if severity == "WARNING" and diagnostic.sqlstate == "01000":
        log.warning("%s", message)
    elif notices is not None and severity == "NOTICE":
        notices.append(message)


def _format(value: Any) -> PyFormat:
    # Vectors are sent in binary: as text, thousands of them take longer to send than to compute.
    is_vectors = isinstance(value, list) and value and isinstance(value[0], HalfVector)
    return PyFormat.BINARY if is_vectors else PyFormat.AUTO


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
