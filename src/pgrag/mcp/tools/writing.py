"""Bringing documentation in and taking it out, where the operator lets agents do so."""

from __future__ import annotations

import time
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from pydantic import BaseModel, Field

from pgrag.errors import InvalidInput, NotConfigured, UnknownVersion
from pgrag.mcp import progress
from pgrag.mcp.documentation import Documentation, label, named, shown
from pgrag.mcp.replies import plural
from pgrag.mcp.tool import Arguments, LibraryName, Reply, Tool

EVERY_VERSION = "*"

_SECONDS_BETWEEN_REPORTS = 0.5
_MOST_COMPLAINTS = 20
_indexing = Lock()
"""One at a time: reading and embedding take all the processor there is."""

Globs = Annotated[list[Annotated[str, Field(max_length=1000)]], Field(max_length=100)]


class IndexDocs(Arguments):
    """What to read, and where it goes."""

    library: LibraryName
    source: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4000,
            description="Where it is, as the server sees it: the absolute path of a folder with"
            " Markdown, of a file, or of a git repository.",
            examples=["/home/me/project/docs"],
        ),
    ]
    version: Annotated[
        str | None,
        Field(max_length=200, description="Label of the version. Leave it out if there is none."),
    ] = None
    language: Annotated[
        str | None,
        Field(max_length=100, description="Of pages that name none: en, de … Default: English."),
    ] = None
    base_url: Annotated[
        str, Field(max_length=4000, description="Where the pages are published.")
    ] = ""
    include: Annotated[Globs, Field(description='Only these files: ["guide/**"].')] = []  # noqa: RUF012
    exclude: Annotated[Globs, Field(description='Not these files: ["**/draft-*"].')] = []  # noqa: RUF012
    subfolder: Annotated[
        str | None, Field(max_length=4000, description="Only this part of the source.")
    ] = None
    ref: Annotated[
        str | None, Field(max_length=1000, description="Branch, tag or commit of a repository.")
    ] = None
    dry_run: Annotated[bool, Field(description="Read all, write nothing, say what would be.")] = (
        False
    )


class Indexed(BaseModel):
    """What a run did; with `dry_run` what it would do."""

    library: str
    version: str = Field(description="Its label; `-` for documentation without versions.")
    source: str
    dry_run: bool
    written: int = Field(description="Pages that are new or have changed.")
    unchanged: int
    removed: int = Field(description="Pages that the source no longer has.")
    documents: int = Field(description="Passages of the pages written.")
    embedded: int
    seconds: float
    failed: dict[str, str] = Field(description="Pages that could not be read, and why.")
    warnings: list[str]


class RemoveDocs(Arguments):
    """What to remove."""

    library: LibraryName
    version: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description="Its exact label; `-` for documentation without versions; `*` for the"
            " library with all its versions.",
        ),
    ]


class Removed(BaseModel):
    """What is gone."""

    library: str
    version: str
    pages: int


def _index_docs(documentation: Documentation, given: IndexDocs) -> Reply:
    from pgrag.ingest.page import PageOptions  # noqa: PLC0415 - most servers never write

    _require_root(documentation.roots, given)
    if not _indexing.acquire(blocking=False):
        raise InvalidInput(
            "The server is indexing something else.", hint="Try again when it has ended."
        )
    try:
        report = documentation.app.index(
            given.library,
            label(given.version) or "",
            given.source,
            PageOptions(base_url=given.base_url, language=given.language),
            include=given.include,
            exclude=given.exclude,
            subfolder=given.subfolder,
            ref=given.ref,
            dry_run=given.dry_run,
            progress=_Reports(),
        )
    finally:
        _indexing.release()
    done = Indexed(
        **{name: getattr(report, name) for name in Indexed.model_fields if name != "version"}
        | {"failed": dict(_first(report.failed.items())), "warnings": _first(report.warnings)},
        version=shown(report.version.strip().lower()),
    )
    would = " would be" if given.dry_run else ""
    lines = [
        f"# {named(given.library, report.version)} from {report.source}",
        "",
        f"{plural(report.written, 'page')}{would} written, {report.unchanged:,} unchanged,"
        f" {report.removed:,} removed; {plural(report.documents, 'passage')};"
        f" {report.seconds:.1f} seconds.",
        *(f"- failed: {key}: {reason}" for key, reason in done.failed.items()),
        *(f"- warning: {warning}" for warning in done.warnings),
    ]
    hidden = len(report.failed) + len(report.warnings) - len(done.failed) - len(done.warnings)
    if hidden:
        lines.append(f"- and {hidden:,} more: `pgrag index --json` lists all.")
    return Reply("\n".join(lines), done)


