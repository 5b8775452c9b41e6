"""Reading from standbys: which calls go there, what they wait for, when the primary answers."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from random import sample
from threading import Lock, Thread
from time import monotonic
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrag.ground import schema
from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.counts import count
from pgrag.ground.driver_errors import of_server
from pgrag.ground.errors import DatabaseUnavailable, PgragError
from pgrag.ground.scoped import holding

log = logging.getLogger(__name__)

_PATIENCE = timedelta(seconds=1)
"""How long a read waits for a standby to follow; then the primary answers."""

_PAUSE = 5.0
"""Seconds for which a server that does not answer is not asked again."""

_CONNECT_SECONDS = 2
"""How long a server may take to accept a connection: there is another one to ask."""

_ATTEMPTS = 2
"""How many servers are asked before the primary."""

_READING = b"""
select
    case n.nspname when 'pgrag' then '' else '_pgrag.' end || p.proname as name,
    pg_catalog.pg_is_in_recovery() as is_standby
from pg_catalog.pg_proc as p
join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
where n.nspname in ('pgrag', '_pgrag')
group by n.nspname, p.proname
having bool_and(p.provolatile <> 'v')
"""
_POSITION = b"""
select (
    case
        when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
        else pg_catalog.pg_current_wal_insert_lsn()
    end
)::text as position
"""

#: No connection; a server that starts, stops or is full.
_LOST = ("08", "57P", "53300")
#: A conflict with recovery, or too late; what the standby does not know, or not yet: functions of
#: an upgrade, a library or a job that was made a moment ago.
_BEHIND = (
    "40001", "42883", "42P01", "3F000", "42703", "42704",
    "PGR02", "PGR03", "PGR04", "PGR05", "PGR09", "PGR10", "PGR11", "PGR14", "PGR17", "PGR18",
)  # fmt: skip

Ask = Callable[..., list[Row]]


@dataclass(slots=True)
class Seen:
    """What the reads of a caller have to see: the log of the primary up to `position`, and with
    `has_written` up to where it is now; else whatever a standby has.
    """

    position: str | None = None
    has_written: bool = False


_seen: ContextVar[Seen | None] = ContextVar("seen", default=None)
_on_primary: ContextVar[bool] = ContextVar("on_primary", default=False)
_aside: ContextVar[bool] = ContextVar("aside", default=False)


def seeing(seen: Seen) -> AbstractContextManager[object]:
    """Within the block a caller of its own reads: a request to a service."""
    return holding(_seen, seen)


@contextmanager
def on_primary() -> Iterator[None]:
    """Let the calls within the block, or of the function, read from the primary what they are about
    to change.
    """
    with holding(_on_primary, True):
        yield


def aside() -> AbstractContextManager[object]:
    """Let no read wait for what is written within the block, which can also be left out."""
    return holding(_aside, True)


class _Pause:
    """Whether a server has not answered a moment ago."""

    def __init__(self) -> None:
        self._until = 0.0

    def __bool__(self) -> bool:
        return monotonic() < self._until

    def begin(self) -> None:
        """Do not ask the server for some seconds."""
        self._until = monotonic() + _PAUSE

    @contextmanager
    def after_loss(self) -> Iterator[None]:
        """Begin if a call within the block loses its server."""
        try:
            yield
        except psycopg.Error as error:
            if _reason(error) == "lost":
                self.begin()
            raise


class _Server:
    """One server that is read. It is looked at for the schema of this package before its first
    answer, and again when it was lost: then aside, so that nobody waits for it.
    """

    def __init__(self, url: str, **pool: Any) -> None:
        self.database = Database(url, **pool)
        self.reading: frozenset[str] = frozenset()
        self.is_standby = False
        self._is_fit = self._was_seen = False
        self._away = _Pause()
        self._looking = Lock()

    def is_fit(self) -> bool:
        """Whether it may be asked."""
        if self._is_fit or self._away or not self._looking.acquire(blocking=False):
            return self._is_fit
        if self._is_fit:  # another thread has looked
            self._looking.release()
        elif self._was_seen:
            Thread(target=self._look, name="pgrag replica", daemon=True).start()
        else:
            self._look()
        return self._is_fit

    def leave(self, reason: BaseException) -> None:
        """Ask it no more before it was looked at."""
        self._is_fit = False
        log.warning("A server of PGRAG_READ_URL is lost: %s", reason)

    def _look(self) -> None:
        try:
            schema.require_current(self.database.url)
            rows = self.database.query(_READING)
            self.reading = frozenset(row["name"] for row in rows)
            self.is_standby = any(row["is_standby"] for row in rows)
            self._is_fit = True
        except PgragError as error:
            self._away.begin()
            log.warning("A server of PGRAG_READ_URL is not read: %s", error)
        finally:
            self._was_seen = True
            self._looking.release()


class Replicas:
    """Answers calls of functions that only read, on the servers of a `url` of its own: the
    catalogue says which do. Whatever these cannot answer, the primary does.

    Each caller sees what it has written itself: a request to a service, else the whole process,
    which also sees everything that was written before its first call.
    """

    def __init__(self, url: str, *, pool_size: int = 10, hybrid_alpha: float | None = None) -> None:
        self._servers = [
            _Server(each, pool_size=pool_size, hybrid_alpha=hybrid_alpha)
            for _, each in servers_of(url)
        ]
        self._own = Seen(has_written=True)
        self._primary_away = _Pause()

    @property
    def databases(self) -> list[Database]:
        """Each server, in the order of the URL."""
        return [server.database for server in self._servers]

    def close(self) -> None:
        """Close every connection."""
        for database in self.databases:
            database.close()

    def asking(self, function: str, primary: Ask) -> Ask:
        """What asks for the rows of a function, given what asks the primary."""
        if not self._reading():
            next(self._fit(), None)  # looks at one
        if function not in self._reading():
            return partial(self._write, primary)
        return primary if _on_primary.get() else partial(self._read, primary)

    def position(self, primary: Ask) -> str | None:
        """Where the log of the primary is after all that the caller has written; None: nothing."""
        seen = _seen.get() or self._own
        if seen.has_written and not self._primary_away:
            # Before it is asked: another thread of the caller may write meanwhile.
            seen.has_written = False
            try:
                with self._primary_away.after_loss():
                    [row] = primary(_POSITION, ())
            except psycopg.Error as error:
                seen.has_written = True
                log.warning("The primary does not say how far it has written: %s", error)
            else:
                seen.position = row["position"]
        return seen.position

    def _reading(self) -> frozenset[str]:
        """The functions that only read, as the first server says that was looked at."""
        return next((each.reading for each in self._servers if each.reading), frozenset())

    def _fit(self) -> Iterator[_Server]:
        """The servers that may be asked, in a new order, those that follow the primary first."""
        others = []
        for server in sample(self._servers, len(self._servers)):
            if server.is_fit():
                if server.is_standby:
                    yield server
                else:
                    others.append(server)
        yield from others

    def _read(self, primary: Ask, statement: bytes, values: Sequence[Any], **limits: Any) -> Any:
        position = self.position(primary)
        after = None if position is None else (position, _PATIENCE)
        for server in islice(self._fit(), _ATTEMPTS):
            try:
                return server.database._asked(statement, values, after=after, **limits)
            except psycopg.Error as error:
                reason = _reason(error)
                if reason is None:
                    raise
                count("replica_failures", reason=reason)
                if reason == "behind":
                    break
                server.leave(error)
        return primary(statement, values, **limits)

    def _write(self, primary: Ask, statement: bytes, values: Sequence[Any], **limits: Any) -> Any:
        if _aside.get():
            if self._primary_away:
                raise DatabaseUnavailable("The primary does not answer.")
            with self._primary_away.after_loss():
                return primary(statement, values, **limits)
        try:
            return primary(statement, values, **limits)
        finally:
            (_seen.get() or self._own).has_written = True


def servers_of(url: str) -> Iterator[tuple[str, str]]:
    """The name of each host of a URL, and the URL of that host alone."""
    given = conninfo_to_dict(url)
    named = [name for name in ("host", "hostaddr", "port") if given.get(name)]
    lists = {name: str(given[name]).split(",") for name in named}
    chosen: dict[str, Any] = {"load_balance_hosts": "random", "connect_timeout": _CONNECT_SECONDS}
    if given.get("target_session_attrs") == "prefer-standby":
        del given["target_session_attrs"]
    for nth in range(max(map(len, lists.values()), default=1)):
        one = {name: values[min(nth, len(values) - 1)] for name, values in lists.items()}
        name = one.get("host") or one.get("hostaddr") or "localhost"
        port = one.get("port") or "5432"
        yield f"{name}:{port}", make_conninfo("", **chosen | given | one)


def _reason(error: psycopg.Error) -> str | None:
    """Why another server is to be asked: this one is lost, or behind; None if for no reason."""
    state = of_server(error).sqlstate
    if state is None:
        return "lost" if isinstance(of_server(error), psycopg.OperationalError) else None
    return "lost" if state.startswith(_LOST) else "behind" if state in _BEHIND else None
