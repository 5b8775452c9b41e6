"""The time of an answer outside the language model: its context, and the check of citations."""

from __future__ import annotations

import re
from time import perf_counter
from typing import Any

import numpy as np
import psycopg
from psycopg.types.json import Jsonb

from benchmarks.bench import Bench
from benchmarks.figures import Figure

QUERIES = 200
#: A page type that is frequent in MDN, so that the second search has candidates.
TYPE = "guide"
CONTEXT = b"select a.sources from pgrag.answer_context(%s, %s) as a"
INJECTED = b"select a.sources from pgrag.answer_context(%s, %s, inject_types => %s) as a"
SUPPORT = b"select avg(s.support) from pgrag.sentence_support(%s, %s, %s) as s"
LIMIT = 30


def contexts(bench: Bench) -> list[Figure]:
    """Run every query through all three, so that noise affects them alike, after a warm-up."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with bench.connect() as connection:
        row = connection.execute(
            b"select count(*) from pgrag.pages as p where lower(p.type) = %s", [TYPE]
        ).fetchone()
        assert row is not None
        for query in queries:
            _ask(connection, query, library)
        taken = [_ask(connection, query, library) for query in queries]
    plain, injected, support = (
        np.percentile([times[name] for times in taken], [50, 95])
        for name in ("plain", "injected", "support")
    )
    on = f"MDN, {len(queries)} queries"
    return [
        Figure("pgrag.answer_context, whole call: p50", on, f"{plain[0]:.1f} ms",
               f"≤ {LIMIT} ms", bool(plain[0] <= LIMIT)),
        Figure("— p95", on, f"{plain[1]:.1f} ms"),
        Figure(f"— with a second search in the {row[0]} pages of type {TYPE}: p50", on,
               f"{injected[0]:.1f} ms", f"≤ {LIMIT} ms", bool(injected[0] <= LIMIT)),
        Figure("— p95", on, f"{injected[1]:.1f} ms"),
        Figure("pgrag.sentence_support of ten sentences that cite two documents each: p50, p95", on,
               f"{support[0]:.1f} ms, {support[1]:.1f} ms"),
    ]  # fmt: skip


def _ask(
    connection: psycopg.Connection[tuple[Any, ...]], query: str, library: str
) -> dict[str, float]:
    """Milliseconds of each call, by its name."""
    times = {}
    started = perf_counter()
    connection.execute(CONTEXT, [query, library]).fetchall()
    times["plain"] = (perf_counter() - started) * 1000
    started = perf_counter()
    [(sources,)] = connection.execute(INJECTED, [query, library, [TYPE]]).fetchall()
    times["injected"] = (perf_counter() - started) * 1000

    sentences = [
        sentence
        for source in sources
        for sentence in re.split(r"(?<=[.!?])\s+", source["content"])[:2]
    ][:10]
    ids = [source["document_id"] for source in sources] or [0]
    cited = [[ids[n % len(ids)], ids[n // 2 % len(ids)]] for n in range(len(sentences))]
    started = perf_counter()
    connection.execute(SUPPORT, [library, sentences, Jsonb(cited)]).fetchall()
    times["support"] = (perf_counter() - started) * 1000
    return times
