"""What every measure works with: the corpora, a database of its own, and the sizes of samples."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import tuple_row

from benchmarks.corpora import Corpora
from pgrag.db import register_vector_types
from pgrag.evaluation.labelled import read_labelled_set

T = TypeVar("T")

PLAIN = """
select q.query
from unnest(%s::text[]) with ordinality as q (query, place)
cross join lateral pgrag.parse_search_text(q.query) as p
where cardinality(p.required) = 0 and cardinality(p.excluded) = 0
order by q.place
"""


@dataclass(frozen=True, slots=True)
class IndexRun:
    """What an indexing run in a process of its own reported; `peak` is its memory in bytes."""

    seconds: float
    pages: int
    written: int
    documents: int
    embedded: int
    peak: int


@dataclass(slots=True)
class Bench:
    """Corpora and a migrated database; `quick` takes a tenth of the queries."""

    corpora: Corpora
    url: str
    scratch: Path
    quick: bool = False
    _indexed: set[str] = field(default_factory=set)

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A client's connection, as psycopg makes it; rows are tuples, vectors are known."""
        connection = psycopg.connect(self.url, autocommit=True, row_factory=tuple_row)
        register_vector_types(connection)
        return connection

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """So many of the items, from everywhere in the list, the same in every run."""
        size = max(size // 10, 5) if self.quick else size
        if len(items) <= size:
            return list(items)
        return [items[place * len(items) // size] for place in range(size)]

    def index(self, library: str, version: str, source: Path) -> IndexRun:
        """Index a folder by the real pipeline, in a process of its own."""
        self._indexed.add(library)
        finished = subprocess.run(
            [sys.executable, "-m", "benchmarks.index_once", library, version, str(source)],
            input=self.url,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if finished.returncode:
            raise RuntimeError(f"indexing {library} failed:\n{finished.stderr}")
        return IndexRun(**json.loads(finished.stdout))

    def require(self, library: str, source: Path) -> str:
        """Index a folder unless this run has done so; return the library's name."""
        if library not in self._indexed:
            self.index(library, "", source)
            self.settle()
        return library

    def settle(self) -> None:
        """Do now what autovacuum would do in the middle of a measure."""
        with self.connect() as connection:
            connection.execute(
                "vacuum (analyze) pgrag.pages, pgrag.documents, pgrag.embeddings,"
                " pgrag.lexeme_statistics"
            )

    def mdn(self) -> str:
        """The library that most is measured on."""
        return self.require("mdn", self.corpora.pages("mdn-en"))

    def mdn_queries(self, size: int) -> list[str]:
        """Queries for it: what authors of its pages wrote as the words of a link.

        Only those that are words alone: a quoted phrase or "-word" would filter as well.
        """
        labelled = read_labelled_set(self.corpora.folder("mdn-anchor"))
        queries = [query.text for query in labelled.queries]
        with self.connect() as connection:
            plain = connection.execute(PLAIN.encode(), [queries]).fetchall()
        return self.sample([query for (query,) in plain], size)


def value(connection: psycopg.Connection[tuple[Any, ...]], statement: str, *given: Any) -> Any:
    """The only column of the only row."""
    row = connection.execute(statement.encode(), given).fetchone()
    assert row is not None
    return row[0]
