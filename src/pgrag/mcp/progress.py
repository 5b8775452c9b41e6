"""The context of a request; progress reports and cancellation of slow tools."""

from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from typing import Any, TypeAlias

import anyio.from_thread
from mcp.server.context import ServerRequestContext
from mcp_types import PaginatedRequestParams

Context: TypeAlias = ServerRequestContext[Any]
Listing: TypeAlias = PaginatedRequestParams
Say = Callable[[float, float | None, str | None], Coroutine[Any, Any, None]]
"""Tells the client (done, total, message); no-op unless the client asked for progress."""

_say: ContextVar[Say | None] = ContextVar("progress", default=None)


def listen(context: Context) -> None:
    """Report calls from now on, in this task or its threads, to the request of this context."""
    _say.set(context.session.report_progress)


def check() -> None:
    """End a call from its thread if it was cancelled."""
    anyio.from_thread.check_cancelled()


def report(done: int, total: int, message: str) -> None:
    """Report a call's progress from its thread; ends the call if it was cancelled."""
    check()
    say = _say.get()
    if say is not None:
        anyio.from_thread.run(say, done, total, message)
