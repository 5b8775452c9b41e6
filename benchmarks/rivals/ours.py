"""pgrag itself, by its defaults; the vector of the query is computed inside the measured call."""

from typing import Any

import psycopg

from benchmarks.rivals.rival import Rival, Setup, Vector

SEARCH = b"select * from pgrag.search(%s, %s, top_k => %s)"


class Ours(Rival):
    """One connection of a client."""

    def __init__(self, setup: Setup) -> None:
        self._connection: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            setup.url, autocommit=True
        )
        self._library = setup.library

    def search(self, query: str, _: Vector, limit: int) -> list[int]:
        given = [query, self._library, limit]
        return [row[0] for row in self._connection.execute(SEARCH, given).fetchall()]

    def close(self) -> None:
        self._connection.close()


make = Ours
