"""What every reranker offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Scores texts by how well they answer a query. Usable by several threads at once."""

    @property
    def name(self) -> str:
        """The model's name, for logs and notices."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score of 0 to 1 for each text, in their order; more is better.

        Raises `RerankingError` when the model fails.
        """
