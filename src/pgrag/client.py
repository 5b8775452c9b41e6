"""The front door: `pgrag.connect()` and the client that it returns.

Methods return frozen values of `pgrag.values` and raise errors of `pgrag.errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack
from uuid import UUID

from pydantic import SecretStr

from pgrag.app import App
from pgrag.changes import compare_versions
from pgrag.db import Row, collected_notices
from pgrag.errors import InvalidInput, SourceError
from pgrag.result import substitutions
from pgrag.settings import load_settings
from pgrag.values.answers import Answer
from pgrag.values.base import Value, described
from pgrag.values.changes import SectionVersion, VersionChanges
from pgrag.values.evaluation import Comparison, EvaluationRun, EvaluationSet, ImportedSet, Tuning
from pgrag.values.graph import Backlink, Edge, Link, Neighbour, PathStep, RelatedPage
from pgrag.values.jobs import Job, JobSummary, SentPage
from pgrag.values.libraries import (
    Library,
    LibraryFinding,
    OutlineEntry,
    Page,
    PageName,
    PageSummary,
    TextLine,
    Version,
)
from pgrag.values.passages import Passage
from pgrag.values.properties import PageQueryResult, PageQueryRow, Property
from pgrag.values.searches import (
    BatchResult,
    Context,
    Facets,
    Intent,
    PageResult,
    ParsedQuery,
    Resolution,
    Suggestion,
)
from pgrag.values.searches import SearchResult as _SearchResult

if TYPE_CHECKING:
    from pathlib import Path

    from pgrag.answer import AnswerStream
    from pgrag.arguments import (
        AnswerArguments,
        ContextArguments,
        FacetArguments,
        PagesArguments,
        SearchArguments,
    )
    from pgrag.ingest.arguments import IndexArguments, JobArguments
    from pgrag.ingest.reader import Progress
    from pgrag.ingest.report import IndexReport

Direction = Literal["out", "in", "both"]
V = TypeVar("V", bound=Value)


class SearchResult(_SearchResult):
    """Hits, the best first; `next()` returns the next page of hits."""

    _continued: Callable[[str], SearchResult] = described(hidden=True)

    @property
    def version(self) -> str | None:
        """The version that was searched; None for several versions or none."""
        return self.resolved[0].version if len(self.resolved) == 1 else None

    @property
    def reason(self) -> str | None:
        """Why that version was chosen; None for several versions or none."""
        return self.resolved[0].reason if len(self.resolved) == 1 else None

    def next(self) -> SearchResult | None:
        """The next page of hits; None after the last page."""
        return None if self.cursor is None else self._continued(self.cursor)


class Client:
    """Documentation in one database. A context manager, safe to share between threads.

    `pgrag.connect` creates a client. `library` is the name that was passed to `index`. `version`
    is a label, a range (`^2`), `latest`, or `-` for documentation without a version; None is the
    newest release. A library, version or page that does not exist raises a `NotFound` error.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; an embedded server keeps running."""
        self._app.close()

    # Searching

    def search(self, query: str, **arguments: Unpack[SearchArguments]) -> SearchResult:
        """Find passages by keywords and by meaning."""

        def continued(cursor: str) -> SearchResult:
            onwards: SearchArguments = {**arguments, "after": cursor}
            return self.search(query, **onwards)

        listing = self._app.search.search(query, **arguments).listing("hits")
        return SearchResult.from_row({**listing, "_continued": continued})

    def search_pages(self, query: str, **arguments: Unpack[PagesArguments]) -> PageResult:
        """Find pages: one result per page, with its best passage."""
        return PageResult.from_row(self._app.search.pages(query, **arguments).listing("pages"))

    def search_many(
        self, queries: Sequence[str], **arguments: Unpack[SearchArguments]
    ) -> BatchResult:
        """Run many queries in one call; a query that fails does not affect the others."""
        result = self._app.search.many(queries, [arguments] * len(queries))
        top_k = arguments.get("top_k") or 10
        return BatchResult.from_row(result.batch(queries, [top_k] * len(queries)))

    def search_text(
        self,
        pattern: str,
        library: str,
        version: str | None = None,
        *,
        mode: Literal["literal", "regex", "word"] = "literal",
        case: Literal["sensitive", "ignore", "smart"] = "sensitive",
        context: int = 0,
        path: str | None = None,
        top_k: int = 100,
    ) -> list[TextLine]:
        """List the source lines that match a pattern, as ripgrep does; `path` is a glob."""
        return self._rows(
            TextLine, "search_text", pattern=pattern, library=library, version=version,
            mode=mode, case_mode=case, context=context, path=path, top_k=top_k,
        )  # fmt: skip

    def facets(self, query: str | None = None, **arguments: Unpack[FacetArguments]) -> Facets:
        """Count the pages of a search by library, version, topic, type, tag and language."""
        return Facets.from_row(self._app.search.facets(query, **arguments).facets())

    def suggest(
        self, query: str, library: str | None = None, version: str | None = None
    ) -> list[Suggestion]:
        """Corrected queries: what the user may have meant."""
        return self._rows(Suggestion, "suggest", query=query, library=library, version=version)

    def parse_query(self, query: str) -> ParsedQuery:
        """The words of a query and the filters written in it."""
        return self._row(ParsedQuery, "parse_query", query=query)

    def detect_intent(self, query: str) -> Intent:
        """The intent of a query, and the search parameters that it selects."""
        return self._row(Intent, "detect_intent", query=query)

    # Reading

    def context(self, query: str, **arguments: Unpack[ContextArguments]) -> Context:
        """The context for a question: hits and their surroundings, within a token budget."""
        return Context.from_row(self._app.search.context(query, **arguments).context())

    def answer(self, question: str, **arguments: Unpack[AnswerArguments]) -> Answer:
        """Let the language model answer a question; each sentence is checked against its sources.

        Raises `NotConfigured` without a language model.
        """
        return self._app.answering("python").answer(question, **arguments)

    def answer_stream(self, question: str, **arguments: Unpack[AnswerArguments]) -> AnswerStream:
        """Stream an answer: iterate over the events; `answer` is complete at the end."""
        return self._app.answering("python").stream(question, **arguments)

    def libraries(self) -> list[Library]:
        """Every library by name."""
        return self._rows(Library, "libraries")

    def versions(self, library: str) -> list[Version]:
        """The versions of a library, the newest release first."""
        rows = self._call("library_versions", library=library)
        return [Version.from_row({"library": library, **row}) for row in rows]

    def resolve_version(self, library: str, version: str | None = None) -> Resolution:
        """The version that a label, a range or None resolves to, and why."""
        [row] = self._call("resolve_version", library=library, wanted=version)
        return Resolution.from_row({"library": library, **row})

    def compare_versions(
        self,
        library: str,
        from_version: str,
        to_version: str | None = None,
        *,
        page: str | None = None,
        diff: bool = False,
    ) -> VersionChanges:
        """The pages and sections that were added, removed, changed or moved between versions.

        `page` is the key of the only page to compare; `diff` adds unified diffs.
        """
        changes = compare_versions(
            self._app.database, library, from_version, to_version, page=page, diff=diff
        )
        return VersionChanges.from_row(changes)

    def section_history(self, document_id: int) -> list[SectionVersion]:
        """A passage's section in each version that has it, the oldest first."""
        return self._rows(SectionVersion, "section_history", document_id=document_id)

    def pages(
        self,
        library: str,
        version: str | None = None,
        *,
        top_k: int = 100,
        after: str | None = None,
    ) -> list[PageSummary]:
        """The pages of a version in the order of their keys: at most `top_k` after `after`."""
        return self._rows(
            PageSummary, "pages", library=library, version=version, top_k=top_k, after=after
        )

    def page(self, page: int | str, library: str | None = None, version: str | None = None) -> Page:
        """One page: by its id, or, in a library, by its key, name, title, alias or url."""
        if isinstance(page, str):
            if library is None:
                raise InvalidInput(f"The page {page!r} needs a library.", hint="Or give its id.")
            page = self.find_page(page, library, version).page_id
        [row] = self._call("page", page_id=page)
        return Page.from_row(row["page"])

    def find_page(self, page: str, library: str, version: str | None = None) -> PageName:
        """The page that a key, name, title, alias or url means; an ambiguous one raises."""
        return self._row(PageName, "find_page", library=library, page=page, version=version)

    def outline(self, page_id: int) -> list[OutlineEntry]:
        """The page and its sections in reading order."""
        return self._rows(OutlineEntry, "outline", page_id=page_id)

    def passage(self, document_id: int) -> Passage:
        """One passage."""
        return self._row(Passage, "document", document_id=document_id)

    def find_passage(self, chunk_key: str, library: str, version: str | None = None) -> Passage:
        """One passage by the `chunk_key` of a hit, such as guide/install.md#c3."""
        return self._row(
            Passage, "find_document", library=library, chunk_key=chunk_key, version=version
        )

    def related_sections(
        self,
        document_ids: Sequence[int],
        top_k: int = 5,
        *,
        query: str | None = None,
        filters: Mapping[str, Any] | None = None,
        exclude: Sequence[str] | None = None,
    ) -> list[Passage]:
        """Sections to go on with after these passages, best first; filters as in `search`."""
        return self._rows(
            Passage,
            "related_sections",
            document_ids=list(document_ids),
            top_k=top_k,
            query=query,
            filters=None if filters is None else dict(filters),
            exclude=None if exclude is None else list(exclude),
        )

    def parent(self, document_id: int) -> Passage | None:
        """The section above a paragraph, the section or page above a section; None at the top."""
        return next(iter(self._rows(Passage, "parent", document_id=document_id)), None)

    def children(self, document_id: int) -> list[Passage]:
        """The passages one level below, in reading order."""
        return self._rows(Passage, "children", document_id=document_id)

    def siblings(self, document_id: int, *, before: int = 1000, after: int = 1000) -> list[Passage]:
        """The passages of the same level under the same parent, in reading order."""
        return self._rows(Passage, "siblings", document_id=document_id, before=before, after=after)

    def ancestors(self, document_id: int) -> list[Passage]:
        """The passages above, the nearest first."""
        return self._rows(Passage, "ancestors", document_id=document_id)

    def query_pages(self, query: str, library: str, version: str | None = None) -> PageQueryResult:
        """Query pages or tasks by their properties, in a subset of Dataview's language."""
        resolved = self.resolve_version(library, version)
        with collected_notices() as notices:
            rows = self._call("query_pages", query=query, library=library, version=resolved.version)
        return PageQueryResult(
            library=library,
            version=resolved.version,
            columns=tuple(rows[0]["columns"]) if rows else (),
            rows=tuple(map(PageQueryRow.from_row, rows)),
            notices=(*substitutions([asdict(resolved)]), *notices),
        )

    def properties(self, library: str, version: str | None = None) -> list[Property]:
        """The front matter properties of a version, the most frequent first."""
        return self._rows(Property, "properties", library=library, version=version)

    # The graph

    def backlinks(self, page_id: int, *, kinds: Sequence[str] | None = None) -> list[Backlink]:
        """The links from other pages to this page, the strongest first."""
        return self._rows(Backlink, "backlinks", page_id=page_id, kinds=_list(kinds))

    def related_pages(self, page_id: int, *, top_k: int = 10) -> list[RelatedPage]:
        """The pages most closely related to a page, and why."""
        return self._rows(RelatedPage, "related_pages", page_id=page_id, top_k=top_k)

    def neighbourhood(
        self,
        page_id: int,
        *,
        depth: int = 1,
        kinds: Sequence[str] | None = None,
        direction: Direction = "both",
    ) -> list[Neighbour]:
        """The pages within `depth` links of a page."""
        return self._rows(
            Neighbour, "neighbourhood", page_id=page_id, depth=depth, kinds=_list(kinds),
            direction=direction,
        )  # fmt: skip

    def shortest_path(
        self, from_page: int, to_page: int, *, direction: Direction = "out"
    ) -> list[PathStep]:
        """A shortest path of links from one page to another; empty if there is none."""
        return self._rows(
            PathStep, "shortest_path", from_page=from_page, to_page=to_page, direction=direction
        )

    def edges(
        self, library: str, version: str | None = None, *, page_id: int | None = None
    ) -> list[Edge]:
        """The links, relations and tags of a version, or of one page of it."""
        return self._rows(Edge, "edges", library=library, version=version, page_id=page_id)

    def links(
        self, library: str, version: str | None = None, *, state: str | None = None
    ) -> list[Link]:
        """Links with their state, such as `broken`; `orphan` lists pages without any link."""
        return self._rows(Link, "links", library=library, version=version, state=state)

    # Writing

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
        address of a website. What has not changed is kept, pages that the source lacks are removed.
        A page that cannot be read is listed in `failed` of the report and keeps its stored state.

        Arguments are the options of `pgrag index` by their names: `include` and `exclude` (lists of
        globs), `subfolder`, `ref`, `include_ignored`, `max_pages`, `max_depth`, `max_bytes`,
        `allow_private`; and `base_url`, `language`, `slugs`, `converter`, `profile`, `chunk_sizes`,
        which the version remembers: None keeps what it remembers, "" forgets it, and `changes` of
        the report says what a new value rewrites.
        """
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
        return dict(self._app.index_tags(library, str(source), tags, dry_run=dry_run, **arguments))

    def send_page(
        self,
        library: str,
        key: str,
        content: str | bytes,
        version: str = "",
        *,
        media_type: str = "text/markdown",
    ) -> SentPage:
        """Add a page to a version, or replace the one with this key; it can be found at once.

        No other page is changed. Raises `InvalidInput` for a page that cannot be read.
        """
        from pgrag.ingest.source.uploads import Page, checked_key

        data = content.encode() if isinstance(content, str) else content
        report = self._app.send_pages(library, version, [Page(checked_key(key), data, media_type)])
        for reason in report.failed.values():
            raise InvalidInput(reason)
        return SentPage(
            library=report.library,
            version=report.version,
            key=key,
            status="written" if report.written else "unchanged",
            documents=report.documents,
            embedded=report.embedded,
            warnings=tuple(report.warnings),
        )

    def remove_page(self, library: str, key: str, version: str = "") -> bool:
        """Remove a page of a version; returns whether it was there."""
        [row] = self._call("remove_pages", library=library, keys=[key], version=version)
        return bool(row["remove_pages"])

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

        A path is one of the worker's machine. `every` repeats the job so long after each end; of
        jobs that are due, those with the highest `priority` come first. The other arguments are
        those of `index`, and `tags`, as of `index_tags`.
        """
        from pgrag.jobs import create

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
        """One job: where it stands, what it did, and why it failed."""
        return self._row(Job, "job", wanted_id=job_id)

    def cancel_job(self, job_id: int) -> str:
        """Cancel a job, and its schedule; returns its state, `running` if its worker ends it."""
        [row] = self._call("cancel_job", job_id=job_id)
        return str(row["cancel_job"])

    def retry_job(self, job_id: int) -> str:
        """Queue a job again that has ended, or that waits for its time; returns its state."""
        [row] = self._call("retry_job", job_id=job_id)
        return str(row["retry_job"])

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

    # Evaluation

    def rate(
        self,
        search_id: UUID,
        rating: int,
        *,
        document_id: int | None = None,
        comment: str | None = None,
    ) -> None:
        """Rate a hit of a recorded search, or its answer as a whole, from 1 (useless) to 5."""
        self._call(
            "give_feedback", search_id=search_id, rating=rating, document_id=document_id,
            comment=comment,
        )  # fmt: skip

    def evaluation_sets(self) -> list[EvaluationSet]:
        """The labelled sets, ordered by name."""
        return self._rows(EvaluationSet, "evaluation_sets")

    def import_evaluation_set(
        self,
        name: str,
        library: str,
        queries: Sequence[Mapping[str, Any]],
        *,
        unit: Literal["page", "section", "document"] = "page",
    ) -> ImportedSet:
        """Create or replace a labelled set for a library.

        A query is `{"id": …, "text": …, "judgements": {target: grade}}`; `unit` decides what a
        target names, by default the key of a page.
        """
        [row] = self._call(
            "import_evaluation_set", name=name, library=library, queries=list(queries), unit=unit
        )
        return ImportedSet(
            name=name,
            queries=row["imported_queries"],
            judgements=row["imported_judgements"],
            unjudged=tuple(row["unjudged"]),
        )

    def evaluate(
        self, evaluation_set: str, configuration: Mapping[str, Any] | None = None
    ) -> EvaluationRun:
        """Run every query of a set; `averages` has nDCG@10, recall and other metrics.

        The configuration is that of `pgrag.run_evaluation`, such as `{"function": "search",
        "arguments": {"alpha": 0.5}}`; None is the hybrid search with the library's settings.
        """
        from pgrag.evaluation import runs

        [hybrid] = runs.chosen(self._app, ["hybrid"])
        chosen = runs.Configuration("python", dict(configuration)) if configuration else hybrid
        run_id = runs.run(self._app, evaluation_set, chosen)["run"]
        rows = self._call("evaluation_runs", evaluation_set=evaluation_set)
        return EvaluationRun.from_row(next(row for row in rows if row["run_id"] == run_id))

    def compare(self, run_id: int, other_run_id: int, metric: str = "ndcg@10") -> Comparison:
        """The difference between two runs, with confidence interval and p value."""
        pair = {"run_id": run_id, "other_run_id": other_run_id, "metric": metric}
        [row] = self._call("compare_evaluations", **pair)
        return Comparison.from_row({**pair, **row, "moved": self._call("moved_queries", **pair)})

    def tune(self, library: str, *, dry_run: bool = False) -> Tuning:
        """Search for better settings of a library; keep them if they are significantly better."""
        return self._row(Tuning, "tune", library=library, dry_run=dry_run)

    def _call(self, function: str, **arguments: Any) -> list[Row]:
        return self._app.database.call(function, **arguments)

    def _rows(self, value: type[V], function: str, **arguments: Any) -> list[V]:
        return [value.from_row(row) for row in self._call(function, **arguments)]

    def _row(self, value: type[V], function: str, **arguments: Any) -> V:
        [row] = self._rows(value, function, **arguments)
        return row


def connect(url: str | None = None) -> Client:
    """Open a database: `url`, else PGRAG_DATABASE_URL, else the user's embedded database.

    The first call connects, not this function. `pgrag db upgrade` must have prepared a database
    of your own; the embedded database prepares itself.
    """
    settings = load_settings()
    if url is not None:
        settings = settings.model_copy(update={"database_url": SecretStr(url)})
    return Client(App(settings))


def _list(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(names)
