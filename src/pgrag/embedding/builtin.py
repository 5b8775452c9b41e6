"""The built-in model: a vector per token, averaged. It needs neither a server nor a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pgrag.embedding.embedder import Vectors, normalized
from pgrag.embedding.model_file import read_description, read_model
from pgrag.embedding.word_pieces import WordPieces


class BuiltinEmbedder:
    """The twin of `pgrag.embed` in SQL: equal texts get equal vectors from both.

    Made by `scripts/make_builtin_model.py`. Some 8,000 texts of 1,000 characters a second on one
    core; of its two tables of vectors and words, about 60 MB stay in memory.
    """

    def __init__(self) -> None:
        self._description = read_description()
        model = read_model()
        self._vectors = model.vectors
        self._word_pieces = WordPieces(model.tokens, self._description.characters)

    @property
    def name(self) -> str:
        """The model's name, as in `pgrag.embedding_models`."""
        return self._description.name

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector."""
        return self._description.dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; returns shape `(len(texts), dimensions)`, zeros where no word is known."""
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            token_ids = np.asarray(self._word_pieces.token_ids(text), dtype=np.intp)
            self._vectors.take(token_ids, axis=0).sum(axis=0, out=sums[row])
        return normalized(sums)

    def embed_query(self, text: str) -> Vectors:
        """Embed a text to search with: the model makes no difference; shape `(dimensions,)`."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector
