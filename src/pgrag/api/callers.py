"""Which web pages may call agents' tools: a page elsewhere must not reach a server on a desk.

A browser names the page in Origin; programs send none. A page can make its own name mean
127.0.0.1 (DNS rebinding), so a server that only this machine shall reach looks at Host too.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pgrag.api.problems import Kind, problem

FORBIDDEN_ORIGIN = Kind(403, "forbidden-origin", "Pages of this origin may not call")
WRONG_HOST = Kind(421, "wrong-host", "The service is not called by this name")


class KnownCallers:
    """ASGI middleware that answers pages of this machine and of the `origins`.

    With `hosts` Host must be one of these names, or one of this machine; the port is free.
    """

    def __init__(
        self, app: ASGIApp, *, origins: Sequence[str] = (), hosts: Sequence[str] | None = None
    ) -> None:
        self._app = app
        self._origins = {origin.rstrip("/").lower() for origin in origins}
        self._hosts = None if hosts is None else {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say whose it may not be."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        answer: ASGIApp = self._app
        if self._hosts is not None and not self._is_here(host):
            answer = problem(
                Request(scope),
                WRONG_HOST,
                f"It is not called {host!r}.",
                hint="Call it by localhost, or start it with `pgrag serve --allow-host NAME`.",
            )
        elif origin is not None and not self._is_allowed(origin):
            answer = problem(
                Request(scope),
                FORBIDDEN_ORIGIN,
                f"Pages of {origin!r} may not call it.",
                hint="Start it with `pgrag serve --allow-origin URL` to let them.",
            )
        await answer(scope, receive, send)

    def _is_here(self, host: str) -> bool:
        name = _host_name(f"//{host}")
        return is_loopback(name) or name in (self._hosts or ())

    def _is_allowed(self, origin: str) -> bool:
        return origin.lower() in self._origins or is_loopback(_host_name(origin))


def is_loopback(host: str) -> bool:
    """Whether a name or address of a host means this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _host_name(url: str) -> str:
    """The name without port and brackets; empty where there is none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
