"""The interface of rerankers, their scores from 0 to 1, and hits in the order of a reranker."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pgrag.ground.errors import RerankingError

log = logging.getLogger(__name__)

Row = dict[str, Any]

#: Characters of a hit that are read: more than any common reranker accepts.
LONGEST_TEXT = 8000
#: Tolerance for probabilities that leave their range by rounding.
_ROUNDING = 1e-3


class Reranker(Protocol):
    """Scores texts by how well they answer a query. Usable by several threads at once."""

    @property
    def name(self) -> str:
        """The model's name, for logs and notices."""

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score from 0 to 1 for each text, in their order; higher is better. Raises
        `RerankingError` when the model fails.
        """


@dataclass(slots=True)
class Scale:
    """Whether a model answers with probabilities or logits: from the first score out of range on,
    all go through the logistic function.
    """

    has_logits: bool = False

    def scores(self, answers: Sequence[float]) -> list[float]:
        """Return the scores for a model's finite answers to one query."""
        if any(not -_ROUNDING <= answer <= 1 + _ROUNDING for answer in answers):
            self.has_logits = True
        if self.has_logits:
            return [_logistic(answer) for answer in answers]
        return [min(max(answer, 0.0), 1.0) for answer in answers]


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits, best first, notices, and whether the order is not that of the fusion."""

    rows: list[Row]
    notices: list[str] = field(default_factory=list)
    applied: bool = True


def rerank(
    query: str, rows: Sequence[Row], reranker: Reranker, *, limit: int | None = None
) -> Reranked:
    """Order rows of `pgrag.search` by a reranker's scores, at most `limit`; `hybrid_score` keeps
    the fused one. If it fails, the rows return unchanged, with a notice.
    """
    if not rows:
        return Reranked([])
    try:
        scores = reranker.rerank(query, [_text(row) for row in rows])
    except RerankingError as error:
        log.warning("not reranked: %s", error)
        notice = f"Not reranked, the order is that of the fusion: {error}"
        return Reranked(list(rows[:limit]), [notice], applied=False)
    scored = [_scored(row, score) for row, score in zip(rows, scores, strict=True)]
    ordered = sorted(scored, key=lambda row: -row["score"])
    for row in ordered:
        log.debug(
            "%s: document %s, score %.6f by %s, hybrid_score %.6f",
            query, row.get("document_id"), row["score"], reranker.name, row["hybrid_score"],
        )  # fmt: skip
    return Reranked(ordered[:limit])


def _scored(row: Row, score: float) -> Row:
    fused = row.get("hybrid_score")
    scored = {**row, "score": score, "hybrid_score": row["score"] if fused is None else fused}
    if "cursor" in row:
        scored["cursor"] = None
    return scored


def _text(row: Row) -> str:
    title, path = row.get("title") or "", list(row.get("path") or ())
    headings = path if title in path else [title, *path]
    header = " › ".join(heading for heading in headings if heading)
    content = row.get("content") or ""
    return f"{header}\n{content}"[:LONGEST_TEXT] if header else content[:LONGEST_TEXT]


def _logistic(logit: float) -> float:
    # The exponent is never positive, so it cannot overflow.
    shrunk = math.exp(-abs(logit))
    return 1 / (1 + shrunk) if logit >= 0 else shrunk / (1 + shrunk)
