"""A source becomes a version of a library: only what changed is read, written and embedded."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from psycopg.types.json import Jsonb

from pgrag.db import Database
from pgrag.embedding import Embedder
from pgrag.errors import DatabaseUnavailable, PgragError, SourceError
from pgrag.ingest.embeddings import embed_edges, embed_pending, ensure_vector_index
from pgrag.ingest.page import PageOptions, read_page, source_hash
from pgrag.ingest.page_types import PageTypes
from pgrag.ingest.plan import PlannedPage, plan_page
from pgrag.ingest.properties import path_warnings
from pgrag.ingest.semantic import Similarities
from pgrag.ingest.sources import Source, SourceFile
from pgrag.models import Chunk, Edge, Page

#: Documents written in one transaction: large enough to spread the cost of a statement, small
#: enough that little is done again after a crash.
BATCH_DOCUMENTS = 1500
#: Seconds to wait before the second, third … try when the database went away.
RETRY_DELAYS = (1.0, 3.0, 9.0)
#: Share of all pages of the database whose change the planner is told of at once. To read samples
#: of large tables takes seconds, too long for a page in a small library beside large ones.
NEWS = 0.02

#: Told (pages done, pages in all, documents written) as the run goes on.
Progress = Callable[[int, int, int], None]


@dataclass(slots=True)
class IndexReport:
    """What an indexing run did. Times in seconds; `failed` maps a page's key to the reason.

    A dry run counts what it would do, and lists it: `planned` maps the key of a page to be written
    to its documents and edges, `gone` holds the keys of those to be removed. `links` maps each
    state of a link (see `pgrag.links`) to how many links of the version are in it now; it is empty
    for a dry run. `enriched` maps what a language model wrote, where the setting of the library
    wants it, to the documents that got it.
    """

    library: str
    version: str
    source: str
    pages: int = 0
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    documents: int = 0
    edges: int = 0
    embedded: int = 0
    seconds: float = 0.0
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    planned: dict[str, PlannedPage] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    links: dict[str, int] = field(default_factory=dict)
    enriched: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """Where pages go: a version of a library, and how they are read."""

    library: str
    version: str = ""
    options: PageOptions = field(default_factory=PageOptions)


def index(
    database: Database,
    embedder: Embedder,
    source: Source,
    target: IndexTarget,
    *,
    similarities: Similarities | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> IndexReport:
    """Bring one version of a library to the state of a source.

    Pages are read in this thread while another one writes and embeds. A page that cannot be read
    or written is reported and left as it was; the rest goes on. However the run ends, every page
    is stored completely or not at all, and the next run does what is missing. With `dry_run`
    pages are read and counted, nothing is written. `similarities` is for profiles that cut by
    meaning. Page types are those of the database's configuration.

    Raises `DatabaseUnavailable` when the database stays away, `EmbeddingError` when the model
    fails (the pages are stored and found by keywords; the next run embeds them).
    """
    started = time.monotonic()
    report = IndexReport(
        target.library, target.version, source.location, pages=len(source), dry_run=dry_run
    )
    report.warnings.extend(source.warnings)
    target = replace(target, options=replace(target.options, types=_page_types(database)))
    if not dry_run:
        _open(database, embedder, source, target)
    stored = {
        row["key"]: row
        for row in database.call("stored_pages", library=target.library, version=target.version)
    }
    reader = _Reader(target.options, stored, report, similarities)
    pages = reader.pages(_spread(list(source.files()), first_time=not stored), progress)
    if dry_run:
        for page in pages:
            report.written += 1
            report.planned[page.key] = planned = plan_page(page)
            report.documents += planned.searched
            report.edges += len(planned.edges)
    else:
        _write_all(database, embedder, target, pages, report)
    gone = sorted((set(stored) - reader.kept) | reader.outdone)
    if gone and not dry_run:
        database.call("remove_pages", library=target.library, version=target.version, keys=gone)
    report.removed = len(set(gone) & set(stored))
    if dry_run:
        report.gone.extend(key for key in gone if key in stored)
    report.warnings.extend(path_warnings(reader.paths))
    if not dry_run:
        _finish(database, embedder, target, report)
    report.seconds = time.monotonic() - started
    return report


def _page_types(database: Database) -> PageTypes:
    [row] = database.call("configuration")
    return PageTypes.of(row["configuration"])


def _open(database: Database, embedder: Embedder, source: Source, target: IndexTarget) -> None:
    options = target.options
    description = {
        "location": source.location,
        "revision": source.revision,
        "base_url": options.base_url,
        "language": options.language,
        "chunk_profile": None if options.profile is None else asdict(options.profile),
        "arguments": source.arguments,
    }
    database.call(
        "open_version",
        library=target.library,
        version=target.version,
        language=target.options.language,
        source=Jsonb(description),
        model=embedder.name,
    )


def _finish(
    database: Database, embedder: Embedder, target: IndexTarget, report: IndexReport
) -> None:
    """Embed what an earlier run left, settle statistics and links, and let the planner know."""
    report.embedded += embed_pending(database, embedder, target.library)
    database.call("refresh_statistics", library=target.library)
    database.call("finish_version", library=target.library, version=target.version)
    states = database.call("link_states", library=target.library, version=target.version)
    report.links = {row["state"]: row["links"] for row in states}
    for row in database.call("libraries"):
        if row["library"] == target.library.strip().lower() and row["settings"]["edge_vectors"]:
            embed_edges(database, embedder, target.library)
    with database.connection() as connection:
        [row] = connection.execute(
            "select greatest(reltuples, 0) as pages from pg_class where oid = %s::regclass",
            ["pgrag.pages"],
        )
        if report.written + report.removed > NEWS * row["pages"]:
            connection.execute(
                "analyze pgrag.pages, pgrag.documents, pgrag.embeddings, pgrag.lexeme_statistics,"
                " pgrag.edges, pgrag.page_names, pgrag.page_ranks"
            )
    ensure_vector_index(database, embedder.name)


def _spread(files: Sequence[SourceFile], *, first_time: bool) -> Iterator[SourceFile]:
    """The first batch of a new version comes from everywhere in the source.

    The average length that the impacts are made with is taken from it, so it should be typical.
    """
    stride = max(1, len(files) // 200)
    if not first_time or stride == 1:
        yield from files
        return
    yield from files[::stride]
    yield from (file for place, file in enumerate(files) if place % stride)


class _Reader:
    """Reads the files whose hash changed, and lets the newest page keep a uuid."""

    def __init__(
        self,
        options: PageOptions,
        stored: dict[str, dict[str, Any]],
        report: IndexReport,
        similarities: Similarities | None,
    ) -> None:
        self._similarities = similarities
        self._options = options
        self._stored = stored
        self._report = report
        self._owners: dict[str, tuple[datetime, str]] = {}
        self.kept: set[str] = set()
        self.outdone: set[str] = set()
        self.paths: dict[str, tuple[str, ...]] = {}
        self._urls: dict[str, str] = {}

    def pages(self, files: Iterable[SourceFile], progress: Progress | None) -> Iterator[Page]:
        files = list(files)
        # Pages that stay as they are hold their uuid; one that changed claims what it has now.
        for file in files:
            row = self._stored.get(file.key)
            if row is not None and row["uuid"] and self._stays(file):
                self._claim(row["uuid"], row["modified"], file.key)
        for done, file in enumerate(files, start=1):
            page = self._read(file)
            if page is not None:
                yield page
            if progress is not None:
                progress(done, len(files), self._report.documents)

    def _read(self, file: SourceFile) -> Page | None:
        try:
            data = file.read()
            stored = self._stored.get(file.key)
            if stored is not None and self._is_current(file.key, data, stored):
                self.kept.add(file.key)
                self._report.unchanged += 1
                return None
            page = read_page(file.key, data, self._options, self._similarities)
        except SourceError as error:
            self._report.failed[file.key] = str(error)
            if file.key in self._stored:
                self.kept.add(file.key)
            return None
        self._report.warnings.extend(page.warnings)
        if page.uuid and not self._claim(page.uuid, _date(page), page.key):
            return None
        if "path" in page.front_matter:
            self.paths[page.key] = page.path
        other = self._urls.setdefault(page.url, page.key)
        if other != page.key:
            self._report.warnings.append(
                f"{page.key}: has the same url as {other}: {page.url}; both are indexed"
            )
        self.kept.add(page.key)
        return page

    def _stays(self, file: SourceFile) -> bool:
        """Whether the stored page is left as it is; so is that of a file that cannot be read."""
        try:
            return self._is_current(file.key, file.read(), self._stored[file.key])
        except SourceError:
            return True

    def _is_current(self, key: str, data: bytes, stored: dict[str, Any]) -> bool:
        wanted = source_hash(key, data, self._options, stored["declared_type"])
        return bool(stored["source_hash"] == wanted)

    def _claim(self, uuid: str, date: datetime | None, key: str) -> bool:
        """Whether the page is the newest with its uuid; the others are reported and not kept."""
        moment = date or datetime.min.replace(tzinfo=UTC)
        owner = self._owners.get(uuid)
        if owner is None or owner[1] == key:
            self._owners[uuid] = (moment, key)
            return True
        winner, loser = (key, owner[1]) if moment > owner[0] else (owner[1], key)
        if winner == key:
            self._owners[uuid] = (moment, key)
        self.kept.discard(loser)
        self.outdone.add(loser)
        self._report.warnings.append(
            f"{loser}: has the same uuid {uuid!r} as {winner}, which is newer or was found first;"
            " it is not indexed"
        )
        return winner == key


def _date(page: Page) -> datetime | None:
    text = page.modified or page.created
    if text is None:
        return None
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _write_all(
    database: Database,
    embedder: Embedder,
    target: IndexTarget,
    pages: Iterator[Page],
    report: IndexReport,
) -> None:
    """Write batch after batch in a second thread, at most one ahead of the reader."""
    write = partial(_write, database, embedder, target, report)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="pgrag-write") as writer:
        pending: Future[None] | None = None
        for batch in _batches(pages):
            if pending is not None:
                pending.result()
            pending = writer.submit(write, batch)
        if pending is not None:
            pending.result()


def _batches(pages: Iterable[Page]) -> Iterator[list[Page]]:
    batch: list[Page] = []
    documents = 0
    for page in pages:
        batch.append(page)
        documents += len(page.chunks)
        if documents >= BATCH_DOCUMENTS:
            yield batch
            batch, documents = [], 0
    if batch:
        yield batch


def _write(
    database: Database,
    embedder: Embedder,
    target: IndexTarget,
    report: IndexReport,
    pages: list[Page],
) -> None:
    try:
        rows = _ingest(database, target, pages)
    except DatabaseUnavailable:
        raise
    except PgragError as error:
        # One page spoils the statement: find it, and let the others in.
        if len(pages) == 1:
            report.failed[pages[0].key] = str(error)
            return
        for page in pages:
            _write(database, embedder, target, report, [page])
        return
    written = [row for row in rows if row["status"] == "written"]
    report.written += len(written)
    report.unchanged += len(rows) - len(written)
    report.documents += sum(row["documents"] for row in written)
    edges = {page.key: len(page.edges) for page in pages}
    report.edges += sum(edges[row["key"]] for row in written)
    report.embedded += embed_pending(
        database, embedder, target.library, page_ids=[row["page_id"] for row in rows]
    )


def _ingest(database: Database, target: IndexTarget, pages: list[Page]) -> list[dict[str, Any]]:
    documents = Jsonb([page_document(page) for page in pages], dumps=_dumps)
    for delay in (*RETRY_DELAYS, None):
        try:
            return database.call(
                "ingest_pages",
                library=target.library,
                version=target.version,
                pages=documents,
                resolve=False,
            )
        except DatabaseUnavailable:
            if delay is None:
                raise
            time.sleep(delay)
    raise AssertionError


def page_document(page: Page) -> dict[str, Any]:
    """The page in the form that `pgrag.ingest_page` takes."""
    document = _fields(page)
    document["documents"] = [_fields(chunk) for chunk in document.pop("chunks")]
    document["edges"] = [_fields(edge) for edge in page.edges]
    return document


def _fields(value: Page | Chunk | Edge) -> dict[str, Any]:
    """The fields of a value, not copied as `asdict` does: pages have many chunks and edges."""
    return {name: getattr(value, name) for name in value.__slots__}


_dumps = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
