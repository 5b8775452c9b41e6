"""Ends a request from any thread, also while another one waits for its answer."""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Lock
from typing import Any

_OPENED = (".connect_tcp.complete", ".start_tls.complete")
"""Events of httpcore after which a connection has another socket."""


class Cancelled(Exception):
    """The request was cancelled."""


class Cancellation:
    """The switch of one request; `trace` goes to its transport, which tells the socket.

    A read that waits ends at once, because the socket is shut down under it. To connect and to
    look up a name cannot be ended; they have a short timeout.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._cancelled = Event()
        self._socket: socket.socket | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody has cancelled it."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """End the request; once is enough, and nothing happens to one that has ended."""
        with self._lock:
            self._cancelled.set()
            self._shut_down()

    def wait(self, seconds: float) -> None:
        """Wait, unless it is cancelled."""
        self._cancelled.wait(seconds)

    def check(self) -> None:
        """Raise `Cancelled` if it is."""
        if self.is_cancelled:
            raise Cancelled

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Learn the socket of the request; see the extension `trace` of httpx."""
        if event.endswith(_OPENED):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
                if self.is_cancelled:
                    self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # it is closed already
                # Not the method of a TLS socket, which would change what another thread reads from.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
