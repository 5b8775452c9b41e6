"""What one request takes of the database is not missing to others."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import wait

import psycopg
import pytest
from api_client import ApiClient, problem, serving
from psycopg.types.json import Jsonb


@pytest.fixture
def buoys(database_url: str, connection: psycopg.Connection) -> str:
    """A database with a library of a few pages."""
    pages = [
        {"key": f"{number}.md", "body": f"Buoy {number} marks the channel near pontoon {number}."}
        for number in range(30)
    ]
    connection.execute("select pgrag.ingest_pages('harbour', %s)", [Jsonb(pages)])
    connection.execute("select pgrag.embed_pending('harbour')")
    return database_url


@pytest.fixture
def locked(buoys: str) -> Iterator[str]:
    """The same, and somebody holds the library's row."""
    with psycopg.connect(buoys) as indexing:
        indexing.execute("select from pgrag.libraries for no key update")
        yield buoys


def seconds_of_searches(client: ApiClient) -> float:
    """How long the slowest of a few searches takes."""
    took = []
    for number in range(3):
        started = time.monotonic()
        client.ok("/v1/search", q=f"buoy {number}", library="harbour")
        took.append(time.monotonic() - started)
    return max(took)


def test_writers_that_wait_for_a_lock_delay_no_search(locked: str) -> None:
    with serving(locked, pool_size=4, lock_timeout=3) as client:
        client.ok("/v1/search", q="buoy")
        waiting = [client.start("DELETE", "/v1/libraries/harbour/tuning") for _ in range(12)]
        time.sleep(0.2)
        assert seconds_of_searches(client) < 2
        client.ok("/readyz")
        assert not any(future.done() for future in waiting)
        wait(waiting, timeout=30)
        for future in waiting:
            response = future.result()
            told = problem(response, 503, "busy")
            assert int(response.headers["retry-after"]) > 0
            assert "in the way" in told["detail"] or "PGRAG_COSTLY_POOL_SIZE" in told["hint"]


def test_a_statement_that_takes_too_long_is_ended(locked: str) -> None:
    with serving(locked, write_timeout=0.3) as client:
        entries = {"PTO": ["leave"]}
        took = client.request("PATCH", "/v1/libraries/harbour/synonyms", json={"synonyms": entries})
        problem(took, 422, "took-too-long")


def test_reading_has_a_timeout_too(buoys: str) -> None:
    with serving(buoys, read_timeout=0.3) as client, psycopg.connect(buoys) as other:
        client.ok("/v1/search", q="buoy")
        other.execute("lock table pgrag.documents in access exclusive mode")
        problem(client.get("/v1/search?q=buoy"), 422, "took-too-long")
        other.rollback()
        client.ok("/v1/search", q="buoy")
