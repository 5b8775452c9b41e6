"""End-to-end latency for a client: search, the usual recipe, and context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from benchmarks.rivals import asked
from benchmarks.rivals.recipe import Recipe
from pgrag.models.embedding import BuiltinEmbedder

QUERIES = 300
SEARCH = b"select * from pgrag.search(%s, %s)"
CONTEXT = b"select * from pgrag.context(%s, %s)"

Call = Callable[[str], list[Any]]


def calls(bench: Bench) -> list[Figure]:
    """Run every query through all three, so that noise affects them alike."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    questions = asked.read(bench, "mdn-questions").timed
    embedder = BuiltinEmbedder()
    vectors = {q: np.asarray(embedder.embed_query(q)) for q in (*queries, *questions)}
    with bench.connect() as ours, bench.connect() as theirs:
        rival = Recipe(theirs, library, embedder.dimensions)
        systems: dict[str, Call] = {
            "search": lambda query: ours.execute(SEARCH, (query, library)).fetchall(),
            "rival": lambda query: rival.search(query, vectors[query]),
            "context": lambda query: ours.execute(CONTEXT, (query, library)).fetchall(),
        }
        by_turns(systems, queries)
        times = by_turns(systems, queries)
        del systems["context"]
        by_turns(systems, questions)
        natural = by_turns(systems, questions)

    on = f"MDN, {len(queries)} queries"
    middle = {name: float(np.median(values)) for name, values in times.items()}
    slow = {name: float(np.percentile(values, 95)) for name, values in times.items()}
    faster = middle["rival"] / middle["search"]
    more = middle["context"] - middle["search"]
    ours_natural, theirs_natural = (
        np.percentile(natural[name], [50, 95]) for name in ("search", "rival")
    )
    faster_natural = float(theirs_natural[0] / ours_natural[0])
    on_natural = f"MDN, {len(questions)} questions of 6 to 12 words"
    return [
        Figure("pgrag.search, hybrid, limit 10, whole call: p50", on,
               f"{middle['search']:.1f} ms", "≤ 5 ms", middle["search"] <= 5),
        Figure("— p95", on, f"{slow['search']:.1f} ms", "≤ 14 ms", slow["search"] <= 14),
        Figure("the usual recipe (OR, ts_rank_cd, HNSW, RRF): p50, p95", on,
               f"{middle['rival']:.1f} ms, {slow['rival']:.1f} ms"),
        Figure("pgrag.search is faster at p50", on, f"{faster:.1f} ×", "≥ 10 ×", faster >= 10),
        Figure("pgrag.search of natural questions: p50, p95", on_natural,
               f"{ours_natural[0]:.1f} ms, {ours_natural[1]:.1f} ms"),
        Figure("— the usual recipe: p50, p95", on_natural,
               f"{theirs_natural[0]:.1f} ms, {theirs_natural[1]:.1f} ms"),
        Figure("— pgrag.search is faster at p50", on_natural, f"{faster_natural:.1f} ×", "≥ 20 ×",
               faster_natural >= 20),
        Figure("pgrag.context with expansion, on top of search: difference of p50", on,
               f"{more:.1f} ms", "≤ 2 ms", more <= 2),
    ]  # fmt: skip


def fastest(
    systems: Mapping[str, Call], queries: Sequence[str], passes: int = 3
) -> dict[str, list[float]]:
    """The milliseconds of each query's fastest run, after one that only warms the caches.

    So a machine that others use at times disturbs the figures little.
    """
    by_turns(systems, queries)
    runs = [by_turns(systems, queries) for _ in range(passes)]
    return {
        name: [min(times) for times in zip(*(run[name] for run in runs), strict=True)]
        for name in systems
    }


def by_turns(systems: Mapping[str, Call], queries: Sequence[str]) -> dict[str, list[float]]:
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
