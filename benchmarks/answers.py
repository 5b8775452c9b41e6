"""The time of an answer outside the language model: its context, and the check of citations."""

from __future__ import annotations

import re
from typing import Any

from psycopg.types.json import Jsonb

from benchmarks.bench import Bench, value
from benchmarks.figures import Figure, judged
from benchmarks.timing import by_turns, p50_p95, shown

QUERIES = 200
#: A page type that is frequent in MDN, so that the second search has candidates.
TYPE = "guide"
CONTEXT = b"select a.sources from pgrag.answer_context(%s, %s) as a"
INJECTED = b"select a.sources from pgrag.answer_context(%s, %s, inject_types => %s) as a"
SUPPORT = b"select avg(s.support) from pgrag.sentence_support(%s, %s, %s) as s"
LIMIT = 30


def contexts(bench: Bench) -> list[Figure]:
    """Run every query through all three after a warm-up."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with bench.connect() as connection:
        pages = value(
            connection, "select count(*) from pgrag.pages as p where lower(p.type) = %s", TYPE
        )
        checked = {
            query: _ten_sentences(connection.execute(CONTEXT, [query, library]).fetchall()[0][0])
            for query in queries
        }
        times = by_turns(
            {
                "plain": lambda q: connection.execute(CONTEXT, [q, library]).fetchall(),
                "injected": lambda q: connection.execute(INJECTED, [q, library, [TYPE]]).fetchall(),
                "support": lambda q: connection.execute(SUPPORT, [library, *checked[q]]).fetchall(),
            },
            queries,
            warm_up=len(queries),
        )
    on = f"MDN, {len(queries)} queries"
    plain, injected = (p50_p95(times[name]) for name in ("plain", "injected"))
    return [
        judged("pgrag.answer_context, whole call: p50", on, plain[0], LIMIT),
        Figure("— p95", on, f"{plain[1]:.1f} ms"),
        judged(f"— with a second search in the {pages} pages of type {TYPE}: p50", on, injected[0],
               LIMIT),
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
