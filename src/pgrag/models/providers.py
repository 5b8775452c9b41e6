"""The configured models: created on first use, closed together."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import SecretStr

from pgrag.ground.calls import Row
from pgrag.ground.errors import NotConfigured, SettingsError
from pgrag.ground.settings import Settings

if TYPE_CHECKING:
    from pgrag.models.embedding import BuiltinEmbedder, Embedder, LocalEmbedder, OpenAIEmbedder
    from pgrag.models.endpoint import Connection
    from pgrag.models.llm import ChatModel
    from pgrag.models.reranking import CrossEncoderReranker, HttpReranker, Reranked

_Model = TypeVar("_Model")


class Providers:
    """Embedders, the reranker and the language model; thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = RLock()
        self._models: dict[str, Any] = {}

    def close(self) -> None:
        """Close connections; a model that is used afterwards is created again."""
        with self._lock:
            models, self._models = self._models, {}
        for model in models.values():
            if hasattr(model, "close"):
                model.close()

    def _once(self, name: str, make: Callable[[], _Model]) -> _Model:
        with self._lock:
            if name not in self._models:
                self._models[name] = make()
            model: _Model = self._models[name]
            return model

    def embedder_of(self, model: str) -> Embedder | None:
        """The embedder of a model, or None if the model is not configured here."""
        return next((embedder for embedder in self.embedders if embedder.name == model), None)

    @property
    def query_embedder(self) -> Callable[[str], Embedder | None] | None:
        """`embedder_of` for queries; None if the database computes every query vector itself."""
        has_own = self._settings.embedding_url or self._settings.embedding_model
        return self.embedder_of if has_own else None

    @property
    def embedders(self) -> list[Embedder]:
        """All configured embedders: the built-in one, then the one that a new library gets."""
        endpoint = self.endpoint
        return [self.builtin, *self.local] if endpoint is None else [self.builtin, endpoint]

    @property
    def builtin(self) -> BuiltinEmbedder:
        """The model that ships with the package."""
        from pgrag.models.embedding import BuiltinEmbedder

        return self._once("builtin", BuiltinEmbedder)

    @property
    def endpoint(self) -> OpenAIEmbedder | None:
        """The model behind PGRAG_EMBEDDING_URL, None if that is unset."""
        settings = self._settings
        url, model = settings.embedding_url, settings.embedding_model
        if url is None:
            return None
        if model is None:
            raise SettingsError(
                "PGRAG_EMBEDDING_URL is set, PGRAG_EMBEDDING_MODEL is not.",
                hint="Name the model of the endpoint.",
            )
        from pgrag.models.embedding import OpenAIEmbedder

        return self._once(
            "endpoint",
            lambda: OpenAIEmbedder(
                url=url,
                model=model,
                dimensions=settings.embedding_dimensions,
                query_prefix=settings.embedding_query_prefix,
                document_prefix=settings.embedding_document_prefix,
                batch_size=settings.embedding_batch_size,
                concurrency=settings.embedding_concurrency,
                **self._connection("embedding"),
            ),
        )

    @property
    def local(self) -> tuple[LocalEmbedder, ...]:
        """The model PGRAG_EMBEDDING_MODEL in this process, by two embedders, with and without late
        chunking; the first, chosen by PGRAG_EMBEDDING_LATE_CHUNKING, is for new libraries.
        """
        settings = self._settings
        name = settings.embedding_model
        if name is None or settings.embedding_url is not None:
            return ()
        from pgrag.models.embedding import LateEmbedder, LocalEmbedder, LocalModel

        def make() -> tuple[LocalEmbedder, ...]:
            model = LocalModel(
                name,
                dimensions=settings.embedding_dimensions,
                batch_size=settings.embedding_batch_size,
            )
            kinds = (LocalEmbedder, LateEmbedder)
            return tuple(
                kind(
                    model,
                    query_prefix=settings.embedding_query_prefix or None,
                    document_prefix=settings.embedding_document_prefix or None,
                )
                for kind in (kinds[::-1] if settings.embedding_late_chunking else kinds)
            )

        return self._once("local", make)

    @property
    def reranker(self) -> HttpReranker | CrossEncoderReranker | None:
        """The model behind PGRAG_RERANKER_URL, else PGRAG_RERANKER_MODEL run in this process. None
        if neither is set. Raises `SettingsError` if the model cannot be used.
        """
        settings = self._settings
        url, model = settings.reranker_url, settings.reranker_model
        if not (url or model):
            return None
        from pgrag.models.reranking import CrossEncoderReranker, HttpReranker

        def make() -> HttpReranker | CrossEncoderReranker:
            if url is None:
                return CrossEncoderReranker(model or "")
            return HttpReranker(
                url=url,
                model=model,
                shape=settings.reranker_shape,
                batch_size=settings.reranker_batch_size,
                **self._connection("reranker"),
            )

        return self._once("reranker", make)

    def require_language_model(self) -> ChatModel:
        """Return the model behind PGRAG_LLM_URL. Raises `NotConfigured` if that is unset."""
        url, model = self._settings.llm_url, self._settings.llm_model
        if url is None:
            raise NotConfigured(
                "No language model is configured.", hint="Set PGRAG_LLM_URL and PGRAG_LLM_MODEL."
            )
        if model is None:
            raise NotConfigured(
                "PGRAG_LLM_URL is set, PGRAG_LLM_MODEL is not.",
                hint="Set PGRAG_LLM_MODEL to the name of the model that it shall use.",
            )
        from pgrag.models.llm import ChatModel

        return self._once(
            "language model", lambda: ChatModel(url=url, model=model, **self._connection("llm"))
        )

    def rerank(self, query: str, rows: list[Row]) -> Reranked:
        """Reorder hits with the reranker. Raises `NotConfigured` without a reranker."""
        from pgrag.models.reranking import rerank

        return rerank(query, rows, self.require_reranker())

    def require_reranker(self) -> HttpReranker | CrossEncoderReranker:
        """Return the `reranker`. Raises `NotConfigured` without one."""
        reranker = self.reranker
        if reranker is None:
            raise NotConfigured(
                "No reranker is configured.",
                hint="Set PGRAG_RERANKER_URL, or PGRAG_RERANKER_MODEL for one that runs here.",
            )
        return reranker

    def _connection(self, service: str) -> Connection:
        """Key, retries and timeout of a service's endpoint: the settings with its prefix."""
        key: SecretStr | None = getattr(self._settings, f"{service}_api_key")
        return {
            "api_key": None if key is None else key.get_secret_value(),
            "retries": getattr(self._settings, f"{service}_retries"),
            "timeout": getattr(self._settings, f"{service}_timeout"),
        }
