"""The work of a service by class, each with threads and connections of its own, so that none takes
those of another.
"""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from typing import Literal, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from pgrag.ground import logs
from pgrag.ground.callers import Work, working
from pgrag.ground.cancelling import Statements
from pgrag.ground.errors import Busy
from pgrag.ground.settings import Settings, variable

R = TypeVar("R")

Class = Literal["read", "write", "costly"]

QUEUE_SECONDS = 2.0
"""How long a request waits for its turn in a small class; then the class is busy."""

WATCH_SECONDS = 0.1
"""Seconds after which a request is watched: its client may have gone."""

CANCEL_SECONDS = 0.2
"""Seconds between two attempts to cancel the statement of an abandoned request."""


class Abandoned(Exception):
    """Nobody waits for the result any more."""


class Works:
    """The classes of work of one service. `read`: searches and other short work; further requests
    queue without limit. `write`: changes, which may wait for the lock of a library. `costly`: what
    may keep a processor busy for long, such as regular expressions. `admission`: who calls, and the
    audit, which must not wait for searches. `answer`: answers of a language model, which wait for
    it without limit, and delay no search. `probe`: checks of readiness.
    """

    def __init__(self, settings: Settings) -> None:
        lock_timeout = settings.lock_timeout
        few = settings.costly_pool_size
        self.read = Work("read", None, settings.read_timeout, lock_timeout)
        self.write = Work("write", few, settings.write_timeout, lock_timeout)
        self.costly = Work("costly", few, settings.costly_timeout, lock_timeout)
        self.admission = Work("admission", few, settings.read_timeout, lock_timeout)
        self.answer = Work("answer", None, settings.read_timeout, lock_timeout)
        self.probe = Work("probe", 1, settings.read_timeout, lock_timeout)
        self._turns = {
            work.name: anyio.CapacityLimiter(few)
            for work in (self.write, self.costly, self.admission)
        }
        self._answering = anyio.CapacityLimiter(settings.llm_concurrency)
        self._threads = anyio.CapacityLimiter(inf)
        self._cancelling = anyio.CapacityLimiter(2)

    def named(self, name: Class) -> Work:
        """The class of this name."""
        return {"read": self.read, "write": self.write, "costly": self.costly}[name]

    def standing(self) -> list[tuple[str, float, float, int]]:
        """Each class that is limited: how much of it may run, how much runs, how much waits."""
        limited = {**self._turns, self.answer.name: self._answering}
        return [
            (name, each.total_tokens, each.borrowed_tokens, each.statistics().tasks_waiting)
            for name, each in limited.items()
        ]

    async def run(
        self,
        work: Work,
        function: Callable[[], R],
        *,
        until: Callable[[], Awaitable[object]] = anyio.sleep_forever,
        stop: Callable[[], object] = lambda: None,
    ) -> R:
        """Run a function in a thread as work of this class. Raises `Busy` if its turn never comes.
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
                outcome.append(statements.run(function))
            except Exception as error:
                outcome.append(error)

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
                await self.in_turn(work, run)
            except Busy as error:
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

    async def in_turn(self, work: Work, function: Callable[[], R]) -> R:
        """Run a function in a thread when the class has a connection for it; nothing cancels it.
        With more threads than connections, they would wait in the pool. Raises `Busy`.
        """

        def run() -> R:
            with working(work):
                return function()

        turns = self._turns.get(work.name)
        if turns is None:
            return await anyio.to_thread.run_sync(
                run, limiter=self._answering if work is self.answer else None
            )
        turn = object()
        try:
            turns.acquire_on_behalf_of_nowait(turn)
        except anyio.WouldBlock:
            with anyio.move_on_after(QUEUE_SECONDS) as queue:
                await turns.acquire_on_behalf_of(turn)
            if queue.cancelled_caught:
                raise Busy(
                    f"All {work.connections} connections for requests of this kind are in use.",
                    hint=f"Try again, or raise {variable('costly_pool_size')}.",
                ) from None
        try:
            return await anyio.to_thread.run_sync(run, limiter=self._threads)
        finally:
            turns.release_on_behalf_of(turn)
