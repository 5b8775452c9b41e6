"""The environment of every measure: corpora, a database, and sample sizes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import tuple_row

from benchmarks.corpora import Corpora
from pgrag.evaluation.labelled import read_labelled_set
from pgrag.ground.connections import register_vector_types

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
    """The report of an indexing run in a separate process; `peak` is its memory in bytes."""

    seconds: float
    pages: int
    written: int
    documents: int
    embedded: int
    peak: int


@dataclass(slots=True)
class Bench:
    """Corpora and a migrated database; with `quick` samples have a tenth of the queries.

    `million` is the folder where libraries grow to a million documents; None if they do not.
    """

    corpora: Corpora
    url: str
    scratch: Path
    quick: bool = False
    million: Path | None = None
    _indexed: set[str] = field(default_factory=set)

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A plain psycopg connection, with rows as tuples and pgvector's types registered."""
        connection = psycopg.connect(self.url, autocommit=True, row_factory=tuple_row)
        register_vector_types(connection)
        return connection

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """At most `size` items, evenly spaced over the list, the same in every run."""
        size = max(size // 10, 5) if self.quick else size
        if len(items) <= size:
            return list(items)
        return [items[place * len(items) // size] for place in range(size)]

    def index(self, library: str, version: str, source: Path) -> IndexRun:
        """Index a folder by the real pipeline, in a separate process."""
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
        """Index a folder unless this run has already indexed it; return the library's name."""
        if library not in self._indexed:
            self.index(library, "", source)
            self.settle()
        return library

    def settle(self) -> None:
        """Vacuum and analyse now, so that autovacuum does not run during a measure."""
        with self.connect() as connection:
            connection.execute(
                "vacuum (analyze) pgrag.pages, pgrag.documents, pgrag.embeddings,"
                " pgrag.lexeme_statistics"
            )

    def mdn(self) -> str:
        """The library of most measures."""
        return self.require("mdn", self.corpora.pages("mdn-en"))

    def mdn_queries(self, size: int) -> list[str]:
        """Queries for that library: link texts that the authors of its pages wrote.

        Only queries of plain words: a quoted phrase or "-word" would also filter.
        """
        labelled = read_labelled_set(self.corpora.folder("mdn-anchor"))
        queries = [query.text for query in labelled.queries]
        with self.connect() as connection:
            plain = connection.execute(PLAIN.encode(), [queries]).fetchall()
        return self.sample([query for (query,) in plain], size)


@contextmanager
def unweighted(connection: psycopg.Connection[Any], library: str) -> Iterator[None]:
    """In the block page types weigh nothing: the order is that of the retrievers."""
    configure = (
        "select pgrag.configure_library(%s, jsonb_build_object('type_weights', %s::boolean))"
    )
    connection.execute(configure.encode(), [library, False])
    try:
        yield
    finally:
        connection.execute(configure.encode(), [library, None])


def value(connection: psycopg.Connection[tuple[Any, ...]], statement: str, *given: Any) -> Any:
    """The value of a statement that returns one column of one row."""
    row = connection.execute(statement.encode(), given).fetchone()
    assert row is not None
    return row[0]
