"""Child processes that read pages side by side."""

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Condition, Timer
from typing import ParamSpec, Self, TypeVar

from pgrag.ground.errors import PgragError, SourceError
from pgrag.ground.settings import processors
from pgrag.ingest.child import Child, Limits

#: More children would wait for the database.
MOST = 4
#: Seconds of work for all children that justify the start of another.
WORTH = 1.0

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Children:
    """A pool of `most` child processes, one per core by default; a context manager. Another starts
    when all have been busy for `worth` seconds; after `idle_seconds` they end. With a `first` call
    all start at once, and one that its page has ended starts anew for the next: whose page is the
    next does not wait for that.
    """

    def __init__(
        self,
        limits: Limits,
        most: int | None = None,
        answers: Iterable[type] = (),
        *,
        worth: float = WORTH,
        idle_seconds: float | None = None,
        first: tuple[Callable[..., object], Sequence[object]] | None = None,
    ) -> None:
        self._limits, self._answers = limits, tuple(answers)
        self._worth = worth
        self._idle_seconds = idle_seconds
        self._first = first
        self._is_cold = True
        self._timer: Timer | None = None
        self.most = most or min(MOST, processors())
        self._threads = ThreadPoolExecutor(self.most, thread_name_prefix="pgrag-read")
        self._changed = Condition()
        self._children: list[Child] = []
        self._idle: list[Child] = []
        self._started = float("-inf")
        self._is_closed = False

    def submit(
        self,
        function: Callable[_Arguments, _Result],
        *arguments: _Arguments.args,
        **options: _Arguments.kwargs,
    ) -> Future[_Result]:
        """Call a function of a module in a child that is free; see `Child.run`."""
        with self._changed:
            if self._is_closed:
                future: Future[_Result] = Future()
                future.cancel()
                return future
            is_cold, self._is_cold = self._is_cold, False
            future = self._threads.submit(lambda: self._run(function, *arguments, **options))
            for _ in range(self.most - 1 if is_cold and self._first else 0):
                self._threads.submit(self._warm)
        return future

    def _warm(self) -> None:
        if self._first is not None:
            function, arguments = self._first
            with suppress(PgragError):
                self._run(function, *arguments)

    def _run(
        self,
        function: Callable[_Arguments, _Result],
        *arguments: _Arguments.args,
        **options: _Arguments.kwargs,
    ) -> _Result:
        child = self._take()
        try:
            return child.run(function, *arguments, **options)
        except SourceError:
            if self._first is not None and not child.is_running and not self._is_closed:
                with suppress(PgragError):
                    child.run(self._first[0], *self._first[1])
            raise
        finally:
            with self._changed:
                self._idle.append(child)
                self._end_later()
                self._changed.notify()

    def _take(self) -> Child:
        with self._changed:
            while not self._idle and not self._is_closed:
                left: float | None = None
                if len(self._children) < self.most:
                    left = self._started + self._worth - time.monotonic()
                    if left <= 0:
                        self._started = time.monotonic()
                        self._children.append(Child(self._limits, self._answers))
                        return self._children[-1]
                self._changed.wait(left)
            if self._is_closed:
                raise CancelledError
            return self._idle.pop()

    def _end_later(self) -> None:
        """End the idle processes after `idle_seconds`, which each call begins anew."""
        if self._timer is not None:
            self._timer.cancel()
        if self._idle_seconds is not None and not self._is_closed:
            self._timer = Timer(self._idle_seconds, self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        with self._changed:
            self._is_cold = True
            for child in self._idle:
                child.close()

    def close(self) -> None:
        """End the processes; pending calls get no answer."""
        with self._changed:
            self._is_closed = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._changed:
            if self._timer is not None:
                self._timer.cancel()
            for child in self._children:
                child.kill()
        self._threads.shutdown()
        for child in self._children:
            child.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
