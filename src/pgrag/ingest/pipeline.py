"""Index a source as a version of a library: only changes are read, written and embedded."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from operator import itemgetter
from typing import Any, ParamSpec, Protocol, TypeVar

from psycopg.types.json import Jsonb

from pgrag.db import Database, Row, as_service
from pgrag.embedding import Embedder
from pgrag.errors import Busy, DatabaseUnavailable, LeaseLost, PgragError, SourceError
from pgrag.ingest.child import Child, Limits
from pgrag.ingest.chunks.semantic import Similarities
from pgrag.ingest.embeddings import batches, embed_pending, ensure_vector_index
from pgrag.ingest.formats import formats
from pgrag.ingest.kept_pages import KeptPages
from pgrag.ingest.matter.page_types import PageTypes
from pgrag.ingest.matter.properties import Properties, path_warnings
from pgrag.ingest.page import PageOptions, read_page, read_properties_of, source_hash
from pgrag.ingest.remembered import changes, complete, describe
from pgrag.ingest.report import IndexReport
from pgrag.ingest.source.source import Elsewhere, Skips, Source, SourceFile, digest_of
from pgrag.models import Chunk, Edge, Page

#: Documents per transaction: enough to amortise the cost of a statement, few enough that a crash
#: repeats little work.
BATCH_DOCUMENTS = 1500
#: Seconds to wait before each retry when the database is unavailable.
RETRY_DELAYS = (1.0, 3.0, 9.0)
#: Share of the database's pages that must change before a run analyses the tables. Sampling large
#: tables takes seconds: too long for one page of a small library in a large database.
NEWS = 0.02

#: Seconds between two attempts to begin while another run goes on.
_PAUSE = 0.1
_NEVER = datetime.min.replace(tzinfo=UTC)
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
#: Called with (pages done, total pages, documents written) during a run.
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class IndexTarget:
    """The version of a library that is indexed, and how its pages are read.

    With `embeds_edges` the texts of links and relations are embedded, too. A file of more than
    `max_page_bytes` is not read (see `formats.size_limit`). Pages in other formats than Markdown
    are read in a child process, with `in_child` all: a crash of a parser costs a page, and so does
    one that takes more than `limits`. With `adds` no page is removed because the source lacks it.
    A run waits `patience` seconds for the end of another.
    """

    library: str
    version: str = ""
    options: PageOptions = field(default_factory=PageOptions)
    embeds_edges: bool = False
    max_page_bytes: int | None = None
    in_child: bool = False
    limits: Limits = field(default_factory=Limits)
    adds: bool = False
    patience: float = 0.0

    @property
    def names(self) -> dict[str, str]:
        """Library and version, as the SQL functions take them."""
        return {"library": self.library, "version": self.version}


def index(
    database: Database,
    embedder: Embedder,
    source: Source,
    target: IndexTarget,
    *,
    similarities: Similarities | None = None,
    kept_pages: KeptPages | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> IndexReport:
    """Synchronise one version of a library with a source.

    This thread reads pages while another writes and embeds them. A page that cannot be read or
    written is reported and keeps its stored state; the run continues. However the run ends, each
    page is stored completely or not at all, and the next run completes the rest; a new version for
    which nothing was stored is discarded. With `dry_run` pages are read and counted, but not
    written. `similarities` is for chunk profiles that cut by meaning. A page in `kept_pages` is not
    read again, and one that is read is kept there. Page types come from the
    database's configuration; options that the target leaves open are those that the version
    remembers.

    With `target.adds` the source is only a part of the version: pages that it lacks are kept, and
    so is the source that the version remembers.

    Raises `Busy` while another run indexes the same version, `DatabaseUnavailable` if the database
    stays unavailable, `LeaseLost` if another worker has the job now, `EmbeddingError` if the model
    fails (the pages are stored and found by keywords; the next run embeds them).
    """
    started = time.monotonic()
    report = IndexReport(
        target.library,
        target.version,
        source.location,
        pages=len(source),
        ignored=source.ignored,
        skipped=[*source.skipped],
        dry_run=dry_run,
    )
    report.warnings.extend(source.warnings)
    with nullcontext() if dry_run else _alone(database, target), Child(target.limits) as child:
        [row] = database.call("configuration")
        types = PageTypes.of(row["configuration"])
        [row] = database.call("version_source", **target.names)
        remembered = row["version_source"]
        options, generator = complete(target.options, remembered, source.generator)
        options = replace(options, types=types)
        target = replace(target, options=options)
        stored = {row["key"]: row for row in database.call("stored_pages", **target.names)}
        report.slugs = str(options.slugs)
        report.slugs_from = generator.evidence if generator else None
        report.changes = changes(remembered, options, len(stored))
        writer = _Writer(database, embedder, target, report)
        reader = _Reader(
            target,
            stored,
            report,
            child,
            similarities if options.cuts_by_meaning else None,
            kept_pages,
        )
        with nullcontext() if dry_run else writer.opened(source, remembered):
            _synchronise(writer, reader, source, progress)
    report.seconds = time.monotonic() - started
    return report


@contextmanager
def _alone(database: Database, target: IndexTarget) -> Iterator[None]:
    """Keep other runs, and removals, away from the version.

    A run that fails would discard what another writes; a removed version would be made anew, with
    the rest of the pages only. `_pgrag.lock_out_indexing` takes alone what a run shares.
    """
    library, version = (part.strip().lower() for part in target.names.values())
    name = "@".join(filter(None, (library, version)))
    run = f"pgrag index {name}"
    deadline = time.monotonic() + target.patience
    while True:
        with database.lock(run, f"pgrag version {name}", f"pgrag library {library}") as taken:
            if not taken:
                yield
                return
        if time.monotonic() >= deadline:
            break
        time.sleep(_PAUSE)
    if taken == run:
        raise Busy(
            f"Another run is indexing {name}.",
            hint="Wait for its end, or interrupt it: the next run completes what it has begun.",
        )
    raise Busy(
        f"Another session is removing {taken.split(' ', 2)[2]}.",
        hint="Wait for its end, then index again.",
    )


def _synchronise(
    writer: "_Writer",
    reader: "_Reader",
    source: Source,
    progress: Progress | None,
) -> None:
    """Write what has changed and remove what is gone, or plan it."""
    database, target, report = writer.database, writer.target, writer.report
    stored = reader.stored
    files = _spread(list(source.files()), first_time=not stored)
    report.renamed, in_the_way = reader.follow(files)
    if report.renamed and not report.dry_run:
        database.call("remove_pages", **target.names, keys=in_the_way)
        database.call("rename_pages", **target.names, new_keys=Jsonb(report.renamed))
    pages = reader.pages(files, progress)
    if report.dry_run:
        for page in pages:
            report.plan(page)
    else:
        writer.write_all(pages)
    lacking = set() if target.adds else set(stored) - reader.kept
    gone = sorted(lacking | reader.outdone)
    removed = in_the_way + [key for key in gone if key in stored]
    report.removed = len(removed)
    report.warnings.extend(path_warnings(reader.paths))
    report.skipped.extend(reader.skips.grouped())
    if report.dry_run:
        report.gone.extend(removed)
    else:
        if gone:
            database.call("remove_pages", **target.names, keys=gone)
        if stored or report.written or report.unchanged:
            writer.finish()


def _spread(files: list[SourceFile], *, first_time: bool) -> list[SourceFile]:
    """Move a sample from the whole source to the front of a new version's first batch.

    Impacts are computed with the average length in the first batch, which should be typical.
    """
    stride = max(1, len(files) // 200)
    if not first_time or stride == 1:
        return files
    return files[::stride] + [file for index, file in enumerate(files) if index % stride]


@dataclass(slots=True)
class _Reader:
    """Reads the files whose hash changed; of several pages with one uuid, keeps the newest."""

    target: IndexTarget
    stored: dict[str, Row]
    report: IndexReport
    child: Child
    similarities: Similarities | None
    kept_pages: KeptPages | None
    skips: Skips = field(default_factory=Skips)
    kept: set[str] = field(default_factory=set)
    outdone: set[str] = field(default_factory=set)
    paths: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _owners: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    _urls: dict[str, str] = field(default_factory=dict)

    def follow(self, files: Sequence[SourceFile]) -> tuple[dict[str, str], list[str]]:
        """Give the stored pages whose files were renamed, or outdone by newer ones, new keys.

        Returns the new keys by the old ones, and the keys of the pages that are in the way. A
        stored page belongs to the newest file with its uuid, of equally new ones to its own, and
        this file claims the uuid. To be called before `pages`.
        """
        owners = Counter(row["uuid"] for row in self.stored.values() if row["uuid"])
        pages = {row["uuid"]: key for key, row in self.stored.items() if owners[row["uuid"]] == 1}
        heirs: dict[str, list[tuple[datetime, bool, str]]] = defaultdict(list)
        for file in files if owners else ():
            with suppress(SourceError):
                row = self.stored.get(file.key)
                if row is not None and self._stays(file):
                    uuid, moment = row["uuid"], row["modified"] or _NEVER
                else:
                    data = self._bytes(file)
                    run = self._runner(file, data)
                    properties = run(read_properties_of, file.key, data, file.origin)
                    uuid, moment = properties.uuid, _moment(properties)
                if uuid in pages:
                    heirs[uuid].append((moment, pages[uuid] == file.key, file.key))
                elif uuid in owners and row is not None and uuid == row["uuid"]:
                    # Several pages have it: those that stay claim it before new files do.
                    self._claim(uuid, moment, file.key)
        renamed = {}
        for uuid, files_of_uuid in heirs.items():
            moment, is_own, key = max(files_of_uuid, key=itemgetter(0, 1))
            self._claim(uuid, moment, key)
            if not is_own:
                renamed[pages[uuid]] = key
        in_the_way = [key for key in renamed.values() if key in self.stored and key not in renamed]
        rows = {new: self.stored[old] | {"source_hash": ""} for old, new in renamed.items()}
        for key in (*renamed, *in_the_way):
            del self.stored[key]
        self.stored.update(rows)
        return renamed, in_the_way

    def pages(self, files: Sequence[SourceFile], progress: Progress | None) -> Iterator[Page]:
        for done, file in enumerate(files, start=1):
            page = self._read(file)
            if page is not None:
                yield page
            if progress is not None:
                progress(done, len(files), self.report.documents)

    def _read(self, file: SourceFile) -> Page | None:
        try:
            data = None if file.digest else self._bytes(file)
            digest = file.digest or digest_of(data or b"")
            stored = self.stored.get(file.key)
            if stored is not None and self._is_current(file, digest, stored):
                self.kept.add(file.key)
                self.report.unchanged += 1
                return None
            page = self._page(file, data, digest)
        except SourceError as error:
            if isinstance(error, Elsewhere):
                self.skips.add(file.key, error.message, error.hint or "")
            else:
                self.report.failed[file.key] = str(error)
            if file.key in self.stored:
                self.kept.add(file.key)
            return None
        self.report.warnings.extend(page.warnings)
        if page.uuid and not self._claim(page.uuid, _moment(page), page.key):
            return None
        if "path" in page.front_matter:
            self.paths[page.key] = page.path
        other = self._urls.setdefault(page.url, page.key)
        if other != page.key:
            self.report.warnings.append(
                f"{page.key}: has the same url as {other}: {page.url}; both are indexed"
            )
        self.kept.add(page.key)
        return page

    def _page(self, file: SourceFile, data: bytes | None, digest: str) -> Page:
        """Read a page, unless an earlier run of the same command has read it."""
        options = self.target.options
        if self.kept_pages and (page := self.kept_pages.find(file, digest, options)):
            return page
        if data is None:
            data = self._bytes(file)
        page = self._runner(file, data)(
            read_page,
            file.key,
            data,
            options,
            self.similarities,
            origin=file.origin,
            digest=digest,
        )
        if self.kept_pages:
            self.kept_pages.keep(file, digest, options, page)
        return page

    def _bytes(self, file: SourceFile) -> bytes:
        limit = self.target.max_page_bytes
        return file.read(formats.size_limit(file.key, file.origin, limit))

    def _runner(self, file: SourceFile, data: bytes) -> "_Run":
        """Return what calls a function on a file: here, or in the child process."""
        is_own = formats.format_of(file.key, data, file.origin) is formats.MARKDOWN
        return _directly if is_own and not self.target.in_child else self.child.run

    def _stays(self, file: SourceFile) -> bool:
        """Whether the stored page is kept: its file is unchanged or cannot be read."""
        try:
            digest = file.digest or digest_of(self._bytes(file))
            return self._is_current(file, digest, self.stored[file.key])
        except SourceError:
            return True

    def _is_current(self, file: SourceFile, digest: str, stored: Row) -> bool:
        options = self.target.options
        current = source_hash(file.key, digest, options, stored["declared_type"], file.origin)
        return bool(stored["source_hash"] == current)

    def _claim(self, uuid: str, moment: datetime | None, key: str) -> bool:
        """Whether the page is the newest with its uuid; older pages are reported and dropped."""
        moment = moment or _NEVER
        owner = self._owners.get(uuid)
        if owner is None or owner[1] == key:
            self._owners[uuid] = (moment, key)
            return True
        winner, loser = (key, owner[1]) if moment > owner[0] else (owner[1], key)
        if winner == key:
            self._owners[uuid] = (moment, key)
        self.kept.discard(loser)
        self.outdone.add(loser)
        self.report.warnings.append(
            f"{loser}: has the same uuid {uuid!r} as {winner}, which is newer or was found first;"
            " it is not indexed"
        )
        return winner == key


class _Run(Protocol):
    """Calls a function."""

    def __call__(
        self,
        function: Callable[_Arguments, _Result],
        *arguments: _Arguments.args,
        **options: _Arguments.kwargs,
    ) -> _Result: ...


def _directly(
    function: Callable[_Arguments, _Result],
    *arguments: _Arguments.args,
    **options: _Arguments.kwargs,
) -> _Result:
    """Call a function in this process; the twin of `Child.run`."""
    return function(*arguments, **options)


def _moment(page: Page | Properties) -> datetime:
    """Return when the page was written last."""
    text = page.modified or page.created
    if text is None:
        return _NEVER
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the pages of one version in batches, and embeds their texts."""

    database: Database
    embedder: Embedder
    target: IndexTarget
    report: IndexReport

    @contextmanager
    def opened(self, source: Source, remembered: Mapping[str, Any] | None) -> Iterator[None]:
        """Register the version with its source and indexing options; discard it if it is empty."""
        options = self.target.options
        description = {
            "location": source.location,
            "revision": source.revision,
            "arguments": source.arguments,
        }
        if self.target.adds and remembered:
            # The version stays one of its own source, which a later run can read again.
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
            with suppress(DatabaseUnavailable, LeaseLost):
                [row] = self.database.call("discard_version", **self.target.names)
                self.report.discarded = row["discard_version"]

    def write_all(self, pages: Iterator[Page]) -> None:
        """Write the batches in a second thread; the reader is at most one batch ahead."""
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="pgrag-write") as thread:
            pending: Future[None] | None = None
            for batch in batches(pages, lambda page: len(page.chunks), BATCH_DOCUMENTS):
                if pending is not None:
                    pending.result()
                # With the rights, and the lease, of whoever indexes.
                pending = thread.submit(copy_context().run, self._write, batch)
            if pending is not None:
                pending.result()

    def finish(self) -> None:
        """Embed the backlog of earlier runs, refresh impacts and links, analyse the tables."""
        database, target, report = self.database, self.target, self.report
        report.embedded += embed_pending(database, self.embedder, target.library)
        database.call("finish_version", **target.names)
        states = database.call("link_states", **target.names)
        report.links = {row["state"]: row["links"] for row in states}
        if target.embeds_edges:
            embed_pending(database, self.embedder, target.library, kind="edge")
        # Only the owner of the tables may do this; a service indexes in the role of its caller.
        with as_service():
            self._analyse()
            ensure_vector_index(database, self.embedder.name)

    def _analyse(self) -> None:
        report = self.report
        with self.database.connection() as connection:
            [row] = connection.execute(
                "select greatest(reltuples, 0) as pages from pg_class where oid = %s::regclass",
                ["pgrag.pages"],
            )
            if report.written + report.removed > NEWS * row["pages"]:
                connection.execute(
                    "analyze pgrag.libraries, pgrag.versions,"  # too small for autovacuum
                    " pgrag.pages, pgrag.documents, pgrag.embeddings,"
                    " pgrag.lexeme_statistics, pgrag.edges, pgrag.page_names, pgrag.page_ranks,"
                    " pgrag.section_texts"
                )

    def _write(self, pages: list[Page]) -> None:
        report = self.report
        try:
            rows = self._ingest(pages)
        except (DatabaseUnavailable, LeaseLost):
            raise
        except PgragError as error:
            # One bad page fails the whole statement: write page by page to isolate it.
            if len(pages) == 1:
                report.failed[pages[0].key] = str(error)
                return
            for page in pages:
                self._write([page])
            return
        written = [row for row in rows if row["status"] == "written"]
        is_first = report.written == 0
        report.written += len(written)
        report.unchanged += len(rows) - len(written)
        report.documents += sum(row["documents"] for row in written)
        edges = {page.key: len(page.edges) for page in pages}
        report.edges += sum(edges[row["key"]] for row in written)
        page_ids = [row["page_id"] for row in rows]
        report.embedded += _again(
            embed_pending, self.database, self.embedder, self.target.library, page_ids=page_ids
        )
        if is_first and written:
            with as_service():
                self._analyse()

    def _ingest(self, pages: list[Page]) -> list[Row]:
        documents = Jsonb([page_document(page) for page in pages], dumps=_dumps)
        arguments = {**self.target.names, "pages": documents, "resolve": False}
        return _again(self.database.call, "ingest_pages", **arguments)


def _again(
    step: Callable[_Arguments, _Result], *arguments: _Arguments.args, **options: _Arguments.kwargs
) -> _Result:
    """Do a step that may be repeated, until the database is back or `RETRY_DELAYS` are over."""
    for delay in RETRY_DELAYS:
        try:
            return step(*arguments, **options)
        except DatabaseUnavailable:
            time.sleep(delay)
    return step(*arguments, **options)


def page_document(page: Page) -> dict[str, Any]:
    """The page as the JSON document that `pgrag.ingest_page` takes."""
    document = _fields(page)
    document["documents"] = [_fields(chunk) for chunk in document.pop("chunks")]
    document["edges"] = [_fields(edge) for edge in page.edges]
    return document


def _fields(value: Page | Chunk | Edge) -> dict[str, Any]:
    """The fields of a value without the deep copy of `asdict`: pages have many chunks and edges."""
    return {name: getattr(value, name) for name in value.__slots__}


_dumps = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
