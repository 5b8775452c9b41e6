"""Measures of a ranking against the relevant pages; every relevant page is worth the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2


def ndcg(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """Discounted cumulative gain over the best possible (Järvelin, Kekäläinen: TOIS 2002)."""
    gain = sum(
        1 / log2(place + 2) for place, page in enumerate(ranking[:depth]) if page in relevant
    )
    return gain / sum(1 / log2(place + 2) for place in range(min(len(relevant), depth)))


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """1 / the place of the first relevant page; 0 if there is none."""
    return next(
        (1 / place for place, page in enumerate(ranking[:depth], start=1) if page in relevant), 0.0
    )


def recall(ranking: Sequence[str], relevant: Collection[str], depth: int) -> float:
    """The share of the relevant pages that was found."""
    return len(set(ranking[:depth]) & set(relevant)) / len(relevant)
