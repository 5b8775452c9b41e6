"""Models that run in this process: each text by itself, or each page whole."""

from __future__ import annotations

from collections.abc import Sequence

from pgrag.embedding import late_chunking
from pgrag.embedding.embedder import Vectors
from pgrag.embedding.local_model import LocalModel

LATE = "+late"
"""Ends the name of a model whose vectors are pooled from whole pages: they are not the same."""


class LocalEmbedder:
    """Embeds each text by itself, as sentence-transformers does.

    The prefixes go before each query and document; where one is None, it is the prompt that the
    model's own configuration has for queries, or for documents, if any. Nothing is loaded before
    it is needed.
    """

    def __init__(
        self,
        model: LocalModel,
        *,
        query_prefix: str | None = None,
        document_prefix: str | None = None,
    ) -> None:
        self._model = model
        self._query_prefix = query_prefix
        self._document_prefix = document_prefix

    @property
    def name(self) -> str:
        """The model's name on the hub, or its folder, as it is configured."""
        return self._model.name

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector. Raises `EmbeddingError`."""
        return self._model.dimensions

    @property
    def query_prefix(self) -> str:
        """What goes before queries. Raises `EmbeddingError`."""
        if self._query_prefix is None:
            self._query_prefix = self._model.prompt("query")
        return self._query_prefix

    @property
    def document_prefix(self) -> str:
        """What goes before documents. Raises `EmbeddingError`."""
        if self._document_prefix is None:
            self._document_prefix = self._model.prompt("document", "passage")
        return self._document_prefix

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; shape `(len(texts), dimensions)`, zeros for blank ones.

        Raises `EmbeddingError`.
        """
        return self._model.encode(texts, self.document_prefix)

    def embed_query(self, text: str) -> Vectors:
        """Embed a text to search with; shape `(dimensions,)`, zeros for a blank one.

        Raises `EmbeddingError`.
        """
        vector: Vectors = self._model.encode([text], self.query_prefix)[0]
        return vector


class LateEmbedder(LocalEmbedder):
    """The same model, but the texts of a page go through it together; see `late_chunking`.

    Queries, and texts that stand on no page, are embedded by themselves.
    """

    @property
    def name(self) -> str:
        """The model's name with an ending: searches tell its vectors from those of the model."""
        return self._model.name + LATE

    @property
    def dimensions(self) -> int:
        """The number of dimensions. Raises `EmbeddingError`, also for a model that cannot pool."""
        self._model.require_mean_pooling()
        return self._model.dimensions

    def embed_pages(self, pages: Sequence[Sequence[str]]) -> list[Vectors]:
        """Embed the chunks of pages, each a list of texts in reading order.

        Returns for each page shape `(chunks, dimensions)`, zeros for a chunk without a token.
        Raises `EmbeddingError`.
        """
        self._model.require_mean_pooling()
        return late_chunking.embed_pages(self._model, pages, prefix=self.document_prefix)
