"""`pgrag worker` and `pgrag jobs`: what is indexed in the background."""

import os
import signal
from datetime import timedelta
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, Columns, listing, member, text
from pgrag.cli.notations import Target, counted, label
from pgrag.cli.output import Output, Row, notice, print_text
from pgrag.cli.session import opened

jobs = typer.Typer(help="Jobs of workers: list, show, cancel and retry them.")

JobId = Annotated[int, Argument(metavar="JOB", help="Its number.")]
State = Literal["uploading", "queued", "running", "succeeded", "failed", "cancelled"]


def worker() -> None:
    """Work on jobs, one after the other, until Ctrl-C or SIGTERM.

    `pgrag serve` has a worker of its own; several workers share the jobs. A worker that stops gives
    its job back; the next worker continues it.
    """
    from pgrag.cli.sockets import measured
    from pgrag.service.worker import Worker

    with opened(in_log=True) as app, measured(app):
        working = Worker(app)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: working.stop())
        notice(f"Worker {working.name} waits for jobs (Ctrl-C stops it).")
        working.run()


def job_progress(row: Row) -> str:
    """Return how far a job is; empty if it does not run, or has not begun to read."""
    progress = row["progress"]
    if row["state"] != "running" or not progress:
        return ""
    fetched = " fetched" if progress["documents"] is None else ""
    return f"{progress['done']:,} of {progress['total']:,} pages{fetched}"


_WARNINGS = 20
"""The maximum number of warnings shown of a job."""
_COLUMNS: Columns = {
    # As text: a number that is to be copied has no commas.
    "job": lambda row: str(row["job_id"]), "state": "state",
    "library": lambda row: label(row["library"], row["version"]),
    "source": "source", "progress": job_progress,
    "attempts": lambda row: f"{row['attempts']} of {row['max_attempts']}",
    "due": lambda row: row["run_at"] if row["state"] == "queued" else None,
    "place": "place",
    "every": lambda row: row["every"] and str(row["every"]), "ended": "finished_at",
}  # fmt: skip

jobs.command()(
    listing(
        "list", "jobs", "List the jobs, the latest first.",
        {
            "state": (Annotated[State | None, Option(help="Only in this state.")], None),
            "library": (options.OneLibrary, None),
            "top_k": (options.Limit, 50),
        },
        _COLUMNS, nothing="No job matches.",
        prepared=lambda app, state, library, **values: (
            values | {"wanted_state": state, "wanted_library": library}
        ),
    )
)  # fmt: skip


@member(jobs)
def show(app: App, job: JobId) -> Output:
    """Show a job: its progress, its report, and why attempts failed."""
    [row] = app.database.call("job", wanted_id=job)
    return Output(row, lambda: print_text(*job_lines(row)))


@member(jobs)
def cancel(app: App, job: JobId) -> Output:
    """Cancel a job and its schedule; written pages stay."""
    [row] = app.database.call("cancel_job", job_id=job)
    state = row["cancel_job"]
    said = "its worker ends it within seconds" if state == "running" else state
    return text({"job_id": job, "state": state}, f"Job {job}: {said}.")


@member(jobs)
def retry(app: App, job: JobId) -> Output:
    """Queue again a job that has ended or is not due yet."""
    [row] = app.database.call("retry_job", job_id=job)
    return text({"job_id": job, "state": row["retry_job"]}, f"Job {job}: queued again.")


def queued(
    app: App, target: Target, source: str, arguments: dict[str, Any], *, every: timedelta | None
) -> Output:
    """Make a job of a run of `pgrag index`; it runs with the rights of the worker."""
    from pgrag.ingest.source.allowed import is_address
    from pgrag.ingest.source.sources import kind_of
    from pgrag.ingest.source.web.addresses import version_of
    from pgrag.service.jobs import create

    location = source if is_address(source) else os.path.abspath(os.path.expanduser(source))
    version = target.version
    if version is None:
        names_repository = arguments.get("ref") or arguments.get("tags")
        is_website = kind_of(source, names_repository) == "a website"
        version = version_of(source) if is_website else ""
    call = app.database.call
    number = create(call, target.library, version, location, arguments, every=every, confined=False)
    named = Target(target.library, version or None)
    return text(
        {"job_id": number, "library": target.library, "version": version},
        f"Job {number}: a worker will index {named}; see `pgrag jobs show {number}`.",
    )


def job_lines(row: Row) -> list[str]:
    """Return a job as `pgrag jobs show` prints it."""
    name = label(row["library"], row["version"])
    lines = [f"Job {row['job_id']}: {name} from {row['source']}, asked by {row['asked_by']}"]
    standing = f"  {row['state']}, attempt {row['attempts']} of {row['max_attempts']}"
    if row["state"] == "queued":
        standing += f", due {row['run_at']:%Y-%m-%d %H:%M:%S %Z}, place {row['place']:,}"
        if row["waits_for"]:
            standing += f", after job {row['waits_for']} of the same version"
    if row["worker"]:
        standing += f", worker {row['worker']}"
    lines.append(standing + (f": {job_progress(row)}" if job_progress(row) else ""))
    if row["every"]:
        lines.append(f"  again {row['every']} after each end")
    if report := row["report"]:
        failed = len(report["failed"]) + report.get("more_failed", 0)
        lines.append(
            f"  {counted(report['written'], 'page')} written, {report['unchanged']:,} unchanged,"
            f" {report['removed']:,} removed, {failed:,} failed"
            f" ({report['seconds']:.1f} s)"
        )
        if report.get("versions"):
            lines.append(f"  versions: {', '.join(report['versions'])}")
        lines += [
            f"  {loss['words_kept']:,} of {loss['words_shown']:,} words are read of {loss['page']}"
            for loss in report.get("losses", [])[:_WARNINGS]
        ]
        lines += [f"  failed {key}: {reason}" for key, reason in report["failed"].items()]
        warnings = report.get("warnings", [])
        lines += [f"  warning: {warning}" for warning in warnings[:_WARNINGS]]
        if len(warnings) > _WARNINGS:
            lines.append(f"  {len(warnings) - _WARNINGS:,} more warnings: see --json")
    for failure in row["failures"]:
        lines.append(f"  {failure['at'][:19]} attempt {failure['attempt']}: {failure['reason']}")
    return lines
