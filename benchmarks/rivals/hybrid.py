"""The package pghybrid in the server of pgrag, with the indexes of its own migration.

Its defaults: a generated full-text column with a GIN index, any word, `ts_rank_cd`; HNSW with
pgvector's `ef_search` of 40, which its documentation leaves as it is; fifty candidates of each
retriever; reciprocal rank fusion with k = 60 in one statement.
"""

from typing import Any

import psycopg
from pghybrid import Config, build_migration, introspect
from pghybrid.adapters import for_psycopg
from pghybrid.schema import dbapi_executor

from benchmarks.rivals.rival import Rival, Setup, Vector

TABLE = "pghybrid.passages"
TABLES = """
drop schema if exists pghybrid cascade;
create schema pghybrid;
create table pghybrid.passages (
    id bigint primary key, url text, title text, content text, embedding vector({dimensions})
)
"""
COPY = b"copy pghybrid.passages (id, url, title, content, embedding) from stdin"


class Hybrid(Rival):
    """One connection of a client."""

    def __init__(self, setup: Setup) -> None:
        self._connection: psycopg.Connection[Any] = psycopg.connect(setup.url, autocommit=True)
        self._connection.execute(TABLES.format(dimensions=setup.dimensions).encode())
        with self._connection.cursor() as cursor, cursor.copy(COPY) as copy:
            for p in setup.passages:
                vector = None if p.vector is None else str(p.vector.tolist())
                copy.write_row((p.id, p.url, p.title, p.text, vector))
        config = Config(
            TABLE, "content", "embedding", tsvector_column="fts", extra_columns=["title", "url"]
        )
        run = dbapi_executor(self._connection)
        for statement in build_migration(config, introspect(run, TABLE)):
            if not statement.optional:
                self._connection.execute(statement.sql.encode())
        self._connection.execute(f"vacuum (analyze) {TABLE}".encode())
        self._search = for_psycopg(self._connection, config)

    def search(self, query: str, vector: Vector, limit: int) -> list[int]:
        hits = self._search.search(query, vector.tolist(), limit=limit)
        return [hit.id for hit in hits]

    def close(self) -> None:
        self._connection.close()


make = Hybrid
