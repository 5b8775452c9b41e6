"""Reading from standbys: which calls go there, what they wait for, when the primary answers."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Lock
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
"""How long a standby may take to accept a connection: there is another server to ask."""

_READING = b"""
select case n.nspname when 'pgrag' then '' else '_pgrag.' end || p.proname as name
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


class Replicas:
    """Answers calls of functions that only read, on the servers of a `url` of its own: the
    catalogue says which do. Whatever these cannot answer, the primary does.

    Each caller sees what it has written itself: a request to a service, else the whole process,
    which also sees everything that was written before its first call.
    """

    def __init__(self, url: str, *, pool_size: int = 10, hybrid_alpha: float | None = None) -> None:
        self.database = Database(
            preferring_standbys(url), pool_size=pool_size, hybrid_alpha=hybrid_alpha
        )
        self._lock = Lock()
        self._reading: frozenset[str] = frozenset()
        self._is_fit = False
        self._own = Seen(has_written=True)
        self._away, self._primary_away = _Pause(), _Pause()

    def close(self) -> None:
        """Close every connection."""
        self.database.close()

    def asking(self, function: str, primary: Ask) -> Ask:
        """What asks for the rows of a function, given what asks the primary."""
        if self._answers() and function in self._reading:
            return partial(self._read, primary)
        return primary if function in self._reading else partial(self._write, primary)

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

    def _answers(self) -> bool:
        """Whether a standby may be asked; it is once looked at for the schema of this package."""
        if self._away or _on_primary.get():
            return False
        with self._lock:
            if not self._is_fit:
                try:
                    schema.require_current(self.database.url)
                    rows = self.database.query(_READING)
                except PgragError as error:
                    self._leave(error)
                    return False
                self._reading = frozenset(row["name"] for row in rows)
                self._is_fit = True
        return True

    def _leave(self, reason: BaseException) -> None:
        self._away.begin()
        self._is_fit = False  # what comes back may have another schema
        log.warning("The primary answers instead of the servers of PGRAG_READ_URL: %s", reason)

    def _read(self, primary: Ask, statement: bytes, values: Sequence[Any], **limits: Any) -> Any:
        position = self.position(primary)
        after = None if position is None else (position, _PATIENCE)
        # If one server is lost, the next attempt connects to another one, if there is any.
        for is_last in (False, True):
            try:
                return self.database._asked(statement, values, after=after, **limits)
            except psycopg.Error as error:
                reason = _reason(error)
                if reason is None:
                    raise
                count("reads_on_primary", reason=reason)
                if reason == "behind":
                    break
                if is_last:
                    self._leave(error)
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


def preferring_standbys(url: str) -> str:
    """The URL of the servers to read from: any of them, one that follows before the primary."""
    given = conninfo_to_dict(url)
    chosen: dict[str, Any] = {
        "target_session_attrs": "prefer-standby",
        "load_balance_hosts": "random",
        "connect_timeout": _CONNECT_SECONDS,
    }
    return make_conninfo("", **{**chosen, **given})


def _reason(error: psycopg.Error) -> str | None:
    """Why another server is to be asked: this one is lost, or behind; None if for no reason."""
    state = of_server(error).sqlstate
    if state is None:
        return "lost" if isinstance(of_server(error), psycopg.OperationalError) else None
    return "lost" if state.startswith(_LOST) else "behind" if state in _BEHIND else None
