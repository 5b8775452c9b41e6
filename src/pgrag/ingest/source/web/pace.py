"""How fast a site is asked."""

import threading
import time
from email.utils import parsedate_to_datetime


class Ended(Exception):
    """Nobody waits for the crawl any more, so its threads end."""


#: Longest wait that a site can ask for with Retry-After, in seconds.
LONGEST_PAUSE = 120.0


class Pace:
    """Lets requests begin one after the other, `interval` seconds apart, and pauses or ends all."""

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
        """Let no request begin or go on any more, and wake those that wait."""
        self._is_over.set()


def retry_after(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number, or a date."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
