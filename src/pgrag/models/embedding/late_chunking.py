"""Late chunking: embed the tokens of a whole page at once, then mean-pool those of each chunk. Each
token's vector then reflects the rest of the page: what "it" refers to, what the section is about
(Günther et al. 2024, "Late Chunking: Contextual Chunk Embeddings"). A page longer than the model's
window is processed in overlapping windows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from pgrag.ground.errors import EmbeddingError
from pgrag.models.embedding.embedder import Vectors
from pgrag.models.embedding.local_model import LocalModel

#: Maximum nominal overlap of two windows, in tokens; even spacing may add more.
MOST_OVERLAP = 256
#: Tokens per batch; a single window may have more.
_BATCH_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Window:
    """Tokens `start` to `stop` of a page; only vectors from `kept` to `kept_stop` are used."""

    start: int
    stop: int
    kept: int
    kept_stop: int


def windows(length: int, size: int) -> list[Window]:
    """Cover `length` tokens by evenly spaced windows that overlap; a token counts where it is
    further from the edge.
    """
    if length <= size:
        return [Window(0, length, 0, length)]
    overlap = min(size // 4, MOST_OVERLAP)
    count = -(-(length - overlap) // (size - overlap))
    starts = [round(number * (length - size) / (count - 1)) for number in range(count)]
    cuts = [0, *((left + size + right) // 2 for left, right in pairwise(starts)), length]
    return [
        Window(start, start + size, kept, kept_stop)
        for start, (kept, kept_stop) in zip(starts, pairwise(cuts), strict=True)
    ]


def embed_pages(
    model: LocalModel, pages: Sequence[Sequence[str]], *, prefix: str = ""
) -> list[Vectors]:
    """Embed the chunks of pages; returns an array of shape `(chunks, dimensions)` per page. Raises
    `EmbeddingError` if the `prefix` of every window leaves no room.
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
        token_vectors = model.token_vectors([tokens for _, _, tokens in batch])
        for (page_sums, window, _), vectors in zip(batch, token_vectors, strict=True):
            page_sums.add(window, vectors[len(before) :])
    return [model.finished(page_sums.means()) for page_sums in sums]


_Job = tuple["_Sums", Window, list[int]]


def _batches(jobs: Sequence[_Job]) -> Iterator[list[_Job]]:
    """Group jobs that are sorted by length into batches, so that little padding is needed."""
    batch: list[_Job] = []
    for job in jobs:
        if batch and (len(batch) + 1) * len(job[2]) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(job)
    if batch:
        yield batch


class _Sums:
    """Running sums of the token vectors of each chunk of a page, window by window."""

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
