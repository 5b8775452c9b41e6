"""The environment of every measure: corpora, a database, and sample sizes."""

import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg.rows import tuple_row
from pydantic import SecretStr

from benchmarks.corpora import Corpora
from pgrag.evaluation.labelled import read_labelled_set
from pgrag.ground.connections import register_vector_types
from pgrag.ground.settings import Settings
from pgrag.service.app import App

T = TypeVar("T")
Connection = psycopg.Connection[tuple[Any, ...]]

PLAIN = """
select q.query
from unnest(%s::text[]) with ordinality as q (query, number)
cross join lateral _pgrag.parse_search_text(q.query) as p
where cardinality(p.required) = 0 and cardinality(p.excluded) = 0
order by q.number
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
    """Corpora and a migrated database; with `quick` samples have a tenth of the queries."""

    corpora: Corpora
    url: str
    scratch: Path
    quick: bool = False
    _indexed: set[str] = field(default_factory=set)

    def connect(self) -> Connection:
        """A plain psycopg connection, with rows as tuples and pgvector's types registered."""
        connection = psycopg.connect(self.url, autocommit=True, row_factory=tuple_row)
        register_vector_types(connection)
        return connection

    def app(self) -> App:
        """An app on the database, with the built-in model whatever the environment sets."""
        return App(settings(self.url, home=self.scratch / "home"))

    def sample(self, items: Sequence[T], size: int) -> list[T]:
        """At most `size` items, evenly spaced over the list, the same in every run."""
        size = max(size // 10, 5) if self.quick else size
        if len(items) <= size:
            return list(items)
        return [items[nth * len(items) // size] for nth in range(size)]

    def index(self, library: str, version: str, source: Path) -> IndexRun:
        """Index a folder by the real pipeline, in a separate process."""
        self._indexed.add(library)
        finished = subprocess.run(
            [sys.executable, "-m", "benchmarks.bench", library, version, str(source.resolve())],
            input=self.url,  # not an argument, which other users of the machine see
            cwd=Path(__file__).parents[1],
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if finished.returncode:
            raise RuntimeError(f"indexing {library} failed:\n{finished.stderr}")
        return IndexRun(**json.loads(finished.stdout))

    def require(self, library: str, source: Path) -> str:
        """Index a folder unless this run or an earlier one has; return the library's name."""
        if library not in self._indexed and not self._has(library):
            self.index(library, "", source)
            settle(self.url)
        return library

    def _has(self, library: str) -> bool:
        known = "select exists (select from pgrag.libraries as l where l.name = %s)"
        with self.connect() as connection:
            return bool(value(connection, known, library))

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


def settings(url: str | None, **given: Any) -> Settings:
    """Settings that name a database, or none for an embedded server, and the built-in model."""
    secret = None if url is None else SecretStr(url)
    return Settings(database_url=secret, embedding_url=None, **given)


@contextmanager
def lent_app(url: str | None, scratch: Path) -> Iterator[App]:
    """Lend an app with a migrated database; without a URL, of a temporary embedded server."""
    # Root's server runs as another user, who must be able to traverse the folder.
    scratch.chmod(0o711)
    with App(settings(url, home=scratch / "home")) as app:
        try:
            app.upgrade()
            yield app
        finally:
            app.close()
            if url is None:
                app.server.remove()


def settle(url: str) -> None:
    """Vacuum and analyse now, so that autovacuum does not run during a measure."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "vacuum (analyze) pgrag.pages, pgrag.documents, pgrag.embeddings,"
            " pgrag.lexeme_statistics"
        )


def value(connection: Connection, statement: str, *given: Any) -> Any:
    """The value of a statement that returns one column of one row."""
    [(only,)] = connection.execute(statement.encode(), given).fetchall()
    return only


def machine(url: str) -> str:
    """What times depend on, besides the hardware."""
    with psycopg.connect(url, row_factory=tuple_row) as connection:
        server = connection.info.parameter_status("server_version")
        vector = value(connection, "select extversion from pg_extension where extname = 'vector'")
    return f"PostgreSQL {server}, pgvector {vector}, Python {platform.python_version()}"


def environment(url: str) -> dict[str, str]:
    """The environment of a `pgrag` on this database."""
    kept = {name: each for name, each in os.environ.items() if not name.startswith("PGRAG_")}
    return {**kept, "PGRAG_DATABASE_URL": url, "PGRAG_LOG_LEVEL": "error"}


def main() -> None:
    """Index once, in this process, and print the report as JSON."""
    library, version, source = sys.argv[1:]
    with App(settings(sys.stdin.read())) as app:
        report = app.index(library, version, source)
    if report.failed:
        raise SystemExit(f"not indexed: {report.failed}")
    numbers = {name: getattr(report, name) for name in IndexRun.__slots__ if name != "peak"}
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps(numbers | {"peak": peak}))


if __name__ == "__main__":
    main()
