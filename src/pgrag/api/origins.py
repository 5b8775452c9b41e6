"""Which web pages may call: a foreign page must not reach a server on its reader's machine.

A page can make its own name resolve to 127.0.0.1 (DNS rebinding), so a server meant for this
machine alone checks Host. A page can also send requests without a body to any address, though it
does not see the answers: where a request may change something, Origin is checked, in which a
browser names the page; programs send none.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pgrag.api.problems import Kind, problem

FORBIDDEN_ORIGIN = Kind(403, "forbidden-origin", "Pages of this origin may not call")
WRONG_HOST = Kind(421, "wrong-host", "The service is not called by this name")

PROBES = frozenset({"/healthz", "/readyz"})
"""Probes of an orchestrator: if refused, it would kill a service that is only busy or renamed."""


class KnownHosts:
    """ASGI middleware: Host must be one of the `hosts`, or a name of this machine.

    Any port is accepted, and probes may use any name.
    """

    def __init__(self, app: ASGIApp, *, hosts: Sequence[str]) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer that it names another host."""
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
    """ASGI middleware: which pages may send requests other than GET, and any request to agents.

    They are pages of this machine, of the `origins`, and of the service itself. A page is the
    service's own if its origin is what the request calls the service, and that name cannot lead
    here by rebinding: it is an address, or one of the `hosts` that `KnownHosts` checks. What
    `has_key` is let through: a publishable key is checked against its own origins.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        origins: Sequence[str],
        hosts: Sequence[str] | None,
        has_key: Callable[[Headers], bool],
    ) -> None:
        self._app = app
        self._has_key = has_key
        self._origins = {origin.rstrip("/").lower() for origin in origins}
        self._checks_hosts = hosts is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse its origin."""
        answer = self._app
        if scope["type"] == "http" and not _only_reads(scope):
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is None:
                is_known = headers.get("sec-fetch-site") not in {"cross-site", "same-site"}
            else:
                is_known = self._knows(origin.lower(), headers.get("host", "").lower())
            if not is_known and not self._has_key(headers):
                answer = problem(
                    Request(scope),
                    FORBIDDEN_ORIGIN,
                    f"Pages of {origin or 'another site'!r} may not call it.",
                    hint="Start it with `pgrag serve --allow-origin URL` to let them, or make them"
                    " a key: `pgrag keys create NAME --libraries A --origin URL`.",
                )
        await answer(scope, receive, send)

    def _knows(self, origin: str, host: str) -> bool:
        if origin in self._origins or is_loopback(_host_name(origin)):
            return True
        is_own = bool(host) and origin.partition("://")[2] == host
        return is_own and (self._checks_hosts or _is_address(_host_name(f"//{host}")))


def _only_reads(scope: Scope) -> bool:
    is_of_agents = scope["path"].rstrip("/") == "/mcp"
    return scope["method"] in {"GET", "HEAD", "OPTIONS"} and not is_of_agents


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=256)
def _host_name(url: str) -> str:
    """The name without port and brackets; empty if there is none, or a user before it."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return "" if "@" in parts.netloc else parts.hostname or ""
