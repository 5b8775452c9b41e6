"""The protocol over stdin and stdout, for a client that starts pgrag itself.

The SDK reads stdin in a thread that nothing can stop: Ctrl-C would wait for the next message. Here
a thread reads that need not end, and a signal is to the server as if the client had left.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread, Timer
from typing import Any, cast

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from pgrag.mcp.wire import Wire

GRACE_SECONDS = 1.5
"""So long may end what still runs when the client has left. Clients kill after two seconds."""

_BLOCK = 1 << 16
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def serve(server: Server[Any], wire: Wire) -> int | None:
    """Serve one client until it closes stdin or a signal comes; return the signal.

    Raises `BrokenPipeError` when the client reads no more.
    """
    try:
        return anyio.run(_serve, server, wire)
    except BaseExceptionGroup as group:
        if group.subgroup(BrokenPipeError) is None:
            raise
        raise BrokenPipeError("The client reads no more.") from None


async def _serve(server: Server[Any], wire: Wire) -> int | None:
    inbox = _Inbox(wire.reading)
    with inbox.reading():
        async with stdio_server(
            cast(anyio.AsyncFile[str], inbox), cast(anyio.AsyncFile[str], _Outbox(wire.writing))
        ) as (messages, replies):
            await server.run(messages, replies, server.create_initialization_options())
    return inbox.signal


class _Inbox:
    """The lines of a descriptor, until its end or a signal."""

    def __init__(self, descriptor: int) -> None:
        self.signal: int | None = None
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._send, self._lines = anyio.create_memory_object_stream[str](math.inf)

    def __aiter__(self) -> _Inbox:
        return self

    async def __anext__(self) -> str:
        try:
            return await self._lines.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read; at the end give the handlers of signals back."""
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
        # Not by a file object: its lock would be held when the interpreter ends.
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
        """End as after the last line; at once if that takes too long."""
        limit = Timer(GRACE_SECONDS, os._exit, [status])
        limit.daemon = True
        limit.start()
        self._tell(self._send.close)

    def _tell(self, function: Any, *arguments: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody listens any more
            self._loop.call_soon_threadsafe(function, *arguments)


class _Outbox:
    """A descriptor that takes text. A slow reader keeps no thread from the tools."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._limiter = anyio.CapacityLimiter(1)

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._write, text.encode(), limiter=self._limiter)

    async def flush(self) -> None:
        """Nothing is kept back."""

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._descriptor, data) :]
