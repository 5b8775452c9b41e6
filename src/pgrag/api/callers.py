"""Which web pages may call: a page elsewhere must not reach a server on a reader's desk.

A page can make its own name mean 127.0.0.1 (DNS rebinding), so a server that only this machine
shall reach looks at Host. What agents call looks at Origin, too, in which a browser names the page;
programs send none.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pgrag.api.problems import Kind, problem
from pgrag.api.readiness import PROBES

FORBIDDEN_ORIGIN = Kind(403, "forbidden-origin", "Pages of this origin may not call")
WRONG_HOST = Kind(421, "wrong-host", "The service is not called by this name")


class KnownHosts:
    """ASGI middleware: Host must be one of the `hosts`, or a name of this machine.

    The port is free, and probes may come by any name.
    """

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str]) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say that it is not meant for this service."""
        answer = self._app
        if scope["type"] == "http" and scope["path"] not in PROBES:
            host = Headers(scope=scope).get("host", "")
            name = _host_name(f"//{host}")
            if not (is_loopback(name) or name in self._hosts):
                answer = problem(
                    Request(scope),
                    WRONG_HOST,
                    f"It is not called {host!r}.",
                    hint="Call it by localhost, or start it with `pgrag serve --allow-host NAME`.",
                )
        await answer(scope, receive, send)


class KnownOrigins:
    """ASGI middleware that answers programs, and pages of this machine and of the `origins`."""

    def __init__(self, app: ASGIApp, *, origins: Sequence[str]) -> None:
        self._app = app
        self._origins = {origin.rstrip("/").lower() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or say whose it may not be."""
        answer = self._app
        origin = Headers(scope=scope).get("origin")
        if origin is not None and not (
            origin.lower() in self._origins or is_loopback(_host_name(origin))
        ):
            answer = problem(
                Request(scope),
                FORBIDDEN_ORIGIN,
                f"Pages of {origin!r} may not call it.",
                hint="Start it with `pgrag serve --allow-origin URL` to let them.",
            )
        await answer(scope, receive, send)


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
