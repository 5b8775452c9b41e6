"""The result of a search function, and the responses that REST and Python derive from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from uuid import UUID

    from pgrag.ground.calls import Row

NO_MATCH = 0.15
"""Hits with less confidence are unlikely to answer; as `_pgrag.no_match()`."""

_PAGE_COLUMNS = ("library", "version", "page_id", "key", "url", "title", "score", "confidence")
_BATCH_COLUMNS = frozenset({"query_number", "query", "error_code", "error", "error_hint"})


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a search function, with its notices and metadata.

    `search_id` identifies the search for feedback; None if it was not recorded. `resolved` has
    the version of each library that was searched, and why. `top_k` is the requested number of
    rows, None if there can be no next page of results. `no_good_match`: even the best hit is
    unlikely to answer, and a notice names the nearest pages. `is_grouped`: the rows come page by
    page.
    """

    rows: list[Row] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    search_id: UUID | None = None
    resolved: list[Row] = field(default_factory=list)
    top_k: int | None = None
    no_good_match: bool = False
    is_grouped: bool = False

    def listing(self, key: str) -> dict[str, Any]:
        """A `SearchResult` or `PageResult` as a row, with the hits under `key`."""
        shown = {key: [] if self.is_grouped else self.rows}
        if key == "hits":
            shown["pages"] = _by_page(self.rows) if self.is_grouped else []
        return {
            **shown,
            "search_id": self.search_id,
            "next": next_cursor(self.rows, self.top_k, "cursor"),
            "no_good_match": self.no_good_match,
            "notices": self.notices,
            "resolved": self.resolved,
        }

    def context(self) -> dict[str, Any]:
        """A `Context` as a row."""
        return {
            "text": "\n\n".join(row["block"] for row in self.rows),
            "tokens": sum(row["tokens"] for row in self.rows),
            "blocks": self.rows,
            "search_id": self.search_id,
            "no_good_match": self.no_good_match,
            "notices": self.notices,
            "resolved": self.resolved,
        }

    def facets(self) -> dict[str, Any]:
        """`Facets` as a row."""
        counted: dict[str, list[Row]] = {}
        total = {"pages": 0, "passages": 0, "exact": True}
        for row in self.rows:
            if row["facet"] == "total":
                total = dict(
                    zip(
                        total,
                        itemgetter("page_count", "passage_count", "is_exact")(row),
                        strict=True,
                    )
                )
                continue
            kept = ("value", "page_count", "passage_count", "is_chosen", "is_exact")
            counted.setdefault(row["facet"], []).append({name: row[name] for name in kept})
        return {"total": total, "facets": counted, "notices": self.notices}

    def batch(self, queries: Sequence[str], top_k: Sequence[int]) -> dict[str, Any]:
        """A `BatchResult` as a row: one answer per query, each with at most `top_k` hits."""
        rows = {n: list(group) for n, group in groupby(self.rows, itemgetter("query_number"))}
        answers = [
            _answer(query, rows.get(number, []), count)
            for number, (query, count) in enumerate(zip(queries, top_k, strict=True), start=1)
        ]
        return {"answers": answers, "notices": self.notices}


def is_unlikely(row: Row) -> bool:
    """Whether a hit is unlikely to answer the query; False if its confidence is not known."""
    confidence = row.get("confidence")
    return confidence is not None and confidence < NO_MATCH


def has_no_good_match(rows: Sequence[Row]) -> bool:
    """Whether all hits whose confidence is known, at least one, are unlikely to answer."""
    known = [row for row in rows if row.get("confidence") is not None]
    return bool(known) and all(map(is_unlikely, known))


def substitutions(resolved: Iterable[Row]) -> list[str]:
    """A notice for each version that was read in place of one that is not indexed."""
    return [
        f"{read['library']} {read['version'] or '(unversioned)'}: {read['reason']}"
        for read in resolved
        if "is not indexed" in (read["reason"] or "")
    ]


def next_cursor(rows: list[Row], top_k: int | None, column: str) -> Any:
    """The cursor of the next page of results; None if this page is not full, hence the last."""
    # The hits of a page that a grouped list shows as one entry share its cursor.
    return rows[-1][column] if rows and len({row[column] for row in rows}) == top_k else None


def _by_page(rows: Iterable[Row]) -> list[Row]:
    """The pages of hits that come page by page, each with its hits."""
    grouped = [list(hits) for _, hits in groupby(rows, itemgetter("page_id"))]
    return [{name: hits[0][name] for name in _PAGE_COLUMNS} | {"hits": hits} for hits in grouped]


def _answer(query: str, rows: list[Row], top_k: int) -> dict[str, Any]:
    if rows and rows[0]["error_code"]:
        error = {
            "code": rows[0]["error_code"],
            "detail": rows[0]["error"],
            "hint": rows[0]["error_hint"],
        }
        return {"query": query, "hits": [], "next": None, "error": error}
    hits = [{name: row[name] for name in row if name not in _BATCH_COLUMNS} for row in rows]
    return {"query": query, "hits": hits, "next": next_cursor(hits, top_k, "cursor"), "error": None}
