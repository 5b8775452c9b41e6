"""Turns that callers share: nobody has more than half of them, and who waits comes in turn."""

from collections import OrderedDict, defaultdict, deque
from math import ceil, inf

import anyio

from pgrag.ground.errors import Busy


class Turns:
    """So many turns at a time, of which a holder has at most half, rounded up.

    Holders that wait are served in rotation, however many requests each of them has waiting, so a
    holder that sends many waits for itself. For the tasks of one event loop. `patience` is how many
    seconds one waits for a turn; `busy` and `hint` are told to whom gets none. `running` says how
    many turns are taken.
    """

    def __init__(self, total: int, busy: str, hint: str, *, patience: float = inf) -> None:
        self.total = total
        self.most = ceil(total / 2)
        self._busy = busy
        self._hint = hint
        self._patience = patience
        self.running = 0
        self._held: dict[str | None, int] = defaultdict(int)
        self._waiting: OrderedDict[str | None, deque[anyio.Event]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many wait for a turn."""
        return sum(map(len, list(self._waiting.values())))

    @property
    def is_idle(self) -> bool:
        """Whether nobody has a turn or waits for one."""
        return not self._held and not self._waiting

    def turn(self, holder: str | None) -> "_Turn":
        """Have a turn within the block. Raises `Busy` if none comes in time."""
        return _Turn(self, holder)

    async def _take(self, holder: str | None) -> None:
        if self._may_begin(holder):
            self._begin(holder)
        else:
            await self._wait(holder)

    def _begin(self, holder: str | None) -> None:
        self.running += 1
        self._held[holder] += 1

    def _may_begin(self, holder: str | None) -> bool:
        # Whoever waits while a turn is free has all that it may have: nobody is overtaken.
        return self.running < self.total and self._held.get(holder, 0) < self.most

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
        if self.total > 1 and self._held.get(holder, 0) >= self.most:
            said = (
                f"As many requests of this caller run as may run at a time: {self.most} of"
                f" {self.total}."
            )
        return Busy(said, hint=self._hint)

    def _give_back(self, holder: str | None) -> None:
        """Give what is free to those who wait, the holder first that had its turn longest ago."""
        self.running -= 1
        self._held[holder] -= 1
        if not self._held[holder]:
            del self._held[holder]
        for each in [*self._waiting]:
            if not self._may_begin(each):
                continue
            line = self._waiting[each]
            self._begin(each)
            line.popleft().set()
            if line:
                self._waiting.move_to_end(each)
            else:
                del self._waiting[each]


class _Turn:
    """The block of a turn: each request has two or three."""

    __slots__ = ("_holder", "_turns")

    def __init__(self, turns: Turns, holder: str | None) -> None:
        self._turns = turns
        self._holder = holder

    async def __aenter__(self) -> None:
        await self._turns._take(self._holder)

    async def __aexit__(self, *_: object) -> None:
        self._turns._give_back(self._holder)
