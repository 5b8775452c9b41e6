"""The interface of embedding models."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors, blank ones into zeros, which callers neither store nor search.
    Thread-safe.
    """

    @property
    def name(self) -> str:
        """The model's name, as in `pgrag.embedding_models`."""

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return an array of shape `(len(texts), dimensions)`; raises `EmbeddingError`."""

    def embed_query(self, text: str) -> Vectors:
        """Return an array of shape `(dimensions,)`; raises `EmbeddingError`."""


@runtime_checkable
class PageEmbedder(Protocol):
    """The additional interface of an `Embedder` whose vectors depend on the whole page."""

    def embed_pages(self, pages: Sequence[Sequence[str]]) -> list[Vectors]:
        """Embed the texts of pages, each in reading order; one array per page, see `Embedder`."""


def similarities(embedder: Embedder, left: Sequence[str], right: Sequence[str]) -> list[float]:
    """Return the cosine similarity of each pair of texts; 0 if a text has nothing to embed."""
    products = embedder.embed_documents(left) * embedder.embed_documents(right)
    return [float(cosine) for cosine in products.sum(axis=1)]


def normalized(vectors: NDArray[np.floating]) -> Vectors:
    """Scale every row to length 1; rows of zeros stay zero."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), dtype=np.float32)
