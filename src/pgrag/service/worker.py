"""Workers: they take jobs from the database, one after the other. A worker that is killed, stopped
or cut off loses its job when the lease ends, and what it still tries to write is refused.
"""

import logging
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import Any

from pgrag.ground import errors, logs
from pgrag.ground.callers import Caller, Work, calling, working
from pgrag.ground.calls import Row
from pgrag.ground.counts import count
from pgrag.ingest.report import IndexReport
from pgrag.ingest.source.allowed import require_allowed
from pgrag.ingest.source.source import Source
from pgrag.ingest.source.uploads import received, remove_left, upload_folder
from pgrag.service.app import App
from pgrag.service.jobs import ENDED, index

log = logging.getLogger(__name__)

LEASE_SECONDS = 60.0
"""Without a sign of its worker for this long, a job goes to another worker."""

POLL_SECONDS = 5.0
"""Seconds between two looks for jobs that are due, unless a notification comes."""

_CHANNEL = "pgrag_jobs"
_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 30.0
_BEAT_SECONDS = 0.5
_BUSY_SECONDS = 3.0
_MOST_REASONS = 1000
#: Errors that another attempt would meet, too.
_HOPELESS = (errors.InvalidInput, errors.NotFound, errors.SettingsError)
_turn = Lock()
#: Heartbeats have a connection of their own: searches and the job may use all others.
_HEARTBEATS = Work("heartbeats", 1, 10.0, 10.0)


class _GivenUp(Exception):
    """The job was cancelled, is another worker's now, or the worker stops."""


class Attempt:
    """One attempt at a job, with its heartbeat in a second thread."""

    def __init__(
        self, app: App, row: Row, lease: float, stopping: Event, roots: Sequence[Path]
    ) -> None:
        self._app = app
        self._row = row
        self._names = {"job_id": row["job_id"], "claim": row["claim"]}
        self._lease = timedelta(seconds=lease)
        self._stopping = stopping
        self._roots = roots
        self._progress: dict[str, Any] | None = None
        self._is_over = Event()
        self._standing = "held"

    def run(self) -> None:
        """Do the job, and say how it ended."""
        heart = Thread(target=self._beat, name=f"pgrag job {self._row['job_id']}", daemon=True)
        heart.start()
        try:
            end = self._ended()
        finally:
            self._is_over.set()
            heart.join()
        self._report(end)

    def _ended(self) -> Callable[[], object]:
        call = partial(self._app.database.call, **self._names)
        number = self._row["job_id"]
        try:
            report = self._index()
        except _GivenUp:
            count("job_attempts", outcome="given back")
            return partial(call, "_pgrag.end_attempt")
        except errors.LeaseLost as error:
            log.warning("%s", error)
            count("job_attempts", outcome="lost")
            return partial(call, "_pgrag.end_attempt")
        except errors.Busy as error:
            log.info("Job %s waits: %s", number, error)
            count("job_attempts", outcome="put off")
            return partial(call, "_pgrag.end_attempt", delay=timedelta(seconds=_BUSY_SECONDS))
        except errors.PgragError as error:
            log.warning("Job %s failed: %s", number, error)
            count("job_attempts", outcome="failed")
            # What was uploaded stays as it is.
            hopeless = (*_HOPELESS, errors.SourceError) if self._row["is_upload"] else _HOPELESS
            final = isinstance(error, hopeless)
            return partial(call, "_pgrag.end_attempt", reason=_storable(str(error)), final=final)
        except Exception as error:
            log.exception("Job %s failed", number)
            count("job_attempts", outcome="failed")
            said = (
                f"It failed unexpectedly: {errors.reason(error)}; the log of the worker says more."
            )
            return partial(call, "_pgrag.end_attempt", reason=_storable(said))
        count("job_attempts", outcome="succeeded")
        return partial(call, "_pgrag.finish_job", report=_kept(report))

    def _index(self) -> IndexReport:
        row = self._row
        arguments = dict(row["arguments"])
        lease = f"{row['job_id']}.{row['claim']}"
        with ExitStack() as stack, calling(Caller(f"job {row['job_id']}", lease=lease)):
            source: str | Source
            adds, unread = False, list[str]()
            if row["is_upload"]:
                folder = stack.enter_context(upload_folder())
                source, adds = self._received(folder), arguments.pop("adds", False)
                unread = arguments.pop("unread", [])
            else:
                if row["confined"]:
                    require_allowed(self._roots, arguments)
                source = str(arguments.pop("source"))
            report = index(
                self._app,
                row["library"],
                row["version"],
                source,
                arguments,
                for_others=row["confined"],
                adds=adds,
                progress=self._note,
            )
            if unread:
                report.warn(f"The form has fields that nothing reads: {', '.join(unread)}.")
            return report

    def _received(self, folder: Path) -> Source:
        number = self._row["job_id"]
        pieces = self._app.database.stream("_pgrag.upload_pieces", batch=2, job_id=number)
        return received(f"upload {number}", pieces, folder)

    def _note(self, done: int, total: int, documents: int | None) -> None:
        if self._standing != "held" or self._stopping.is_set():
            raise _GivenUp
        self._progress = {"done": done, "total": total, "documents": documents}

    def _beat(self) -> None:
        """Extend the lease until the attempt is over; only the database says that it ended."""
        told, due = None, monotonic()
        with working(_HEARTBEATS):
            while not self._is_over.wait(_BEAT_SECONDS) and self._standing != "lost":
                progress = self._progress
                if progress is told and monotonic() < due:
                    continue
                with suppress(errors.DatabaseError):
                    [row] = self._app.database.call(
                        "_pgrag.extend_lease", **self._names, lease=self._lease, progress=progress
                    )
                    self._standing = row["extend_lease"]
                    told, due = progress, monotonic() + min(self._lease.total_seconds() / 4, 2.0)

    def _report(self, end: Callable[[], object]) -> None:
        """Say how the attempt ended once the database answers; not while stopping."""
        while True:
            try:
                end()
            except errors.DatabaseUnavailable as error:
                log.warning("Job %s cannot be ended yet: %s", self._row["job_id"], error)
            except errors.InvalidInput as error:
                reason = _storable(f"Its report cannot be stored: {error}")
                end = partial(
                    self._app.database.call, "_pgrag.end_attempt", **self._names, reason=reason
                )
            else:
                return
            if self._stopping.wait(1.0):
                return


def _storable(text: str) -> str:
    return text.replace("\0", "").encode("utf-8", "backslashreplace").decode()


def _kept(report: IndexReport) -> Mapping[str, Any]:
    kept = asdict(report)
    for name, value in kept.items():
        if isinstance(value, list):
            kept[name] = value[:_MOST_REASONS]
        elif isinstance(value, dict):
            kept[name] = dict(list(value.items())[:_MOST_REASONS])
    return kept


class Worker:
    """Works on jobs until it is stopped; for others it reads only below the `roots`."""

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
            except errors.PgragError as error:
                log.warning("The worker waits: %s", error)
                self._stopping.wait(min(self._poll, 1.0))

    def work(self, job_id: int | None = None) -> bool:
        """Do one job that is due, or this one; one at a time, for it uses the whole processor."""
        if not _turn.acquire(timeout=self._poll):
            return False
        try:
            rows = self._app.database.call(
                "_pgrag.claim_job",
                worker=self.name,
                lease=timedelta(seconds=self._lease),
                wanted_id=job_id,
            )
            for row in rows:
                with logs.about(job_id=row["job_id"]):
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
    """Wait for the end of a job; do it here if no worker has it. `tell` gets its row often."""
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
    except errors.PgragError as error:
        log.warning("Job %s waits: %s", job_id, error)
