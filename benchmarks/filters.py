"""What filters cost a search that allow few pages, many, and nearly all."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.bench import Bench
from benchmarks.figures import Figure, judged
from benchmarks.timing import Call, fastest, p50_p95, shown

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

        def search(filters: Any) -> Call:
            stated = filters and json.dumps(filters)
            return lambda query: connection.execute(SEARCH, (query, library, stated)).fetchall()

        times = fastest(
            {"none": search(None)} | {name: search(f) for name, f in FILTERS.items()}, queries
        )
    on = f"MDN, {len(queries)} queries"
    plain = times.pop("none")
    return [
        Figure("pgrag.search without a filter: p50, p95", on, shown(plain)),
        *(
            judged(f"— of {name} ({shown(taken)}): p95 against that without a filter", on,
                   p50_p95(taken)[1] / p50_p95(plain)[1], MOST, "×")
            for name, taken in times.items()
        ),
    ]  # fmt: skip
