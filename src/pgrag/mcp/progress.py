"""How a tool that takes long tells its client, and hears that nobody waits any more."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any

import anyio.from_thread
from mcp.server.context import ServerRequestContext

Say = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]
"""Tells the client (done, of all, in words); nothing happens where the client did not ask."""

_say: ContextVar[Say | None] = ContextVar("progress", default=None)


def listen(context: ServerRequestContext[Any]) -> None:
    """Let what is called from now on, in this task or a thread of it, report to this request."""
    _say.set(context.session.report_progress)


def report(done: int, total: int, message: str) -> None:
    """Tell how far a call is, from its thread; ends the call where it has been cancelled."""
    anyio.from_thread.check_cancelled()
    say = _say.get()
    if say is not None:
        anyio.from_thread.run(say, done, total, message)
