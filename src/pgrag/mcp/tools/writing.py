"""Indexing and removing documentation, if the operator permits agents to do so."""

import time
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgrag.errors import InvalidInput, NotConfigured, UnknownVersion
from pgrag.ingest.source.source import Skipped
from pgrag.ingest.text.slugs import SlugStyle
from pgrag.mcp import progress
from pgrag.mcp.corpus import Documentation, label, named, shown
from pgrag.mcp.replies import plural
from pgrag.mcp.tool import Arguments, LibraryName, Reply, optional_text, tool

EVERY_VERSION = "*"

_SECONDS_BETWEEN_REPORTS = 0.5
_MOST_COMPLAINTS = 20
_OF_SOURCE = {"include", "exclude", "subfolder", "ref", "include_ignored", "dry_run"}
_indexing = Lock()
"""Indexing runs are serialised: reading and embedding use the whole processor."""

Globs = Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=100)]


class IndexDocs(Arguments):
    """The source, and the version that it becomes."""

    library: LibraryName
    source: str = Field(
        min_length=1,
        max_length=4000,
        description="The absolute path of a folder, a file, an archive or a git repository, as the"
        " server sees it; or the address of a repository.",
        examples=["/home/me/project/docs"],
    )
    version: str | None = optional_text(200, "Label of the version. Leave it out if there is none.")
    language: str | None = optional_text(100, "Of pages that name none: en, de … Default: English.")
    base_url: str | None = optional_text(4000, "Where the pages are published.")
    slugs: SlugStyle | None = Field(
        default=None,
        description="The generator whose anchors headings get; default: guessed, else github.",
    )
    include: Globs = Field(default=[], description='Only these files: ["guide/**"].')
    exclude: Globs = Field(default=[], description='Not these files: ["**/draft-*"].')
    subfolder: str | None = optional_text(4000, "Only this part of the source.")
    ref: str | None = optional_text(1000, "Branch, tag or commit of a repository.")
    include_ignored: bool = Field(
        default=False, description="Also the files that .gitignore and .ignore name."
    )
    dry_run: bool = Field(default=False, description="Read all, write nothing, say what would be.")


class Indexed(BaseModel):
    """What a run did; with `dry_run` what it would do."""

    library: str
    version: str = Field(description="Its label; `-` for documentation without versions.")
    source: str
    dry_run: bool
    written: int = Field(description="Pages that are new or have changed.")
    unchanged: int
    removed: int = Field(description="Pages that the source no longer has.")
    ignored: int = Field(description="Files that .gitignore and .ignore leave out.")
    skipped: list[Skipped] = Field(description="What else of the source is no page, by reason.")
    documents: int = Field(description="Passages of the pages written.")
    embedded: int
    seconds: float
    slugs: str = Field(description="The site generator whose anchors the headings have.")
    changes: list[str] = Field(
        description="Options that differ from the last run's, and what they rewrite."
    )
    failed: dict[str, str] = Field(description="Pages that could not be read, and why.")
    warnings: list[str]


