"""The rate of requests to a site."""

import threading
import time


class Ended(Exception):
    """The crawl has ended; its threads end, too."""


#: Longest wait that a site can ask for with Retry-After, in seconds.
LONGEST_PAUSE = 120.0


class Pace:
    """Lets requests begin `interval` seconds apart, one after the other; can pause or end them."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self._next = 0.0
        self._lock = threading.Lock()
        self._is_over = threading.Event()

    def look(self) -> None:
        """Raise Ended if `end` was called."""
        if self._is_over.is_set():
            raise Ended

    def wait(self) -> None:
        """Wait for the next turn. Raises Ended if there is none."""
        while True:
            self.look()
            with self._lock:
                now = time.monotonic()
                if now >= self._next:
                    self._next = now + self.interval
                    return
                left = self._next - now
            self._is_over.wait(left)

    def pause(self, seconds: float) -> None:
        """Let no request begin for some seconds."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + min(seconds, LONGEST_PAUSE))

    def end(self) -> None:
        """Let no request begin or continue, and wake the waiting threads."""
        self._is_over.set()
