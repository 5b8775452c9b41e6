"""The usual recipe for hybrid search in PostgreSQL, on the rows that pgrag searches.

Full-text search with the words joined by OR, ranked by `ts_rank_cd` over a GIN index, and nearest
neighbours over an HNSW index, with reciprocal rank fusion (k = 60) in one statement.
"""

from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.rivals.rival import Rival, Setup, Vector

Connection = psycopg.Connection[tuple[Any, ...]]

#: The rows, texts and vectors that pgrag.search reads for levels 1 and 2.
ROWS = """
create table rival.{library} as
select
    d.document_id as id, p.url, p.title, d.content,
    to_tsvector(
        'english', concat_ws(' ', p.title, array_to_string(d.path, ' '), d.content)
    ) as words,
    e.embedding::halfvec({dimensions}) as embedding
from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
left join pgrag.embeddings as e
    on e.library_id = d.library_id and e.document_id = d.document_id
where l.name = '{library}' and d.covers & 6 <> 0
"""
INDEXES = """
alter table rival.{library} add primary key (id);
create index on rival.{library} using gin (words);
create index on rival.{library} using hnsw (embedding halfvec_cosine_ops);
"""
SEARCH = """
with query as (
    select replace(plainto_tsquery('english', %(query)s)::text, '&', '|')::tsquery as words
),
keyword_hits as (
    select h.id, row_number() over (order by h.score desc, h.id) as rank
    from (
        select d.id, ts_rank_cd(d.words, q.words) as score
        from rival.{library} as d, query as q
        where d.words @@ q.words
        order by score desc, d.id
        limit 100
    ) as h
),
vector_hits as (
    select h.id, row_number() over (order by h.distance, h.id) as rank
    from (
        select d.id, d.embedding <=> %(embedding)s as distance
        from rival.{library} as d
        order by d.embedding <=> %(embedding)s
        limit 100
    ) as h
),
fused as (
    select
        coalesce(k.id, v.id) as id,
        coalesce(1.0 / (60 + k.rank), 0) + coalesce(1.0 / (60 + v.rank), 0) as score
    from keyword_hits as k
    full join vector_hits as v on v.id = k.id
    order by score desc, id
    limit %(limit)s
)
select d.id, d.url, d.title, d.content, f.score
from fused as f
join rival.{library} as d on d.id = f.id
order by f.score desc, d.id
"""


class Recipe(Rival):
    """The recipe on a separate table, copied from a library that pgrag has indexed."""

    def __init__(self, connection: Connection, library: str, dimensions: int) -> None:
        self._connection = connection
        names = {"library": library, "dimensions": dimensions}
        connection.execute("drop schema if exists rival cascade; create schema rival")
        connection.execute(ROWS.format(**names).encode())
        connection.execute("set maintenance_work_mem = '512MB'")
        connection.execute(INDEXES.format(**names).encode())
        connection.execute(f"vacuum (analyze) rival.{library}".encode())
        # A hundred neighbours need ef_search >= 100; a generic plan ignores the frequency of
        # the words.
        connection.execute("set hnsw.ef_search = 100")
        connection.prepare_threshold = None
        self._statement = SEARCH.format(**names).encode()

    def search(self, query: str, vector: Vector, limit: int = 10) -> list[int]:
        given = {"query": query, "embedding": HalfVector(vector), "limit": limit}
        return [row[0] for row in self._connection.execute(self._statement, given).fetchall()]

    def close(self) -> None:
        self._connection.close()


def make(setup: Setup) -> Recipe:
    """The recipe on the rows of a library, in a schema of the same database."""
    connection: Connection = psycopg.connect(setup.url, autocommit=True)
    register_vector(connection)
    return Recipe(connection, setup.library, setup.dimensions)
