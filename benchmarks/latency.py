"""Times of whole calls of one client: searches, contexts, filters, and answers without a model."""

import json
import re
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from benchmarks.bench import Bench, value
from benchmarks.figures import Figure, judged
from benchmarks.processor import processor
from benchmarks.rivals import asked
from benchmarks.rivals.recipe import Recipe
from benchmarks.timing import Call, by_turns, fastest, p50_p95, shown
from pgrag.models.embedding import BuiltinEmbedder

SEARCH = b"select * from pgrag.search(%s, %s)"
CONTEXT = b"select * from pgrag.context(%s, %s)"
#: Pages of MDN by type: 199, 1,553, and all but 199.
FILTERS: dict[str, Any] = {
    "guides": {"type": "guide"},
    "methods of interfaces": {"type": "web-api-instance-method"},
    "all but guides": {"not": {"type": "guide"}},
}
FILTERED = b"select * from pgrag.search(%s, %s, filters => %s)"
#: The p95 of a filtered search against that without a filter.
MOST_FILTERED = 3.0
#: A page type that is frequent in MDN, so that the second search of an answer has candidates.
TYPE = "guide"
ANSWER = b"select a.sources from pgrag.answer_context(%s, %s) as a"
INJECTED = b"select a.sources from pgrag.answer_context(%s, %s, inject_types => %s) as a"
SUPPORT = b"select avg(s.support) from pgrag.sentence_support(%s, %s, %s) as s"
MOST_ANSWER = 30


def calls(bench: Bench) -> list[Figure]:
    """Run every query through all three by turns."""
    library = bench.mdn()
    queries = bench.mdn_queries(300)
    questions = asked.read(bench, "mdn-questions").timed
    embedder = BuiltinEmbedder()
    vectors = {q: np.asarray(embedder.embed_query(q)) for q in (*queries, *questions)}
    with bench.connect() as ours, bench.connect() as theirs, bench.connect() as for_contexts:
        # The processor time of parallel workers would be missing.
        theirs.execute("set max_parallel_workers_per_gather = 0")
        recipe = Recipe(theirs, library, embedder.dimensions)
        systems: dict[str, Call] = {
            "search": lambda query: ours.execute(SEARCH, (query, library)).fetchall(),
            "recipe": lambda query: recipe.search(query, vectors[query]),
            "context": lambda query: for_contexts.execute(CONTEXT, (query, library)).fetchall(),
        }
        compared = {"search": ours, "recipe": theirs}
        by_turns(systems, queries)
        with processor(compared) as spent:
            times = by_turns(systems, queries)
        del systems["context"]
        by_turns(systems, questions)
        with processor(compared) as spent_naturally:
            natural = by_turns(systems, questions)

    on = f"MDN, {len(queries)} queries"
    on_natural = f"MDN, {len(questions)} questions of 6 to 12 words"
    middle, slow = p50_p95(times["search"])
    more = float(np.median(times["context"])) - middle
    return [
        judged("pgrag.search, hybrid, ten hits, whole call: p50", on, middle, 5),
        judged("— p95", on, slow, 14),
        Figure("the usual recipe (OR, ts_rank_cd, HNSW, RRF): p50, p95", on,
               shown(times["recipe"])),
        *_cheaper(on, spent, 10),
        Figure("pgrag.search of natural questions: p50, p95", on_natural, shown(natural["search"])),
        Figure("— the usual recipe: p50, p95", on_natural, shown(natural["recipe"])),
        *_cheaper(on_natural, spent_naturally, 15),
        judged("pgrag.context with expansion, on top of search: difference of p50", on, more, 2),
    ]  # fmt: skip


def _cheaper(on: str, spent: dict[str, float], least: float) -> list[Figure]:
    if not spent:
        return []
    ratio = spent["recipe"] / spent["search"]
    what = "— pgrag.search takes less processor time"
    return [judged(what, on, ratio, least, "×", is_least=True)]


def filters(bench: Bench) -> list[Figure]:
    """The same queries with each filter and without, by turns."""
    library = bench.mdn()
    queries = bench.mdn_queries(100)
    with bench.connect() as connection:

        def search(given: Any) -> Call:
            stated = given and json.dumps(given)
            return lambda query: connection.execute(FILTERED, (query, library, stated)).fetchall()

        times = fastest(
            {"none": search(None)} | {name: search(f) for name, f in FILTERS.items()}, queries
        )
    on = f"MDN, {len(queries)} queries"
    plain = times.pop("none")
    return [
        Figure("pgrag.search without a filter: p50, p95", on, shown(plain)),
        *(
            judged(f"— of {name} ({shown(taken)}): p95 against that without a filter", on,
                   p50_p95(taken)[1] / p50_p95(plain)[1], MOST_FILTERED, "×")
            for name, taken in times.items()
        ),
    ]  # fmt: skip


def answers(bench: Bench) -> list[Figure]:
    """Run every query through all three after a warm-up."""
    library = bench.mdn()
    queries = bench.mdn_queries(200)
    with bench.connect() as connection:
        pages = value(
            connection, "select count(*) from pgrag.pages as p where lower(p.type) = %s", TYPE
        )
        checked = {
            query: _ten_sentences(connection.execute(ANSWER, [query, library]).fetchall()[0][0])
            for query in queries
        }
        times = by_turns(
            {
                "plain": lambda q: connection.execute(ANSWER, [q, library]).fetchall(),
                "injected": lambda q: connection.execute(INJECTED, [q, library, [TYPE]]).fetchall(),
                "support": lambda q: connection.execute(SUPPORT, [library, *checked[q]]).fetchall(),
            },
            queries,
            warm_up=len(queries),
        )
    on = f"MDN, {len(queries)} queries"
    plain, injected = (p50_p95(times[name]) for name in ("plain", "injected"))
    return [
        judged("pgrag.answer_context, whole call: p50", on, plain[0], MOST_ANSWER),
        Figure("— p95", on, f"{plain[1]:.1f} ms"),
        judged(f"— with a second search in the {pages} pages of type {TYPE}: p50", on, injected[0],
               MOST_ANSWER),
        Figure("— p95", on, f"{injected[1]:.1f} ms"),
        Figure("pgrag.sentence_support of ten sentences that cite two passages each: p50, p95", on,
               shown(times["support"])),
    ]  # fmt: skip


def _ten_sentences(sources: list[dict[str, Any]]) -> tuple[list[str], Jsonb]:
    """The first sentences of the sources, and two passages that each cites."""
    sentences = [
        sentence
        for source in sources
        for sentence in re.split(r"(?<=[.!?])\s+", source["content"])[:2]
    ][:10]
    ids = [source["document_id"] for source in sources] or [0]
    cited = [[ids[n % len(ids)], ids[n // 2 % len(ids)]] for n in range(len(sentences))]
    return sentences, Jsonb(cited)
