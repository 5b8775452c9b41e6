"""No request may fill the memory: a body over the limit is refused, most of it unread."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrag.api.problems import TOO_LARGE, problem

LARGEST_BODY = 1_000_000
"""In bytes. A query, its vector of 4,000 numbers and its filters take a tenth of it."""

_DETAIL = f"A request may have a body of {LARGEST_BODY:,} bytes."


class BodyLimit:
    """ASGI middleware that answers 413 to a larger body, be its length announced or not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count what is read of its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _announced(scope) > LARGEST_BODY:
            refusal = problem(Request(scope), TOO_LARGE, _DETAIL, headers={"Connection": "close"})
            await refusal(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                raise HTTPException(413, _DETAIL, headers={"Connection": "close"})
            return message

        await self._app(scope, counted, send)


def _announced(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"")
    return int(length) if length.isdigit() else 0
