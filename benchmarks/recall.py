"""The vector retriever against an exact scan, under increasingly selective filters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from benchmarks.bench import Bench, Connection, settle
from benchmarks.figures import Figure, judged

QUERIES = 100
DEPTH = 10
BUCKETS = 1000
#: Buckets that a filter keeps, of BUCKETS: 100 %, 50, 10, 1 and 0.1 %.
KEPT = (1000, 500, 100, 10, 1)
#: Vectors are stored in half precision, and equal texts have equal vectors.
PRECISION = 1e-6

# The pages of a bucket are scattered over the library.
SCATTER = """
update pgrag.pages as p
set front_matter = p.front_matter || jsonb_build_object('benchmark_bucket', b.bucket)
from (
    select p.page_id, (row_number() over (order by md5(p.key)) - 1) %% %s as bucket
    from pgrag.pages as p
    join pgrag.libraries as l on l.library_id = p.library_id
    where l.name = %s
) as b
where b.page_id = p.page_id
"""
VECTORS = """
select e.document_id, (p.front_matter ->> 'benchmark_bucket')::integer, e.embedding
from pgrag.embeddings as e
join pgrag.pages as p on p.library_id = e.library_id and p.page_id = e.page_id
join pgrag.libraries as l on l.library_id = e.library_id and l.model_id = e.model_id
where l.name = %s and e.covers & 6 <> 0
order by e.document_id
"""
SEARCH = """
select s.document_id
from pgrag.semantic_search(
    %s, %s, top_k => %s, filters => %s, options => '{"levels": [1, 2]}'
) as s
"""


@dataclass(frozen=True, slots=True)
class Vectors:
    """Every vector of a library: ids (n), buckets (n) and the vectors (n, dimensions)."""

    ids: NDArray[np.int64]
    buckets: NDArray[np.int64]
    matrix: NDArray[np.float32]

    @classmethod
    def read(cls, connection: Connection, library: str) -> Vectors:
        """Read them from the database."""
        rows = connection.execute(VECTORS.encode(), [library], binary=True).fetchall()
        return cls(
            np.array([row[0] for row in rows]),
            np.array([row[1] for row in rows]),
            np.array([row[2].to_numpy() for row in rows], dtype=np.float32),
        )


def vector_arm(bench: Bench) -> list[Figure]:
    """Recall of the ten nearest neighbours for each share of pages that a filter keeps."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with bench.connect() as connection:
        connection.execute(SCATTER.encode(), [BUCKETS, library])
        settle(bench.url)
        vectors = Vectors.read(connection, library)
        return [
            figure
            for kept in KEPT
            for figure in _filtered(connection, library, queries, vectors, kept)
        ]


def _filtered(
    connection: Connection, library: str, queries: list[str], vectors: Vectors, kept: int
) -> list[Figure]:
    recalls: list[float] = []
    least, short = DEPTH, 0
    for turn, query in enumerate(queries):
        first = turn * 37 % (BUCKETS - kept + 1)
        bucket = {"front_matter.benchmark_bucket": {">=": first, "<": first + kept}}
        filters = None if kept == BUCKETS else Jsonb(bucket)
        embedding = connection.execute("select pgrag.embed(%s)", [query]).fetchone()
        if embedding is None or embedding[0] is None:
            continue
        scores = vectors.matrix @ embedding[0].to_numpy().astype(np.float32)
        scores[(vectors.buckets < first) | (vectors.buckets >= first + kept)] = -np.inf
        possible = min(DEPTH, int(np.isfinite(scores).sum()))
        if not possible:
            continue
        hits = connection.execute(SEARCH.encode(), [query, library, DEPTH, filters]).fetchall()
        least = min(least, len(hits))
        short += len(hits) < possible
        # Ties with the last of the nearest neighbours count as correct.
        limit = np.partition(scores, -possible)[-possible] - PRECISION
        places = np.searchsorted(vectors.ids, [document_id for (document_id,) in hits])
        recalls.append(float((scores[places] >= limit).sum()) / possible)

    on = f"MDN, {len(recalls)} queries, {100 * kept / BUCKETS:g} % of the pages left"
    return [
        judged("vector retriever: recall@10 against an exact scan", on, float(np.mean(recalls)),
               0.98, "", digits=4, is_least=True),
        Figure("— fewest rows returned", on, str(least),
               "10, or all that there are", not short),
    ]  # fmt: skip
