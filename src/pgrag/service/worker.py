"""Workers: they take jobs from the database, one after the other. A worker that is killed, stopped
or cut off loses its job when the lease ends, and what it still tries to write is refused. Between
jobs they refresh the tables of the user.

Jobs take turns between those who asked for them; the database says whose turn it is. A job that has
had its turn while others wait is given back after a page, and continues later from what is stored.
What cannot be interrupted, such as fetching a repository, keeps running, but no longer keeps others
from beginning: the worker lends its place.
"""

import logging
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import Condition, Event, Lock, Thread
from time import monotonic, sleep

from pgrag.ground import errors
from pgrag.ground.callers import current_caller
from pgrag.ground.calls import Row
from pgrag.ground.replicas import on_primary
from pgrag.ingest.source.uploads import remove_left
from pgrag.service.app import App
from pgrag.service.attempt import Attempt
from pgrag.service.jobs import ENDED
from pgrag.service.tables import Watched

log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
"""Without a sign of its worker for this long, a job goes to another worker."""

POLL_SECONDS = 5.0
"""Seconds between two looks for jobs that are due, unless a notification comes."""

TURN_SECONDS = 20.0
"""How long a job keeps its worker while others wait."""

_MOST_ATTEMPTS = 8
"""Attempts that one process makes at a time, all but one in lent places."""

_CHANNEL = "pgrag_jobs"
_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 30.0


class _Places:
    """The attempts of this process, for all of its workers: one at a time, for an attempt uses the
    whole processor, and another one beside those that are late.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._changed = Condition(self._lock)
        self._attempts: list[Attempt] = []

    @contextmanager
    def claiming(self, seconds: float) -> Iterator[bool | None]:
        """Hold the right to begin an attempt. Yields whether it is in a lent place; None if there
        is no place within some seconds.
        """
        until = monotonic() + seconds
        with self._lock:
            while self.are_taken() and (left := until - monotonic()) > 0:
                # Nobody says that an attempt is late.
                self._changed.wait(min(left, _LOOK_SECONDS))
            yield None if self.are_taken() else bool(self._attempts)

    def are_taken(self) -> bool:
        """Whether no attempt can begin."""
        attempts = [*self._attempts]
        return len(attempts) >= _MOST_ATTEMPTS or not all(each.is_late() for each in attempts)

    def are_lent(self) -> bool:
        """Whether attempts run beside others, so that those that are late should end soon."""
        return len(self._attempts) > 1

    def begin(self, attempt: Attempt) -> None:
        """Let an attempt take a place, within `claiming`."""
        self._attempts.append(attempt)

    def end(self, attempt: Attempt) -> None:
        """Free the place of an attempt."""
        with self._lock:
            self._attempts.remove(attempt)
            self._changed.notify_all()


_places = _Places()


class Worker:
    """Works on jobs until it is stopped; for others it reads only below the `roots`."""

    def __init__(
        self,
        app: App,
        *,
        lease: float = LEASE_SECONDS,
        poll: float = POLL_SECONDS,
        turn: float = TURN_SECONDS,
        roots: Sequence[Path] | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self._app = app
        self._lease = lease
        self._poll = poll
        self._turn = turn
        self._roots = app.settings.mcp_roots if roots is None else roots
        self._tables = Watched(app.database, app.embed)
        self._stopping = Event()
        self._thread = Thread(target=self.run, name="pgrag worker", daemon=True)

    def stop(self) -> None:
        """End `run` soon; a job that is not done is given back, and what it has written stays."""
        self._stopping.set()

    def start(self) -> None:
        """Work in a thread, until `end`."""
        self._thread.start()

    def end(self) -> None:
        """Stop, and wait for the thread, though not for ever."""
        self.stop()
        self._thread.join(_GRACE_SECONDS)

    def run(self) -> None:
        """Work until `stop`; wait for the database whenever it does not answer."""
        remove_left()
        with on_primary():
            self._run_until_stopped()

    def _run_until_stopped(self) -> None:
        attempts: list[Thread] = []
        while not self._stopping.is_set():
            try:
                # First, because a call brings back an embedded server that has crashed.
                if self._begin(attempts):
                    continue
                with self._app.database.listening(_CHANNEL) as wait:
                    while not self._stopping.is_set():
                        # Tables are looked at, because notifications would let all transactions
                        # that change them commit one after the other.
                        if not self._begin(attempts) and not self._tables.refresh():
                            self._wait(wait)
            except errors.PgragError as error:
                log.warning("The worker waits: %s", error)
                self._stopping.wait(min(self._poll, 1.0))
        for thread in attempts:
            thread.join()

    def _begin(self, attempts: list[Thread]) -> bool:
        """Begin the next job in a thread of its own, if there is one and a place for it."""
        attempts[:] = [thread for thread in attempts if thread.is_alive()]
        attempt = self._claimed(_LOOK_SECONDS)
        if attempt is not None:
            attempts.append(Thread(target=self._run, args=[attempt], name="pgrag job", daemon=True))
            attempts[-1].start()
        return attempt is not None

    def _run(self, attempt: Attempt) -> None:
        try:
            attempt.run()
        except errors.PgragError as error:
            log.warning("The worker waits: %s", error)
        finally:
            _places.end(attempt)

    def work(self, job_id: int | None = None) -> bool:
        """Do the next job, or this one out of turn."""
        attempt = self._claimed(self._poll, job_id)
        if attempt is None:
            return False
        try:
            attempt.run()
        finally:
            _places.end(attempt)
        return True

    def _claimed(self, seconds: float, job_id: int | None = None) -> Attempt | None:
        with _places.claiming(seconds) as is_lent:
            if is_lent is None or self._stopping.is_set():
                return None
            rows = self._app.database.call(
                "_pgrag.claim_job",
                worker=self.name,
                lease=timedelta(seconds=self._lease),
                wanted_id=job_id,
                is_lent=is_lent,
            )
            for row in rows:
                attempt = Attempt(
                    self._app, row, self._stopping,
                    lease=self._lease, turn=self._turn, roots=self._roots,
                    is_crowded=_places.are_lent,
                )  # fmt: skip
                _places.begin(attempt)
                return attempt
        return None

    def _wait(self, wait: Callable[[float], bool]) -> None:
        until, were_taken = monotonic() + self._poll, _places.are_taken()
        while monotonic() < until and not self._stopping.is_set():
            if wait(min(self._poll, 0.5)) or (were_taken and not _places.are_taken()):
                return


def complete(
    app: App, job_id: int, tell: Callable[[Row], None], roots: Sequence[Path] | None = None
) -> Row:
    """Wait for the end of a job; where no worker is, this process works meanwhile: for the holder
    of a key on whatever job comes next, else on this one. `tell` gets its row often.
    """
    helper: Thread | None = None
    wanted = None if current_caller().name else job_id
    while True:
        [job] = app.database.call("job", wanted_id=job_id)
        tell(job)
        if job["state"] in ENDED:
            return job
        if job["state"] == "queued" and (helper is None or not helper.is_alive()):
            # In a thread of its own: what limits the caller must not limit the job.
            helper = Thread(target=_help, args=[app, wanted, roots], daemon=True)
            helper.start()
        sleep(_LOOK_SECONDS)


def _help(app: App, job_id: int | None, roots: Sequence[Path] | None) -> None:
    try:
        Worker(app, roots=roots, poll=_LOOK_SECONDS).work(job_id)
    except errors.PgragError as error:
        log.warning("A job waits: %s", error)
