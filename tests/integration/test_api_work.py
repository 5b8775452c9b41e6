"""What one request takes of the database is not missing to others."""

import json
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from urllib.parse import urlencode

import httpx
import psycopg
import pytest
from api_client import problem, serving
from api_corpus import ingest_buoys
from mcp_service import Service, eventually, mcp_service
from psycopg.types.json import Jsonb


@pytest.fixture
def buoys(database_url, connection):
    """A database with a library of a few pages."""
    ingest_buoys(connection)
    return database_url


@pytest.fixture
def lock(buoys):
    """A connection that holds the library's row until its transaction ends."""
    with psycopg.connect(buoys) as indexing:
        indexing.execute("select from pgrag.libraries for no key update")
        yield indexing


RUNNING = (
    "select count(*) as n from pg_stat_activity where datname = current_database()"
    " and state = 'active' and application_name = 'pgrag'"
)


def running(connection: psycopg.Connection) -> int:
    """How many statements of services run."""
    [row] = connection.execute(RUNNING).fetchall()
    return int(row["n"])


def statuses(futures: list[Future[httpx.Response]]) -> list[int]:
    """Those of the responses that have come."""
    return [future.result().status_code for future in futures if future.done()]


def test_writers_that_wait_for_a_library_hold_no_connection(buoys, lock, connection):
    with serving(buoys, pool_size=4, costly_pool_size=2, lock_timeout=60) as client:
        waiting = [client.start("DELETE", "/v1/libraries/harbour/tuning") for _ in range(12)]
        page = "/v1/libraries/harbour/versions/1/pages/new.md"
        waiting += [client.start("PUT", page, content=f"# Buoy {n}") for n in range(3)]
        eventually(lambda: running(connection) == 0)
        written = client.request("PUT", page.replace("harbour", "other"), content="# Other")
        assert written.status_code == 200, written.text
        client.ok("/v1/search", q="buoy")
        assert not any(future.done() for future in waiting)
        lock.rollback()
        wait(waiting, timeout=60)
        # Of the tunings only the first is there to be undone.
        assert {*statuses(waiting[12:])} == {200}
        assert {*statuses(waiting)} <= {200, 422}


@pytest.mark.usefixtures("lock")
def test_a_writer_waits_for_a_lock_as_long_as_it_may(buoys):
    with serving(buoys, lock_timeout=0.3) as client:
        response = client.request("DELETE", "/v1/libraries/harbour/tuning")
        assert "in the way" in problem(response, 503, "busy")["detail"]
        assert int(response.headers["retry-after"]) > 0


def test_a_statement_that_takes_too_long_is_ended(buoys):
    with serving(buoys, write_timeout=0.3) as client, psycopg.connect(buoys) as other:
        other.execute("lock table pgrag.synonyms in access exclusive mode")
        entries = {"PTO": ["leave"]}
        took = client.request("PATCH", "/v1/libraries/harbour/synonyms", json={"synonyms": entries})
        problem(took, 422, "took-too-long")


def test_reading_has_a_timeout_too(buoys):
    with serving(buoys, read_timeout=3) as client, psycopg.connect(buoys) as other:
        client.ok("/v1/search", q="buoy")
        other.execute("lock table pgrag.documents in access exclusive mode")
        problem(client.get("/v1/search?q=buoy"), 422, "took-too-long")
        other.rollback()
        client.ok("/v1/search", q="buoy")


@pytest.fixture
def ropes(database_url, connection):
    """A database with lines on which `SLOW` takes minutes."""
    drawn = random.Random(7)
    pages = [
        {
            "key": f"{number}.md",
            "title": "Rope",
            "body": f"Splice the rope {''.join(drawn.choices('abcdefgh', k=1000))}zz",
        }
        for number in range(20)
    ]
    connection.execute("select pgrag.ingest_pages('harbour', %s)", [Jsonb(pages)])
    connection.execute("select pgrag.embed_pending('harbour')")
    return database_url


