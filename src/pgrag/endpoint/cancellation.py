"""Cancels a request from any thread, also while another thread waits for the response."""

import socket
from contextlib import suppress
from threading import Event, Lock
from typing import Any

_OPENED = (".connect_tcp.complete", ".start_tls.complete")
"""httpcore events after which a connection has a new socket."""


class Cancelled(Exception):
    """The request was cancelled."""


class Cancellation:
    """The cancel switch of one request or of several in turn.

    The transport reports its socket to `trace`. A blocked read ends at once, because the socket is
    shut down under it. Connecting and name lookup cannot be interrupted; they have a short timeout.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._cancelled = Event()
        self._socket: socket.socket | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether the request was cancelled."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Cancel the current request and all later ones; idempotent."""
        with self._lock:
            self._cancelled.set()
            self._shut_down()

    def wait(self, seconds: float) -> None:
        """Wait until the time has passed or the request is cancelled."""
        self._cancelled.wait(seconds)

    def check(self) -> None:
        """Raise `Cancelled` if the request was cancelled."""
        if self.is_cancelled:
            raise Cancelled

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Record the socket of the request; see the extension `trace` of httpx."""
        if event.endswith(_OPENED):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self.is_cancelled:
                    self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # already closed
                # Not the TLS socket's own method: it changes state that another thread is reading.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
