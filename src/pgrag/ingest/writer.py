"""Write pages to the database in batches, and embed their texts."""

import logging
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from psycopg.types.json import Jsonb

from pgrag.ground.callers import as_service
from pgrag.ground.calls import Row
from pgrag.ground.connections import Database
from pgrag.ground.errors import (
    DatabaseDown,
    DatabaseFull,
    DatabaseUnavailable,
    LeaseLost,
    NotConfigured,
    NotPermitted,
    PgragError,
    SchemaOutdated,
)
from pgrag.ingest.document import PageDocument
from pgrag.ingest.embeddings import batches, embed_pending
from pgrag.ingest.page import IndexTarget
from pgrag.ingest.remembered import describe
from pgrag.ingest.report import IndexReport
from pgrag.ingest.source.source import Source
from pgrag.ingest.vector_index import VectorIndex
from pgrag.models.embedding import Embedder

#: Passages per transaction: enough to amortise the cost of a statement, few enough that a crash
#: repeats little work.
BATCH_DOCUMENTS = 1500
#: Seconds after which slow pages are written, so that a run that ends early has not read in vain.
BATCH_SECONDS = 5.0
#: Seconds before each retry while the database is unavailable.
RETRY_DELAYS = (1.0, 3.0, 9.0)
#: Errors that no page causes, so that every other page would meet them, too: a database that does
#: not answer, is full or read-only, or has been upgraded or closed to the role meanwhile.
_OF_NO_PAGE = (
    DatabaseUnavailable, DatabaseFull, LeaseLost, NotConfigured, NotPermitted, SchemaOutdated,
)  # fmt: skip
#: Share of the database's pages that must change before a run analyses the tables: sampling large
#: tables takes seconds, too long for one page of a small library.
NEWS = 0.02
#: What a run writes besides vectors; the first two are too small for autovacuum. Skips a table that
#: another run analyses or locks: nobody waits for the libraries of others.
_ANALYSE_TEXTS = (
    "analyze (skip_locked) pgrag.libraries, pgrag.versions, pgrag.pages, pgrag.documents,"
    " pgrag.lexeme_statistics, pgrag.edges, pgrag.page_names, pgrag.page_ranks,"
    " pgrag.section_texts"
)
_ANALYSE_VECTORS = "analyze (skip_locked) pgrag.embeddings"
#: Marks pages as all-visible, for index-only scans of the next run and of links. The vector indexes
#: are left out: their vacuum is slow, and faulty before pgvector 0.8.4.
_VACUUM_VECTORS = "vacuum (analyze, skip_locked, index_cleanup off) pgrag.embeddings"
_VACUUM_TEXTS = (
    "vacuum (skip_locked) pgrag.impacts, pgrag.edges, pgrag.pending_pages, pgrag.pending_names"
)

