"""What every embedding model offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors of length 1, so that their inner product is their cosine.

    A text with nothing in it to embed (blank, or without a word that the model knows) gets a
    vector of zeros; callers store and search with none in its place. Implementations can be used
    by several threads at once.
    """

    @property
    def name(self) -> str:
        """The model's name, as in `pgrag.embedding_models`."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts to be found; returns shape `(len(texts), dimensions)`, in their order.

        Raises `EmbeddingError` when the model fails.
        """

    def embed_query(self, text: str) -> Vectors:
        """Embed a text to search with; returns shape `(dimensions,)`.

        Raises `EmbeddingError` when the model fails.
        """


@runtime_checkable
class PageEmbedder(Protocol):
    """What an `Embedder` offers besides if a text's vector depends on its whole page."""

    def embed_pages(self, pages: Sequence[Sequence[str]]) -> list[Vectors]:
        """Embed the texts of pages, each in reading order; for each page as `embed_documents`.

        Raises `EmbeddingError` when the model fails.
        """


def similarities(embedder: Embedder, left: Sequence[str], right: Sequence[str]) -> list[float]:
    """Return the cosine of each text with its partner; 0 where a text has nothing to embed."""
    products = embedder.embed_documents(left) * embedder.embed_documents(right)
    return [float(cosine) for cosine in products.sum(axis=1)]


def normalized(vectors: NDArray[np.floating]) -> Vectors:
    """Scale every row to length 1; a row of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
