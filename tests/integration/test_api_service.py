"""The service under load, without its database, and beside one that does not fit."""

import json
import logging
from concurrent.futures import wait

import httpx
import psycopg
import pytest
from api_client import problem, serving
from api_corpus import ingest_buoys
from mcp_service import eventually
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from pgrag.ground.settings import Settings
from pgrag.service.app import App


def test_alive_and_ready(harbour):
    assert harbour.ok("/healthz") == {"status": "ok"}
    ready = harbour.ok("/readyz")
    assert ready["status"] == "ready"
    assert [finding["name"] for finding in ready["findings"]] == ["database", "schema", "model"]
    assert all(finding["level"] == "ok" for finding in ready["findings"])
    problem(harbour.get("/healthz?verbose=1"), 422, "invalid-request")


def test_the_answer_says_how_long_the_database_took(harbour):
    timing = harbour.get("/v1/search", q="tide").headers["server-timing"]
    name, _, duration = timing.partition(";dur=")
    assert name == "db"
    assert 0 < float(duration) < 60_000


def test_fifty_searches_at_once_share_three_connections(database_url, connection):
    ingest_buoys(connection)
    with serving(database_url, pool_size=3) as client:
        expected = {
            number: [h["document_id"] for h in client.ok("/v1/search", q=f"buoy {number}")["hits"]]
            for number in range(5)
        }
        started = [
            client.start("GET", "/v1/search", params={"q": f"buoy {number % 5}"})
            for number in range(50)
        ]
        wait(started, timeout=60)
        for number, future in enumerate(started):
            response = future.result()
            assert response.status_code == 200, response.text
            assert [hit["document_id"] for hit in response.json()["hits"]] == expected[number % 5]
        row = connection.execute(
            "select count(*) as n from pg_stat_activity"
            " where datname = current_database() and application_name = 'pgrag'"
        ).fetchone()
        assert 1 <= row["n"] <= 3


def test_requests_wait_for_a_busy_database_and_health_does_not(database_url, connection):
    ingest_buoys(connection)
    with serving(database_url, pool_size=2) as client, psycopg.connect(database_url) as locking:
        client.ok("/readyz")
        locking.execute("lock table pgrag.documents in access exclusive mode")
        waiting = [client.start("GET", "/v1/search?q=buoy") for _ in range(6)]
        eventually(lambda: len(blocked(connection)) == 2)
        assert client.ok("/healthz") == {"status": "ok"}
        assert not any(future.done() for future in waiting)
        assert len(blocked(connection)) == 2, "one caller has half of the connections"
        locking.rollback()
        wait(waiting, timeout=60)
        assert {future.result().status_code for future in waiting} == {200}


def blocked(connection: psycopg.Connection) -> list[object]:
    return connection.execute(
        "select pid from pg_stat_activity where datname = current_database()"
        " and wait_event_type = 'Lock'"
    ).fetchall()


def test_shutting_down_closes_every_connection(database_url, connection):
    with serving(database_url) as client:
        client.ok("/v1/libraries")
    count = "select count(*) as n from pg_stat_activity where datname = %s and pid <> %s"
    arguments = [connection.info.dbname, connection.info.backend_pid]
    eventually(lambda: connection.execute(count, arguments).fetchone() == {"n": 0})


@pytest.fixture
def closable(database_url, admin):
    """A database that can be closed to everybody, and its name."""
    name = str(conninfo_to_dict(database_url)["dbname"])
    yield database_url, name
    allow_connections(admin, name, allowed=True)


def allow_connections(admin: psycopg.Connection, name: str, *, allowed: bool) -> None:
    admin.execute(
        sql.SQL("alter database {} allow_connections {}").format(
            sql.Identifier(name), sql.Literal(allowed)
        )
    )
    if not allowed:
        admin.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
        )


def test_a_database_that_goes_away_and_comes_back(closable, admin):
    url, name = closable
    with serving(url) as client:
        client.ok("/v1/libraries")
        allow_connections(admin, name, allowed=False)
        for address in ("/v1/libraries", "/v1/search?q=tide", "/v1/pages/1"):
            response = client.get(address)
            document = problem(response, 503, "database-unavailable")
            assert int(response.headers["retry-after"]) > 0
            assert name not in json.dumps(document)
        assert client.ok("/healthz") == {"status": "ok"}
        not_ready = problem(client.get("/readyz"), 503, "not-ready")
        assert [finding["name"] for finding in not_ready["findings"]] == ["database"]
        allow_connections(admin, name, allowed=True)
        assert client.ok("/v1/libraries") == {"libraries": []}
        assert client.ok("/readyz")["status"] == "ready"