_Arguments = ParamSpec("_Arguments")
log = logging.getLogger(__name__)
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes the pages of one version in batches, and embeds their texts."""

    database: Database
    embedder: Embedder
    vector_index: VectorIndex
    target: IndexTarget
    report: IndexReport
    #: Whether all pages of the source will be written.
    is_new: bool = False

    @contextmanager
    def opened(self, source: Source, remembered: Mapping[str, Any] | None) -> Iterator[None]:
        """Register the version with its source and indexing options; discard it if it is empty."""
        options = self.target.options
        description = {
            "location": source.location,
            "revision": source.revision,
            "arguments": source.arguments,
            "ref": source.ref,
            "head": source.head,
        }
        if self.target.adds and remembered:
            # The version keeps its own source, which a later run can read again.
            description = {name: remembered.get(name) for name in description}
        description |= describe(options)
        self.database.call(
            "open_version",
            **self.target.names,
            language=options.language or None,
            source=Jsonb(description),
            model=self.embedder.name,
        )
        try:
            yield
        finally:
            self.vector_index.close()
            with suppress(*_OF_NO_PAGE):
                self.database.keep_locks()
                [row] = self.database.call("_pgrag.discard_version", **self.target.names)
                self.report.discarded = row["discard_version"]

    def write_all(self, pages: Iterator[PageDocument]) -> None:
        """Write in a second thread and embed in a third, each one batch behind."""
        read = map(
            _Batch, batches(pages, lambda page: page.passages, BATCH_DOCUMENTS, BATCH_SECONDS)
        )
        with (
            closing(_in_thread("pgrag-write", self._write, read)) as written,
            closing(_in_thread("pgrag-embed", self._embed, written)) as embedded,
        ):
            for _ in embedded:
                pass

    def finish(self, stored: list[int]) -> None:
        """Embed the backlog of earlier runs, refresh impacts and links, analyse the tables; for a
        part of a version only the backlog of the `stored` pages.
        """
        again(self.database, self._finish, stored)

    def _finish(self, stored: list[int]) -> None:
        database, target, report = self.database, self.target, self.report
        if stored or not target.adds:
            report.embedded += embed_pending(
                database,
                self.embedder,
                target.library,
                page_ids=stored if target.adds else None,
                vector_index=self.vector_index,
            )
        self.vector_index.place()
        # A build uses one process half of the time, so the version is completed beside it.
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="pgrag-complete") as thread:
            completed = thread.submit(copy_context().run, self._complete)
            self.vector_index.build()
            completed.result()
        # Again: the first build gives up if it waits too long for what runs beside it.
        self.vector_index.build()
        self._vacuum(_VACUUM_VECTORS)

    def _complete(self) -> None:
        database, target, report = self.database, self.target, self.report
        database.call("finish_version", **target.names)
        if not target.adds:
            states = database.call("link_states", **target.names)
            report.links = {row["state"]: row["links"] for row in states}
        if target.embeds_edges:
            embed_pending(database, self.embedder, target.library, kind="edge")
        self._analyse(_ANALYSE_TEXTS)
        self._vacuum(_VACUUM_TEXTS)

    def _vacuum(self, statement: str) -> None:
        """Vacuum if much is new; everything is stored, so that a failure does not matter."""
        try:
            self._analyse(statement)
        except (DatabaseUnavailable, LeaseLost):
            raise
        except PgragError as error:
            log.info("not vacuumed: %s", error)

    def _analyse(self, *statements: str) -> None:
        report = self.report
        # Only the owner of the tables may do this; a service indexes in the role of its caller.
        with as_service():
            [row] = self.database.query(
                "select greatest(reltuples, 0) as pages from pg_class"
                " where oid = 'pgrag.pages'::regclass"
            )
            if report.written + report.removed > NEWS * row["pages"]:
                self.database.run_alone(*statements)

    def _write(self, batch: "_Batch") -> list[int]:
        pages, report = batch.pages, self.report
        documents = sum(page.passages for page in pages)
        passages = documents
        if self.is_new:
            # An estimate: the missing pages are as long as those so far.
            missing = report.pages - report.written - report.unchanged
            passages = (report.documents + documents) * missing // (report.written + len(pages))
        again(self.database, self.vector_index.expect, documents, passages)
        try:
            rows = self._ingest(batch)
        except _OF_NO_PAGE:
            raise
        except PgragError as error:
            # One bad page fails the whole statement: write page by page to isolate it.
            if len(pages) == 1:
                report.fail(pages[0].key, str(error))
                return []
            return [page_id for page in pages for page_id in self._write(_Batch([page]))]
        written = [row for row in rows if row["status"] == "written"]
        is_first = report.written == 0
        report.written += len(written)
        report.unchanged += len(rows) - len(written)
        report.documents += sum(row["documents"] for row in written)
        read = {page.key: page for page in pages}
        report.edges += sum(read[row["key"]].edges for row in written)
        for row in written:
            # Those of reading are reported already.
            known = read[row["key"]].warnings
            report.warn(*(warning for warning in row["warnings"] if warning not in known))
        page_ids = [row["page_id"] for row in rows]
        if is_first and written:
            # Before the next batch is planned: plans for empty tables read all rows.
            self._embed(page_ids)
            again(self.database, self._analyse, _ANALYSE_TEXTS, _ANALYSE_VECTORS)
            return []
        return page_ids

    def _embed(self, page_ids: list[int]) -> None:
        self.report.embedded += again(
            self.database,
            embed_pending,
            self.database,
            self.embedder,
            self.target.library,
            page_ids=page_ids,
        )

    def _ingest(self, batch: "_Batch") -> list[Row]:
        documents = Jsonb(batch.json, dumps=bytes)
        arguments = {**self.target.names, "pages": documents, "resolve": False}
        return again(self.database, self.database.call, "ingest_pages", **arguments)


class _Batch:
    def __init__(self, pages: list[PageDocument]) -> None:
        self.pages = pages
        self.json = b"[%b]" % b",".join(page.json for page in pages)


def _in_thread(
    name: str, step: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Generator[_Result, None, None]:
    """Yield the result of a step for each item, while a thread takes the step for the next."""
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix=name) as thread:
        pending: Future[_Result] | None = None
        for item in items:
            if pending is not None:
                yield pending.result()
            # With the rights, and the lease, of the indexing thread.
            pending = thread.submit(copy_context().run, step, item)
        if pending is not None:
            yield pending.result()


def again(
    database: Database,
    step: Callable[_Arguments, _Result],
    *arguments: _Arguments.args,
    **options: _Arguments.kwargs,
) -> _Result:
    """Repeat a step until the database is back or `RETRY_DELAYS` are over, and say so at once. The
    locks of the run are held when it begins: a database that was away has lost them.
    """
    for attempt, delay in enumerate(RETRY_DELAYS):
        try:
            database.keep_locks()
            return step(*arguments, **options)
        except DatabaseDown:
            raise
        except DatabaseUnavailable as error:
            if not attempt:
                log.warning("%s Trying again for %.0f seconds.", error.message, sum(RETRY_DELAYS))
            time.sleep(delay)
    database.keep_locks()
    return step(*arguments, **options)
