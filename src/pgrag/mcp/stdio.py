"""The protocol over stdin and stdout, for a client that starts pgrag itself.

The SDK reads stdin in a thread that cannot be stopped: Ctrl-C would wait for the next message. Here
a daemon thread reads, and a signal has the effect of a closed stdin.
"""

import asyncio
import json
import math
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread, Timer
from typing import Any, Self, cast

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import PARSE_ERROR
from pydantic_core import from_json

from pgrag.ground.json_text import InvalidJson, read_json
from pgrag.mcp.wire import Wire

GRACE_SECONDS = 1.5
"""Time for running calls after the client has left. Clients kill after two seconds."""

_BLOCK = 1 << 16
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def serve(server: Server[Any], wire: Wire) -> int | None:
    """Serve one client until it closes stdin or a signal arrives; return the signal.

    Raises `BrokenPipeError` if the client stops reading.
    """
    try:
        return anyio.run(_serve, server, wire)
    except BaseExceptionGroup as group:
        if group.subgroup(BrokenPipeError) is None:
            raise
        raise BrokenPipeError("The client reads no more.") from None


async def _serve(server: Server[Any], wire: Wire) -> int | None:
    outbox = _Outbox(wire.writing)
    inbox = _Inbox(wire.reading, outbox)
    with inbox.reading():
        async with stdio_server(
            cast(anyio.AsyncFile[str], inbox), cast(anyio.AsyncFile[str], outbox)
        ) as (messages, replies):
            await server.run(messages, replies, server.create_initialization_options())
    return inbox.signal


class _Inbox:
    """The lines of a descriptor, until its end or a signal.

    The SDK drops a line that its parser rejects, and the client would wait for ever: here it is
    repaired, or refused as a request.
    """

    def __init__(self, descriptor: int, outbox: "_Outbox") -> None:
        self.signal: int | None = None
        self._descriptor = descriptor
        self._outbox = outbox
        self._loop = asyncio.get_running_loop()
        self._send, self._lines = anyio.create_memory_object_stream[str](math.inf)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        try:
            while True:
                line = await self._lines.receive()
                try:
                    return _mended(line)
                except InvalidJson as error:
                    await self._outbox.write(_refusal(line, error))
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read; at the end restore the signal handlers."""
        Thread(target=self._read, name="pgrag mcp: stdin", daemon=True).start()
        before = {number: signal.signal(number, self._stop) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            self._send.close()
            self._lines.close()

    def _read(self) -> None:
        # Not through a file object: its lock would be held when the interpreter exits.
        started: list[bytes] = []
        while block := os.read(self._descriptor, _BLOCK):
            *ends, rest = block.split(b"\n")
            for end in ends:
                line = b"".join([*started, end]).decode("utf-8", "replace")
                started.clear()
                self._tell(self._put, line)
            started.append(rest)
        self._leave(0)

    def _put(self, line: str) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._send.send_nowait(line)

    def _stop(self, number: int, _: object) -> None:
        if self.signal is not None:
            os._exit(128 + number)
        self.signal = number
        self._leave(128 + number)

    def _leave(self, status: int) -> None:
        """End as if stdin were closed; exit at once if that takes too long."""
        limit = Timer(GRACE_SECONDS, os._exit, [status])
        limit.daemon = True
        limit.start()
        self._tell(self._send.close)

    def _tell(self, function: Any, *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(function, *arguments)


class _Outbox:
    """A descriptor for output. A slow reader blocks no thread of the tools."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._limiter = anyio.CapacityLimiter(1)

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._write, text.encode(), limiter=self._limiter)

    async def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]


def _mended(line: str) -> str:
    """The line in a form that the SDK's parser accepts. Raises `InvalidJson` for JSON that it
    cannot accept, or would read in its own way.

    Programs that cut their text within an emoji send a lone surrogate, which is not valid Unicode.
    """
    try:
        message = read_json(line, halves=True)
    except InvalidJson:
        if _is_json(line):
            raise
        return line
    if _is_readable(line):
        return line
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode()


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _is_readable(line: str) -> bool:
    try:
        from_json(line)
    except ValueError:
        return False
    return True


def _refusal(line: str, reason: InvalidJson) -> str:
    """The answer to a request in JSON that the SDK's parser cannot read."""
    message = json.loads(line)
    number = message.get("id") if isinstance(message, dict) else None
    error = {"code": PARSE_ERROR, "message": f"The request cannot be read: {reason}."}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}) + "\n"