def test_a_database_that_is_not_there_at_the_start(closable, admin):
    url, name = closable
    allow_connections(admin, name, allowed=False)
    with serving(url) as client:
        assert client.ok("/healthz") == {"status": "ok"}
        problem(client.get("/readyz"), 503, "not-ready")
        problem(client.get("/v1/search?q=tide"), 503, "database-unavailable")
        allow_connections(admin, name, allowed=True)
        assert client.ok("/v1/search?q=tide")["hits"] == []


def test_an_address_where_nothing_listens():
    with serving("postgresql://nobody:secret@127.0.0.1:9/nothing") as client:
        response = client.get("/v1/search?q=tide")
        problem(response, 503, "database-unavailable")
        assert "secret" not in response.text + client.get("/readyz").text


def test_a_database_without_a_schema(empty_database_url):
    with serving(empty_database_url) as client:
        for address in ("/v1/search?q=tide", "/v1/libraries", "/v1/documents/1"):
            document = problem(client.get(address), 503, "schema-outdated")
            assert "pgrag db upgrade" in document["hint"]
        ready = problem(client.get("/readyz"), 503, "not-ready")
        assert [finding["level"] for finding in ready["findings"]] == ["ok", "wrong"]
        assert "pgrag db upgrade" in ready["findings"][1]["remedy"]
        with App(Settings(database_url=empty_database_url)) as app:
            app.upgrade()
        assert client.ok("/v1/libraries") == {"libraries": []}
        assert client.ok("/readyz")["status"] == "ready"


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        ("update pgrag.installed_functions set digest = 'of yesterday'", "schema-outdated"),
        ("update pgrag.alembic_version set version_num = '9999_later'", "schema-too-new"),
    ],
)
def test_a_database_of_another_version(database_url, connection, change, slug):
    connection.execute(change)
    with serving(database_url) as client:
        document = problem(client.get("/v1/search?q=tide"), 503, slug)
        assert document["hint"]
        ready = problem(client.get("/readyz"), 503, "not-ready")
        assert ready["findings"][1] == {
            "name": "schema",
            "level": "wrong",
            "message": ready["findings"][1]["message"],
            "remedy": document["hint"],
        }


def test_a_database_without_the_built_in_model(database_url, connection):
    connection.execute("delete from pgrag.model_tokens")
    with serving(database_url) as client:
        ready = problem(client.get("/readyz"), 503, "not-ready")
    assert [finding["level"] for finding in ready["findings"]] == ["ok", "ok", "wrong"]
    assert "pgrag db upgrade" in ready["findings"][2]["remedy"]


def test_other_origins_may_ask_only_where_they_are_named(database_url):
    origin = {"Origin": "https://docs.example"}
    preflight = {**origin, "Access-Control-Request-Method": "POST"}

    def allowed(response: httpx.Response) -> str | None:
        return response.headers.get("access-control-allow-origin")

    with serving(database_url) as client:
        assert allowed(client.request("GET", "/v1/libraries", headers=origin)) is None
        problem(
            client.request("OPTIONS", "/v1/search", headers=preflight), 405, "method-not-allowed"
        )
    with serving(database_url, cors_origins=("https://docs.example",)) as client:
        response = client.request("GET", "/v1/libraries", headers=origin)
        assert allowed(response) == "https://docs.example"
        assert allowed(client.request("OPTIONS", "/v1/search", headers=preflight)) is not None
        stranger = {"Origin": "https://elsewhere.example"}
        assert allowed(client.request("GET", "/v1/libraries", headers=stranger)) is None


def test_a_query_that_the_model_cannot_embed_is_searched_by_words(database_url, connection, caplog):
    caplog.set_level(logging.WARNING)
    ingest_buoys(connection)
    connection.execute("select pgrag.register_model('elsewhere', 8)")
    connection.execute("select pgrag.use_model('harbour', 'elsewhere')")
    with serving(database_url) as client:
        found = client.ok("/v1/search", q="buoy", library="harbour")
    assert found["hits"]
    assert any("elsewhere" in notice for notice in found["notices"])
