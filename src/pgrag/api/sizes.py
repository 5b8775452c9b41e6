"""Limits of the size of bodies, and of what they take of the memory."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pgrag.api.problems import RETRY_AFTER_SECONDS, TOO_LARGE, problem

LARGEST_BODY = 1_000_000
"""In bytes. A query, its vector of 4,000 numbers and its filters take a tenth of it."""

_SENDING = re.compile(r"/v1/libraries/.+?/versions/.+?/(pages(?:/.+)?|upload)")
_LINES = b"application/x-ndjson"

_MOST_DROPPED = 2 * LARGEST_BODY
"""Bodies over this size are refused at once, though the reset may overtake the answer."""

_PATIENCE_SECONDS = 2.0


def largest_page(size: int) -> int:
    """The bytes of the largest body with a page of so many bytes: JSON may take twice as many."""
    return max(2 * size, LARGEST_BODY)


def _sent(scope: Scope) -> re.Match[str] | None:
    return _SENDING.fullmatch(scope["path"]) if scope["method"] in {"POST", "PUT"} else None


def is_upload(scope: Scope) -> bool:
    """Whether a request has files that are stored piece by piece, not one page or arguments."""
    sent = _sent(scope)
    if sent is None:
        return False
    media_type = dict(scope["headers"]).get(b"content-type", b"")
    return sent[1] == "upload" or media_type.startswith(_LINES)


class Bodies:
    """The bodies that a service has in memory: `most` bytes, for one caller half of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()

    @contextmanager
    def counted(self, holder: str, receive: Receive) -> Iterator[Receive]:
        """Receive the body of a request, which is held until the end of the block.

        Raises status 503 if it does not fit.
        """
        own = 0

        async def receive_counted() -> Message:
            nonlocal own
            message = await receive()
            if size := len(message.get("body", b"")):
                if self._held[holder] + size > self._most // 2:
                    raise _no_memory("As many bodies of this caller are in memory as may be.")
                if self._held.total() + size > self._most:
                    raise _no_memory("As many bodies are in memory as may be.")
                own += size
                self._held[holder] += size
            return message

        try:
            yield receive_counted
        finally:
            self._held -= Counter({holder: own})


def _no_memory(detail: str) -> HTTPException:
    headers = {"Connection": "close", "Retry-After": str(RETRY_AFTER_SECONDS)}
    return HTTPException(503, detail, headers=headers)


class BodyLimit:
    """ASGI middleware that answers 413 to a larger body, whether or not its length is declared.

    A page may have `page` bytes, as JSON twice as many; an upload may have `upload` bytes.
    """

    def __init__(self, app: ASGIApp, *, page: int, upload: int) -> None:
        self._app = app
        self._page = largest_page(page)
        self._upload = upload

    def _largest(self, scope: Scope) -> int:
        if is_upload(scope):
            return self._upload
        return self._page if _sent(scope) else LARGEST_BODY

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count the bytes read of its body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        largest = self._largest(scope)
        detail = f"This request may have a body of {largest:,} bytes."
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        announced = int(length) if length.isdigit() else 0
        if announced > largest:
            # Who sends Expect has not sent the body yet.
            if announced <= _MOST_DROPPED and b"expect" not in headers:
                await _drop_body(receive)
            refusal = problem(Request(scope), TOO_LARGE, detail, headers={"Connection": "close"})
            await refusal(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > largest:
                raise HTTPException(413, detail, headers={"Connection": "close"})
            return message

        await self._app(scope, counted, send)


async def _drop_body(receive: Receive) -> None:
    """Read a body to its end, for a while.

    A connection that is closed with unread data is reset, and the reset may overtake the answer.
    """
    with anyio.move_on_after(_PATIENCE_SECONDS):
        while (await receive()).get("more_body", False):
            pass
