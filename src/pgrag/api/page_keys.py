"""Publishable keys: how pages of other origins send them, and may read what they get.

A page that has a publishable key needs no `--allow-origin`: the origins of the key suffice. A
browser asks first whether a page of this origin may send a request (a preflight, without the key),
so this is answered by the origins of all publishable keys. What a page then may read is only the
answer to a request with such a key, and the key is checked against its own origins.
"""

import logging
import re
import time
from collections.abc import Callable, Sequence

import anyio
from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from pgrag.api.headers import POSITION
from pgrag.api.limits import HEADERS, bearer
from pgrag.api.observed import REQUEST_ID
from pgrag.ground.errors import PgragError
from pgrag.service.access import hash_of, page_origins
from pgrag.service.app import App
from pgrag.service.work import Works

log = logging.getLogger(__name__)

READABLE = ["Server-Timing", REQUEST_ID, POSITION, *HEADERS]
"""Headers of answers that pages of other origins may read."""

_KNOWN_SECONDS = 60.0
_UNKNOWN_SECONDS = 1.0
_PARAMETER = re.compile(rb"(?:^|&)key=(pgrag_pk_[0-9a-f]{72})(?=&|$)")


def has_page_key(headers: Headers) -> bool:
    """Whether a request sends what looks like a publishable key: it gets no right but its own."""
    token = bearer(headers)
    return token.startswith("pgrag_pk_") and hash_of(token) is not None


class KeyInAddress:
    """ASGI middleware: `key=pgrag_pk_…` in the address is the same as the header.

    A browser sends a GET without further headers at once, and one with `Authorization` only after a
    preflight for each address: with a search at each letter, that would be two requests a letter.
    Only publishable keys can come so, which are no secret; addresses are in logs.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, its key where all others have theirs."""
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            found = _PARAMETER.findall(scope["query_string"])
            names = {name for name, _ in scope["headers"]}
            if len(found) == 1 and b"authorization" not in names:
                rest = _PARAMETER.sub(b"", scope["query_string"]).removeprefix(b"&")
                header = (b"authorization", b"Bearer " + found[0])
                scope = {**scope, "query_string": rest, "headers": [*scope["headers"], header]}
        await self._app(scope, receive, send)


class KeyOrigins:
    """The origins of all publishable keys: a new key works within a second.

    Also those of keys that have ended: their pages read nothing but why they are refused.
    """

    def __init__(
        self, app: App, works: Works, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._works = works
        self._clock = clock
        self._lock = anyio.Lock()
        self._origins: frozenset[str] = frozenset()
        self._read_at: float | None = None

    async def knows(self, origin: str) -> bool:
        """Whether some publishable key names an origin."""
        origin = origin.lower()
        async with self._lock:
            now = self._clock()
            patience = _KNOWN_SECONDS if origin in self._origins else _UNKNOWN_SECONDS
            if self._read_at is None or now - self._read_at >= patience:
                self._read_at = now
                try:
                    self._origins = await self._works.in_turn(
                        self._works.admission, lambda: page_origins(self._app.database), "origins"
                    )
                except PgragError as error:
                    log.warning("The origins of publishable keys are not read: %s", error)
        return origin in self._origins


class PageOrigins:
    """ASGI middleware: pages of the origins of publishable keys may send these keys.

    Pages of the `named` origins may do more: they are let through.
    """

    def __init__(self, app: ASGIApp, *, known: KeyOrigins, named: Sequence[str]) -> None:
        self._app = app
        self._named = frozenset(named)
        self._known = known
        self._crossing = CORSMiddleware(
            app,
            allow_origin_regex=".*",
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type", REQUEST_ID, POSITION],
            expose_headers=READABLE,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and let the page read the answer if it may."""
        answer = self._app
        if scope["type"] == "http" and scope["path"].startswith("/v1/"):
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            is_preflight = scope["method"] == "OPTIONS"
            if (
                origin is not None
                and origin not in self._named
                and (is_preflight or has_page_key(headers))
                and await self._known.knows(origin)
            ):
                answer = self._crossing
        await answer(scope, receive, send)
