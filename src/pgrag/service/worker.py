"""Workers: they take jobs from the database, one after the other."""

import logging
import os
import socket
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic, sleep

from pgrag.ground.calls import Row
from pgrag.ground.errors import PgragError
from pgrag.ingest.source.upload_folder import remove_left
from pgrag.service.app import App
from pgrag.service.attempt import Attempt
from pgrag.service.jobs import ENDED

log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
"""Without a sign of its worker for this long, a job goes to another worker."""

POLL_SECONDS = 5.0
"""Between two looks for a job that is due, if no notification comes."""

_CHANNEL = "pgrag_jobs"
_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 30.0
_turn = Lock()


class Worker:
    """Works on the jobs of a database, one after the other, until it is stopped. Jobs of others
    read only below the `roots`; by default those of the settings.
    """

    def __init__(
        self,
        app: App,
        *,
        lease: float = LEASE_SECONDS,
        poll: float = POLL_SECONDS,
        roots: Sequence[Path] | None = None,
    ) -> None:
        self.name = f"{socket.gethostname()}:{os.getpid()}"
        self._app = app
        self._lease = lease
        self._poll = poll
        self._roots = app.settings.mcp_roots if roots is None else roots
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
        while not self._stopping.is_set():
            try:
                # First, because a call brings back an embedded server that has crashed.
                if self.work():
                    continue
                with self._app.database.listening(_CHANNEL) as wait:
                    while not self._stopping.is_set():
                        if not self.work():
                            self._wait(wait)
            except PgragError as error:
                log.warning("The worker waits: %s", error)
                self._stopping.wait(min(self._poll, 1.0))

    def work(self, job_id: int | None = None) -> bool:
        """Do one job that is due, or this one; returns whether there was one. One at a time in this
        process: reading and embedding use the whole processor.
        """
        if not _turn.acquire(timeout=self._poll):
            return False
        try:
            rows = self._app.database.call(
                "claim_job",
                worker=self.name,
                lease=timedelta(seconds=self._lease),
                wanted_id=job_id,
            )
            for row in rows:
                Attempt(self._app, row, self._lease, self._stopping, self._roots).run()
            return bool(rows)
        finally:
            _turn.release()

    def _wait(self, wait: Callable[[float], bool]) -> None:
        until = monotonic() + self._poll
        while monotonic() < until and not self._stopping.is_set():
            if wait(min(self._poll, 0.5)):
                return


def complete(
    app: App, job_id: int, tell: Callable[[Row], None], roots: Sequence[Path] | None = None
) -> Row:
    """Wait for the end of a job, and return it; do it here if no other worker has taken it. `tell`
    gets the job a few times a second.
    """
    helper: Thread | None = None
    while True:
        [job] = app.database.call("job", wanted_id=job_id)
        tell(job)
        if job["state"] in ENDED:
            return job
        if job["state"] == "queued" and (helper is None or not helper.is_alive()):
            # In a thread of its own: what limits the caller must not limit the job.
            helper = Thread(target=_help, args=[app, job_id, roots], daemon=True)
            helper.start()
        sleep(_LOOK_SECONDS)


def _help(app: App, job_id: int, roots: Sequence[Path] | None) -> None:
    try:
        Worker(app, roots=roots, poll=_LOOK_SECONDS).work(job_id)
    except PgragError as error:
        log.warning("Job %s waits: %s", job_id, error)
