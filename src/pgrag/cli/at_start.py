"""`pgrag serve --index`: a job that begins with the service, and its progress in the log."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING

from pgrag.cli.jobs import job_lines, job_progress, queued
from pgrag.cli.notations import Target, misuse, parse_target
from pgrag.cli.output import complain, notice
from pgrag.ground.errors import DatabaseUnavailable, PgragError

if TYPE_CHECKING:
    from pgrag.service.app import App

_LOOK_SECONDS = 0.5
_TELL_SECONDS = 5.0


def parse_wanted(values: Sequence[str]) -> list[tuple[Target, str]]:
    """Parse values such as `handbook@2.0=/docs`."""
    wanted = []
    for value in values:
        name, _, source = value.partition("=")
        if not name or not source:
            raise misuse("--index", f"{value!r} is not LIBRARY[@VERSION]=SOURCE: handbook@2.0=docs")
        wanted.append((parse_target(name), source))
    return wanted


@contextmanager
def indexing(app: "App", wanted: Sequence[tuple[Target, str]]) -> Iterator[None]:
    """Index sources as jobs, and tell how far they are, until the block ends."""
    stopping = Event()
    threads = [
        Thread(target=_index, args=[app, target, source, stopping], daemon=True)
        for target, source in wanted
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def _index(app: "App", target: Target, source: str, stopping: Event) -> None:
    job_id, told = None, 0.0
    while not stopping.wait(_LOOK_SECONDS if job_id else 0):
        try:
            if job_id is None:
                job_id = queued(app, target, source, {}, every=None).value["job_id"]
                notice(f"{target}: {source} is indexed by job {job_id}.")
            [job] = app.database.call("job", wanted_id=job_id)
        except DatabaseUnavailable:
            # The service says so, and answers again when the database does.
            stopping.wait(_LOOK_SECONDS)
            continue
        except PgragError as error:
            complain(f"{target}: {error.message}", error.hint)
            return
        if job["finished_at"] is not None:
            for line in job_lines(job):
                notice(line)
            return
        if job_progress(job) and time.monotonic() - told > _TELL_SECONDS:
            notice(f"{target}: {job_progress(job)}")
            told = time.monotonic()
