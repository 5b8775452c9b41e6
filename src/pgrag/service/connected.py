"""The composition root. Modules that few uses need are imported where they are used: a search
starts in half the time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from pgrag.ground import schema
from pgrag.ground.calls import Row
from pgrag.ground.connections import Database, connect
from pgrag.ground.driver_errors import translated_errors
from pgrag.ground.embedded import EmbeddedServer
from pgrag.ground.embedded.revival import Revival
from pgrag.ground.errors import DatabaseUnavailable, SchemaOutdated, SettingsError
from pgrag.ground.replicas import Replicas
from pgrag.ground.settings import Settings, load_settings
from pgrag.ground.standbys import standings
from pgrag.models.providers import Providers
from pgrag.search.search import Search

if TYPE_CHECKING:
    from pgrag.answer import Answerer
    from pgrag.models.embedding import Embedder

log = logging.getLogger(__name__)


class Connected:
    """Database, models and search, wired by settings; starts the embedded server on first use.
    `tell` gets a sentence before a step that takes seconds. A context manager; thread-safe.
    """

    def __init__(
        self, settings: Settings | None = None, *, tell: Callable[[str], None] = log.info
    ) -> None:
        self.settings = settings or load_settings()
        self._tell = tell
        self.server = EmbeddedServer(self.settings.home)
        self.providers = Providers(self.settings)
        self._lock = RLock()
        self._revival = Revival(self.server)
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
    def read_url(self) -> str | None:
        """The URL of the servers that are read first, if there are any."""
        url = self.settings.read_url
        return url.get_secret_value() if url else None

    @property
    def database(self) -> Database:
        """The connection pool of a database with the right schema; see `require_schema`."""
        with self._lock:
            if self._database is None:
                self._require_reading()
                size, alpha = self.settings.pool_size, self.settings.hybrid_alpha
                self._database = Database(
                    self.url,
                    pool_size=size,
                    hybrid_alpha=alpha,
                    revive=self._revival if self.is_embedded else None,
                    replicas=Replicas(self.read_url, pool_size=size, hybrid_alpha=alpha)
                    if self.read_url
                    else None,
                )
            return self._database

    @property
    def search(self) -> Search:
        """The search functions, with the configured models; searches are not recorded."""
        return self.searching_as(None)

    def searching_as(self, client: str | None, *, is_last: bool = False) -> Search:
        """The search functions for a face: searches are recorded under its name if enabled."""
        return Search(
            self.database,
            self.providers.query_embedder,
            rerank=self.providers.rerank,
            client=client if self.settings.record_searches else None,
            is_last=is_last,
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
        """Raise `SchemaOutdated` or `SchemaTooNew`; upgrade an embedded database."""
        try:
            schema.require_current(self.url)
        except SchemaOutdated:
            if not self.is_embedded or schema.status(self.url).state == "unreleased":
                raise
            self.upgrade()

    def _require_reading(self) -> None:
        """As `require_schema`; while the primary does not answer, those that are read will do."""
        try:
            self.require_schema()
        except DatabaseUnavailable:
            if self.read_url is None:
                raise
            schema.require_current(self.read_url)

    def upgrade(self) -> schema.SchemaStatus:
        """Migrate the database; install the built-in model and the shipped configuration."""
        from pgrag.models import embedding
        from pgrag.service import configuration

        if schema.status(self.url).state != "current":
            self._tell("Bringing the database up to date.")
        status = schema.upgrade(self.url)
        with translated_errors(), connect(self.url, autocommit=True) as connection:
            if not schema.is_read_only(connection):
                if not embedding.is_installed(connection):
                    self._tell("Loading the built-in model into the database.")
                embedding.install(connection)
                configuration.install(connection)
        return status

    def findings(self) -> list[schema.Finding]:
        """Check the database, its schema, models and libraries; see `doctor.findings`."""
        from pgrag.service import doctor

        try:
            url = self.url
        except DatabaseUnavailable as error:
            return [schema.Finding("database", "wrong", error.message, error.hint or "")]
        models = {embedder.name for embedder in self.providers.embedders}
        findings = doctor.findings(url, is_embedded=self.is_embedded, models=models)
        if self.read_url is not None:
            findings += (each.finding for each in standings(url, self.read_url))
        if self.settings.llm_url or self.settings.llm_model:
            findings.append(doctor.language_model_finding(self.providers.require_language_model))
        return findings + doctor.settings_findings()

    def library_model(self, library: str) -> str:
        """The model of a library; a new library gets the configured or the built-in model."""
        return self._model_of(self._library(library))

    def _library(self, name: str) -> Row | None:
        rows = self.database.call("libraries")
        return next((row for row in rows if row["library"] == name.strip().lower()), None)

    def _settings_of(self, library: Row | None) -> dict[str, Any]:
        if library is None:
            [row] = self.database.call("_pgrag.default_settings")
            return dict(row["default_settings"])
        return dict(library["settings"])

    def _model_of(self, library: Row | None) -> str:
        if library is not None:
            return str(library["model"])
        return next(iter(self.providers.embedders[1:]), self.providers.builtin).name

    def _registered(self, model: str) -> Embedder:
        from pgrag.models.embedding import LocalEmbedder, OpenAIEmbedder, stored

        embedder = self.providers.embedder_of(model)
        if embedder is None:
            with self.database.connection() as connection:
                embedder = stored(connection, model)
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