class RemoveDocs(Arguments):
    """What to remove."""

    library: LibraryName
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
    """Bring a version of a library to the state of a folder or git repository on the server's
    machine, so that it can be searched. What has not changed is kept; what the source no longer
    has is removed. The version remembers language, base_url and slugs. It takes seconds to minutes.
    """
    from pgrag.ingest.page import PageOptions  # noqa: PLC0415 - most servers never write

    _require_root(documentation.roots, request)
    if not _indexing.acquire(blocking=False):
        raise InvalidInput(
            "The server is indexing something else.", hint="Try again when it has ended."
        )
    try:
        report = documentation.app.index(
            request.library,
            label(request.version) or "",
            request.source,
            PageOptions(request.base_url, request.language, slugs=request.slugs),
            **request.model_dump(include=_OF_SOURCE),
            in_child=True,
            progress=_Reports(),
        )
    finally:
        _indexing.release()
    done = Indexed(
        **{name: getattr(report, name) for name in Indexed.model_fields if name != "version"}
        | {"failed": dict(_first(report.failed.items())), "warnings": _first(report.warnings)},
        version=shown(report.version.strip().lower()),
    )
    would = " would be" if request.dry_run else ""
    lines = [
        f"# {named(request.library, report.version)} from {report.source}",
        "",
        f"{plural(report.written, 'page')}{would} written, {report.unchanged:,} unchanged,"
        f" {report.removed:,} removed; {plural(report.documents, 'passage')};"
        f" {report.seconds:.1f} seconds.",
        *([f"- left out by .gitignore or .ignore: {report.ignored:,}"] if report.ignored else []),
        *(f"- changed: {change}" for change in done.changes),
        *(f"- skipped, {each.reason}: {plural(each.count, 'file')}" for each in done.skipped),
        *(f"- failed: {key}: {reason}" for key, reason in done.failed.items()),
        *(f"- warning: {warning}" for warning in done.warnings),
    ]
    if report.discarded:
        lines.append("Nothing could be stored, so the version was not made.")
    hidden = len(report.failed) + len(report.warnings) - len(done.failed) - len(done.warnings)
    if hidden:
        lines.append(f"- and {hidden:,} more: `pgrag index --json` lists all.")
    return Reply("\n".join(lines), done)


def _require_root(roots: tuple[Path, ...] | None, request: IndexDocs) -> None:
    """Refuse a source outside the folders that the operator allows, with links resolved."""
    if roots is None:
        return
    if not roots:
        raise NotConfigured(
            "index_docs may read no folder of this server.",
            hint="PGRAG_MCP_ROOTS names those that it may.",
        )
    subfolder = (request.subfolder or "").strip("/")
    from pgrag.ingest.source.sources import named_source  # noqa: PLC0415

    # In a commit ".." may lead elsewhere than on disk, where a symbolic link may precede it.
    if ".." in Path(subfolder).parts or not _is_below(roots, request.source, subfolder):
        raise InvalidInput(
            f"{named_source(request.source)}{'/' if subfolder else ''}{subfolder} is outside the"
            " folders that"
            " index_docs may read.",
            hint=f"They are: {', '.join(map(str, roots))}.",
        )
    # What is no folder is an error of the indexing itself.
    if request.ref is not None and Path(request.source).expanduser().is_dir():
        from pgrag.ingest.source.git import object_folders  # noqa: PLC0415

        for folder in object_folders(Path(request.source).expanduser()):
            if not _is_below(roots, str(folder), ""):
                raise InvalidInput(
                    f"The repository of {request.source} reads from {folder}, outside the folders"
                    " that index_docs may read.",
                    hint=f"They are: {', '.join(map(str, roots))}.",
                )


def _is_below(roots: tuple[Path, ...], source: str, subfolder: str) -> bool:
    """Whether source and subfolder resolve to one of the folders; False if unresolvable."""
    try:
        folder = Path(source).expanduser()
        allowed = [root.resolve() for root in roots]
        return all(
            any(path.resolve().is_relative_to(root) for root in allowed)
            for path in (folder, folder / subfolder)
        )
    except (OSError, RuntimeError):
        return False


@tool(
    "remove_docs",
    "Remove documentation",
    Removed,
    writes=True,
    is_destructive=True,
    needs_permission=True,
)
def remove_docs(documentation: Documentation, request: RemoveDocs) -> Reply:
    """Remove a version of a library, or the whole library, for good. Only when the user asks for
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
    """Tells the client a few times a second how many pages have been read."""

    def __init__(self) -> None:
        self._due = 0.0

    def __call__(self, done: int, total: int, documents: int) -> None:
        if done == total or time.monotonic() >= self._due:
            self._due = time.monotonic() + _SECONDS_BETWEEN_REPORTS
            progress.report(done, total, f"{done:,} of {plural(total, 'page')} read")


def _first(items: Any) -> list[Any]:
    return list(items)[:_MOST_COMPLAINTS]