def _require_root(roots: tuple[Path, ...] | None, given: IndexDocs) -> None:
    """Refuse a source outside the folders that the operator has named, whatever leads there."""
    if roots is None:
        return
    if not roots:
        raise NotConfigured(
            "index_docs may read no folder of this server.",
            hint="PGRAG_MCP_ROOTS names those that it may.",
        )
    subfolder = (given.subfolder or "").strip("/")
    # In a commit ".." leads elsewhere than on the disk, where a link may stand before it.
    if ".." in Path(subfolder).parts or not _is_below(roots, given.source, subfolder):
        raise InvalidInput(
            f"{given.source}{'/' if subfolder else ''}{subfolder} is outside the folders that"
            " index_docs may read.",
            hint=f"They are: {', '.join(map(str, roots))}.",
        )


def _is_below(roots: tuple[Path, ...], source: str, subfolder: str) -> bool:
    """Whether a source and its subfolder are really in one of the folders; not, if nobody knows."""
    try:
        folder = Path(source).expanduser()
        allowed = [root.resolve() for root in roots]
        return all(
            any(path.resolve().is_relative_to(root) for root in allowed)
            for path in (folder, folder / subfolder)
        )
    except (OSError, RuntimeError):
        return False


def _remove_docs(documentation: Documentation, given: RemoveDocs) -> Reply:
    if given.version.strip() == EVERY_VERSION:
        [row] = documentation.call("remove_library", library=given.library)
        version, pages = EVERY_VERSION, row["remove_library"]
        what = f"{given.library} with all its versions"
    else:
        wanted = label(given.version) or ""
        try:
            [row] = documentation.call("remove_version", library=given.library, version=wanted)
        except UnknownVersion as error:
            rows = documentation.call("library_versions", library=given.library)
            labels = ", ".join(shown(row["version"]) for row in rows) or "none"
            raise InvalidInput(
                f"{given.library} has no version {given.version!r}; nothing was removed.",
                hint=f"Its versions are: {labels}.",
            ) from error
        version, pages = shown(wanted.strip().lower()), row["remove_version"]
        what = named(given.library, wanted)
    return Reply(
        f"Removed {what}: {plural(pages, 'page')}.",
        Removed(library=given.library, version=version, pages=pages),
    )


class _Reports:
    """Tells the client a few times a second how many pages are read."""

    def __init__(self) -> None:
        self._due = 0.0

    def __call__(self, done: int, total: int, documents: int) -> None:
        if done == total or time.monotonic() >= self._due:
            self._due = time.monotonic() + _SECONDS_BETWEEN_REPORTS
            progress.report(done, total, f"{done:,} of {plural(total, 'page')} read")


def _first(items: Any) -> list[Any]:
    return list(items)[:_MOST_COMPLAINTS]


TOOLS = (
    Tool(
        name="index_docs",
        title="Index documentation",
        description="Bring a version of a library to the state of a folder or git repository on"
        " the server's machine, so that it can be searched. What has not changed is kept; what"
        " the source no longer has is removed. It takes seconds to minutes.",
        arguments=IndexDocs,
        output=Indexed,
        run=_index_docs,
        writes=True,
        needs_permission=True,
    ),
    Tool(
        name="remove_docs",
        title="Remove documentation",
        description="Remove a version of a library, or the whole library, for good. Only when the"
        " user asks for exactly that.",
        arguments=RemoveDocs,
        output=Removed,
        run=_remove_docs,
        writes=True,
        is_destructive=True,
        needs_permission=True,
    ),
)
