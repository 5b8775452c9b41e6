"""The composition root: from settings to a working application. The only place that wires.

What only some uses need (models, reading of sources) is imported by them: a search from the shell
then starts in half the time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock
from typing import TYPE_CHECKING, Self

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
    SchemaOutdated,
    SettingsError,
    SourceError,
)
from pgrag.providers import Providers
from pgrag.results import Results
from pgrag.settings import Settings, load_settings

if TYPE_CHECKING:
    from pgrag.answer import Answerer
    from pgrag.embedding import Embedder
    from pgrag.enrichment import Enricher
    from pgrag.ingest.page import PageOptions
    from pgrag.ingest.pipeline import IndexReport, Progress
    from pgrag.ingest.sources import Source

log = logging.getLogger(__name__)


class App:
    """Database, models and search, wired by settings. Use it as a context manager.

    With no PGRAG_DATABASE_URL the embedded server is started when the database is first needed,
    and goes on running afterwards. Threads may share it. `tell` gets a sentence before what takes
    a few seconds.
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
        """Close connections; the embedded server goes on."""
        if self._database is not None:
            self._database.close()
            self._database = None
        self.providers.close()

    @property
    def is_embedded(self) -> bool:
        """Whether the database is the private one."""
        return self.settings.database_url is None

    @property
    def url(self) -> str:
        """The database's URL; starts the embedded server where there is no other."""
        if self._url is None:
            given = self.settings.database_url
            if given is None and self.server.status().data_directory is None:
                self._tell(f"Making a database in {self.settings.home}, once.")
            self._url = self.server.start() if given is None else given.get_secret_value()
        return self._url

    @property
    def database(self) -> Database:
        """The pool of connections to a database that fits; see `require_schema`."""
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
        """Start the embedded server again after a crash; one that was stopped stays stopped."""
        crashed = self.server.has_crashed()
        if crashed:
            self.server.start()
        return crashed

    @property
    def search(self) -> Results:
        """The search functions, with the models that are configured here."""
        return Results(self.database, self.providers.query_embedder, rerank=self.providers.rerank)

    def searching_as(self, client: str) -> Results:
        """The same for a face: what it searches is recorded under its name, unless switched off."""
        recorded = client if self.settings.record_searches else None
        return Results(
            self.database,
            self.providers.query_embedder,
            rerank=self.providers.rerank,
            client=recorded,
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
        """Raise `SchemaOutdated` or `SchemaTooNew` unless the database fits this package.

        The embedded database belongs to pgrag alone, so there what is missing is brought in.
        """
        try:
            schema.require_current(self.url)
        except SchemaOutdated:
            if not self.is_embedded:
                raise
            self._tell("Bringing the database up to date.")
            self.upgrade()

    def upgrade(self) -> schema.SchemaStatus:
        """Migrate the database; bring the built-in model and the shipped configuration into it."""
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
            return [schema.Finding("database", False, error.message, error.hint or "")]
        models = {embedder.name for embedder in self.providers.embedders}
        found = doctor.findings(url, is_embedded=self.is_embedded, models=models)
        if self.settings.llm_url or self.settings.llm_model:
            found.append(doctor.language_model_finding(self.providers.require_language_model))
        return found

    def index(
        self,
        library: str,
        version: str,
        source: str,
        options: PageOptions,
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        subfolder: str | None = None,
        ref: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Bring a version of a library to the state of a source; see `pipeline.index`."""
        from pgrag.ingest.sources import discover

        with discover(
            source, include=include, exclude=exclude, subfolder=subfolder, ref=ref
        ) as found:
            return self.index_source(
                library, version, found, options, dry_run=dry_run, progress=progress
            )

    def index_source(
        self,
        library: str,
        version: str,
        found: Source,
        options: PageOptions,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Do the same for a source that is listed already."""
        from pgrag.embedding import similarities
        from pgrag.ingest import pipeline

        report = pipeline.index(
            self.database,
            self._registered(self.library_model(library)),
            found,
            pipeline.IndexTarget(library, version, options),
            # always the built-in one: the same text gives the same chunks, whatever embeds them
            similarities=partial(similarities, self.providers.builtin),
            dry_run=dry_run,
            progress=progress,
        )
        if not dry_run:
            self._enrich_indexed(report)
        return report

    def _enrich_indexed(self, report: IndexReport) -> None:
        """Have a language model write what the library's setting says.

        The pages are in, with or without it: what goes wrong here is a warning.
        """
        library = report.library.strip().lower()
        [setting] = [
            row["settings"]["enrichment"]
            for row in self.database.call("libraries")
            if row["library"] == library
        ]
        if setting == "off":
            return
        from pgrag.enrichment import parse_kinds

        try:
            enricher = self.enricher(library, report.version)
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
        """What has the language model write for a library, or one of its versions.

        Raises `NotConfigured` where there is no language model.
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
            concurrency=self.settings.llm_concurrency,
            max_tokens=self.settings.llm_max_tokens,
        )

    def index_again(
        self, row: Row, *, dry_run: bool = False, progress: Progress | None = None
    ) -> IndexReport:
        """Index a version as it was before, from its source; `row` is one of `outdated_pages`.

        Of a git repository the same commit is read. Raises `SourceError` where the source is gone
        or not known.
        """
        from pgrag.ingest.page import PageOptions
        from pgrag.models import ChunkProfile

        remembered = row["source"]
        if not remembered.get("arguments"):
            raise SourceError(
                "how it was indexed is not known.",
                hint="Index it once more as you did before; from then on it is remembered.",
            )
        profile = remembered["chunk_profile"]
        return self.index(
            row["library"],
            row["version"],
            options=PageOptions(
                base_url=remembered["base_url"],
                language=remembered["language"],
                profile=None if profile is None else ChunkProfile(**profile),
            ),
            **remembered["arguments"],
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
        """Embed the texts of a library that lack a vector by a model (default: the library's).

        With `activate` searches use that model from then on; with `edges` the edges are embedded
        too, and from then on whenever the library is indexed. Returns the number of texts.
        """
        from pgrag.ingest import embeddings

        embedder = self._registered(model or self.library_model(library))
        count = embeddings.embed_pending(self.database, embedder, library)
        embeddings.ensure_vector_index(self.database, embedder.name)
        if edges:
            count += embeddings.embed_edges(self.database, embedder, library)
            self.database.call(
                "configure_library", library=library, settings={"edge_vectors": True}
            )
        if activate:
            self.database.call("use_model", library=library, model=embedder.name)
        return count

    def library_model(self, library: str) -> str:
        """The model of a library; for a new one what is configured, else the built-in."""
        rows = self.database.call("libraries")
        for row in rows:
            if row["library"] == library.strip().lower():
                return str(row["model"])
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
