"""The keyword retriever against BM25F over every row, computed from the full-text vectors alone."""

from __future__ import annotations

from collections import defaultdict
from math import log

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import Bench, Connection, value
from benchmarks.figures import Figure

QUERIES = 200
DEPTH = 10
#: Impacts and weights are stored in single precision.
PRECISION = 1e-6
FIELDS = {"A": "title", "B": "path", "C": "url", "D": "content"}

SETTINGS = """
select l.library_id, pgrag.effective_settings(l.settings), c.language, c.average_length
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
ORDER = """
select d.document_id
from pgrag.documents as d
where d.library_id = %s
order by d.sort_order, d.text_hash, d.document_id
"""
HIDDEN = "select document_id from pgrag.documents where library_id = %s and covers & 6 = 0"
TERMS = """
select t.lexeme, t.frequency
from pgrag.query_terms((pgrag.parse_search_text(%s)).words, array[%s]::bigint[]) as t
"""
SEARCH = """
select s.document_id, s.score
from pgrag.keyword_search(
    %s, %s, top_k => %s, options => '{"levels": [1, 2], "page_evidence": 0}'
) as s
"""


UNWEIGHTED = "select pgrag.configure_library(%s, '{\"type_weights\": false}')"


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
        hidden = {row[0] for row in connection.execute(HIDDEN.encode(), [library_id])}
        self._hidden = np.array([document_id in hidden for document_id in self.ids.tolist()])
        ordered = connection.execute(ORDER.encode(), [library_id]).fetchall()
        nth = {document_id: number for number, (document_id,) in enumerate(ordered)}
        #: The order of passages of equal score.
        self.order = np.array([nth[document_id] for document_id in self.ids.tolist()])

    def scores(self, terms: list[tuple[str, int]]) -> NDArray[np.float64]:
        """The score of every passage, between 0 and 1, in the order of `ids`."""
        scores = np.zeros(len(self.ids))
        total = 0.0
        for lexeme, occurrences in terms:
            places, frequencies = self._postings[lexeme]
            count, containing = len(self.ids), len(places)
            idf = log(1 + max(count - containing + 0.5, 0.5) / (containing + 0.5))
            total += occurrences * idf * (self._k1 + 1)
            impact = frequencies * (self._k1 + 1) / (frequencies + self._norm[places])
            scores[places] += occurrences * idf * impact
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
            hits = connection.execute(SEARCH.encode(), [query, library, DEPTH]).fetchall()
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
