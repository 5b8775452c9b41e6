"""One attempt at a job: it reads, writes, keeps its lease alive, and says how it ended."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import Any

from pgrag.ground import errors, logs
from pgrag.ground.callers import Caller, Work, calling, working
from pgrag.ground.calls import Row
from pgrag.ground.counts import count
from pgrag.ingest.report import IndexReport
from pgrag.ingest.source.allowed import require_allowed
from pgrag.ingest.source.source import Source
from pgrag.ingest.source.uploads import received, upload_folder
from pgrag.service.app import App
from pgrag.service.jobs import index

log = logging.getLogger(__name__)

_LENT_AFTER = 1.5
"""Turns after which the place of a job that could not be given back is lent."""

_BEAT_SECONDS = 0.5
_BUSY_SECONDS = 3.0
_MOST_REASONS = 1000
#: Errors that another attempt would meet, too.
_HOPELESS = (errors.InvalidInput, errors.NotFound, errors.SettingsError)
#: Heartbeats have a connection of their own: searches and the job may use all others.
_HEARTBEATS = Work("heartbeats", 1, 10.0, 10.0)
#: A job, too, so that it delays no search of the same process.
_RUNS = Work("job", 4, 7 * 24 * 3600.0, 7 * 24 * 3600.0)


class _GivenUp(Exception):
    """The job was cancelled, is another worker's now, had its turn, or the worker stops."""


class Attempt:
    """One attempt at a job, with its heartbeat in a second thread."""

    def __init__(
        self,
        app: App,
        row: Row,
        stopping: Event,
        *,
        lease: float,
        turn: float,
        roots: Sequence[Path],
        is_crowded: Callable[[], bool],
    ) -> None:
        self._app = app
        self._row = row
        self._names = {"job_id": row["job_id"], "claim": row["claim"]}
        self._lease = timedelta(seconds=lease)
        self._turn = timedelta(seconds=turn)
        self._begun = monotonic()
        self._ready: float | None = None
        self._stopping = stopping
        self._roots = roots
        self._is_crowded = is_crowded
        self._progress: dict[str, Any] | None = None
        self._is_over = Event()
        self._standing = "held"

    def run(self) -> None:
        """Do the job, and say how it ended."""
        heart = Thread(target=self._beat, name=f"pgrag job {self._row['job_id']}", daemon=True)
        heart.start()
        with logs.about(job_id=self._row["job_id"]):
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
            count("job_attempts", outcome="failed")
            if full := errors.disk_full(error):
                log.warning("Job %s failed: %s", number, full)
                said = str(full)
            else:
                log.exception("Job %s failed", number)
                said = f"It failed unexpectedly: {errors.reason(error)}; see the worker's log."
            return partial(call, "_pgrag.end_attempt", reason=_storable(said))
        count("job_attempts", outcome="succeeded")
        return partial(call, "_pgrag.finish_job", report=_kept(report))

    def _index(self) -> IndexReport:
        row = self._row
        arguments = dict(row["arguments"])
        lease = f"{row['job_id']}.{row['claim']}"
        caller = Caller(f"job {row['job_id']}", lease=lease)
        with ExitStack() as stack, calling(caller), working(_RUNS):
            source: str | Source
            adds = False
            if row["is_upload"]:
                folder = stack.enter_context(upload_folder())
                source, adds = self._received(folder), arguments.pop("adds", False)
            else:
                if row["confined"]:
                    require_allowed(self._roots, arguments)
                source = str(arguments.pop("source"))
            return index(
                self._app,
                row["library"],
                row["version"],
                source,
                arguments,
                for_others=row["confined"],
                adds=adds,
                progress=self._note,
            )

    def _received(self, folder: Path) -> Source:
        number = self._row["job_id"]
        pieces = self._app.database.stream("_pgrag.upload_pieces", batch=2, job_id=number)
        return received(f"upload {number}", pieces, folder)

    def _note(self, done: int, total: int, documents: int | None) -> None:
        self._progress = {"done": done, "total": total, "documents": documents}
        if self._ready is None and (done if documents is None else documents):
            self._ready = monotonic()
        if self._standing == "waited for" and self._has_had_its_turn():
            # Asked again: others may have found another worker since.
            with suppress(errors.DatabaseError):
                self._look()
        is_lent = self.is_late() and self._is_crowded()
        is_over = (is_lent or self._standing == "waited for") and self._has_had_its_turn()
        if self._standing not in ("held", "waited for") or self._stopping.is_set() or is_over:
            raise _GivenUp

    def _has_had_its_turn(self) -> bool:
        """Whether at least half of a turn, and as long as it took to get there, was spent on what
        earlier turns had not stored: so a job comes to its end in however small turns.
        """
        if self._ready is None:
            return False
        least = max(self._turn.total_seconds() / 2, self._ready - self._begun)
        return monotonic() - self._ready >= least

    def is_late(self) -> bool:
        """Whether its place may be lent."""
        return monotonic() - self._begun > _LENT_AFTER * self._turn.total_seconds()

    def _beat(self) -> None:
        """Extend the lease until the attempt is over; only the database says that it ended."""
        told, due = None, monotonic()
        with working(_HEARTBEATS):
            while not self._is_over.wait(_BEAT_SECONDS) and self._standing != "lost":
                progress = self._progress
                if progress is told and monotonic() < due:
                    continue
                with suppress(errors.DatabaseError):
                    self._look(progress)
                    told, due = progress, monotonic() + min(self._lease.total_seconds() / 4, 2.0)

    def _look(self, progress: dict[str, Any] | None = None) -> None:
        [row] = self._app.database.call(
            "_pgrag.extend_lease",
            **self._names,
            lease=self._lease,
            progress=progress,
            turn=self._turn,
        )
        self._standing = row["extend_lease"]

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
