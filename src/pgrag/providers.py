"""The models that settings name: made when first asked for, closed together."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import TYPE_CHECKING

from pydantic import SecretStr

from pgrag.db import Row
from pgrag.errors import NotConfigured, SettingsError
from pgrag.settings import Settings

if TYPE_CHECKING:
    from pgrag.embedding import BuiltinEmbedder, Embedder, LocalEmbedder, OpenAIEmbedder
    from pgrag.llm import ChatModel
    from pgrag.reranking import CrossEncoderReranker, HttpReranker, Reranked


class Providers:
    """Embedders, the reranker and the language model. Threads may share it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = RLock()
        self._builtin: BuiltinEmbedder | None = None
        self._endpoint: OpenAIEmbedder | None = None
        self._local: tuple[LocalEmbedder, ...] = ()
        self._reranker: HttpReranker | CrossEncoderReranker | None = None
        self._language_model: ChatModel | None = None

    def close(self) -> None:
        """Close connections; what is asked for afterwards is made anew."""
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

    def embedder_of(self, model: str) -> Embedder | None:
        """The embedder of a model, or None where it is not configured here."""
        return next((found for found in self.embedders if found.name == model), None)

    @property
    def query_embedder(self) -> Callable[[str], Embedder | None] | None:
        """The same for queries; None where the database itself computes the vector of every one."""
        has_own = self._settings.embedding_url or self._settings.embedding_model
        return self.embedder_of if has_own else None

    @property
    def embedders(self) -> list[Embedder]:
        """Those that are configured; the built-in one first, then what a new library gets."""
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
        settings = self._settings
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
                self._endpoint = OpenAIEmbedder(
                    url=settings.embedding_url,
                    model=settings.embedding_model,
                    api_key=_revealed(settings.embedding_api_key),
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
        settings = self._settings
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
        settings = self._settings
        if settings.reranker_url is None and settings.reranker_model is None:
            return None
        from pgrag.reranking import CrossEncoderReranker, HttpReranker

        with self._lock:
            if self._reranker is None and settings.reranker_url is not None:
                self._reranker = HttpReranker(
                    url=settings.reranker_url,
                    model=settings.reranker_model,
                    api_key=_revealed(settings.reranker_api_key),
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
        settings = self._settings
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
                self._language_model = ChatModel(
                    url=settings.llm_url,
                    model=settings.llm_model,
                    api_key=_revealed(settings.llm_api_key),
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

    def rerank(self, query: str, rows: list[Row]) -> Reranked:
        """Let the reranker order hits. Raises `NotConfigured` where there is none."""
        from pgrag.reranking import rerank

        reranker = self.reranker
        if reranker is None:
            raise NotConfigured(
                "No reranker is configured.",
                hint="Set PGRAG_RERANKER_URL, or PGRAG_RERANKER_MODEL for one that runs here.",
            )
        return rerank(query, rows, reranker)


def _revealed(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()
