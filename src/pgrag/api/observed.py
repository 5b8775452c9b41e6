"""What is known of each request beside its answer: its id, its line in the log, its metrics."""

import logging
import re
import time
from collections import Counter
from typing import TYPE_CHECKING
from uuid import uuid4

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrag.api.framing import METHODS
from pgrag.api.problems import HTTP_KINDS, problem
from pgrag.ground import logs

if TYPE_CHECKING:
    from pgrag.service.metrics import Metrics

log = logging.getLogger("pgrag.access")

REQUEST_ID = "X-Request-Id"

_ONCE = """
authorization content-length content-location content-type date from host if-modified-since if-range
if-unmodified-since last-event-id max-forwards origin proxy-authorization range referer user-agent
x-forwarded-proto x-request-id sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user
access-control-request-method mcp-protocol-version mcp-session-id mcp-method mcp-name
"""
ONCE = frozenset(_ONCE.encode().split())
"""Headers with one value, in small letters: of two, programs on the way may take either."""

_ID = re.compile(r"[A-Za-z0-9._~:/+=@-]{1,128}")


class Observed:
    """ASGI middleware that gives each request an id, which its answer and its lines in the log
    have, too. It refuses repeated headers that have one value.

    The id is that of `X-Request-Id`, if it is made of up to 128 letters, digits and ._~:/+=@-, else
    a new one. With `writes_log` each request has a line; `metrics` count it by its route, never by
    its address.
    """

    def __init__(
        self, app: ASGIApp, *, writes_log: bool = False, metrics: "Metrics | None" = None
    ) -> None:
        self._app = app
        self._writes_log = writes_log
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer with its id."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == b"x-request-id"]
        wished = sent[0].decode("latin-1") if len(sent) == 1 else ""
        number = wished if _ID.fullmatch(wished) else uuid4().hex
        about = logs.begin(request_id=number)
        started, status = time.perf_counter(), 0
        header = (REQUEST_ID.lower().encode(), number.encode())

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": [*message["headers"], header]}
            await send(message)

        names = [name for name, _ in scope["headers"]]
        repeated = ONCE.intersection(names) if len(set(names)) < len(names) else frozenset()
        counts = Counter(names)
        answer = next((_repeated(scope, each) for each in repeated if counts[each] > 1), self._app)
        try:
            await answer(scope, receive, told)
        finally:
            self._end(scope, about, status, time.perf_counter() - started)

    def _end(self, scope: Scope, about: dict[str, object], status: int, seconds: float) -> None:
        route = about.get("route") or getattr(scope.get("route"), "path", None) or "(none)"
        method = scope["method"] if scope["method"] in METHODS else "(other)"
        if self._metrics is not None:
            # Without a status the client has left before the answer.
            labels = (str(route), method, str(status or 499), str(about.get("work", "(none)")))
            self._metrics.count_request(labels, seconds)
        if self._writes_log:
            client = scope.get("client")
            fields = {
                "method": scope["method"],
                "path": scope["path"],
                "route": route,
                "status": status or None,
                "duration_ms": round(1000 * seconds, 1),
                "client": client[0] if client else None,
            }
            log.info("%s %s %s", scope["method"], scope["path"], status, extra={"fields": fields})


def _repeated(scope: Scope, name: bytes) -> ASGIApp:
    detail = f"The request has more than one header {name.decode()}."
    return problem(Request(scope), HTTP_KINDS[400], detail, headers={"Connection": "close"})
