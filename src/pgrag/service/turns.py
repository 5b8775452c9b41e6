"""Turns that callers share: nobody has more than half of them, and who waits comes in turn."""

from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import ceil, inf

import anyio

from pgrag.ground.errors import Busy


class Turns:
    """So many turns at a time, of which a holder has at most half, rounded up.

    Holders that wait are served in rotation, however many requests each of them has waiting, so a
    holder that sends many waits for itself. For the tasks of one event loop. `patience` is how many
    seconds one waits for a turn; `busy` and `hint` are told to whom gets none.
    """

    def __init__(self, total: int, busy: str, hint: str, *, patience: float = inf) -> None:
        self.total = total
        self.most = ceil(total / 2)
        self._busy = busy
        self._hint = hint
        self._patience = patience
        self._held: Counter[str | None] = Counter()
        self._waiting: OrderedDict[str | None, deque[anyio.Event]] = OrderedDict()

    @property
    def running(self) -> int:
        """How many turns are taken."""
        return self._held.total()

    @property
    def waiting(self) -> int:
        """How many wait for a turn."""
        return sum(map(len, list(self._waiting.values())))

    @property
    def is_idle(self) -> bool:
        """Whether nobody has a turn or waits for one."""
        return not self._held and not self._waiting

    @asynccontextmanager
    async def turn(self, holder: str | None) -> AsyncIterator[None]:
        """Have a turn within the block. Raises `Busy` if none comes in time."""
        if self._may_begin(holder):
            self._held[holder] += 1
        else:
            await self._wait(holder)
        try:
            yield
        finally:
            self._give_back(holder)

    def _may_begin(self, holder: str | None) -> bool:
        # Whoever waits while a turn is free has all that it may have: nobody is overtaken.
        return self._held.total() < self.total and self._held[holder] < self.most

    async def _wait(self, holder: str | None) -> None:
        given = anyio.Event()
        line = self._waiting.setdefault(holder, deque())
        line.append(given)
        is_taken = False
        try:
            with anyio.move_on_after(self._patience):
                await given.wait()
                is_taken = True
        finally:
            if given.is_set() and not is_taken:
                # The turn came together with the end of the wait.
                self._give_back(holder)
            elif not is_taken:
                line.remove(given)
                if not line:
                    del self._waiting[holder]
        if not is_taken:
            raise self._refusal(holder)

    def _refusal(self, holder: str | None) -> Busy:
        said = self._busy
        if self.total > 1 and self._held[holder] >= self.most:
            said = (
                f"As many requests of this caller run as may run at a time: {self.most} of"
                f" {self.total}."
            )
        return Busy(said, hint=self._hint)

    def _give_back(self, holder: str | None) -> None:
        """Give what is free to those who wait, the holder first that had its turn longest ago."""
        self._held -= Counter([holder])
        for each in [*self._waiting]:
            if not self._may_begin(each):
                continue
            line = self._waiting[each]
            self._held[each] += 1
            line.popleft().set()
            if line:
                self._waiting.move_to_end(each)
            else:
                del self._waiting[each]
