"""BM25F over every row, from the full-text vectors alone: no impacts, no sparse vectors, no index.

What it shares with the database is how text becomes lexemes, and the average length that the
library's impacts are made with (which `refresh_statistics` moves).
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from typing import Any

import psycopg

Row = dict[str, Any]

ROWS = """
select
    d.library_id, d.document_id, d.page_id, d.version_id, d.language, d.level, d.covers,
    d.sort_order, d.text_hash,
    l.name as library, v.label as version, p.key, p.type, p.tags,
    _pgrag.effective_settings(l.settings) as settings,
    array(
        select jsonb_build_array(t.lexeme, to_jsonb(t.weights))
        from unnest(d.search) as t
        where t.positions is not null
    ) as terms
from pgrag.documents as d
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
join pgrag.libraries as l on l.library_id = d.library_id
where d.covers > 0 and (%(libraries)s::text[] is null or l.name = any (%(libraries)s))
order by d.document_id
"""
QUERY = """
select t.library_id, t.language, t.lexeme, t.frequency
from pgrag.query_terms((_pgrag.parse_search_text(%s)).words, %s) as t
"""
LABELS = {"A": "title", "B": "path", "C": "url", "D": "content"}


@dataclass
class Corpus:
    """The passages of one library in one language."""

    frequencies: dict[int, dict[str, float]] = field(default_factory=dict)
    lengths: dict[int, float] = field(default_factory=dict)
    containing: Counter[str] = field(default_factory=Counter)
    average_length: float = 0.0
    k1: float = 1.2
    b: float = 0.75

    def idf(self, lexeme: str) -> float:
        count, containing = len(self.lengths), self.containing[lexeme]
        return log(1 + max(count - containing + 0.5, 0.5) / (containing + 0.5))

    def impact(self, document_id: int, lexeme: str) -> float:
        frequency = self.frequencies[document_id].get(lexeme, 0.0)
        if not frequency:
            return 0.0
        norm = 1 - self.b + self.b * self.lengths[document_id] / self.average_length
        return frequency * (self.k1 + 1) / (frequency + self.k1 * norm)


class Oracle:
    """Scores and statistics of some libraries (default: all), which are read once."""

    def __init__(self, connection: psycopg.Connection, *libraries: str) -> None:
        self._connection = connection
        rows = connection.execute(ROWS, {"libraries": list(libraries) or None}).fetchall()
        self.rows: dict[int, Row] = {row["document_id"]: row for row in rows}
        self.corpora: dict[tuple[int, str], Corpus] = defaultdict(Corpus)
        for row in self.rows.values():
            self._count(row)
        for row in connection.execute("select * from pgrag.corpus_statistics").fetchall():
            if corpus := self.corpora.get((row["library_id"], row["language"])):
                corpus.average_length = row["average_length"]

    def _count(self, row: Row) -> None:
        corpus = self.corpora[row["library_id"], row["language"]]
        corpus.k1 = row["settings"]["k1"]
        corpus.b = row["settings"]["b"]
        weights = row["settings"]["field_weights"]
        frequencies = {
            lexeme: float(sum(weights[LABELS[label]] for label in labels))
            for lexeme, labels in row["terms"]
        }
        if frequencies:
            corpus.frequencies[row["document_id"]] = frequencies
            corpus.lengths[row["document_id"]] = sum(frequencies.values())
            corpus.containing.update(lexeme for lexeme, f in frequencies.items() if f > 0)

    def scores(
        self, query: str, among: Callable[[Row], bool] = lambda row: True
    ) -> dict[int, float]:
        """The normalised BM25F scores above 0, by passage."""
        library_ids = list({library_id for library_id, _ in self.corpora})
        asked: dict[tuple[int, str], list[tuple[str, int]]] = defaultdict(list)
        for row in self._connection.execute(QUERY, [query, library_ids]).fetchall():
            asked[row["library_id"], row["language"]].append((row["lexeme"], row["frequency"]))
        found: dict[int, float] = {}
        for scope, corpus in self.corpora.items():
            weights = {lexeme: f * corpus.idf(lexeme) for lexeme, f in asked[scope]}
            norm = sum(weights.values()) * (corpus.k1 + 1)
            for document_id in filter(lambda d: among(self.rows[d]), corpus.lengths):
                score = sum(w * corpus.impact(document_id, lex) for lex, w in weights.items())
                if score > 0:
                    found[document_id] = score / norm
        return found
