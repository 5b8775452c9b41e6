"""Indexing and removing documentation, if the operator permits agents to do so."""

import time
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, Field

from pgrag.ground.calls import Row
from pgrag.ground.cancelling import uncancelled
from pgrag.ground.errors import InvalidInput, SourceError, UnknownVersion
from pgrag.ingest.arguments import JobArguments, part_of
from pgrag.ingest.report import Loss
from pgrag.ingest.source.allowed import require_allowed
from pgrag.ingest.source.source import Skipped
from pgrag.mcp import fields, progress
from pgrag.mcp.corpus import Documentation, label, named, shown
from pgrag.mcp.replies import plural
from pgrag.mcp.tool import Arguments, Reply, tool, with_declared
from pgrag.service.jobs import create, index
from pgrag.service.worker import complete

EVERY_VERSION = "*"

_SECONDS_BETWEEN_REPORTS = 0.5
_MOST_COMPLAINTS = 20


@with_declared(JobArguments)
class IndexDocs(Arguments):
    """The source, and the version that it becomes."""

    library: fields.LibraryName
    source: str = Field(
        min_length=1,
        max_length=4000,
        description="The absolute path of a folder, file, archive or git repository on the"
        " server; or the address of a website or repository.",
        examples=["/home/me/project/docs"],
    )
    version: str | None = fields.optional_text(200, "Label of the version, if it has one.")
    dry_run: bool = Field(default=False, description="Write nothing, report what would change.")


class Indexed(BaseModel):
    """What a run did; with `dry_run` what it would do."""

    library: str
    version: str = Field(description="Its label; `-` for documentation without versions.")
    versions: list[str] = Field(description="With `tags`: the labels of all.")
    source: str
    dry_run: bool
    written: int = Field(description="Pages that are new or have changed.")
    unchanged: int
    removed: int = Field(description="Pages that the source no longer has.")
    ignored: int = Field(description="Files that .gitignore and .ignore leave out.")
    skipped: list[Skipped] = Field(description="Other files that are not pages, by reason.")
    documents: int = Field(description="Passages of the pages written.")
    embedded: int
    seconds: float
    slugs: str = Field(description="The site generator whose anchors the headings have.")
    words_shown: int = Field(description="Words that readers of the pages see, where counted.")
    words_kept: int = Field(description="Those of them that are indexed.")
    lossy: int = Field(description="Pages that lack more than a tenth of their words.")
    losses: list[Loss] = Field(description="The pages that lack most words.")
    changes: list[str] = Field(description="Options that changed, and what they rewrite.")
    failed: dict[str, str] = Field(description="Pages that could not be read, and why.")
    warnings: list[str]


class RemoveDocs(Arguments):
    """What to remove."""

    library: fields.LibraryName
    version: str = Field(
        min_length=1,
        max_length=200,
        description="Its exact label; `-` for documentation without versions; `*` for the"
        " library with all its versions.",
    )


class Removed(BaseModel):
    """The removed version or library."""

    library: str
    version: str
    pages: int


