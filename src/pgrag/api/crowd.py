"""The open connections of a service by address, so that no address takes those of others.

Where no connection is left, one gives way that has no request at work: a client that sends half a
request, or none, keeps nobody out. A connection beyond the limits may still probe the service, so
that an orchestrator does not kill one that is only full.
"""

from collections import OrderedDict
from collections.abc import Container, Iterable
from itertools import islice
from typing import Protocol

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pgrag.api.limits import network_of
from pgrag.api.origins import PROBES
from pgrag.api.problems import RETRY_AFTER_SECONDS, TOO_MANY, Kind, problem

FULL = Kind(503, "too-many-connections", "The service has no connection left")

MOST_EXTRA = 64
"""Connections beyond the limits that are open at a time, to be refused or to probe."""


MOST_ASKED = 16
"""Connections of which one has to give way: the oldest, or those that were not asked before."""

MOST_IDLE = 3
"""The idleness of a connection that never asked, or sends too slowly."""


class Connection(Protocol):
    """What a crowd asks of a connection."""

    def idleness(self) -> int:
        """How readily it gives way: from 0 for a request at work to `MOST_IDLE`."""

    def give_way(self, kind: Kind, detail: str) -> None:
        """End it, with an answer to what was begun."""

    def abort(self) -> None:
        """End it at once."""


class Crowd:
    """The connections of a service, at most `most`, of one address `most_of_address`; `proxies`
    are addresses that speak for many clients, so that only `most` limits them.
    """

    def __init__(self, most: int, most_of_address: int, proxies: Container[str] = ()) -> None:
        self._most = most
        self._most_of_address = min(most, most_of_address)
        self._proxies = proxies
        self._total = 0
        self._of: dict[str, dict[Connection, None]] = {}
        self._extra: OrderedDict[Connection, None] = OrderedDict()

    def enter(self, connection: Connection, host: str) -> "Refusal | None":
        """Count a connection; another may have to give way. Returns what it gets if none can."""
        address = network_of(host)
        own = self._of.get(address, {})
        most = self._most if host in self._proxies else self._most_of_address
        refusal: Refusal | None = None
        if len(own) >= most:
            detail = f"One address may have {most:,} connections."
            refusal = Refusal(TOO_MANY, detail)
            is_free = self._make_room([own], refusal)
        else:
            refusal = Refusal(FULL, f"All {self._most:,} connections are in use.")
            by_size = sorted(self._of.values(), key=len, reverse=True)
            is_free = self._total < self._most or self._make_room(by_size, refusal)
        if is_free:
            self._of.setdefault(address, {})[connection] = None
            self._total += 1
            return None
        self._extra[connection] = None
        if len(self._extra) > MOST_EXTRA:
            oldest, _ = self._extra.popitem(last=False)
            oldest.abort()
        return refusal

    def leave(self, connection: Connection, host: str) -> None:
        """Count a connection no more."""
        self._extra.pop(connection, None)
        address = network_of(host)
        own = self._of.get(address, {})
        if connection in own:
            del own[connection]
            self._total -= 1
            if not own:
                del self._of[address]

    def _make_room(self, groups: Iterable[dict[Connection, None]], refusal: "Refusal") -> bool:
        """End the idlest connection, the oldest of equals, of the first group that has one."""
        for group in groups:
            # Few are looked at, so that a flood of connections costs little; others the next time.
            oldest = [*islice(group, MOST_ASKED)]
            idlest = max(oldest, key=lambda each: each.idleness())
            if idlest.idleness() < MOST_IDLE:
                for each in oldest:
                    group[each] = group.pop(each)
            if idlest.idleness():
                idlest.give_way(refusal.kind, refusal.detail)
                return True
        return False


class Refusal:
    """An ASGI application that refuses all but probes, which `app` answers; then it closes."""

    def __init__(self, kind: Kind, detail: str) -> None:
        self.kind = kind
        self.detail = detail
        self.app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        headers = {"Connection": "close", "Retry-After": str(RETRY_AFTER_SECONDS)}
        answer: ASGIApp = problem(Request(scope), self.kind, self.detail, headers=headers)
        if self.app is not None and scope["path"] in PROBES:
            answer = self.app
        await answer(scope, receive, send)
