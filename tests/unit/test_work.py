"""A request whose client is gone ends, whatever packages are installed beside pgrag."""

import asyncio
import threading
from contextlib import suppress
from contextvars import ContextVar
from types import SimpleNamespace

import anyio._core._eventloop
import pytest

from pgrag.ground.settings import Settings
from pgrag.service.work import WATCH_SECONDS, Abandoned, Works


def library_of_this_task():
    """As sniffio says it: outside of tasks there is none."""
    with suppress(RuntimeError):
        if asyncio.current_task() is not None:
            return "asyncio"
    raise LookupError


@pytest.mark.parametrize("sniffio", [
    None,
    SimpleNamespace(
        current_async_library=library_of_this_task,
        current_async_library_cvar=ContextVar("library"),
        AsyncLibraryNotFoundError=LookupError,
    ),
], ids=["without sniffio", "with sniffio"])  # fmt: skip
def test_a_request_that_is_abandoned_ends(sniffio, monkeypatch):
    monkeypatch.setattr(anyio._core._eventloop, "sniffio", sniffio)
    works = Works(Settings())
    is_over = threading.Event()
    complaints = []

    async def request():
        asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))

        async def is_gone():
            await asyncio.sleep(WATCH_SECONDS)
            # Only a watched request notices.
            is_over.set()

        with pytest.raises(Abandoned):
            await works.run(works.read, lambda: is_over.wait(120) or None, until=is_gone)

    asyncio.run(request())
    assert is_over.is_set()
    assert not complaints
