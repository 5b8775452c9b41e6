"""An application: what is connected, and what is written into it. Modules that only indexing needs
are imported where they are used: this halves the start-up time of a search from the shell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack

from pgrag.ground import errors
from pgrag.ground.calls import Row
from pgrag.ground.replicas import on_primary
from pgrag.ground.settings import processors
from pgrag.service.connected import Connected
from pgrag.service.tables import refresh

if TYPE_CHECKING:
    from pgrag.ingest.arguments import IndexArguments
    from pgrag.ingest.child import Limits
    from pgrag.ingest.children import Children
    from pgrag.ingest.enrichment import Enricher
    from pgrag.ingest.kept_pages import KeptPages
    from pgrag.ingest.reader import Progress
    from pgrag.ingest.report import IndexReport
    from pgrag.ingest.source.repository import Network
    from pgrag.ingest.source.source import Source
    from pgrag.ingest.source.uploads import UploadedPage


#: Processes that read pages which callers send: at least two, so that nobody needs them all.
SENT_PAGES = max(2, min(4, processors()))
#: Seconds after the last page that was sent until the processes end that read such pages.
_IDLE_SECONDS = 60.0
#: What the versions of one tree have in common besides their source.
_OF_ALL_VERSIONS = ("base_url", "language", "slugs", "converter")


class App(Connected):
    """Indexes sources, and embeds and enriches what is indexed."""

    _children: Children | None = None

    def close(self) -> None:
        """Close connections, end child processes; the embedded server keeps running."""
        with self._lock:
            if self._children is not None:
                self._children.close()
                self._children = None
        super().close()

    @on_primary()
    def index(
        self,
        library: str,
        version: str | None,
        source: str | Source,
        *,
        dry_run: bool = False,
        in_child: bool = False,
        for_others: bool = False,
        kept_pages: KeptPages | None = None,
        children: Children | None = None,
        adds: bool = False,
        progress: Progress | None = None,
        **arguments: Unpack[IndexArguments],
    ) -> IndexReport:
        """Synchronise a version of a library with a source; see `pipeline.index`. A `version` of
        None is the one that the address of a website names, else "". With `in_child` a crash of a
        parser costs a page; `children` are processes to use. With `for_others` git has none of the
        credentials of this user. With `adds` no page is removed.
        """
        from pgrag.ingest import pipeline
        from pgrag.ingest.arguments import Choosing, checked, part_of, refuse_meaningless
        from pgrag.ingest.page import IndexTarget
        from pgrag.ingest.remembered import options_of
        from pgrag.ingest.source.sources import discover, kind_of
        from pgrag.ingest.source.trees import noting_versions
        from pgrag.ingest.source.web.addresses import version_of
        from pgrag.models.embedding import similarities

        given = checked(arguments)
        options = options_of(given)
        site = None
        if isinstance(source, str):
            kind = kind_of(source, given.get("ref"))
            refuse_meaningless(given, kind)
            site = source if kind == "a website" else None
        if version is None:
            version = version_of(site) if site else ""
        opening = 0.0
        if site is not None:
            _ = self.database  # making a database takes seconds that are not the crawl's
            started = monotonic()
            source = self._site(library, version, site, given, progress)
            opening = monotonic() - started
        elif isinstance(source, str):
            network = self._network(given, for_others=for_others)
            named = source
            source = discover(source, **part_of(given, Choosing), version=version, network=network)
            if "versions" not in given:
                source = noting_versions(source, library, named, given)
        continuing = (
            nullcontext() if site is None or dry_run else self._continuing(library, version)
        )
        with source, continuing:
            row = self._library(library)
            settings = self._settings_of(row)
            report = pipeline.index(
                self.database,
                self._registered(self._model_of(row)),
                source,
                IndexTarget(
                    library,
                    version,
                    replace(
                        options,
                        overlap_size=settings["overlap_size"],
                        overlap_strategy=settings["overlap_strategy"],
                    ),
                    settings["edge_vectors"],
                    self.settings.max_page_bytes,
                    in_child,
                    self._limits(),
                    adds,
                ),
                # always the built-in model: chunk borders must not depend on the library's model
                similarities=partial(similarities, self.providers.builtin),
                kept_pages=kept_pages,
                children=children,
                dry_run=dry_run,
                progress=progress,
            )
            if site is not None and not dry_run:
                self.database.call("_pgrag.drop_fetched_bodies", library=library, version=version)
        report.seconds += opening
        enrichment = settings["enrichment"]
        if enrichment != "off" and not dry_run:
            self._enrich_indexed(report, enrichment)
        return report

    @contextmanager
    def _continuing(self, library: str, version: str) -> Iterator[None]:
        """Let the next run index the pages of a site that this one has crawled but not indexed."""
        try:
            yield
        except BaseException:
            with suppress(errors.PgragError):
                self.database.call("_pgrag.continue_crawl", library=library, version=version)
            raise

    def _site(
        self,
        library: str,
        version: str,
        address: str,
        arguments: dict[str, Any],
        progress: Progress | None,
    ) -> Source:
        from pgrag.ingest.source.web.crawl import CrawlLimits
        from pgrag.ingest.source.web.site import SiteOptions, open_site

        names = {"pages": "max_pages", "depth": "max_depth", "bytes": "max_bytes"}
        limits = {limit: arguments[name] for limit, name in names.items() if name in arguments}
        return open_site(
            address,
            SiteOptions(
                (*arguments.get("include", ()),),
                (*arguments.get("exclude", ()),),
                CrawlLimits(**limits),
                arguments.get("allow_private", False),
            ),
            database=self.database,
            settings=self.settings,
            library=library,
            version=version,
            progress=progress,
        )

    def _network(self, arguments: dict[str, Any], *, for_others: bool) -> Network:
        from pgrag.ground.outgoing import allow_list
        from pgrag.ingest.source.repository import Network

        return Network(
            self.settings.home / "repositories",
            allow_list(self.settings, allow_private=arguments.get("allow_private", False)),
            uses_credentials=not for_others,
        )

    def index_tags(
        self,
        library: str,
        source: str,
        pattern: str,
        *,
        dry_run: bool = False,
        in_child: bool = False,
        for_others: bool = False,
        progress: Callable[[str], Progress | None] = lambda _: None,
        **arguments: Unpack[IndexArguments],
    ) -> Iterator[tuple[str, IndexReport | errors.SourceError | errors.InvalidInput]]:
        """Synchronise a version with each tag of a repository that matches a glob, oldest first;
        unchanged files are not read again. Yields the label (see `label_of`) and the report, or why
        the tag cannot be read. `progress` makes the progress of a run from its label.
        """
        from pgrag.ingest.arguments import Choosing, checked, part_of, refuse_meaningless
        from pgrag.ingest.kept_pages import KeptPages
        from pgrag.ingest.source.selection import Selection
        from pgrag.ingest.source.sources import discover_tags, kind_of

        given = checked(arguments)
        refuse_meaningless(given, kind_of(source, pattern))
        selection = Selection.of(part_of(given, Choosing))
        network = self._network(given, for_others=for_others)
        versions = discover_tags(source, pattern, selection, network)
        yield from self._index_each(
            library, versions, KeptPages(), progress,
            dry_run=dry_run, in_child=in_child, arguments=arguments,
        )  # fmt: skip

    def index_versions(
        self,
        library: str,
        source: str,
        *,
        dry_run: bool = False,
        in_child: bool = False,
        for_others: bool = False,
        progress: Callable[[str], Progress | None] = lambda _: None,
        **arguments: Unpack[IndexArguments],
    ) -> Iterator[tuple[str, IndexReport | errors.SourceError | errors.InvalidInput]]:
        """Synchronise a version with each folder of a version in a source (see `trees`), the oldest
        first; otherwise as `index_tags`.
        """
        from pgrag.ingest.arguments import Choosing, checked, part_of, refuse_meaningless
        from pgrag.ingest.kept_pages import KeptPages
        from pgrag.ingest.source.selection import Selection
        from pgrag.ingest.source.sources import discover_versions, kind_of

        given = checked(arguments) | {"versions": "auto"}
        refuse_meaningless(given, kind_of(source, given.get("ref")))
        selection = Selection.of(part_of(given, Choosing))
        found = discover_versions(source, selection, self._network(given, for_others=for_others))
        with found.source:
            versions = [
                (label, partial(found.version, label, selection, is_last=label == found.labels[-1]))
                for label in found.labels
            ]
            yield from self._index_each(
                library, versions, KeptPages(), progress,
                dry_run=dry_run, in_child=in_child, arguments=arguments,
            )  # fmt: skip

    def _index_each(
        self,
        library: str,
        versions: Sequence[tuple[str, Callable[[], Source]]],
        kept: KeptPages,
        progress: Callable[[str], Progress | None],
        *,
        dry_run: bool,
        in_child: bool,
        arguments: IndexArguments,
    ) -> Iterator[tuple[str, IndexReport | errors.SourceError | errors.InvalidInput]]:
        with kept as kept_pages:
            for version, opened in versions:
                try:
                    report = self.index(
                        library,
                        version,
                        opened(),
                        dry_run=dry_run,
                        in_child=in_child,
                        kept_pages=kept_pages,
                        progress=progress(version),
                        **arguments,
                    )
                except (errors.SourceError, errors.InvalidInput) as error:  # a tag may be no label
                    yield version, error
                else:
                    yield version, report

    def watch(
        self, library: str, version: str, folder: str, **arguments: Unpack[IndexArguments]
    ) -> Iterator[IndexReport | errors.PgragError]:
        """Synchronise a version with a folder after each change, without end. Yields reports and
        failures. Raises SourceError if the folder is gone.
        """
        from pathlib import Path

        from pgrag.ingest.arguments import Choosing, checked, part_of, refuse_meaningless
        from pgrag.ingest.source.selection import Selection
        from pgrag.ingest.source.watching import Folder

        given = checked(arguments)
        refuse_meaningless(given, "a folder that is watched")
        watched = Folder(Path(folder).expanduser(), Selection.of(part_of(given, Choosing)))
        for _ in watched.changes():
            try:
                yield self.index(library, version, watched.listed(), **arguments)
            except errors.PgragError as error:
                if not watched.path.is_dir():
                    raise
                yield error

    def send_pages(
        self,
        library: str,
        version: str,
        pages: Sequence[UploadedPage],
        *,
        dry_run: bool = False,
        kept_pages: KeptPages | None = None,
    ) -> IndexReport:
        """Add these pages to a version, or replace those with their keys; see `index`."""
        from pgrag.ingest.source.uploads import sent_pages

        source = sent_pages(pages)
        return self.index(
            library, version, source, in_child=True, children=self._kept_children(), adds=True,
            dry_run=dry_run, kept_pages=kept_pages,
        )  # fmt: skip

    def _kept_children(self) -> Children:
        """The processes that read sent pages, kept because starting one takes longer."""
        from pgrag.ingest.children import Children
        from pgrag.ingest.document import ANSWERS, read_document
        from pgrag.ingest.page import PageOptions

        with self._lock:
            if self._children is None:
                # Two callers at least are served at a time: the second does not wait for the first.
                self._children = Children(
                    self._limits(), SENT_PAGES, ANSWERS, worth=0.0, idle_seconds=_IDLE_SECONDS,
                    first=(read_document, ("first.html", b"<p>first", PageOptions())),
                )  # fmt: skip
            return self._children

    def _limits(self) -> Limits:
        from pgrag.ingest.child import Limits

        return Limits(self.settings.max_page_seconds, self.settings.max_page_memory)

    def _enrich_indexed(self, report: IndexReport, setting: str) -> None:
        """Enrich as the library says; the pages are stored, so a failure is only a warning."""
        from pgrag.ingest.enrichment import parse_kinds

        try:
            enricher = self.enricher(report.library, report.version)
            for kind in parse_kinds([setting]):
                enriched = enricher.run(kind)
                report.enriched[kind.value] = enriched.documents
                report.embedded += enriched.embedded
                report.warn(
                    *(f"{key}: no {kind.value}: {reason}" for key, reason in enriched.failures)
                )
        except (errors.NotConfigured, errors.LanguageModelError, errors.DatabaseError) as error:
            report.warn(f"The setting enrichment is {setting!r}: {error}")

    def enricher(self, library: str, version: str | None = None) -> Enricher:
        """The enricher of a library or a version. Raises `NotConfigured` without a model."""
        from pgrag.ingest.embeddings import embed_pending
        from pgrag.ingest.enrichment import Enricher

        def embed(page_ids: list[int] | None) -> int:
            embedder = self._registered(self.library_model(library))
            return embed_pending(self.database, embedder, library, page_ids=page_ids)

        return Enricher(
            self.database,
            self.providers.require_language_model(),
            embed,
            library,
            version,
            limits=self._settings_of(self._library(library))["enrichment_limits"],
            concurrency=self.settings.llm_concurrency,
            max_tokens=self.settings.llm_max_tokens,
        )

    def refresh_table(
        self, library: str, *, compare: bool = False, told: Callable[[Row], None] = lambda row: None
    ) -> Row:
        """Refresh an indexed table to its end, and embed; see `pgrag.refresh_table`."""
        embed = partial(self.embed, library)
        return refresh(self.database, library, embed, compare=compare, told=told)

    def index_again(
        self, row: Row, *, dry_run: bool = False, progress: Progress | None = None
    ) -> IndexReport:
        """Index a row of `outdated_pages` again as recorded, a repository at the same commit.
        Raises `SourceError`.
        """
        arguments = row["source"].get("arguments")
        if not arguments:
            raise errors.SourceError(
                "how it was indexed is not known.",
                hint="Index it again as you did before; from then on it is remembered.",
            )
        return self.index(
            row["library"], row["version"], **arguments, dry_run=dry_run, progress=progress
        )

    def remembered(self, library: str, version: str) -> dict[str, Any]:
        """The arguments of the last `index` of a version, its `source` among them; those of a
        repository name what the caller named, so that a branch is read as it is now. Raises
        `SourceError` if there are none.
        """
        [row] = self.database.call("version_source", library=library, version=version)
        source = row["version_source"] or {}
        if not source.get("arguments"):
            raise errors.SourceError(
                f"{f'{library} {version}'.strip()}: its source is not remembered.",
                hint="Its pages were sent or uploaded, or nothing is indexed yet. Name the source:"
                f" pgrag index {library}{f'@{version}' if version else ''} SOURCE.",
            )
        arguments = source["arguments"] | {"ref": source.get("ref")}
        if arguments.get("versions"):
            # A version that is new in the tree is read like the others.
            arguments |= {name: source.get(name) for name in _OF_ALL_VERSIONS}
        return {name: value for name, value in arguments.items() if value not in (None, [], False)}

    @on_primary()
    def embed(
        self, library: str, model: str | None = None, *, activate: bool = False, edges: bool = False
    ) -> int:
        """Embed the texts of a library that have no vector by `model`; return their number.
        `activate` makes it the model of searches; with `edges` these are embedded from now on.
        """
        from pgrag.ingest import embeddings
        from pgrag.ingest.vector_index import VectorIndex

        embedder = self._registered(model or self.library_model(library))
        with closing(VectorIndex(self.database, embedder.name, library)) as vectors:
            count = embeddings.embed_pending(self.database, embedder, library, vector_index=vectors)
            vectors.place()
            vectors.build()
        if edges:
            count += embeddings.embed_pending(self.database, embedder, library, kind="edge")
            self.database.call(
                "configure_library", library=library, settings={"edge_vectors": True}
            )
        if activate:
            self.database.call("use_model", library=library, model=embedder.name)
        return count
