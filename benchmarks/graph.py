"""The benefit and the cost of links in a search."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import psycopg
from psycopg.types.json import Jsonb
from pydantic import SecretStr

from benchmarks import variants
from benchmarks.bench import Bench, value
from benchmarks.figures import Figure
from pgrag.evaluation import importing, runs
from pgrag.evaluation.runs import Configuration
from pgrag.ground.settings import Settings
from pgrag.service.app import App

QUERIES = 200
METRIC = "ndcg@10"
#: Labelled sets, and the folders of their pages.
SETS = {"obsidian-anchor": "obsidian-help-en", "k8s-anchor": "k8s-en"}
SEARCHABLE = (
    "select coalesce(sum(v.document_count), 0)::bigint from pgrag.versions as v"
    " join pgrag.libraries as l on l.library_id = v.library_id where l.name = any (%s)"
)
SEARCH = "select * from pgrag.search(%s, filters => %s::jsonb, graph => %s)"
#: p50 and p95 of a search with links in MDN alone, in milliseconds.
MOST = (8, 20)


def in_search(bench: Bench) -> list[Figure]:
    """Evaluate anchor sets without link texts in the index; time MDN, alone and with others."""
    settings = Settings(
        database_url=SecretStr(bench.url), home=bench.scratch / "graph-home", embedding_url=None
    )
    figures = []
    with App(settings) as app:
        for name, corpus in SETS.items():
            figures += _quality(app, bench, name, corpus)
        mdn = bench.mdn()
        app.database.call("refresh_page_ranks", library=mdn)
    bench.settle()
    others = [importing.library_of(name) for name in SETS]
    unlinked = [variants.library_of(name, variants.UNLINKED) for name in SETS]
    figures += _latency(bench, [mdn], MOST)
    figures += _latency(bench, [mdn, *others, *unlinked])
    return figures


def _quality(app: App, bench: Bench, name: str, corpus: str) -> list[Figure]:
    importing.import_set(app, name, bench.corpora.folder(name), corpus=bench.corpora.pages(corpus))
    library = variants.index(app, name, variants.UNLINKED)
    app.database.call("refresh_page_ranks", library=library)
    plain: dict[str, Any] = {"function": "search", "library": library}
    made = [
        runs.run(app, name, Configuration(label, plain | {"arguments": {"graph": graph}}))
        for label, graph in (("without graph", False), ("with graph", True))
    ]
    [compared] = app.database.call(
        "compare_evaluations", run_id=made[0]["run"], other_run_id=made[1]["run"], metric=METRIC
    )
    before, after = (run["metrics"][METRIC] for run in made)
    return [
        Figure(
            f"{METRIC} with links, without",
            f"{name}, {made[0]['queries']} queries, no words of links in the index",
            f"{after:.4f}, {before:.4f} ({compared['lower_bound']:+.4f} to"
            f" {compared['upper_bound']:+.4f}, p {compared['p_value']:.4f})",
            "≥ without",
            after >= before,
        )
    ]


def _latency(
    bench: Bench, libraries: list[str], most: tuple[int, int] | None = None
) -> list[Figure]:
    """Run every query with and without links alternately, so that noise affects both alike."""
    queries = bench.mdn_queries(QUERIES)
    times: dict[bool, list[float]] = {False: [], True: []}
    with bench.connect() as connection:
        documents = value(connection, SEARCHABLE, libraries)
        for graph in (False, True):
            for query in queries:
                _timed(connection, query, libraries, graph)
        for turn, query in enumerate(queries):
            for graph in (bool(turn % 2), not turn % 2):
                times[graph].append(_timed(connection, query, libraries, graph))
    without, with_links = (np.percentile(times[graph], [50, 95]) for graph in (False, True))
    on = f"{documents:,} searchable documents, {len(queries)} queries"
    more = float(np.median(np.array(times[True]) - np.array(times[False])))
    holds = most and bool(with_links[0] <= most[0] and with_links[1] <= most[1])
    return [
        Figure("search with links: p50, p95", on,
               f"{with_links[0]:.1f} ms, {with_links[1]:.1f} ms",
               f"≤ {most[0]} ms, ≤ {most[1]} ms" if most else "", holds),
        Figure("— without links", on, f"{without[0]:.1f} ms, {without[1]:.1f} ms"),
        Figure("— median of the differences", on, f"{more:.1f} ms"),
    ]  # fmt: skip


def _timed(
    connection: psycopg.Connection[tuple[Any, ...]], query: str, libraries: list[str], graph: bool
) -> float:
    filters = Jsonb({"library": libraries})
    started = perf_counter()
    connection.execute(SEARCH.encode(), (query, filters, graph)).fetchall()
    return (perf_counter() - started) * 1000
