"""Pages through a model whole: which tokens a window holds, and what a chunk takes from them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrag.ground.errors import EmbeddingError
from pgrag.models.embedding.embedder import normalized
from pgrag.models.embedding.late_chunking import embed_pages, windows


class Words:
    """A token is a number; its vector knows itself, its window's sum, and the one before it."""

    def __init__(self, window=1000):
        self.window = window
        self.seen = []
        self.batches = []

    def tokens(self, text):
        return [int(word) for word in text.split()]

    def token_vectors(self, windows):
        self.batches.append(len(windows))
        self.seen.extend(list(window) for window in windows)
        vectors = [
            [[token, sum(row), before] for before, token in pairwise([0, *row])] for row in windows
        ]
        return [np.array(each, dtype=np.float32) for each in vectors]

    def finished(self, pooled):
        return normalized(pooled)


def scaled(*rows):
    return normalized(np.array(rows, dtype=np.float64))


@given(st.integers(1, 3000), st.integers(4, 700))
def test_every_token_is_kept_once_and_far_from_the_edges(length, size):
    found = windows(length, size)
    assert [window.kept for window in found] == [0, *(w.kept_stop for w in found[:-1])]
    assert found[-1].kept_stop == length
    margin = min(size // 4, 256) // 2
    for window in found:
        assert 0 <= window.start <= window.kept <= window.kept_stop <= window.stop <= length
        assert window.stop - window.start == min(size, length)
        assert window.start == 0 or window.kept - window.start >= margin
        assert window.stop == length or window.stop - window.kept_stop >= margin
    assert len(found) <= -(-length // (size - size // 4)) + 1


def test_a_chunk_is_the_mean_of_its_tokens_from_the_middle_of_a_window():
    model = Words()
    [page] = embed_pages(model, [["1 2", "3", "", "4 5 6"]])
    assert model.seen == [[1, 2, 3, 4, 5, 6]], "one window, all chunks in it"
    expected = scaled([1.5, 21, 0.5], [3, 21, 2], [0, 0, 0], [5, 21, 4])
    np.testing.assert_allclose(page, expected, rtol=1e-6)
    model = Words(window=8)
    tokens = list(range(1, 19))
    [page] = embed_pages(model, [[" ".join(map(str, part)) for part in (tokens[:7], tokens[7:])]])
    assert model.seen == [tokens[0:8], tokens[5:13], tokens[10:18]]
    kept = [(0, 6, model.seen[0]), (6, 11, model.seen[1]), (11, 18, model.seen[2])]
    rows = np.array([
        [token, sum(window), token - 1 if token > window[0] else 0]
        for start, stop, window in kept
        for token in tokens[start:stop]
    ])  # fmt: skip
    np.testing.assert_allclose(page, scaled(rows[:7].mean(axis=0), rows[7:].mean(axis=0)), 1e-6)


def test_the_prefix_begins_every_window_that_has_room_and_is_in_no_chunk():
    model = Words(window=6)
    [page] = embed_pages(model, [["1 2 3 4", "5 6 7"]], prefix="100 200")
    assert model.seen == [[100, 200, 1, 2, 3, 4], [100, 200, 4, 5, 6, 7]]
    rows = [[1, 310, 200], [2, 310, 1], [3, 310, 2], [4, 322, 200]]
    np.testing.assert_allclose(page[0], scaled(np.mean(rows, axis=0))[0], 1e-6)
    [pooled] = embed_pages(Words(4), [["1 2 3"]], prefix="7 8 9")
    assert pooled.shape == (1, 3)
    for prefix in ("7 8 9 10", "7 8 9 10 11 12"):
        with pytest.raises(EmbeddingError, match=r"the model reads 4.*PGRAG_EMBEDDING_DOCUMENT_PR"):
            embed_pages(Words(4), [["1 2 3"]], prefix=prefix)


def test_many_pages_share_batches_and_come_out_as_alone():
    pages = [[" ".join(str(n + m) for m in range(n % 50)), f"{n} {n}"] for n in range(300)]
    model = Words(window=40)
    together = embed_pages(model, pages)
    assert len(model.batches) < len(model.seen) / 10
    for page, found in zip(pages, together, strict=True):
        [alone] = embed_pages(Words(window=40), [page])
        np.testing.assert_array_equal(found, alone)
    lengths = [len(window) for window in model.seen]
    assert lengths == sorted(lengths), "little is padded"
    for page in [[], ["", " "]]:
        model = Words()
        [found] = embed_pages(model, [page])
        assert found.shape[0] == len(page)
        assert not found.any()
        assert model.seen == []
