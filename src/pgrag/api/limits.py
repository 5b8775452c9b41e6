"""Limits of the rate of a client, for the other clients."""

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrag.api.origins import PROBES
from pgrag.api.problems import TOO_MANY, problem
from pgrag.api.site import FILES
from pgrag.service.access import hash_of

HEADERS = ("RateLimit", "RateLimit-Policy", "Retry-After")
"""Headers that a page of another origin must see to respect the limit."""

MOST_CLIENTS = 50_000
"""Clients remembered at a time, a few megabytes."""

_MINUTE = 60.0
_BURST_SECONDS = 10.0
_NETWORK = 64
"""Bits of an IPv6 address that the provider assigns; a subscriber chooses the rest."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a request may pass, how many may follow at once, the seconds until `burst` may.

    `wait` is the seconds until the next request is admitted, 0 if now.
    """

    is_allowed: bool
    remaining: int
    full_in: float
    wait: float


class TokenBuckets:
    """A token bucket per client: `burst` requests at once, refilled at `per_minute`.

    Stores per bucket only the time at which it is full again (the generic cell rate algorithm,
    ITU-T I.371): a full bucket needs no entry. Above `most_clients` buckets, the least recently
    used one counts as full. A refused request costs nothing. `clock` gives monotonic seconds. Not
    thread-safe.
    """

    def __init__(
        self,
        per_minute: int,
        burst: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        most_clients: int = MOST_CLIENTS,
    ) -> None:
        self.per_minute = per_minute
        self.burst = burst or math.ceil(per_minute * _BURST_SECONDS / _MINUTE)
        self._interval = _MINUTE / per_minute
        self._clock = clock
        self._most_clients = most_clients
        self._full_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._full_at)

    def draw(self, client: str) -> Verdict:
        """Take one token from a client's bucket, if there is one."""
        now = self._clock()
        full_in = max(0.0, self._full_at.get(client, now) - now)
        room = self.burst * self._interval - full_in
        # Within rounding error of a token counts as a token: sums of intervals are not exact.
        if room < self._interval * (1 - 1e-9):
            return Verdict(False, 0, full_in, self._interval - room)
        full_in += self._interval
        self._full_at[client] = now + full_in
        self._full_at.move_to_end(client)
        self._forget(now)
        remaining = int((room - self._interval) / self._interval + 1e-9)
        wait = 0.0 if remaining else full_in - (self.burst - 1) * self._interval
        return Verdict(True, remaining, full_in, wait)

    def _forget(self, now: float) -> None:
        """Drop at most two full buckets from the old end, and buckets over the limit."""
        for _ in range(2):
            if self._full_at[next(iter(self._full_at))] > now:
                break
            self._full_at.popitem(last=False)
        while len(self._full_at) > self._most_clients:
            self._full_at.popitem(last=False)


class RateLimit:
    """ASGI middleware that answers 429 to a client whose bucket is empty.

    Every answer reports the remaining requests in `RateLimit` and `RateLimit-Policy`
    (draft-ietf-httpapi-ratelimit-headers). A client is an address: that of the peer, or the one
    that a trusted proxy reports. Requests with a key are limited by their key instead.
    """

    def __init__(self, app: ASGIApp, buckets: TokenBuckets) -> None:
        self._app = app
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if (
            scope["type"] != "http"
            or scope["path"] in PROBES
            or scope["path"].startswith(FILES)
            or hash_of(bearer(Headers(scope=scope)))
        ):
            await self._app(scope, receive, send)
            return
        verdict = self._buckets.draw(client_of(scope))
        headers = _headers(self._buckets, verdict)
        if not verdict.is_allowed:
            await drained(Request(scope), self._buckets, verdict)(scope, receive, send)
            return

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        await self._app(scope, receive, told)


def too_many(request: Request, detail: str, wait: float, headers: dict[str, str]) -> Response:
    """The answer to a client that may send its next request in `wait` seconds."""
    seconds = max(1, math.ceil(wait))
    return problem(
        request,
        TOO_MANY,
        detail,
        hint=f"Send it again in {seconds} second{'s' if seconds > 1 else ''}.",
        headers={**headers, "Retry-After": str(seconds)},
    )


def drained(request: Request, buckets: TokenBuckets, verdict: Verdict) -> Response:
    """The answer to a client whose bucket is empty."""
    detail = (
        f"A client may send {buckets.per_minute:,} requests a minute,"
        f" {buckets.burst:,} of them at once."
    )
    return too_many(request, detail, verdict.wait, _headers(buckets, verdict))


def _headers(buckets: TokenBuckets, verdict: Verdict) -> dict[str, str]:
    return {
        "RateLimit": f'"client";r={verdict.remaining};t={math.ceil(verdict.full_in)}',
        "RateLimit-Policy": f'"client";q={buckets.per_minute};w={_MINUTE:.0f}',
    }


def bearer(headers: Headers) -> str:
    """What a request sends as its key; empty if it is not a bearer token."""
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def client_of(scope: Scope) -> str:
    """The client: an IPv4 address, the /64 network of an IPv6 address, "" without an address."""
    return network_of((scope.get("client") or ("",))[0])


@lru_cache(maxsize=4096)
def network_of(host: str) -> str:
    """The client at an address; see `client_of`."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return str(host)[:64]
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, _NETWORK), strict=False))
