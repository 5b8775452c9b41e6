"""The composition root: the only place that builds an application from settings.

Modules that only some uses need (models, ingest) are imported where they are used: this halves
the start-up time of a search from the shell.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

import psycopg

from pgrag import schema
from pgrag.db import Database, Row
from pgrag.driver_errors import translated_errors
from pgrag.embedded import EmbeddedServer
from pgrag.errors import (
    DatabaseError,
    DatabaseUnavailable,
    LanguageModelError,
    NotConfigured,
    PgragError,
    SchemaOutdated,
    SettingsError,
    SourceError,
)
from pgrag.providers import Providers
from pgrag.search import Search
from pgrag.settings import Settings, load_settings

if TYPE_CHECKING:
    from pgrag.answer import Answerer
    from pgrag.embedding import Embedder
    from pgrag.enrichment import Enricher
    from pgrag.ingest.kept_pages import KeptPages
    from pgrag.ingest.page import PageOptions
    from pgrag.ingest.reader import Progress
    from pgrag.ingest.report import IndexReport
    from pgrag.ingest.source.repository import Network
    from pgrag.ingest.source.selection import Selection
    from pgrag.ingest.source.source import Source
    from pgrag.ingest.source.uploads import Page

log = logging.getLogger(__name__)


class App:
    """Database, models and search, wired by settings. A context manager; thread-safe.

    Without PGRAG_DATABASE_URL the first use of the database starts the embedded server, which
    keeps running afterwards. `tell` receives a sentence before a step that takes seconds.
    """

    def __init__(
        self, settings: Settings | None = None, *, tell: Callable[[str], None] = log.info
    ) -> None:
        self.settings = settings or load_settings()
        self._tell = tell
        self.server = EmbeddedServer(self.settings.home)
        self.providers = Providers(self.settings)
        self._lock = RLock()
        self._url: str | None = None
        self._database: Database | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections; the embedded server keeps running."""
        if self._database is not None:
            self._database.close()
            self._database = None
        self.providers.close()

    @property
    def is_embedded(self) -> bool:
        """Whether the database is the embedded one."""
        return self.settings.database_url is None

    @property
    def url(self) -> str:
        """The database's URL; starts the embedded server if none is configured."""
        if self._url is None:
            url = self.settings.database_url
            if url is None and self.server.status().data_directory is None:
                self._tell(f"Making a database in {self.settings.home}, once.")
            self._url = self.server.start() if url is None else url.get_secret_value()
        return self._url

    @property
    def database(self) -> Database:
        """The connection pool of a database with the right schema; see `require_schema`."""
        with self._lock:
            if self._database is None:
                self.require_schema()
                self._database = Database(
                    self.url,
                    pool_size=self.settings.pool_size,
                    hybrid_alpha=self.settings.hybrid_alpha,
                    revive=self._revive if self.is_embedded else None,
                )
            return self._database

    def _revive(self) -> bool:
        """Restart the embedded server after a crash; a stopped server stays stopped."""
        crashed = self.server.has_crashed()
        if crashed:
            self.server.start()
        return crashed

    @property
    def search(self) -> Search:
        """The search functions, with the configured models; searches are not recorded."""
        return self.searching_as(None)

    def searching_as(self, client: str | None, *, ends_request: bool = False) -> Search:
        """The search functions for a face: searches are recorded under its name if enabled."""
        return Search(
            self.database,
            self.providers.query_embedder,
            rerank=self.providers.rerank,
            client=client if self.settings.record_searches else None,
            ends_request=ends_request,
        )

    def answering(self, client: str) -> Answerer:
        """Answers by the language model, recorded like searches. Raises `NotConfigured`."""
        from pgrag.answer import Answerer

        settings = self.settings
        return Answerer(
            self.searching_as(client),
            self.providers.require_language_model(),
            self.database,
            client=client if settings.record_searches else None,
            max_tokens=settings.llm_max_tokens,
            temperature=settings.llm_temperature,
            ask_intent=settings.llm_intents,
        )

    def require_schema(self) -> None:
        """Raise `SchemaOutdated` or `SchemaTooNew` unless the schema matches this package.

        An outdated embedded database is upgraded instead: it belongs to pgrag alone.
        """
        try:
            schema.require_current(self.url)
        except SchemaOutdated:
            if not self.is_embedded:
                raise
            self._tell("Bringing the database up to date.")
            self.upgrade()

    def upgrade(self) -> schema.SchemaStatus:
        """Migrate the database; install the built-in model and the shipped configuration."""
        from pgrag import configuration, embedding

        status = schema.upgrade(self.url)
        with translated_errors(), psycopg.connect(self.url, autocommit=True) as connection:
            embedding.install(connection)
            configuration.install(connection)
        return status

    def findings(self) -> list[schema.Finding]:
        """Check the database, its schema, models and libraries; see `doctor.findings`."""
        from pgrag import doctor

        try:
            url = self.url
        except DatabaseUnavailable as error:
            return [schema.Finding("database", "wrong", error.message, error.hint or "")]
        models = {embedder.name for embedder in self.providers.embedders}
        findings = doctor.findings(url, is_embedded=self.is_embedded, models=models)
        if self.settings.llm_url or self.settings.llm_model:
            findings.append(doctor.language_model_finding(self.providers.require_language_model))
        return findings

    def index(
        self,
        library: str,
        version: str | None,
        source: str | Source,
        options: PageOptions,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        subfolder: str | None = None,
        ref: str | None = None,
        include_ignored: bool = False,
        max_pages: int | None = None,
        max_depth: int | None = None,
        max_bytes: int | None = None,
        allow_private: bool = False,
        dry_run: bool = False,
        in_child: bool = False,
        kept_pages: KeptPages | None = None,
        adds: bool = False,
        patience: float = 0.0,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Synchronise a version of a library with a source; see `pipeline.index`.

        `include` to `allow_private` only apply to a source given as text: a website (see
        `open_site`), or what `discover` finds. A `version` of None is the one that the address of a
        website names, else "". An option that is None is the one that the version remembers. With
        `in_child` pages are read in a child process, as a service should: a crash of a parser costs
        a page. `kept_pages` are those of other versions. With `adds` no page is removed. The
        run waits `patience` seconds for the end of another one.
        """
        from pgrag.embedding import similarities
        from pgrag.ingest import pipeline
        from pgrag.ingest.child import Limits
        from pgrag.ingest.source.sources import discover, is_website
        from pgrag.ingest.source.web.addresses import version_of
        from pgrag.ingest.target import IndexTarget

        address = source if isinstance(source, str) and is_website(source, ref) else None
        if version is None:
            version = version_of(address) if address else ""
        if address is not None:
            from pgrag.ingest.source.web.crawl import CrawlLimits
            from pgrag.ingest.source.web.site import SiteOptions, open_site

            limits = {"pages": max_pages, "depth": max_depth, "bytes": max_bytes}
            given = {name: value for name, value in limits.items() if value is not None}
            source = open_site(
                address,
                SiteOptions((*include,), (*exclude,), CrawlLimits(**given), allow_private),
                database=self.database,
                settings=self.settings,
                library=library,
                version=version,
                progress=progress,
            )
        elif isinstance(source, str):
            source = discover(
                source,
                include=include,
                exclude=exclude,
                subfolder=subfolder,
                ref=ref,
                include_ignored=include_ignored,
                network=self._network(uses_credentials=not in_child, allow_private=allow_private),
            )
        with source:
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
                    Limits(self.settings.max_page_seconds, self.settings.max_page_memory),
                    adds,
                    patience,
                ),
                # always the built-in model: chunk borders must not depend on the library's model
                similarities=partial(similarities, self.providers.builtin),
                kept_pages=kept_pages,
                dry_run=dry_run,
                progress=progress,
            )
            if address is not None and not dry_run:
                self.database.call("drop_fetched_bodies", library=library, version=version)
        enrichment = settings["enrichment"]
        if enrichment != "off" and not dry_run:
            self._enrich_indexed(report, enrichment)
        return report

    def index_tags(
        self,
        library: str,
        source: str,
        pattern: str,
        options: PageOptions,
        *,
        selection: Selection,
        dry_run: bool = False,
        in_child: bool = False,
        progress: Callable[[str], Progress | None] = lambda _: None,
    ) -> Iterator[tuple[str, IndexReport | SourceError]]:
        """Synchronise a version with each tag of a repository that matches a glob, oldest first.

        A file that has not changed since an earlier tag is not read again. Yields the label of the
        version, made of the tag (see `label_of`), and the report, or why the tag cannot be read.
        `progress` is called with the label for the progress of its run.
        """
        from pgrag.ingest.kept_pages import KeptPages
        from pgrag.ingest.source.sources import discover_tags

        network = self._network(uses_credentials=not in_child)
        versions = discover_tags(source, pattern, selection, network)
        with KeptPages() as kept_pages:
            for version, opened in versions:
                try:
                    report = self.index(
                        library,
                        version,
                        opened(),
                        options,
                        dry_run=dry_run,
                        in_child=in_child,
                        kept_pages=kept_pages,
                        progress=progress(version),
                    )
                except SourceError as error:
                    yield version, error
                else:
                    yield version, report

    def watch(
        self,
        library: str,
        version: str,
        folder: str,
        options: PageOptions,
        *,
        selection: Selection,
    ) -> Iterator[IndexReport | PgragError]:
        """Synchronise a version with a folder, now and after each change in it, without end.

        Yields the report of each run, or why it failed; a later change tries again. Raises
        SourceError if the folder cannot be watched, or is gone.
        """
        from pathlib import Path

        from pgrag.ingest.source.watching import Folder

        watched = Folder(Path(folder).expanduser(), selection)
        for _ in watched.changes():
            try:
                yield self.index(library, version, watched.listed(), options)
            except PgragError as error:
                if not watched.path.is_dir():
                    raise
                yield error

    def _network(self, *, uses_credentials: bool, allow_private: bool = False) -> Network:
        from pgrag.ingest.source.repository import Network
        from pgrag.outgoing import allow_list

        allowed = allow_list(self.settings, allow_private=allow_private)
        return Network(self.settings.home / "repositories", allowed, uses_credentials)

    def send_pages(
        self, library: str, version: str, pages: Sequence[Page], *, patience: float = 0.0
    ) -> IndexReport:
        """Add these pages to a version, or replace those with their keys; see `index`."""
        from pgrag.ingest.page import PageOptions
        from pgrag.ingest.source.uploads import sent_pages

        source = sent_pages(pages)
        options = PageOptions()
        return self.index(
            library, version, source, options, in_child=True, adds=True, patience=patience
        )

    def _enrich_indexed(self, report: IndexReport, setting: str) -> None:
        """Let the language model write the enrichment that the library's setting names.

        The pages are stored already, so a failure is only a warning.
        """
        from pgrag.enrichment import parse_kinds

        try:
            enricher = self.enricher(report.library, report.version)
            for kind in parse_kinds([setting]):
                enriched = enricher.run(kind)
                report.enriched[kind.value] = enriched.documents
                report.embedded += enriched.embedded
                report.warnings.extend(
                    f"{key}: no {kind.value}: {reason}" for key, reason in enriched.failures
                )
        except (NotConfigured, LanguageModelError, DatabaseError) as error:
            report.warnings.append(f"The setting enrichment is {setting!r}: {error}")

    def enricher(self, library: str, version: str | None = None) -> Enricher:
        """The enricher of a library or of one of its versions.

        Raises `NotConfigured` without a language model.
        """
        from pgrag.enrichment import Enricher
        from pgrag.ingest.embeddings import embed_pending

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

    def index_again(
        self, row: Row, *, dry_run: bool = False, progress: Progress | None = None
    ) -> IndexReport:
        """Index a version again with its recorded options; `row` is one of `outdated_pages`.

        A git repository is read at the same commit. Raises `SourceError` if the source is missing
        or was not recorded.
        """
        from pgrag.ingest.page import PageOptions

        arguments = row["source"].get("arguments")
        if not arguments:
            raise SourceError(
                "how it was indexed is not known.",
                hint="Index it again as you did before; from then on it is remembered.",
            )
        return self.index(
            row["library"],
            row["version"],
            options=PageOptions(),
            **arguments,
            dry_run=dry_run,
            progress=progress,
        )

    def embed(
        self,
        library: str,
        model: str | None = None,
        *,
        activate: bool = False,
        edges: bool = False,
    ) -> int:
        """Embed the texts of a library that have no vector by `model` (default: the library's).

        With `activate` searches use that model from now on. With `edges` edges are embedded too,
        now and in every later indexing run. Returns the number of texts.
        """
        from pgrag.ingest import embeddings

        embedder = self._registered(model or self.library_model(library))
        count = embeddings.embed_pending(self.database, embedder, library)
        embeddings.ensure_vector_index(self.database, embedder.name)
        if edges:
            count += embeddings.embed_pending(self.database, embedder, library, kind="edge")
            self.database.call(
                "configure_library", library=library, settings={"edge_vectors": True}
            )
        if activate:
            self.database.call("use_model", library=library, model=embedder.name)
        return count

    def library_model(self, library: str) -> str:
        """The model of a library; a new library gets the configured or the built-in model."""
        return self._model_of(self._library(library))

    def _library(self, name: str) -> Row | None:
        rows = self.database.call("libraries")
        return next((row for row in rows if row["library"] == name.strip().lower()), None)

    def _settings_of(self, library: Row | None) -> dict[str, Any]:
        """Return the settings of a library, or those that a new one gets."""
        if library is None:
            [row] = self.database.call("default_settings")
            return dict(row["default_settings"])
        return dict(library["settings"])

    def _model_of(self, library: Row | None) -> str:
        if library is not None:
            return str(library["model"])
        return next(iter(self.providers.embedders[1:]), self.providers.builtin).name

    def _registered(self, model: str) -> Embedder:
        from pgrag.embedding import LocalEmbedder, OpenAIEmbedder

        embedder = self.providers.embedder_of(model)
        if embedder is None:
            raise SettingsError(
                f"The model {model!r} is not configured here.",
                hint="Set PGRAG_EMBEDDING_MODEL, and where it runs elsewhere PGRAG_EMBEDDING_URL,"
                f" or choose the built-in model {self.providers.builtin.name!r}.",
            )
        if isinstance(embedder, OpenAIEmbedder | LocalEmbedder):
            self.database.call(
                "register_model",
                name=embedder.name,
                dimensions=embedder.dimensions,
                provider="local" if isinstance(embedder, LocalEmbedder) else "openai",
                query_prefix=embedder.query_prefix,
                document_prefix=embedder.document_prefix,
            )
        return embedder
