"""Jobs of workers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Unpack

from pgrag.client.part import Part
from pgrag.ground.values.jobs import Job, JobSummary

if TYPE_CHECKING:
    from pathlib import Path

    from pgrag.ingest.arguments import JobArguments


class Jobs(Part):
    """Creates, lists and changes jobs."""

    def create_job(
        self,
        library: str,
        source: str | Path,
        version: str = "",
        *,
        every: timedelta | None = None,
        priority: int = 0,
        **arguments: Unpack[JobArguments],
    ) -> Job:
        """Let a worker (`pgrag serve`, `pgrag worker`) synchronise a version with a source.

        A path is on the worker's machine. `every` is the time from an end to the next run; of jobs
        that are due, those with the highest `priority` come first. The other arguments are those of
        `index`, and `tags`, as of `index_tags`.
        """
        from pgrag.service.jobs import create

        number = create(
            self._call, library, version, str(source), arguments,
            every=every, priority=priority, confined=False,
        )  # fmt: skip
        return self.job(number)

    def jobs(
        self, *, state: str | None = None, library: str | None = None, top_k: int = 100
    ) -> list[JobSummary]:
        """The jobs, the latest first."""
        return self._rows(
            JobSummary, "jobs", wanted_state=state, wanted_library=library, top_k=top_k
        )

    def job(self, job_id: int) -> Job:
        """One job: its progress, its report, and why attempts failed."""
        return self._row(Job, "job", wanted_id=job_id)

    def cancel_job(self, job_id: int) -> str:
        """Cancel a job and its schedule; returns its state, `running` until its worker ends it."""
        [row] = self._call("cancel_job", job_id=job_id)
        return str(row["cancel_job"])

    def retry_job(self, job_id: int) -> str:
        """Queue a job again that has ended or is not due yet; returns its state."""
        [row] = self._call("retry_job", job_id=job_id)
        return str(row["retry_job"])
