"""End-to-end latency for a client: search, the usual recipe, and context."""

from __future__ import annotations

import numpy as np

from benchmarks.bench import Bench
from benchmarks.figures import Figure, judged
from benchmarks.rivals import asked
from benchmarks.rivals.recipe import Recipe
from benchmarks.timing import Call, by_turns, p50_p95, shown
from pgrag.models.embedding import BuiltinEmbedder

QUERIES = 300
SEARCH = b"select * from pgrag.search(%s, %s)"
CONTEXT = b"select * from pgrag.context(%s, %s)"


def calls(bench: Bench) -> list[Figure]:
    """Run every query through all three by turns."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    questions = asked.read(bench, "mdn-questions").timed
    embedder = BuiltinEmbedder()
    vectors = {q: np.asarray(embedder.embed_query(q)) for q in (*queries, *questions)}
    with bench.connect() as ours, bench.connect() as theirs:
        recipe = Recipe(theirs, library, embedder.dimensions)
        systems: dict[str, Call] = {
            "search": lambda query: ours.execute(SEARCH, (query, library)).fetchall(),
            "recipe": lambda query: recipe.search(query, vectors[query]),
            "context": lambda query: ours.execute(CONTEXT, (query, library)).fetchall(),
        }
        times = by_turns(systems, queries, warm_up=len(queries))
        del systems["context"]
        natural = by_turns(systems, questions, warm_up=len(questions))

    on = f"MDN, {len(queries)} queries"
    on_natural = f"MDN, {len(questions)} questions of 6 to 12 words"
    middle, slow = p50_p95(times["search"])
    faster, faster_natural = (
        float(np.median(taken["recipe"]) / np.median(taken["search"])) for taken in (times, natural)
    )
    more = float(np.median(times["context"])) - middle
    return [
        judged("pgrag.search, hybrid, ten hits, whole call: p50", on, middle, 5),
        judged("— p95", on, slow, 14),
        Figure("the usual recipe (OR, ts_rank_cd, HNSW, RRF): p50, p95", on,
               shown(times["recipe"])),
        judged("pgrag.search is faster at p50", on, faster, 10, "×", is_least=True),
        Figure("pgrag.search of natural questions: p50, p95", on_natural, shown(natural["search"])),
        Figure("— the usual recipe: p50, p95", on_natural, shown(natural["recipe"])),
        judged("— pgrag.search is faster at p50", on_natural, faster_natural, 20, "×",
               is_least=True),
        judged("pgrag.context with expansion, on top of search: difference of p50", on, more, 2),
    ]  # fmt: skip
