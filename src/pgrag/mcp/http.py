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
        async with self._starting:
            if self._manager is None:
                if self._tasks is None:
                    raise RuntimeError("The endpoint is not running.")
                self._manager = await self._tasks.start(self._run)
            manager = self._manager
        body = await _read(receive)
        if body is None:
            return
        try:
            read_json(body)
        except InvalidJson as error:
            await _refuse(send, 400, PARSE_ERROR, f"Parse error: {error}.")
            return
        receive = _again(body, receive)
        if self._streams:
            await manager.handle_request(scope, receive, send)
        else:
            await _answer_or_leave(manager, scope, receive, send)

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


async def _answer_or_leave(
    manager: "StreamableHTTPSessionManager", scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer a request in one piece, which the SDK does to its end; leave if the client does."""
    has_body = anyio.Event()

    async def receive_body() -> MutableMapping[str, Any]:
        message = await receive()
        if not message.get("more_body"):
            has_body.set()
        return message

    async def watch() -> None:
        await has_body.wait()
        while (await receive())["type"] != "http.disconnect":
            pass
        group.cancel_scope.cancel()

    failure: Exception | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        try:
            await manager.handle_request(scope, receive_body, send)
        except Exception as error:
            failure = error  # the task group would raise it in a group of its own
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _read(receive: Receive) -> bytes | None:
    """The body of a request; None if its client has left."""
    pieces = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        pieces.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(pieces)


def _again(body: bytes, receive: Receive) -> Receive:
    """Receive a body that has been read, and then what comes."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> MutableMapping[str, Any]:
        return left.pop() if left else await receive()

    return received


async def _refuse(send: Send, status: int, code: int, message: str) -> None:
    """Refuse as the protocol requires."""
    error = {"code": code, "message": message}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = [(b"content-type", b"application/json")]
    if status == 405:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
