"""The work of a service by class, each with threads and connections of its own.

Requests of one class cannot take what another needs: writers that wait for a lock leave the
connections of searches alone.
"""

from collections.abc import Callable
from math import inf
from typing import TypeVar

import anyio
import anyio.to_thread

from pgrag.db import Work, working
from pgrag.errors import Busy
from pgrag.settings import Settings, variable

R = TypeVar("R")

QUEUE_SECONDS = 2.0
"""How long a request waits for its turn in a small class; then the class is busy."""


class Works:
    """The classes of work of one service.

    `read`: searches and whatever else is soon done; further requests wait without limit. `write`:
    changes, which may wait for the lock of a library. `probe`: checks of readiness.
    """

    def __init__(self, settings: Settings) -> None:
        lock_timeout = settings.lock_timeout
        few = settings.costly_pool_size
        self.read = Work("read", None, settings.read_timeout, lock_timeout)
        self.write = Work("write", few, settings.write_timeout, lock_timeout)
        self.probe = Work("probe", 1, settings.read_timeout, lock_timeout)
        self._turns = {self.write.name: anyio.CapacityLimiter(few)}
        self._threads = anyio.CapacityLimiter(inf)

    async def run(self, work: Work, function: Callable[[], R]) -> R:
        """Run a function in a thread as work of this class. Raises `Busy` if its turn never comes.

        As many run at once as the class has connections: with more threads than connections, they
        would wait in the pool.
        """

        def run() -> R:
            with working(work):
                return function()

        turns = self._turns.get(work.name)
        if turns is None:
            return await anyio.to_thread.run_sync(run)
        turn = object()
        with anyio.move_on_after(QUEUE_SECONDS) as queue:
            await turns.acquire_on_behalf_of(turn)
        if queue.cancelled_caught:
            raise Busy(
                f"All {work.connections} connections for requests of this kind are in use.",
                hint=f"Try again, or raise {variable('costly_pool_size')}.",
            )
        try:
            return await anyio.to_thread.run_sync(run, limiter=self._threads)
        finally:
            turns.release_on_behalf_of(turn)
