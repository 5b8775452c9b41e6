"""On whose behalf a thread calls the database, and as which class of work."""

from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from pgrag.ground.scoped import holding


@dataclass(frozen=True, slots=True)
class Work:
    """A class of work: its connections, and how many seconds its statements may take.

    `connections`: the size of a pool of its own, or None for the database's shared pool.
    `lock_timeout` limits each wait for a lock. A shorter timeout of the server holds.
    """

    name: str
    connections: int | None
    statement_timeout: float
    lock_timeout: float


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a service calls: the name of a key, and what its calls may see and change.

    `role`: the database role that the calls take on, None for that of the service. `library_ids`:
    the libraries that row-level security shows to that role, as an array literal of their ids, or
    "*" for all. `timeout_ms` limits each statement. `lease`: job and claim of a worker; after the
    end of its lease its writes are refused.
    """

    name: str
    role: str | None = None
    library_ids: str = "*"
    timeout_ms: int | None = None
    lease: str = ""

    @property
    def application(self) -> str:
        """How the server lists a session: that of a worker is ended when its lease ends."""
        return f"pgrag job {self.lease}" if self.lease else "pgrag"


SERVICE = Caller("", library_ids="")
"""The service itself."""

_work: ContextVar[Work | None] = ContextVar("work", default=None)
_caller: ContextVar[Caller] = ContextVar("caller", default=SERVICE)


def calling(caller: Caller | None) -> AbstractContextManager[object]:
    """Let the calls within the block be on behalf of a caller; None is the service itself."""
    return holding(_caller, caller or SERVICE)


def as_service() -> AbstractContextManager[object]:
    """Let the calls within the block have the rights of the service, in the name of the caller.

    For what a service keeps for itself, which its callers may not write.
    """
    caller = _caller.get()
    return calling(None if caller == SERVICE else replace(caller, role=None, library_ids="*"))


def working(work: Work | None) -> AbstractContextManager[object]:
    """Let the calls within the block be work of this class; None limits nothing."""
    return holding(_work, work)


def current_caller() -> Caller:
    """On whose behalf this thread calls."""
    return _caller.get()


def current_work() -> Work | None:
    """As which class of work this thread calls."""
    return _work.get()


def statement_limit() -> int | None:
    """Milliseconds that a statement of this thread may take, if work or caller limits them."""
    work, caller = _work.get(), _caller.get()
    limits = [] if work is None else [max(1, round(1000 * work.statement_timeout))]
    if caller.timeout_ms is not None:
        limits.append(caller.timeout_ms)
    return min(limits, default=None)
