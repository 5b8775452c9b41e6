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
    max_attempts: int = described("After so many failures it fails for good.", 3)
    priority: int = described("Higher ones come first.", 0)
    run_at: datetime = described("It is not begun before.")
    every: timedelta | None = described("It is repeated so long after each end.")
    worker: str | None = described("Who works on it.")
    progress: dict[str, Any] | None = described(
        "Pages done, pages in total, passages written: null while a website is fetched.",
        {"done": 3, "total": 40, "documents": 61},
    )
    asked_by: str = described("The key or role that made it.")
    created_at: datetime
    started_at: datetime | None = described("When its last attempt began.")
    finished_at: datetime | None = described("When it ended; of a schedule, the last time.")


class Job(JobSummary):
    """A source that a worker brings into a version, with all that is known of it."""

    arguments: dict[str, Any] = described("Source and options, as `pgrag index` takes them.")
    confined: bool = described("Whether only sources are read that the operator allows.")
    leased_until: datetime | None = described("Its worker must give a sign before.")
    is_cancelling: bool = described("Whether its worker is about to end it.")
    failures: tuple[dict[str, Any], ...] = described("Attempts that failed, and why.")
    report: dict[str, Any] | None = described("What its last success did.")
    uploaded_bytes: int = described("What is stored of its upload.")


class JobState(Value):
    """The state of a job after a request to change it."""

    job_id: int = described("", 7)
    state: str = described("", "cancelled")


class SentPage(Versioned):
    """What became of a page that was sent."""

    key: str = described("", "tides.md")
    status: str = described("written, or unchanged if it was stored already.", "written")
    documents: int = described("Passages written.", 6)
    embedded: int = described("Texts embedded.", 7)
    warnings: tuple[str, ...] = described("Repairs that reading the page needed.")


class RemovedPages(Versioned):
    """Pages that were removed."""

    removed: int = described("", 1)
