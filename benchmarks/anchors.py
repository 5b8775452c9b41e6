"""Quality on documentation: a link's words are the query, the page it leads to is the answer."""

from __future__ import annotations

from typing import Any

import psycopg

from benchmarks.bench import Bench
from benchmarks.corpora import LabelledSet
from benchmarks.figures import table
from benchmarks.quality import ndcg, recall, reciprocal_rank

#: Labelled set → the corpus that it asks about, and the library of that corpus.
SETS = {"k8s-anchor": ("k8s-en", "k8s"), "mdn-anchor": ("mdn-en", "mdn")}
SYSTEMS = {
    "keyword": "keyword_search(%s, %s",
    "semantic": "semantic_search(%s, %s",
    "hybrid": "search(%s, %s",
    "rrf": "search(%s, %s, fusion => 'rrf'",
}
#: Pages that contain the link are taken out of the answer, so that more are asked for.
MATCH_COUNT = 60


def quality(bench: Bench) -> str:
    """A table: the mean over the queries of each set, for each way to search."""
    rows = []
    for name, (corpus, library) in SETS.items():
        labelled = bench.corpora.labelled(name)
        bench.require(library, bench.corpora.pages(corpus))
        queries = bench.sample(list(labelled.queries), 2000)
        with bench.connect() as connection:
            for system, call in SYSTEMS.items():
                means = _means(connection, call, library, labelled, queries)
                rows.append(
                    [f"{name}, {len(queries)} queries", system, *map("{:.3f}".format, means)]
                )
    return table(("set", "search", "nDCG@10", "MRR@10", "recall@20"), rows)


def _means(
    connection: psycopg.Connection[tuple[Any, ...]],
    call: str,
    library: str,
    labelled: LabelledSet,
    queries: list[str],
) -> list[float]:
    statement = (
        f"select s.key from pgrag.{call}, levels => '{{0, 1, 2}}', max_per_page => 1,"
        f" match_count => {MATCH_COUNT}) as s"
    ).encode()
    sums = [0.0, 0.0, 0.0]
    for query in queries:
        relevant = labelled.relevant[query]
        excluded = labelled.excluded.get(query, set()) - relevant
        rows = connection.execute(statement, [labelled.queries[query], library]).fetchall()
        ranking = [key for (key,) in rows if key not in excluded]
        sums[0] += ndcg(ranking, relevant, 10)
        sums[1] += reciprocal_rank(ranking, relevant, 10)
        sums[2] += recall(ranking, relevant, 20)
    return [total / len(queries) for total in sums]
