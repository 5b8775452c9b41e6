"""Both retrievers against brute force.

The keyword retriever against BM25F over every row, computed from the full-text vectors alone; the
vector retriever against an exact scan, under increasingly selective filters.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from psycopg.types.json import Jsonb

from benchmarks.bench import Bench, Connection, settle, value
from benchmarks.figures import Figure, judged

QUERIES, VECTOR_QUERIES = 200, 100
DEPTH = 10
#: Impacts and weights are stored in single precision, vectors in half; equal texts have equal ones.
PRECISION = 1e-6
FIELDS = {"A": "title", "B": "path", "C": "url", "D": "content"}

SETTINGS = """
select l.library_id, _pgrag.effective_settings(l.settings), c.language, c.average_length
from pgrag.libraries as l
join pgrag.corpus_statistics as c on c.library_id = l.library_id
where l.name = %s and c.document_count > 0
"""
# Lexemes without a position encode library and version, not words.
POSTINGS = """
copy (
    select d.document_id, t.lexeme, array_to_string(t.weights, '')
    from pgrag.documents as d
    cross join lateral unnest(d.search) as t
    where d.library_id = %s and d.covers > 0 and t.positions is not null
) to stdout
"""
# The order of passages of equal score, and whether a passage is only of level 0.
ORDER = """
select d.document_id, d.covers & 6 = 0
from pgrag.documents as d
where d.library_id = %s
order by d.sort_order, d.text_hash, d.document_id
"""
TERMS = """
select t.lexeme, t.frequency
from pgrag.query_terms((_pgrag.parse_search_text(%s)).words, array[%s]::bigint[]) as t
"""
BEST = """
select s.document_id, s.score
from pgrag.keyword_search(
    %s, %s, top_k => %s, options => '{"levels": [1, 2], "page_evidence": 0, "page_decay": 1}'
) as s
"""
UNWEIGHTED = "select pgrag.configure_library(%s, '{\"type_weights\": false}')"
BUCKETS = 1000
#: Buckets that a filter keeps, of BUCKETS: 100 %, 50, 10, 1 and 0.1 %.
KEPT = (1000, 500, 100, 10, 1)

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
NEAREST = """
select s.document_id
from pgrag.semantic_search(
    %s, %s, top_k => %s, filters => %s, options => '{"levels": [1, 2], "page_decay": 1}'
) as s
"""


class EveryRow:
    """BM25F of every passage of a library in one language; keeps the postings of some lexemes."""

    def __init__(self, connection: Connection, library: str, lexemes: set[str]) -> None:
        [(library_id, settings, _, average_length)] = connection.execute(
            SETTINGS.encode(), [library]
        ).fetchall()
        lengths: dict[int, float] = defaultdict(float)
        postings: dict[str, list[tuple[int, float]]] = {lexeme: [] for lexeme in lexemes}
        frequencies: dict[str, float] = {}
        weights = {label: settings["field_weights"][name] for label, name in FIELDS.items()}
        with connection.cursor().copy(POSTINGS.encode(), [library_id]) as copy:
            copy.set_types(["int8", "text", "text"])
            for document_id, lexeme, labels in copy.rows():
                frequency = frequencies.get(labels)
                if frequency is None:
                    frequency = frequencies[labels] = sum(weights[label] for label in labels)
                lengths[document_id] += frequency
                if lexeme in postings:
                    postings[lexeme].append((document_id, frequency))

        self._k1, b = settings["k1"], settings["b"]
        self.ids = np.array(sorted(lengths), dtype=np.int64)
        length = np.array([lengths[document_id] for document_id in self.ids.tolist()])
        self._norm = self._k1 * (1 - b + b * length / average_length)
        self._postings = {
            lexeme: (
                np.searchsorted(self.ids, [document_id for document_id, _ in listed]),
                np.array([frequency for _, frequency in listed]),
            )
            for lexeme, listed in postings.items()
        }
        ordered = connection.execute(ORDER.encode(), [library_id]).fetchall()
        rows = {row[0]: (nth, row[1]) for nth, row in enumerate(ordered)}
        order, hidden = zip(*(rows[document_id] for document_id in self.ids.tolist()), strict=True)
        self.order, self._hidden = np.array(order), np.array(hidden)

    def scores(self, terms: list[tuple[str, int]]) -> NDArray[np.float64]:
        """The score of every passage, between 0 and 1, in the order of `ids`."""
        scores = np.zeros(len(self.ids))
        total = 0.0
        for lexeme, occurrences in terms:
            rows, frequencies = self._postings[lexeme]
            count, containing = len(self.ids), len(rows)
            idf = log(1 + max(count - containing + 0.5, 0.5) / (containing + 0.5))
            total += occurrences * idf * (self._k1 + 1)
            impact = frequencies * (self._k1 + 1) / (frequencies + self._norm[rows])
            scores[rows] += occurrences * idf * impact
        scores[self._hidden] = 0
        return scores / total if total else scores


def keyword_arm(bench: Bench) -> list[Figure]:
    """Compare the top ten of both for every query; ties break as in a search."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with bench.connect() as connection, connection.transaction(force_rollback=True):
        connection.execute(UNWEIGHTED.encode(), [library])
        library_id = value(
            connection, "select library_id from pgrag.libraries where name = %s", library
        )
        terms = {
            query: connection.execute(TERMS.encode(), [query, library_id]).fetchall()
            for query in queries
        }
        every_row = EveryRow(
            connection, library, {lexeme for listed in terms.values() for lexeme, _ in listed}
        )
        identical = swapped = 0
        difference = 0.0
        for query in queries:
            wanted = every_row.scores(terms[query])
            best = np.lexsort((every_row.order, -wanted))[:DEPTH]
            best = best[wanted[best] > 0]
            hits = connection.execute(BEST.encode(), [query, library, DEPTH]).fetchall()
            ours = np.searchsorted(every_row.ids, [document_id for document_id, _ in hits])
            scores = np.array([score for _, score in hits])
            if len(ours) != len(best):
                difference = 1.0
                continue
            if len(ours):
                difference = max(difference, float(np.abs(scores - wanted[ours]).max()))
            if np.array_equal(ours, best):
                identical += 1
            elif np.allclose(wanted[ours], wanted[best], rtol=0, atol=PRECISION):
                swapped += 1

    on = f"MDN, {len(queries)} queries"
    equal = f"{identical} of {len(queries)}"
    if swapped:
        equal += f", {swapped} more with neighbours swapped that are equal in single precision"
    return [
        Figure("keyword retriever = brute force BM25F: identical top 10", on, equal, "all",
               identical + swapped == len(queries)),
        Figure("— largest difference of a score", on, f"{difference:.1e}", f"≤ {PRECISION:.0e}",
               difference <= PRECISION),
    ]  # fmt: skip


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
    queries = bench.mdn_queries(VECTOR_QUERIES)
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
        hits = connection.execute(NEAREST.encode(), [query, library, DEPTH, filters]).fetchall()
        least = min(least, len(hits))
        short += len(hits) < possible
        # Ties with the last of the nearest neighbours count as correct.
        limit = np.partition(scores, -possible)[-possible] - PRECISION
        rows = np.searchsorted(vectors.ids, [document_id for (document_id,) in hits])
        recalls.append(float((scores[rows] >= limit).sum()) / possible)

    on = f"MDN, {len(recalls)} queries, {100 * kept / BUCKETS:g} % of the pages left"
    return [
        judged("vector retriever: recall@10 against an exact scan", on, float(np.mean(recalls)),
               0.98, "", digits=4, is_least=True),
        Figure("— fewest rows returned", on, str(least),
               "10, or all that there are", not short),
    ]  # fmt: skip
