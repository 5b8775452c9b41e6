"""Allowances: a service that is busy with a key asks for several requests at once.

Asking the database before each request costs a busy service about a tenth of its speed. So what a
key may do is asked for the requests of the next moments, if many came within the last ones. A key
whose requests are rare is asked for each time.
"""

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field, replace
from time import monotonic

import anyio

from pgrag.ground.access import Admission, Wish, return_lease
from pgrag.ground.errors import Busy, PgragError
from pgrag.service.app import App
from pgrag.service.work import QUEUE_SECONDS, Works

log = logging.getLogger(__name__)

SECONDS = 0.25
"""How long an allowance holds: so much longer a busy key can be used after it was revoked."""

FEWEST = 4
"""Requests within `SECONDS` from which a key is busy."""

_MOST = 256
_MOST_FLOWS = 1000

Ask = Callable[[Wish], Awaitable[Admission]]
Release = Callable[[], None]


@dataclass(slots=True)
class _Flow:
    """Requests that ask for the same, and the allowance that they share.

    `came`: when they came. `here`: how many are here, at most `peak` since the last ask. The
    `allowance` holds `until` then: `left` requests, `running` ones, at most `slots` of them.
    """

    came: deque[float] = field(default_factory=lambda: deque(maxlen=_MOST))
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    here: int = 0
    peak: int = 0
    allowance: Admission | None = None
    until: float = 0.0
    left: int = 0
    running: int = 0
    slots: int = 0
    is_asking: bool = False

    def may_draw(self) -> bool:
        return self.left > 0 and self.running < self.slots and monotonic() < self.until

    def unused(self) -> int:
        """Of what is left, what time has not brought back to the key anyway."""
        if self.allowance is None or self.allowance.limits is None:
            return 0
        rate, _, _, full_in = self.allowance.limits
        elapsed = monotonic() - (self.until - SECONDS)
        return max(0, min(self.left, int((full_in - elapsed) * rate)))

    def wish(self) -> Wish:
        """As many requests as came within the last moments."""
        since = monotonic() - SECONDS
        recent = sum(came >= since for came in self.came)
        return Wish(
            recent if recent >= FEWEST else 1,
            self.peak,
            self.allowance and self.allowance.lease,
            self.running,
            self.unused(),
        )


class Allowances:
    """What keys may do in this process. Not thread-safe."""

    def __init__(self, app: App, works: Works) -> None:
        self._app = app
        self._works = works
        self._flows: OrderedDict[Hashable, _Flow] = OrderedDict()
        self._returning: set[asyncio.Task[None]] = set()

    async def admit(self, what: Hashable, ask: Ask) -> tuple[Admission, Release]:
        """Admit a request; requests that ask for the same (`what`) share an allowance.

        The caller calls the second value when the request is over, once or more often. Raises
        `Busy` if others who ask for the same keep it waiting.
        """
        flow = self._flow(what)
        flow.came.append(monotonic())
        flow.here += 1
        flow.peak = max(flow.peak, flow.here)
        try:
            if not flow.may_draw():
                admission = await self._in_turn(flow, ask)
                if admission is not None:
                    if admission.refusal not in {None, "rate", "concurrency"}:
                        # Who is unknown or revoked is not kept in mind.
                        self._flows.pop(what, None)
                    return admission, self._leaving(flow, is_drawn=False)
            return self._drawn(flow), self._leaving(flow, is_drawn=True)
        except BaseException:
            flow.here -= 1
            raise

    async def close(self) -> None:
        """Give back all that is held, when no more requests come."""
        for flow in self._flows.values():
            flow.until = min(flow.until, monotonic())
            self._return(flow)
        await asyncio.gather(*self._returning)

    def _flow(self, what: Hashable) -> _Flow:
        flow = self._flows.get(what)
        if flow is None:
            flow = self._flows[what] = _Flow()
            if len(self._flows) > _MOST_FLOWS:
                self._flows.popitem(last=False)
        else:
            self._flows.move_to_end(what)
        return flow

    async def _in_turn(self, flow: _Flow, ask: Ask) -> Admission | None:
        """Ask, one after the other; None if there is an allowance to draw from."""
        with anyio.move_on_after(QUEUE_SECONDS) as queue:
            await flow.asking.acquire()
        if queue.cancelled_caught:
            raise Busy("Too many requests of the key wait for their admission.", hint="Try again.")
        try:
            # Another request may have asked meanwhile.
            if flow.may_draw():
                return None
            admission = await self._asked(flow, ask)
            return None if admission.granted > 1 else admission
        finally:
            flow.asking.release()

    async def _asked(self, flow: _Flow, ask: Ask) -> Admission:
        wish, left, asked_at = flow.wish(), flow.left, monotonic()
        # Nobody draws meanwhile what the database shall take back, nor ends what it shall keep.
        flow.left, flow.is_asking = 0, True
        try:
            admission = await ask(wish)
            flow.peak = flow.here
            if admission.refusal in {"rate", "concurrency"}:
                flow.left = left
            elif admission.refusal is None and admission.granted == 1:
                flow.slots = wish.holding
            elif admission.refusal is None:
                flow.allowance, flow.left = admission, admission.granted
                flow.slots = admission.slots
                flow.until = asked_at + SECONDS
                asyncio.get_running_loop().call_later(SECONDS, self._return, flow)
        except Busy:
            flow.left = left
            raise
        finally:
            flow.is_asking = False
            self._return(flow)
        return admission

    def _drawn(self, flow: _Flow) -> Admission:
        flow.left -= 1
        flow.running += 1
        admission = flow.allowance
        assert admission is not None
        assert admission.limits is not None
        rate, burst, remaining, full_in = admission.limits
        limits = (rate, burst, remaining + flow.left, full_in - flow.left / rate)
        # The lease is that of the allowance, which outlives this request.
        return replace(admission, lease=None, limits=limits)

    def _leaving(self, flow: _Flow, *, is_drawn: bool) -> Release:
        has_left = False

        def leave() -> None:
            nonlocal has_left
            if has_left:
                return
            has_left = True
            flow.here -= 1
            if is_drawn:
                flow.running -= 1
                self._return(flow)

        return leave

    def _return(self, flow: _Flow) -> None:
        """Give back what an expired allowance does not use, or no longer."""
        allowance, running, unused = flow.allowance, flow.running, flow.unused()
        is_over = not flow.is_asking and monotonic() >= flow.until
        if allowance is None or not is_over or (running == flow.slots and not flow.left):
            return
        # The lease stays known: an ask that overtakes this may take its place.
        flow.left, flow.slots = 0, running

        async def give_back() -> None:
            try:
                await self._works.run(
                    self._works.admission,
                    lambda: return_lease(self._app.database, allowance, running, unused),
                )
            except PgragError as error:
                # It ends by itself, as after the end of a service that was killed.
                log.warning("An allowance was not given back: %s", error)

        task = asyncio.ensure_future(give_back())
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)
