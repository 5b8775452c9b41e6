"""Bring back the server of a home after a crash, once for all threads of a process."""

from concurrent.futures import Future
from threading import Lock, Thread
from time import monotonic

from pgrag.ground import callers
from pgrag.ground.embedded.server import EmbeddedServer
from pgrag.ground.errors import DatabaseUnavailable

#: Seconds that a request waits for a start, which a long recovery may exceed by a minute.
_PATIENCE = 2.0
#: Seconds in which a server that did not start is not started again.
_PAUSE = 5.0


class Revival:
    """Starts a crashed server again, but not one that was stopped."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server
        self._lock = Lock()
        self._start: Future[bool] | None = None
        self._ended_at = 0.0

    def __call__(self) -> bool:
        """Return whether the server runs again. Raises `DatabaseUnavailable` if that failed, now
        or a moment ago, and for a request also if it takes long; a command and a job wait.
        """
        with self._lock:
            start = self._start
            if start is None or (start.done() and not self._failed_just_now(start)):
                if not self._server.has_crashed():
                    return False
                start = self._start = Future()
                Thread(target=self._run, args=[start], name="pgrag server", daemon=True).start()
        try:
            return start.result(None if callers.current_work() is None else _PATIENCE)
        except TimeoutError:
            raise DatabaseUnavailable(
                "The embedded PostgreSQL has crashed, and starts again.", hint="Try again."
            ) from None
        except DatabaseUnavailable as error:
            # Each thread raises an error of its own, as it adds its stack.
            raise type(error)(error.message, hint=error.hint) from error

    def _failed_just_now(self, start: Future[bool]) -> bool:
        return start.exception() is not None and monotonic() < self._ended_at + _PAUSE

    def _run(self, start: Future[bool]) -> None:
        try:
            runs = self._server.revive()
        except BaseException as error:
            self._ended_at = monotonic()
            start.set_exception(error)
        else:
            start.set_result(runs)