@tool("index_docs", "Index documentation", Indexed, writes=True, needs_permission=True)
def index_docs(documentation: Documentation, request: IndexDocs) -> Reply:
    """Bring a version of a library to the state of a source, so that it can be searched. Unchanged
    pages are kept; pages that the source no longer has are removed. The version remembers language,
    base_url, slugs and converter. It takes seconds to minutes.
    """
    arguments = part_of(request.model_dump(), JobArguments)
    if documentation.roots is not None:
        require_allowed(documentation.roots, {"source": request.source, **arguments})
    if request.dry_run:
        planned = index(
            documentation.app, request.library, label(request.version) or "", request.source,
            arguments, for_others=documentation.roots is not None, dry_run=True,
            progress=_Reports(),
        )  # fmt: skip
        report = asdict(planned)
    else:
        report = _completed(documentation, request, arguments)
    done = Indexed(
        **report
        | {"failed": dict(_first(report["failed"].items())), "warnings": _first(report["warnings"])}
        | {"version": shown(report["version"].strip().lower())}
    )
    version = ", ".join(done.versions) or report["version"]
    would = " would be" if request.dry_run else ""
    lines = [
        f"# {named(request.library, version)} from {report['source']}",
        "",
        f"{plural(done.written, 'page')}{would} written, {done.unchanged:,} unchanged,"
        f" {done.removed:,} removed; {plural(done.documents, 'passage')};"
        f" {done.seconds:.1f} seconds.",
        *([f"- left out by .gitignore or .ignore: {done.ignored:,}"] if done.ignored else []),
        *(f"- changed: {change}" for change in done.changes),
        *(f"- skipped, {each.reason}: {plural(each.count, 'file')}" for each in done.skipped),
        *(
            f"- {each.words_kept:,} of {each.words_shown:,} words are read: {each.page}"
            for each in done.losses
        ),
        *(f"- failed: {key}: {reason}" for key, reason in done.failed.items()),
        *(f"- warning: {warning}" for warning in done.warnings),
    ]
    if report["discarded"]:
        lines.append("Nothing could be stored, so the version was not made.")
    told = len(report["failed"]) + len(report["warnings"])
    hidden = told - len(done.failed) - len(done.warnings)
    hidden += report["more_failed"] + report["more_warnings"]
    if hidden:
        lines.append(f"- and {hidden:,} more; `pgrag index --json` lists more.")
    return Reply("\n".join(lines), done)


def _completed(
    documentation: Documentation, request: IndexDocs, arguments: dict[str, Any]
) -> dict[str, Any]:
    """Make a job and wait for its end; a call that is cancelled cancels its job."""
    reports = _Reports()

    def tell(row: Row) -> None:
        progress.check()
        if row["progress"]:
            reports(**row["progress"])

    job_id = create(
        documentation.call, request.library, label(request.version) or "", request.source,
        arguments, max_attempts=1, confined=documentation.roots is not None,
        most_jobs=documentation.app.settings.max_waiting_jobs,
    )  # fmt: skip
    try:
        job = complete(documentation.app, job_id, tell, documentation.roots)
    except BaseException:
        with uncancelled():
            documentation.call("cancel_job", job_id=job_id)
        raise
    if job["state"] != "succeeded":
        reasons = [failure["reason"] for failure in job["failures"]]
        raise SourceError(reasons[-1] if reasons else "The job was cancelled.")
    report: dict[str, Any] = job["report"]
    reports(report["pages"], report["pages"], report["documents"])
    return report


@tool(
    "remove_docs", "Remove documentation", Removed,
    writes=True, is_destructive=True, needs_permission=True,
)  # fmt: skip
def remove_docs(documentation: Documentation, request: RemoveDocs) -> Reply:
    """Remove a version of a library, or the whole library, permanently. Only if the user asks for
    exactly that.
    """
    if request.version.strip() == EVERY_VERSION:
        [row] = documentation.call("remove_library", library=request.library)
        version, pages = EVERY_VERSION, row["remove_library"]
        what = f"{request.library} with all its versions"
    else:
        version = label(request.version) or ""
        try:
            [row] = documentation.call("remove_version", library=request.library, version=version)
        except UnknownVersion as error:
            rows = documentation.call("library_versions", library=request.library)
            labels = ", ".join(shown(row["version"]) for row in rows) or "none"
            raise InvalidInput(
                f"{request.library} has no version {request.version!r}; nothing was removed.",
                hint=f"Its versions are: {labels}.",
            ) from error
        what, pages = named(request.library, version), row["remove_version"]
        version = shown(version.strip().lower())
    return Reply(
        f"Removed {what}: {plural(pages, 'page')}.",
        Removed(library=request.library, version=version, pages=pages),
    )


class _Reports:
    """Tells the client twice a second how many pages have been read."""

    def __init__(self) -> None:
        self._due = 0.0

    def __call__(self, done: int, total: int, documents: int | None) -> None:
        if done == total or time.monotonic() >= self._due:
            self._due = time.monotonic() + _SECONDS_BETWEEN_REPORTS
            what = "fetched" if documents is None else "read"
            progress.report(done, total, f"{done:,} of {plural(total, 'page')} {what}")


def _first(items: Any) -> list[Any]:
    return list(items)[:_MOST_COMPLAINTS]
