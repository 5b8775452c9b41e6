"""Index a source as a version of a library: only changes are read, written and embedded."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace

from psycopg.types.json import Jsonb

from pgrag.ground.connections import Database
from pgrag.ground.errors import Taken
from pgrag.ingest.children import Children
from pgrag.ingest.chunks.semantic import Similarities
from pgrag.ingest.document import ANSWERS
from pgrag.ingest.kept_pages import KeptPages
from pgrag.ingest.locking import held
from pgrag.ingest.matter.page_types import PageTypes
from pgrag.ingest.matter.properties import path_warnings
from pgrag.ingest.page import IndexTarget
from pgrag.ingest.reader import Progress, Reader
from pgrag.ingest.remembered import changes, complete
from pgrag.ingest.report import IndexReport
from pgrag.ingest.source.dates import Dating
from pgrag.ingest.source.source import Source, SourceFile
from pgrag.ingest.vector_index import VectorIndex
from pgrag.ingest.writer import Writer, again
from pgrag.models.embedding import Embedder


def index(
    database: Database,
    embedder: Embedder,
    source: Source,
    target: IndexTarget,
    *,
    similarities: Similarities | None = None,
    kept_pages: KeptPages | None = None,
    children: Children | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> IndexReport:
    """Synchronise one version of a library with a source. This thread and its child processes read
    pages while one thread writes and another embeds. A page that cannot be read or written is
    reported and keeps its stored state. However the run ends, each page is stored completely or not
    at all, and the next run completes the rest; a new version without a page is discarded.
    `dry_run` reads and counts pages, but writes nothing. `similarities` is for chunk profiles that
    cut by meaning. Pages in `kept_pages` are not read again; others are added. `children` read
    pages in place of processes of the run's own. With `target.adds` the source is only a part of
    the version: pages that it lacks are kept, and so is the source that the version remembers.

    Raises `Taken` while another run indexes the same version, `DatabaseUnavailable` if the database
    stays unavailable, `LeaseLost` if another worker has the job now, or another run the version,
    `EmbeddingError` if the model fails: then the pages are found by keywords, and the next run
    embeds them.
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
        notes=[*source.notes],
    )
    report.warn(*source.warnings)
    with nullcontext() if dry_run else _alone(database, target):
        [row] = database.call("configuration")
        types = PageTypes.of(row["configuration"])
        [row] = database.call("version_source", **target.names)
        remembered = row["version_source"]
        memory = remembered or {}
        options, generator = complete(target.options, remembered, source.generator)
        options = replace(options, types=types)
        target = replace(target, options=options)
        keys = [file.key for file in source.files()] if target.adds else None
        rows = database.call("_pgrag.stored_pages", **target.names, keys=keys)
        stored = {row["key"]: row for row in rows}
        report.slugs = str(options.slugs)
        report.slugs_from = generator.evidence if generator else None
        report.changes = changes(remembered, options, len(stored))
        _warn_of_language(database, options.language, report)
        vector_index = VectorIndex(database, embedder.name, target.library)
        writer = Writer(database, embedder, vector_index, target, report, is_new=not stored)
        with (
            (
                nullcontext(children)
                if children and not options.converter
                # Docling loads gigabytes of models, and uses all cores by itself.
                else Children(target.limits, 1 if options.converter else None, ANSWERS)
            ) as processes,
            nullcontext() if dry_run else writer.opened(source, remembered),
        ):
            reader = Reader(
                target,
                stored,
                report,
                processes,
                similarities if options.cuts_by_meaning else None,
                kept_pages,
                Dating(source.history, bool(source.head) and source.head == memory.get("head")),
            )
            _synchronise(writer, reader, source, progress)
    report.seconds = time.monotonic() - started
    return report


@contextmanager
def _alone(database: Database, target: IndexTarget) -> Iterator[None]:
    """Lock out other runs, and removals of the version."""
    with held(database, "index", **target.names, from_removal=True) as (name, taken):
        if not taken:
            yield
            return
    if taken == "index":
        raise Taken(
            f"Another run is indexing {name}.",
            hint="Wait for its end, or interrupt it: the next run completes it.",
        )
    removed = target.library.strip().lower() if taken == "library" else name
    raise Taken(
        f"Another session is removing {removed}.",
        hint="Wait for its end, then index again.",
    )


def _warn_of_language(database: Database, language: str | None, report: IndexReport) -> None:
    """Warn of a name that is perhaps misspelt."""
    if not language:
        return
    [row] = database.query("select _pgrag.language_code(%s) as code", [language])
    if row["code"] is None:
        report.warn(
            f"{language!r} is not the name of a language: words are searched as they are written."
            " Languages are named by codes (en, de, pt-BR) or names (german, Deutsch)."
        )


def _synchronise(writer: Writer, reader: Reader, source: Source, progress: Progress | None) -> None:
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
            report.plan(page.key, json.loads(page.json))
    else:
        writer.write_all(pages)
    lacking = set() if target.adds else set(stored) - reader.kept
    gone = sorted(lacking | reader.outdone)
    removed = in_the_way + [key for key in gone if key in stored]
    report.removed = len(removed)
    report.warn(*path_warnings(reader.paths))
    report.skipped.extend(reader.skips.grouped())
    report.notes.extend(reader.dating.notes)
    if report.dry_run:
        report.gone.extend(removed)
    else:
        if gone:
            again(database, database.call, "remove_pages", **target.names, keys=gone)
        if reader.redated:
            dates = {key: asdict(dates) for key, dates in reader.redated.items()}
            again(database, database.call, "_pgrag.date_pages", **target.names, dates=Jsonb(dates))
        if stored or report.written or report.unchanged:
            writer.finish([stored[key]["page_id"] for key in reader.kept if key in stored])


def _spread(files: list[SourceFile], *, first_time: bool) -> list[SourceFile]:
    """Move a sample of the whole source to the front of a new version's first batch. Impacts are
    computed with the average length in that batch, so it should be typical.
    """
    stride = max(1, len(files) // 200)
    if not first_time or stride == 1:
        return files
    return files[::stride] + [file for index, file in enumerate(files) if index % stride]
