"""Cancels a request from any thread, also while another thread waits for the response."""

import socket
from contextlib import suppress
from threading import Event, Lock
from typing import Any
from weakref import WeakSet

#: httpcore events after which a connection has a new socket.
_OPENED = (".connect_tcp.complete", ".start_tls.complete")


class Cancelled(Exception):
    """The request was cancelled."""


class Cancellation:
    """The cancel switch of requests. A blocked read ends at once, since its socket, reported to
    `trace`, is shut down; connecting has a short timeout.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._cancelled = Event()
        self._sockets: WeakSet[socket.socket] = WeakSet()

    @property
    def is_cancelled(self) -> bool:
        """Whether the request was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancel the current requests and all later ones; idempotent."""
        with self._lock:
            self._cancelled.set()
            for opened in self._sockets:
                _shut_down(opened)

    def wait(self, seconds: float) -> None:
        """Wait until the time has passed or the request is cancelled."""
        self._cancelled.wait(seconds)

    def check(self) -> None:
        """Raise `Cancelled` if the request was cancelled."""
        if self.is_cancelled:
            raise Cancelled

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Record the socket of a request; see the extension `trace` of httpx."""
        if event.endswith(_OPENED):
            with self._lock:
                opened = info["return_value"].get_extra_info("socket")
                self._sockets.add(opened)
                if self.is_cancelled:
                    _shut_down(opened)


def _shut_down(opened: socket.socket) -> None:
    with suppress(OSError):  # already closed
        # Not the TLS socket's own method: it changes state that another thread is reading.
        socket.socket.shutdown(opened, socket.SHUT_RDWR)
