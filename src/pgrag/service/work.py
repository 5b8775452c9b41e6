"""The work of a service by class, each with threads and connections of its own, so that none takes
those of another; in each class no caller has more than half.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any, Literal, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from pgrag.ground import logs
from pgrag.ground.callers import Work, working
from pgrag.ground.cancelling import Statements
from pgrag.ground.connections import Database
from pgrag.ground.errors import Busy, PgragError, Taken
from pgrag.ground.requests import holder
from pgrag.ground.settings import Settings, variable
from pgrag.service.app import SENT_PAGES
from pgrag.service.turns import Turns

R = TypeVar("R")

Class = Literal["read", "write", "costly"]

QUEUE_SECONDS = 2.0
"""How long a request waits for its turn in a small class; then the class is busy."""

LOOK_SECONDS = (0.05, 0.5)
"""Between two looks whether a library is free: the first pause, which doubles, and the longest."""

WATCH_SECONDS = 0.25
"""Seconds after which a request is watched: its client may have gone. To begin earlier costs a busy
service a tenth of its time.
"""

CANCEL_SECONDS = 0.2
"""Seconds between two attempts to cancel the statement of an abandoned request."""

PAGE_SECONDS = 30.0
"""How long a page that is sent waits for a process that reads it."""

_SMALL = ("write", "costly", "index")
_WEEK = 7 * 24 * 3600.0
_RUN = 3
"""Connections that a run of indexing may use at a time."""

_OTHERS = "Others are writing the library."
_FREE = """
select from pgrag.libraries as l where l.name = lower(btrim(%s)) for no key update nowait
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A library that is to be changed, and for how many seconds a change waits until it is free."""

    database: Database
    library: str
    patience: float


class Abandoned(Exception):
    """Nobody waits for the result any more."""


class Works:
    """The classes of work of one service. `read`: searches and other short work; further requests
    queue without limit. `write`: changes. `costly`: what may keep a processor busy for long, such
    as regular expressions. `admission`: who calls, and the audit, which must not wait for searches.
    `answer`: answers of a language model, which wait for it without limit. `page`: the reading of
    pages that are sent. `index`: runs of agents. `probe`: checks of readiness.
    """

    def __init__(self, settings: Settings) -> None:
        few, answers = settings.costly_pool_size, settings.llm_concurrency
        read, lock = settings.read_timeout, settings.lock_timeout
        # One caller alone has as many as the settings say, and leaves as many to others.
        reads, admissions = 2 * settings.pool_size, 2 * few
        self.read = Work("read", reads, read, lock)
        self.write = Work("write", few, settings.write_timeout, lock)
        self.costly = Work("costly", few, settings.costly_timeout, lock)
        self.admission = Work("admission", admissions, read, lock)
        self.answer = Work("answer", answers, read, lock)
        self.page = Work("page", SENT_PAGES, read, lock)
        self.index = Work("index", _RUN * few, _WEEK, _WEEK)
        self.probe = Work("probe", 1, read, lock)
        in_use = f"All {few} connections for requests of this kind are in use."
        more = f"Try again, or raise {variable('costly_pool_size')}."
        reading = "All processes that read pages are at work."
        self.turns = {
            "read": Turns(reads, "", ""),
            "answer": Turns(answers, "", ""),
            "page": Turns(SENT_PAGES, reading, "Try again.", patience=PAGE_SECONDS),
            "admission": Turns(admissions, in_use, more, patience=QUEUE_SECONDS),
            **{name: Turns(few, in_use, more, patience=QUEUE_SECONDS) for name in _SMALL},
        }
        self._lines: dict[str, Turns] = {}
        self._threads = anyio.CapacityLimiter(inf)
        self._cancelling = anyio.CapacityLimiter(2)

    def named(self, name: Class) -> Work:
        """The class of this name."""
        return {"read": self.read, "write": self.write, "costly": self.costly}[name]

    def standing(self) -> list[tuple[str, int, int, int]]:
        """Each class: how much of it may run, how much runs, how much waits."""
        return [
            (name, turns.total, turns.running, turns.waiting) for name, turns in self.turns.items()
        ]

    async def run(  # noqa: PLR0915 - the life of one request
        self,
        work: Work,
        function: Callable[[], R],
        *,
        target: Target | None = None,
        until: Callable[[], Awaitable[object]] = anyio.sleep_forever,
        stop: Callable[[], object] = lambda: None,
    ) -> R:
        """Run a function in a thread as work of this class. Raises `Busy` if its turn never comes.
        With a `target`, changes of one library come one after the other, and wait without a turn.
        If `until` ends first, or the task is cancelled, the running statement is cancelled in the
        database, and `stop` is called; the former raises `Abandoned`.
        """
        logs.note(work=work.name)
        statements = Statements()
        outcome: list[R | Exception] = []
        is_running = is_watched = False
        starting: asyncio.Task[None] | None = None

        def run() -> None:
            nonlocal is_running
            is_running = True
            try:
                outcome.append(statements.run(partial(_when_free, target, function)))
            except Exception as error:
                outcome.append(error)
            finally:
                is_running = False

        async def watch() -> None:
            try:
                # In a scope that is cancelled already, nothing would interrupt `until`.
                if anyio.current_effective_deadline() > -inf:
                    await until()
            finally:
                stop()
                await self._cancel(
                    statements,
                    lambda: bool(outcome) or (statements.is_cancelled and not is_running),
                )
            group.cancel_scope.cancel()

        async def start_watching() -> None:
            nonlocal is_watched
            is_watched = True
            group.start_soon(watch)

        def watch_from_now() -> None:
            # A callback is in no task, and there anyio knows no event loop if sniffio is installed.
            nonlocal starting
            starting = asyncio.create_task(start_watching())

        async with anyio.create_task_group() as group:
            # Later, because most requests take less time than a watcher does to start.
            watching = asyncio.get_running_loop().call_later(WATCH_SECONDS, watch_from_now)
            try:
                await (
                    self.in_turn(work, run)
                    if target is None
                    else self._in_line(target, work, run, outcome)
                )
            except PgragError as error:
                outcome.append(error)
            finally:
                watching.cancel()
                if starting is not None:
                    starting.cancel()
            if is_watched:
                group.cancel_scope.cancel()
        if not outcome or statements.is_cancelled:
            await anyio.lowlevel.checkpoint()  # ends a task that was cancelled itself
            raise Abandoned
        [result] = outcome
        if isinstance(result, Exception):
            raise result
        return result

    async def _cancel(self, statements: Statements, is_over: Callable[[], bool]) -> None:
        """End the statements of a caller that no longer waits, until its work is over."""
        with anyio.CancelScope(shield=True):
            while not is_over():
                await anyio.to_thread.run_sync(statements.cancel, limiter=self._cancelling)
                # Again: the caller may have been between two statements.
                await anyio.sleep(0 if is_over() else CANCEL_SECONDS)

    async def in_turn(self, work: Work, function: Callable[[], R], by: str | None = None) -> R:
        """Run a function in a thread when the class has a connection for it; nothing cancels it.
        With more threads than connections, they would wait in the pool. `by` has the turn; by
        default it is the caller of the request. Raises `Busy`.
        """

        def run() -> R:
            with working(work):
                return function()

        async with self.turns[work.name].turn(by or holder()):
            return await anyio.to_thread.run_sync(run, limiter=self._threads)

    async def _in_line(
        self, target: Target, work: Work, run: Callable[[], None], outcome: list[Any]
    ) -> None:
        """Run a change when nobody else writes the library."""
        try:
            is_seen = await self.in_turn(work, partial(_is_free, target))
        except Taken:
            is_seen = True
        if not is_seen:
            # No wait for others may tell that there is such a library.
            await self.in_turn(work, run)
            return
        name, patience = target.library.strip().lower(), target.patience
        deadline = anyio.current_time() + patience
        pause, longest = LOOK_SECONDS
        line = self._lines.setdefault(name, Turns(1, _OTHERS, "Try again.", patience=patience))
        try:
            async with line.turn(holder()):
                await self.in_turn(work, run)
                while isinstance(outcome[0], Taken) and anyio.current_time() < deadline:
                    outcome.clear()
                    await anyio.sleep(pause)
                    pause = min(2 * pause, longest)
                    await self.in_turn(work, run)
        finally:
            if line.is_idle:
                self._lines.pop(name, None)


def _when_free(target: Target | None, function: Callable[[], R]) -> R:
    if target is not None:
        _is_free(target)
    return function()


def _is_free(target: Target) -> bool:
    """Whether the caller sees the library. Raises `Taken` while another session writes it."""
    try:
        return bool(target.database.query(_FREE, [target.library]))
    except Busy as error:
        raise Taken(error.message, hint=error.hint) from error