SLOW = {"pattern": r"(.+)(.+)(.+)(.+)\1\2\3\4zz", "mode": "regex", "timeout_ms": "30000"}
TEXT = "/v1/libraries/harbour/text"


def eventually_idle(connection: psycopg.Connection) -> None:
    """Wait until no statement runs, for half a second."""
    deadline = time.monotonic() + 25  # less than SLOW may take
    quiet = 0
    while quiet < 10:
        quiet = 0 if running(connection) else quiet + 1
        assert time.monotonic() < deadline, "statements run on"
        time.sleep(0.05)


def test_costly_requests_delay_no_search(ropes, connection):
    with serving(ropes, pool_size=4, costly_pool_size=4, costly_timeout=30) as client:
        client.ok("/v1/search", q="rope")
        waiting = [client.start("GET", TEXT, params=SLOW) for _ in range(12)]
        eventually(lambda: running(connection) == 2)
        for number in range(3):
            client.ok("/v1/search", q=f"rope {number}", library="harbour")
        response = client.get(TEXT, pattern="rope")
        problem(response, 503, "busy")
        assert int(response.headers["retry-after"]) > 0
        assert {*statuses(waiting)} <= {503}, "it waited until a costly request had ended"
        connection.execute(RUNNING.replace("count(*)", "sum(pg_cancel_backend(pid)::int)"))
        wait(waiting, timeout=60)
        assert Counter(statuses(waiting)) == {503: 10, 422: 2}


def test_a_text_search_takes_no_longer_than_its_class_allows(ropes):
    with serving(ropes, costly_timeout=1.5) as client:
        told = problem(client.get(TEXT, **SLOW), 422, "took-too-long")
        assert "statement timeout" in told["detail"], "not its own 30 seconds"


@contextmanager
def abandoned(service: Service, request: str, connection: psycopg.Connection) -> Iterator[None]:
    """Twenty clients send a request, and are gone as soon as it runs."""
    url = service.http.base_url
    sockets = [socket.create_connection((url.host, url.port)) for _ in range(20)]
    for each in sockets:
        each.sendall(request.encode())
    eventually(lambda: running(connection) > 0)
    for each in sockets:
        each.close()
    yield


def test_a_get_of_clients_that_are_gone_is_cancelled(ropes, connection):
    request = f"GET {TEXT}?{urlencode(SLOW)} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with mcp_service(ropes) as service, abandoned(service, request, connection):
        eventually_idle(connection)
        found = service.http.get(TEXT, params={"pattern": "rope"})
        assert found.status_code == 200, found.text


ASKED = {"question": "rope", "library": "harbour"}
CALL = {
    "jsonrpc": "2.0", "id": 1, "method": "tools/call",
    "params": {"name": "search_docs", "arguments": {"library": "harbour", "query": "rope"}},
}  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "settings"),
    [
        ("/v1/search", {"query": "rope"}, {}),
        ("/v1/answer", ASKED, {}),
        ("/v1/answer", ASKED | {"stream": True}, {}),
        ("/mcp", CALL, {}),
        ("/mcp", CALL, {"mcp_writes": True}),
    ],
    ids=["search", "answer", "streamed answer", "tool", "tool with streams"],
)
def test_a_post_of_clients_that_are_gone_is_cancelled(ropes, connection, path, body, settings):
    written = json.dumps(body)
    request = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream;q=0.1\r\n"
        f"Content-Length: {len(written)}\r\n\r\n{written}"
    )
    model = {"llm_url": "http://127.0.0.1:9", "llm_model": "never-asked"}
    with (
        mcp_service(ropes, lock_timeout=60, read_timeout=60, **model, **settings) as service,
        psycopg.connect(ropes) as locking,
    ):
        assert service.http.get("/readyz").status_code == 200
        locking.execute("lock table pgrag.documents in access exclusive mode")
        with abandoned(service, request, connection):
            eventually_idle(connection)
            locking.rollback()
            assert service.http.get("/v1/search", params={"q": "rope"}).status_code == 200
