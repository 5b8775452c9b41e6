"""Hits in the order of a reranker."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pgrag.errors import RerankingError
from pgrag.reranking.reranker import Reranker

log = logging.getLogger(__name__)

Row = dict[str, Any]

LONGEST_TEXT = 8000
"""Characters of a hit that are read: more than any common reranker has room for."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """Hits, best first, and what there is to say about their order.

    `applied` is False where the order is still that of the fusion.
    """

    rows: list[Row]
    notices: list[str] = field(default_factory=list)
    applied: bool = True


def rerank(
    query: str, rows: Sequence[Row], reranker: Reranker, *, limit: int | None = None
) -> Reranked:
    """Order rows of `pgrag.search` by how well a reranker finds that they answer the query.

    Its score becomes each row's `score`; the fused one stays in `hybrid_score`. A row's `cursor`,
    where it has one, is None: it would lead on in the order of the fusion. Equal scores keep the
    order of the fusion. `limit`: so many rows of the result. Where the reranker fails, the rows
    come back as they are, with a notice that says so.
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
    """Return what a reader of the hit would see: where it stands, and what it says."""
    title, path = row.get("title") or "", list(row.get("path") or ())
    headings = path if title in path else [title, *path]
    header = " › ".join(heading for heading in headings if heading)
    content = row.get("content") or ""
    return f"{header}\n{content}"[:LONGEST_TEXT] if header else content[:LONGEST_TEXT]
