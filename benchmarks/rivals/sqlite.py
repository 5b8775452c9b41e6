"""SQLite with FTS5 and sqlite-vec, as the best-known MCP server for documentation searches (2.4.4).

Its tables and numbers: Porter's stemmer; weights 10, 1, 5 and 1 for content, title, address and
path; the whole query as a phrase, or any of its words and quoted phrases; a vec0 table without an
index, which compares every vector of a library and its version; twice the limit of rows by words,
ten times that by vectors; reciprocal rank fusion in the program, where a row that one retriever
has not found takes a rank after those that it has. The Python of many systems cannot load an
extension into its SQLite, so APSW brings one.
"""

from collections.abc import Sequence

import apsw
import sqlite_vec

from benchmarks.rivals.rival import Rival, Setup, Vector, fuse

TABLES = """
create table passages (id integer primary key, url text, title text, path text, content text);
create virtual table words using fts5(content, title, url, path, tokenize = 'porter unicode61');
create virtual table vectors using vec0(
    library_id integer partition key, version_id integer partition key,
    embedding float[{dimensions}]
);
"""
BY_WORDS = """
select rowid from words where words match ? order by bm25(words, 10.0, 1.0, 5.0, 1.0) limit ?
"""
BY_VECTOR = """
select rowid from vectors
where library_id = 1 and version_id = 1 and embedding match ? and k = ? order by distance
"""
FETCH = "select id, url, title, content from passages where id = ?"


def terms(query: str) -> str:
    """The query for FTS5: all of it as a phrase, or each of its terms; empty without a term.

    A term is a word, or what stands between quotes.
    """
    found = [
        term
        for nth, part in enumerate(query.split('"'))
        for term in ([part] if nth % 2 else part.split(" "))
        if term
    ]
    phrases = [" ".join(found), *found] if len(found) > 1 else found
    return " OR ".join(f'"{phrase}"' for phrase in phrases)


def ranked(*rankings: Sequence[int]) -> list[list[int]]:
    """Rankings of all rows: those that one lacks follow its own, in the order of their ids."""
    rows = sorted({row for ranking in rankings for row in ranking})
    return [[*ranking, *(row for row in rows if row not in ranking)] for ranking in rankings]


class SQLite(Rival):
    """A database file, written once."""

    def __init__(self, setup: Setup) -> None:
        self._connection = apsw.Connection(str(setup.folder / "passages.sqlite"))
        self._connection.enable_load_extension(True)
        self._connection.load_extension(sqlite_vec.loadable_path())
        self._connection.execute("pragma journal_mode = wal; pragma mmap_size = 1073741824")
        self._connection.execute(TABLES.format(dimensions=setup.dimensions))
        with self._connection:
            self._connection.executemany(
                "insert into passages values (?, ?, ?, ?, ?)",
                ((p.id, p.url, p.title, p.path, p.content) for p in setup.passages),
            )
            self._connection.execute(
                "insert into words (rowid, content, title, url, path)"
                " select id, content, title, url, path from passages"
            )
            self._connection.executemany(
                "insert into vectors (rowid, library_id, version_id, embedding)"
                " values (?, 1, 1, ?)",
                ((p.id, p.vector.tobytes()) for p in setup.passages if p.vector is not None),
            )
        self._connection.execute("insert into words (words) values ('optimize'); analyze")

    def search(self, query: str, vector: Vector, limit: int) -> list[int]:
        words = terms(query)
        wanted = 2 * limit
        rankings = ranked(
            self._ids(BY_WORDS, (words, wanted)) if words else [],
            self._ids(BY_VECTOR, (vector.tobytes(), 10 * wanted)),
        )
        rows = [self._connection.execute(FETCH, (i,)).fetchall() for i in fuse(*rankings)[:limit]]
        return [row[0] for [row] in rows]

    def close(self) -> None:
        self._connection.close()

    def _ids(self, statement: str, given: tuple[object, ...]) -> list[int]:
        return [row[0] for row in self._connection.execute(statement, given)]


make = SQLite
