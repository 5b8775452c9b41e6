"""End-to-end latency for a client: search, the usual recipe, and context."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from pgvector import HalfVector

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from benchmarks.rival import Rival
from pgrag.embedding import BuiltinEmbedder

QUERIES = 300
SEARCH = b"select * from pgrag.search(%s, %s)"
CONTEXT = b"select * from pgrag.context(%s, %s)"

Call = Callable[[str], list[tuple[Any, ...]]]


def calls(bench: Bench) -> list[Figure]:
    """Run every query through all three, so that noise affects them alike."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    embedder = BuiltinEmbedder()
    vectors = {query: HalfVector(embedder.embed_query(query)) for query in queries}
    with bench.connect() as ours, bench.connect() as theirs:
        rival = Rival(theirs, library, embedder.dimensions)
        systems: dict[str, Call] = {
            "search": lambda query: ours.execute(SEARCH, (query, library)).fetchall(),
            "rival": lambda query: rival.search(query, vectors[query]),
            "context": lambda query: ours.execute(CONTEXT, (query, library)).fetchall(),
        }
        _times(systems, queries)
        times = _times(systems, queries)

    on = f"MDN, {len(queries)} queries"
    middle = {name: float(np.median(values)) for name, values in times.items()}
    slow = {name: float(np.percentile(values, 95)) for name, values in times.items()}
    faster = middle["rival"] / middle["search"]
    more = middle["context"] - middle["search"]
    return [
        Figure("pgrag.search, hybrid, limit 10, whole call: p50", on,
               f"{middle['search']:.1f} ms", "≤ 8 ms", middle["search"] <= 8),
        Figure("— p95", on, f"{slow['search']:.1f} ms", "≤ 30 ms", slow["search"] <= 30),
        Figure("the usual recipe (OR, ts_rank_cd, HNSW, RRF): p50, p95", on,
               f"{middle['rival']:.1f} ms, {slow['rival']:.1f} ms"),
        Figure("pgrag.search is faster at p50", on, f"{faster:.1f} ×", "≥ 10 ×", faster >= 10),
        Figure("pgrag.context with expansion, on top of search: difference of p50", on,
               f"{more:.1f} ms", "≤ 20 ms", more <= 20),
    ]  # fmt: skip


def _times(systems: dict[str, Call], queries: list[str]) -> dict[str, list[float]]:
    """Milliseconds of every call; the order of the systems changes from query to query."""
    times: dict[str, list[float]] = {name: [] for name in systems}
    names = list(systems)
    for turn, query in enumerate(queries):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            started = perf_counter()
            systems[name](query)
            times[name].append((perf_counter() - started) * 1000)
    return times
