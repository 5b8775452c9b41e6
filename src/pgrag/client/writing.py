"""Indexing, single pages, settings of libraries, and jobs of workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from pgrag.client.part import Part
from pgrag.ground.calls import require_texts
from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ground.values.jobs import Job, JobSummary, SentPage
from pgrag.ground.values.libraries import LibraryFinding
from pgrag.ground.values.tables import IndexedTable, RefreshedTable

if TYPE_CHECKING:
    from datetime import timedelta
    from pathlib import Path

    from pgrag.ingest.arguments import IndexArguments, JobArguments
    from pgrag.ingest.reader import Progress
    from pgrag.ingest.report import IndexReport


class Writing(Part):
    """Writes libraries, now or in jobs."""

    def index(
        self,
        library: str,
        source: str | Path,
        version: str = "",
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
        **arguments: Unpack[IndexArguments],
    ) -> IndexReport:
        """Synchronise a version of a library with a source.

        A source is a folder, a file, an archive, the path or address of a git repository, or the
        address of a website. Unchanged pages are kept, pages that the source lacks are removed. A
        page that cannot be read is listed in `failed` of the report and keeps its stored state.

        Arguments are the options of `pgrag index` by their names: `include` and `exclude` (lists of
        globs), `subfolder`, `ref`, `include_ignored`, `max_pages`, `max_depth`, `max_bytes`,
        `allow_private`; and `base_url`, `language`, `slugs`, `converter`, `profile`, `chunk_sizes`,
        which the version remembers: None keeps what it remembers, "" forgets it, and `changes` of
        the report says what a new value rewrites.
        """
        require_texts(library=library, version=version)
        return self._app.index(
            library, version, str(source), dry_run=dry_run, progress=progress, **arguments
        )

    def index_tags(
        self,
        library: str,
        source: str | Path,
        tags: str,
        *,
        dry_run: bool = False,
        **arguments: Unpack[IndexArguments],
    ) -> dict[str, IndexReport | SourceError | InvalidInput]:
        """Synchronise a version with each tag of a repository that matches a glob, such as "v1.*".

        Returns by version, the oldest first, the report, or why the tag cannot be read.
        """
        require_texts(library=library, tags=tags)
        return dict(self._app.index_tags(library, str(source), tags, dry_run=dry_run, **arguments))

    def index_versions(
        self,
        library: str,
        source: str | Path,
        *,
        dry_run: bool = False,
        **arguments: Unpack[IndexArguments],
    ) -> dict[str, IndexReport | SourceError | InvalidInput]:
        """Synchronise a version with each folder of a version in a source: of a tree of Docusaurus,
        mike or Antora, or of folders such as 1.x and 2.x.

        Returns by version, the oldest first, the report, or why the folder cannot be read. Raises
        `SourceError` for a source without such folders.
        """
        require_texts(library=library)
        return dict(self._app.index_versions(library, str(source), dry_run=dry_run, **arguments))

    def send_page(
        self,
        library: str,
        key: str,
        content: str | bytes,
        version: str = "",
        *,
        media_type: str = "text/markdown",
    ) -> SentPage:
        """Add a page to a version, or replace the one with this key; searches find it at once.

        No other page changes. Raises `InvalidInput` for a page that cannot be read.
        """
        from pgrag.ingest.source.uploads import UploadedPage, as_utf_8, checked_key

        require_texts(library=library, key=key, version=version, media_type=media_type)
        if not isinstance(content, str | bytes):
            raise InvalidInput(f"content must be a text or bytes, not {type(content).__name__}.")
        if isinstance(content, str):
            content, media_type = content.encode(), as_utf_8(media_type)
        page = UploadedPage(checked_key(key), content, media_type)
        report = self._app.send_pages(library, version, [page])
        for reason in report.failed.values():
            raise InvalidInput(reason)
        return SentPage(
            library=report.library, version=report.version, key=key,
            status="written" if report.written else "unchanged", documents=report.documents,
            embedded=report.embedded, warnings=tuple(report.warnings),
        )  # fmt: skip

    def remove_page(self, library: str, key: str, version: str = "") -> bool:
        """Remove a page of a version; returns whether it was there."""
        [row] = self._call("remove_pages", library=library, keys=[key], version=version)
        return bool(row["remove_pages"])

    def embed(self, library: str, model: str | None = None, *, activate: bool = False) -> int:
        """Compute the missing vectors of a library by a model; returns their number."""
        return self._app.embed(library, model, activate=activate)

    def configure(self, library: str, /, **settings: Any) -> dict[str, Any]:
        """Change settings of a library, such as `alpha=0.4`; returns all effective settings."""
        [row] = self._call("configure_library", library=library, settings=settings)
        return dict(row["configure_library"])

    def remove(self, library: str, version: str | None = None) -> None:
        """Remove one version of a library, or without `version` the whole library."""
        if version is None:
            self._call("remove_library", library=library)
        else:
            self._call("remove_version", library=library, version=version)

    def check(self, library: str) -> list[LibraryFinding]:
        """List inconsistencies in a library; usually there are none."""
        return self._rows(LibraryFinding, "check_library", library=library)

    def index_table(
        self,
        source: str,
        text: str,
        *,
        title: str | None = None,
        id: str | None = None,
        library: str | None = None,
        format: str = "text",
        url: str | None = None,
        type: str | None = None,
        tags: str | None = None,
        language: str | None = None,
        created: str | None = None,
        modified: str | None = None,
        metadata: str | None = None,
        watch: bool = True,
    ) -> str:
        """Keep a table of the database searchable; returns the name of its library.

        Each row becomes a page. `text`, `id` and `metadata` name columns, separated by commas, the
        others one column each; see `pgrag.index_table` in docs/sql.md. `refresh_table` reads the
        rows.
        """
        [row] = self._call(
            "index_table", source=source, text=text, title=title, id=id, library=library,
            format=format, url=url, type=type, tags=tags, language=language, created=created,
            modified=modified, metadata=metadata, watch=watch,
        )  # fmt: skip
        return str(row["index_table"])

    def refresh_table(self, library: str, *, compare: bool = False) -> RefreshedTable:
        """Read the changed rows of an indexed table, or compare all; embed what is new.

        Some thousand rows at a time, each batch for itself, so that a run that ends early loses
        little.
        """
        return RefreshedTable.from_row(self._app.refresh_table(library, compare=compare))

    def indexed_tables(self) -> list[IndexedTable]:
        """The tables whose rows are pages."""
        return self._rows(IndexedTable, "indexed_tables")

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
        that are due, those with the highest `priority` come first, and those of equal priority take
        turns between those who asked. The other arguments are those of
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
        """Queue again a job that has ended or is not due yet; returns its state."""
        [row] = self._call("retry_job", job_id=job_id)
        return str(row["retry_job"])
