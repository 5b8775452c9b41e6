"""Delivery of an answer: a thread makes the answer, and stops when the client disconnects."""

import json
import logging
from collections.abc import Callable, Coroutine
from contextlib import closing, suppress
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
from fastapi import Request, Response
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from pgrag.answer import AnswerEvent, AnswerStream
from pgrag.api.problems import INTERNAL, pgrag_problem, problem
from pgrag.ground.errors import PgragError
from pgrag.service.work import Abandoned, Works

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 15.0
"""Between comments, for proxies that close silent connections; the first one opens the stream."""

PATIENCE_SECONDS = 60.0
"""A client that reads nothing for this long is gone: it must not keep a slot from others."""

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]

Tell = Callable[[AnswerEvent], Coroutine[Any, Any, None]]


async def disconnected(receive: Receive) -> None:
    """Wait until the client of a request has disconnected."""
    try:
        while (await receive())["type"] != "http.disconnect":
            pass
    except HTTPException:
        # The body is too large, and not needed: it is not read to its end.
        await anyio.sleep_forever()


async def follow(
    stream: AnswerStream, works: Works, receive: Receive, tell: Tell | None = None
) -> None:
    """Run an answer to its end; `tell` gets each event.

    Raises `Abandoned` when the client disconnects or the server gives up the request: by then the
    answer, with the statement that runs for it, is cancelled, and its thread is free again.
    """

    def tell_events() -> None:
        with closing(stream.events) as events:
            for event in events:
                if tell is not None:
                    anyio.from_thread.run(tell, event)

    try:
        await works.run(
            works.answer, tell_events, until=partial(disconnected, receive), stop=stream.cancel
        )
    except anyio.get_cancelled_exc_class():
        # The server is shutting down: no client is left to answer.
        raise Abandoned from None


class QuietDepartures:
    """ASGI middleware, the outermost: a client that goes away is no fault of the service."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if its client waits for it."""
        try:
            await self._app(scope, receive, send)
        except Exception as error:
            if not _is_departure(error):
                raise
            log.debug("%s %s: the client went away", scope["method"], scope["path"])


def _is_departure(error: BaseException | None) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_departure, error.exceptions))
    return isinstance(error, ClientDisconnect | Abandoned)


class EventStream(Response):
    """The events of an answer as server-sent events.

    An error before the first event becomes a problem document, a later one an event `error`.
    """

    def __init__(self, request: Request, stream: AnswerStream, works: Works) -> None:
        super().__init__(media_type="text/event-stream")
        self._request = request
        self._stream = stream
        self._works = works
        self._has_begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        sending = anyio.Lock()

        async def write(raw: bytes, *, more: bool = True) -> None:
            with anyio.move_on_after(PATIENCE_SECONDS) as patience:
                async with sending:
                    if not self._has_begun:
                        self._has_begun = True
                        await send(
                            {"type": "http.response.start", "status": 200, "headers": _HEADERS}
                        )
                    await send({"type": "http.response.body", "body": raw, "more_body": more})
            if patience.cancelled_caught:
                self._stream.cancel()
                raise ClientDisconnect

        async def beat() -> None:
            while True:
                await anyio.sleep(HEARTBEAT_SECONDS)
                with suppress(ClientDisconnect):
                    await write(b": still here\n\n")

        def tell(event: AnswerEvent) -> Coroutine[Any, Any, None]:
            return write(frame(event.name, to_json(event.data, inf_nan_mode="null")))

        error: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(beat)
            try:
                await follow(self._stream, self._works, receive, tell)
            except Exception as failure:
                error = failure
            group.cancel_scope.cancel()
        if error is None:
            await write(b"", more=False)
        elif isinstance(error, ClientDisconnect | Abandoned):
            return
        elif not self._has_begun:
            raise error
        else:
            await write(frame("error", await self._described(error)), more=False)

    async def _described(self, error: Exception) -> bytes:
        """The problem document of an error, on one line."""
        if isinstance(error, PgragError):
            response = await pgrag_problem(self._request, error)
        else:
            log.error("%s failed", self._request.url.path, exc_info=error)
            response = problem(self._request, INTERNAL)
        return json.dumps(json.loads(bytes(response.body))).encode()


def frame(name: str, data: bytes) -> bytes:
    """A server-sent event."""
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)
