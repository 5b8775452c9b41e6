"""The protocol over streamable HTTP, as one ASGI endpoint for any server.

It is stateless: no tool depends on an earlier call, any process can answer, a restart disturbs no
client, and a client that disconnects leaves nothing behind. The SDK is loaded on the first request,
so a service without agents does not pay for it.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from pgrag.ground.json_text import InvalidJson, read_json

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

INVALID_REQUEST = -32600
PARSE_ERROR = -32700
_ONLY_POST = "This server keeps no sessions or streams: use POST."


class Endpoint:
    """An ASGI application that answers while `running`; `make_server` is called once, in a thread.

    With `streams` a call can report progress; without, the response is plain JSON, which is
    cheaper. A call is cancelled when its client disconnects. Access control belongs to the
    middleware in front: this endpoint checks neither Host nor Origin.
    """

    def __init__(self, make_server: "Callable[[], Server[Any]]", *, streams: bool) -> None:
        self._make_server = make_server
        self._streams = streams
        self._manager: StreamableHTTPSessionManager | None = None
        self._tasks: TaskGroup | None = None
        self._starting = anyio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests; at the end cancel running ones."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = self._manager = None
                tasks.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["method"] != "POST":
            # Clients then do without a stream of their own.
            await _refuse(send, 405, INVALID_REQUEST, _ONLY_POST)
            return
        # The SDK would log a client that leaves in the middle of its request as an error.
        body = await _body(receive)
        if body is None:
            return
        async with self._starting:
            if self._manager is None:
                if self._tasks is None:
                    raise RuntimeError("The endpoint is not running.")
                self._manager = await self._tasks.start(self._run)
            manager = self._manager
        try:
            read_json(body)
        except InvalidJson as error:
            await _refuse(send, 400, PARSE_ERROR, f"Parse error: {error}.")
            return
        if self._streams:
            await manager.handle_request(scope, _beginning_with(body, receive), send)
        else:
            await _answer_or_leave(manager, body, scope, receive, send)

    async def _run(
        self, *, task_status: "TaskStatus[StreamableHTTPSessionManager]" = anyio.TASK_STATUS_IGNORED
    ) -> None:
        manager = await anyio.to_thread.run_sync(self._make_manager)
        async with manager.run():
            task_status.started(manager)
            await anyio.sleep_forever()

    def _make_manager(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import (  # noqa: PLC0415 - half a second
            StreamableHTTPSessionManager,
        )

        return StreamableHTTPSessionManager(
            self._make_server(), stateless=True, json_response=not self._streams
        )


async def _body(receive: Receive) -> bytes | None:
    """The body of a request; None if its client leaves before its end."""
    pieces = []
    while (message := await receive())["type"] == "http.request":
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)
    return None


def _beginning_with(body: bytes, receive: Receive) -> Receive:
    """Receive a body in one piece, then what else there is."""
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_next() -> MutableMapping[str, Any]:
        return next(messages, None) or await receive()

    return receive_next


async def _answer_or_leave(
    manager: "StreamableHTTPSessionManager", body: bytes, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer a request in one piece, which the SDK does to its end; leave if the client does."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()

    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        try:
            await manager.handle_request(scope, _beginning_with(body, receive), send)
        except Exception as error:
            failure = error  # the task group would raise it in a group of its own
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _refuse(send: Send, status: int, code: int, message: str) -> None:
    """Refuse as the protocol requires."""
    error = {"code": code, "message": message}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [(b"content-type", b"application/json")]
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
