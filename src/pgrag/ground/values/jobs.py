"""Jobs of workers, and pages that were sent."""

from datetime import datetime, timedelta
from typing import Any

from pgrag.ground.values.base import Value, Versioned, described


class JobSummary(Value):
    """A source that a worker brings into a version, in a list."""

    job_id: int = described("", 7)
    library: str = described("", "harbour")
    version: str = described("Empty for documentation without versions.", "2.1")
    source: str = described("Where the pages are; `upload` for uploaded files.", "/srv/docs")
    state: str = described("uploading, queued, running, succeeded, failed or cancelled.", "running")
    attempts: int = described("Attempts so far, a running one included.", 1)
    max_attempts: int = described("The job fails after this many failed attempts.", 3)
    priority: int = described("Higher ones come first.", 0)
    run_at: datetime = described("The earliest start.")
    every: timedelta | None = described("Time from an end to the next run.")
    worker: str | None = described("The worker that holds the lease.")
    progress: dict[str, Any] | None = described(
        "Pages done, pages in total, passages written: null while a website is fetched.",
        {"done": 3, "total": 40, "documents": 61},
    )
    asked_by: str = described("The key or role that made it.")
    created_at: datetime
    started_at: datetime | None = described("When its last attempt began.")
    finished_at: datetime | None = described("When it ended; of a schedule, the last time.")
    place: int | None = described(
        "While queued: its place among the jobs of who asked for it; between those who ask, jobs"
        " take turns.",
        1,
    )
    waits_for: int | None = described("The running job of its version, after which it can begin.")


class Job(JobSummary):
    """A source that a worker brings into a version, with every detail."""

    arguments: dict[str, Any] = described("Source and options, as `pgrag index` takes them.")
    confined: bool = described("Whether only sources are read that the operator allows.")
    leased_until: datetime | None = described("The lease ends here unless the worker renews it.")
    is_cancelling: bool = described("Whether the worker has been asked to end it.")
    failures: tuple[dict[str, Any], ...] = described("Attempts that failed, and why.")
    report: dict[str, Any] | None = described("Report of the last success.")
    uploaded_bytes: int = described("Bytes of its upload stored so far.")


class JobState(Value):
    """The state of a job after a request to change it."""

    job_id: int = described("", 7)
    state: str = described("", "cancelled")


class SentPage(Versioned):
    """The result of sending a page."""

    key: str = described("", "tides.md")
    status: str = described("written, or unchanged.", "written")
    documents: int = described("Passages written.", 6)
    embedded: int = described("Texts embedded.", 7)
    warnings: tuple[str, ...] = described("Repairs made while reading the page.")


class RemovedPages(Versioned):
    """Pages that were removed."""

    removed: int = described("", 1)
