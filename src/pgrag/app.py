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
from pgrag.db import Database, Row, translated_errors
from pgrag.embedded import EmbeddedServer
from pgrag.errors import (
    DatabaseUnavailable,
    LanguageModelError,
    NotConfigured,
    SchemaOutdated,
    SettingsError,
    SourceError,
)
from pgrag.results import Results
from pgrag.settings import Settings, load_settings

if TYPE_CHECKING:
    from pgrag.answer import Answerer
    from pgrag.embedding import BuiltinEmbedder, Embedder, LocalEmbedder, OpenAIEmbedder
    from pgrag.enrichment import Enricher
    from pgrag.ingest.page import PageOptions
    from pgrag.ingest.pipeline import IndexReport, Progress
    from pgrag.ingest.sources import Source
    from pgrag.llm import ChatModel
    from pgrag.reranking import CrossEncoderReranker, HttpReranker, Reranked

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
        self._lock = RLock()
        self._url: str | None = None
        self._database: Database | None = None
        self._builtin: BuiltinEmbedder | None = None
        self._endpoint: OpenAIEmbedder | None = None
        self._local: tuple[LocalEmbedder, ...] = ()
        self._reranker: HttpReranker | CrossEncoderReranker | None = None
        self._language_model: ChatModel | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close connections; the embedded server goes on."""
        if self._database is not None:
            self._database.close()
            self._database = None
        if self._endpoint is not None:
            self._endpoint.close()
            self._endpoint = None
        self._local = ()
        if self._reranker is not None:
            self._reranker.close()
            self._reranker = None
        if self._language_model is not None:
            self._language_model.close()
            self._language_model = None

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
        return Results(self.database, self.embedder_of, rerank=self._rerank)

    def searching_as(self, client: str) -> Results:
        """The same for a face: what it searches is recorded under its name, unless switched off."""
        recorded = client if self.settings.record_searches else None
        return Results(self.database, self.embedder_of, rerank=self._rerank, client=recorded)

    def answering(self, client: str) -> Answerer:
        """Answers by the language model, recorded like searches. Raises `NotConfigured`."""
        from pgrag.answer import Answerer

        settings = self.settings
        return Answerer(
            self.searching_as(client),
            self.require_language_model(),
            self.database,
            client=client if settings.record_searches else None,
            max_tokens=settings.llm_max_tokens,
            temperature=settings.llm_temperature,
            ask_intent=settings.llm_intents,
        )

    def _rerank(self, query: str, rows: list[Row]) -> Reranked:
        """Let the reranker order hits. Raises `NotConfigured` where there is none."""
        from pgrag.reranking import rerank

        reranker = self.reranker
        if reranker is None:
            raise NotConfigured(
                "No reranker is configured.",
                hint="Set PGRAG_RERANKER_URL, or PGRAG_RERANKER_MODEL for one that runs here.",
            )
        return rerank(query, rows, reranker)

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
        models = {embedder.name for embedder in self._embedders()}
        found = doctor.findings(url, is_embedded=self.is_embedded, models=models)
        if self.settings.llm_url or self.settings.llm_model:
            found.append(doctor.language_model_finding(self.require_language_model))
        return found

    def embedder_of(self, model: str) -> Embedder | None:
        """The embedder of a model, or None where it is not configured here."""
        return next((found for found in self._embedders() if found.name == model), None)

    def _embedders(self) -> list[Embedder]:
        endpoint = self.endpoint
        return [self.builtin, *self.local] if endpoint is None else [self.builtin, endpoint]

    @property
    def builtin(self) -> BuiltinEmbedder:
        """The model that ships with the package."""
        from pgrag.embedding import BuiltinEmbedder

        with self._lock:
            if self._builtin is None:
                self._builtin = BuiltinEmbedder()
            return self._builtin

    @property
    def endpoint(self) -> OpenAIEmbedder | None:
        """The model behind PGRAG_EMBEDDING_URL, if it is set."""
        settings = self.settings
        if settings.embedding_url is None:
            return None
        from pgrag.embedding import OpenAIEmbedder

        with self._lock:
            if self._endpoint is None:
                if settings.embedding_model is None:
                    raise SettingsError(
                        "PGRAG_EMBEDDING_URL is set, PGRAG_EMBEDDING_MODEL is not.",
                        hint="Name the model that the endpoint shall use.",
                    )
                key = settings.embedding_api_key
                self._endpoint = OpenAIEmbedder(
                    url=settings.embedding_url,
                    model=settings.embedding_model,
                    api_key=None if key is None else key.get_secret_value(),
                    dimensions=settings.embedding_dimensions,
                    query_prefix=settings.embedding_query_prefix,
                    document_prefix=settings.embedding_document_prefix,
                    batch_size=settings.embedding_batch_size,
                    concurrency=settings.embedding_concurrency,
                    retries=settings.embedding_retries,
                    timeout=settings.embedding_timeout,
                )
            return self._endpoint

    @property
    def local(self) -> tuple[LocalEmbedder, ...]:
        """The model PGRAG_EMBEDDING_MODEL run here, if it is set and no endpoint is.

        Twice: embedding each text by itself, and each page whole. The first is what a new library
        gets, which PGRAG_EMBEDDING_LATE_CHUNKING decides. Neither is loaded yet.
        """
        settings = self.settings
        if settings.embedding_model is None or settings.embedding_url is not None:
            return ()
        from pgrag.embedding import LateEmbedder, LocalEmbedder, LocalModel

        with self._lock:
            if not self._local:
                model = LocalModel(
                    settings.embedding_model,
                    dimensions=settings.embedding_dimensions,
                    batch_size=settings.embedding_batch_size,
                )
                query_prefix = settings.embedding_query_prefix or None
                document_prefix = settings.embedding_document_prefix or None
                by_itself = LocalEmbedder(
                    model, query_prefix=query_prefix, document_prefix=document_prefix
                )
                late = LateEmbedder(
                    model, query_prefix=query_prefix, document_prefix=document_prefix
                )
                late_first = settings.embedding_late_chunking
                self._local = (late, by_itself) if late_first else (by_itself, late)
            return self._local

    @property
    def reranker(self) -> HttpReranker | CrossEncoderReranker | None:
        """The model behind PGRAG_RERANKER_URL, else PGRAG_RERANKER_MODEL run here, if set.

        Raises `SettingsError` where it cannot be had.
        """
        settings = self.settings
        if settings.reranker_url is None and settings.reranker_model is None:
            return None
        from pgrag.reranking import CrossEncoderReranker, HttpReranker

        with self._lock:
            if self._reranker is None and settings.reranker_url is not None:
                key = settings.reranker_api_key
                self._reranker = HttpReranker(
                    url=settings.reranker_url,
                    model=settings.reranker_model,
                    api_key=None if key is None else key.get_secret_value(),
                    shape=settings.reranker_shape,
                    batch_size=settings.reranker_batch_size,
                    retries=settings.reranker_retries,
                    timeout=settings.reranker_timeout,
                )
            elif self._reranker is None and settings.reranker_model is not None:
                self._reranker = CrossEncoderReranker(settings.reranker_model)
            return self._reranker

    @property
    def language_model(self) -> ChatModel | None:
        """The model behind PGRAG_LLM_URL, if it is set."""
        settings = self.settings
        if settings.llm_url is None:
            return None
        from pgrag.llm import ChatModel

        with self._lock:
            if self._language_model is None:
                if settings.llm_model is None:
                    raise NotConfigured(
                        "PGRAG_LLM_URL is set, PGRAG_LLM_MODEL is not.",
                        hint="Set PGRAG_LLM_MODEL to the name of the model that it shall use.",
                    )
                key = settings.llm_api_key
                self._language_model = ChatModel(
                    url=settings.llm_url,
                    model=settings.llm_model,
                    api_key=None if key is None else key.get_secret_value(),
                    retries=settings.llm_retries,
                    timeout=settings.llm_timeout,
                )
            return self._language_model

    def require_language_model(self) -> ChatModel:
        """Return the language model. Raises `NotConfigured` where there is none."""
        model = self.language_model
        if model is None:
            raise NotConfigured(
                "No language model is configured.",
                hint="Set PGRAG_LLM_URL and PGRAG_LLM_MODEL.",
            )
        return model

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
            similarities=partial(similarities, self.builtin),
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
        except (NotConfigured, LanguageModelError) as error:
            report.warnings.append(f"The setting enrichment is {setting!r}: {error}")

    def enricher(self, library: str, version: str | None = None) -> Enricher:
        """What has the language model write for a library, or one of its versions.

        Raises `NotConfigured` where there is no language model.
        """
        from pgrag.enrichment import Enricher
        from pgrag.ingest.embeddings import embed_pending

        def embed(page_ids: list[int]) -> int:
            embedder = self._registered(self.library_model(library))
            return embed_pending(self.database, embedder, library, page_ids=page_ids)

        return Enricher(
            self.database,
            self.require_language_model(),
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
        return next(iter(self._embedders()[1:]), self.builtin).name

    def _registered(self, model: str) -> Embedder:
        from pgrag.embedding import LocalEmbedder, OpenAIEmbedder

        embedder = self.embedder_of(model)
        if embedder is None:
            raise SettingsError(
                f"The model {model!r} is not configured here.",
                hint="Set PGRAG_EMBEDDING_MODEL, and where it runs elsewhere PGRAG_EMBEDDING_URL,"
                f" or choose the built-in model {self.builtin.name!r}.",
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
