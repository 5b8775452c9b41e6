"""Late chunking: a page goes through the model whole, and each chunk takes the mean of its tokens.

A token's vector then knows what stands elsewhere on the page: whom "it" means, what the section is
about (Günther et al. 2024, "Late Chunking: Contextual Chunk Embeddings"). A page longer than the
model's window goes through in windows that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pgrag.embedding.embedder import Vectors
from pgrag.errors import EmbeddingError

MOST_OVERLAP = 256
"""Tokens that two windows share at most; less in small windows, a quarter of them."""

_BATCH_TOKENS = 4096
"""Tokens that are computed together, unless one window has more."""


class TokenModel(Protocol):
    """A model that gives a vector for every token, each knowing its neighbours."""

    @property
    def window(self) -> int:
        """The most tokens that fit, what the model puts around them not counted."""

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, nothing put around them."""

    def token_vectors(self, windows: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """Of each window an array of shape `(tokens, width)`."""

    def finished(self, pooled: NDArray[np.float32]) -> Vectors:
        """What the model does after pooling; returns vectors of length 1."""


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens `start` to `stop` of a page; those from `kept` to `kept_stop` are taken from here."""

    start: int
    stop: int
    kept: int
    kept_stop: int


def windows(length: int, size: int) -> list[Window]:
    """Cover so many tokens by windows of a size that overlap by a quarter of it.

    Each token is kept from one window: in an overlap from that in which it stands further from the
    edge. The windows are equally far from each other, so that the last one is not a scrap.
    """
    if length <= size:
        return [Window(0, length, 0, length)]
    overlap = min(size // 4, MOST_OVERLAP)
    count = -(-(length - overlap) // (size - overlap))
    starts = [round(place * (length - size) / (count - 1)) for place in range(count)]
    cuts = [0, *((left + size + right) // 2 for left, right in pairwise(starts)), length]
    return [
        Window(start, start + size, kept, kept_stop)
        for start, (kept, kept_stop) in zip(starts, pairwise(cuts), strict=True)
    ]


def embed_pages(
    model: TokenModel, pages: Sequence[Sequence[str]], *, prefix: str = ""
) -> list[Vectors]:
    """Embed the chunks of pages, each a list of texts in reading order.

    Returns for each page an array of shape `(chunks, dimensions)`; a chunk without a token gets
    zeros. `prefix` begins every window, and is in no chunk. Raises `EmbeddingError` where it
    leaves no room for a token.
    """
    before = model.tokens(prefix) if prefix else []
    size = model.window - len(before)
    if size < 1:
        raise EmbeddingError(
            f"The prefix of documents takes {len(before)} tokens, the model reads {model.window}.",
            hint="Shorten PGRAG_EMBEDDING_DOCUMENT_PREFIX.",
        )
    chunks = [[model.tokens(text) for text in texts] for texts in pages]
    sums = [_Sums([len(tokens) for tokens in page]) for page in chunks]
    jobs = [
        (sums[number], window, before + tokens[window.start : window.stop])
        for number, page in enumerate(chunks)
        if (tokens := [token for chunk in page for token in chunk])
        for window in windows(len(tokens), size)
    ]
    for batch in _batches(sorted(jobs, key=lambda job: len(job[2]))):
        found = model.token_vectors([tokens for _, _, tokens in batch])
        for (page_sums, window, _), vectors in zip(batch, found, strict=True):
            page_sums.add(window, vectors[len(before) :])
    return [model.finished(page_sums.means()) for page_sums in sums]


_Job = tuple["_Sums", Window, list[int]]


def _batches(jobs: Sequence[_Job]) -> Iterator[list[_Job]]:
    """Batches of jobs that come by rising length, so that little is padded."""
    batch: list[_Job] = []
    for job in jobs:
        if batch and (len(batch) + 1) * len(job[2]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch


class _Sums:
    """The sums of the token vectors of each chunk of a page, as its windows come in."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self._lengths = np.array(lengths, dtype=np.int64)
        self._ends = list(accumulate(lengths))
        self._sums: NDArray[np.float64] | None = None

    def add(self, window: Window, vectors: NDArray[np.float32]) -> None:
        if self._sums is None:
            self._sums = np.zeros((len(self._ends), vectors.shape[1]))
        for chunk, (start, stop) in enumerate(pairwise([0, *self._ends])):
            first, last = max(start, window.kept), min(stop, window.kept_stop)
            if first < last:
                part = vectors[first - window.start : last - window.start]
                self._sums[chunk] += part.sum(axis=0, dtype=np.float64)

    def means(self) -> NDArray[np.float32]:
        if self._sums is None:
            return np.zeros((len(self._ends), 0), dtype=np.float32)
        counts = np.maximum(self._lengths, 1)[:, np.newaxis]
        return np.asarray(self._sums / counts, dtype=np.float32)
