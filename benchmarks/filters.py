"""What filters cost a search that allow few pages, many, and nearly all."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from benchmarks.latency import fastest

QUERIES = 100
#: Pages of MDN by type: 199, 1,553, and all but 199.
FILTERS: dict[str, Any] = {
    "guides": {"type": "guide"},
    "methods of interfaces": {"type": "web-api-instance-method"},
    "all but guides": {"not": {"type": "guide"}},
}
SEARCH = b"select * from pgrag.search(%s, %s, filters => %s)"
MOST = 3.0


def of_pages(bench: Bench) -> list[Figure]:
    """The same queries with each filter and without, by turns."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with bench.connect() as connection:

        def search(filters: Any) -> Any:
            stated = None if filters is None else json.dumps(filters)
            return lambda query: connection.execute(SEARCH, (query, library, stated)).fetchall()

        times = fastest(
            {"no filter": search(None)} | {name: search(f) for name, f in FILTERS.items()}, queries
        )
    middle, slow = np.percentile(times.pop("no filter"), [50, 95])
    found = [
        Figure("pgrag.search without a filter: p50, p95", f"MDN, {len(queries)} queries",
               f"{middle:.1f}, {slow:.1f} ms")
    ]  # fmt: skip
    for name, taken in times.items():
        p50, p95 = np.percentile(taken, [50, 95])
        found.append(
            Figure(f"— of {name}: p50, p95, times the p95 without", f"MDN, {len(queries)} queries",
                   f"{p50:.1f}, {p95:.1f} ms, {p95 / slow:.1f} ×", f"≤ {MOST} ×",
                   bool(p95 <= MOST * slow))
        )  # fmt: skip
    return found
