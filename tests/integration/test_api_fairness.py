"""What a caller takes of a service is not missing to another: shares of turns, lines, memory."""

import json
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from api_client import ApiClient, problem, serving
from api_corpus import ingest_buoys
from mcp_service import eventually

from pgrag.api import application
from pgrag.api.routes import health
from pgrag.service.access import Policy

TEXT = "/v1/libraries/harbour/text?pattern=buoy"
PAGE = "/v1/libraries/{}/versions/1/pages/{}.md"
RUNNING = (
    "select count(*) as n from pg_stat_activity where datname = current_database()"
    " and state = 'active' and application_name = 'pgrag'"
)
Asked = list[Future[httpx.Response]]


@pytest.fixture
def keys(database_url, connection):
    """The headers of two callers, by name."""
    ingest_buoys(connection)
    made = {}
    for name in ("greedy", "polite"):
        create = (
            "select pgrag.create_key(%s, 'write', '{*}', rate => 1000, concurrency => 100) as s"
        )
        [row] = connection.execute(create, [name]).fetchall()
        made[name] = {"Authorization": f"Bearer {row['s']}"}
    return made


@contextmanager
def service(url: str, **settings: object) -> Iterator[ApiClient]:
    with serving(url, policy=Policy(needs_key=True), **settings) as client:
        yield client


@contextmanager
def locked(url: str, statement: str) -> Iterator[psycopg.Connection]:
    """A session that holds a lock."""
    with psycopg.connect(url) as locking:
        locking.execute(statement.encode())
        yield locking
        locking.rollback()


def running(connection: psycopg.Connection) -> int:
    """How many statements of services run."""
    [row] = connection.execute(RUNNING).fetchall()
    return int(row["n"])


PATHS = {"read": "/v1/search?q=buoy", "costly": TEXT}


@pytest.mark.parametrize("work", ["read", "costly"])
def test_one_caller_has_half_of_a_class_and_another_the_other_half(
    database_url, connection, keys, work
):
    settings = {"pool_size": 2, "costly_pool_size": 4, "read_timeout": 60}
    with service(database_url, **settings) as client:
        assert client.request("GET", PATHS[work], headers=keys["polite"]).status_code == 200
        with locked(database_url, "lock table pgrag.documents in access exclusive mode"):
            asked = [client.start("GET", PATHS[work], headers=keys["greedy"]) for _ in range(12)]
            eventually(lambda: running(connection) == 2)
            other = [client.start("GET", PATHS[work], headers=keys["polite"]) for _ in range(12)]
            eventually(lambda: running(connection) == 4)
            assert not any(future.done() for future in (*asked[:2], *other[:2]))
        wait([*asked, *other], timeout=60)
        assert {future.result().status_code for future in (*asked[:2], *other[:2])} == {200}


def test_admissions_of_one_key_do_not_wait_for_those_of_another(database_url, connection, keys):
    with service(database_url, costly_pool_size=1) as client:
        for name in keys:
            assert client.request("GET", "/v1/libraries", headers=keys[name]).status_code == 200
        row = "(select key_id from pgrag.keys where name = 'greedy')"
        lock = f"select from pgrag.key_usage where key_id = {row} for update"
        with locked(database_url, lock):
            asked = [client.start("GET", "/v1/libraries", headers=keys["greedy"]) for _ in range(8)]
            eventually(lambda: running(connection) == 1)
            for _ in range(3):
                polite = client.request("GET", "/v1/search?q=buoy", headers=keys["polite"])
                assert polite.status_code == 200, polite.text
            assert running(connection) == 1
        wait(asked, timeout=60)


def test_made_up_secrets_are_those_of_one_caller(database_url, connection, keys):
    with service(database_url, costly_pool_size=1) as client:
        assert client.request("GET", "/v1/libraries", headers=keys["polite"]).status_code == 200
        with locked(database_url, "lock table pgrag.key_secrets in access exclusive mode"):
            for secret in made_up(8):
                client.start("GET", "/v1/libraries", headers={"Authorization": f"Bearer {secret}"})
            eventually(lambda: running(connection) == 1)
            known = client.start("GET", "/v1/libraries", headers=keys["polite"])
            eventually(lambda: running(connection) == 2)
        assert known.result(60).status_code == 200


def made_up(count: int) -> Iterator[str]:
    """Secrets with the right checksum that no key has."""
    import hashlib  # noqa: PLC0415

    for number in range(count):
        body = f"pgrag_sk_{number:064x}"
        yield body + hashlib.sha256(body.encode()).hexdigest()[:8]


def put(client: ApiClient, library: str, page: str, caller: dict[str, str]) -> Future:
    return client.start("PUT", PAGE.format(library, page), content=f"# {page}", headers=caller)


def test_a_page_that_is_read_holds_no_library_and_no_connection(
    database_url, connection, keys, tmp_path
):
    with service(database_url, costly_pool_size=2) as client:
        children = client.app._kept_children()
        pipes = [tmp_path / f"pipe{number}" for number in range(children.most)]
        for pipe in pipes:
            os.mkfifo(pipe)
        blocked = [children.submit(Path.read_text, pipe) for pipe in pipes]
        waiting = [put(client, "harbour", f"new{n}", keys["greedy"]) for n in range(6)]
        for number in range(3):
            changed = client.request(
                "PATCH", "/v1/libraries/harbour/synonyms", headers=keys["polite"],
                json={"synonyms": {f"word{number}": ["other"]}},
            )  # fmt: skip
            assert changed.status_code == 200, changed.text
        eventually(lambda: running(connection) == 0)
        assert not any(future.done() for future in waiting)
        for pipe in pipes:
            threading.Thread(target=pipe.write_text, args=[""], daemon=True).start()
        wait([*blocked, *waiting], timeout=60)
        assert {future.result().status_code for future in waiting} == {200}


def test_who_waits_for_a_library_holds_no_connection(database_url, connection, keys):
    lock = "select from pgrag.libraries where name = 'harbour' for no key update"
    settings = {"costly_pool_size": 2, "lock_timeout": 60}
    with service(database_url, **settings) as client, locked(database_url, lock) as locking:
        waiting = [put(client, "harbour", f"new{n}", keys["greedy"]) for n in range(3)]
        waiting += [
            client.start(
                "PATCH", "/v1/libraries/harbour/synonyms", headers=caller,
                json={"synonyms": {"PTO": ["leave"]}},
            )
            for caller in keys.values()
        ]  # fmt: skip
        for number in range(3):
            assert put(client, "other", f"new{number}", keys["polite"]).result(60).is_success
        assert not any(future.done() for future in waiting)
        locking.rollback()
        wait(waiting, timeout=60)
        assert {future.result().status_code for future in waiting} == {200}


def test_a_library_that_stays_taken_is_busy(database_url, keys):
    lock = "select from pgrag.libraries where name = 'harbour' for no key update"
    with service(database_url, lock_timeout=0.3) as client, locked(database_url, lock):
        path, entries = "/v1/libraries/harbour/synonyms", {"synonyms": {"PTO": ["leave"]}}
        refused = client.request("PATCH", path, json=entries, headers=keys["polite"])
        assert "in the way" in problem(refused, 503, "busy")["detail"]
        assert int(refused.headers["retry-after"]) > 0


def test_nobody_waits_for_a_library_that_it_does_not_see(database_url, connection, keys):
    create = "select pgrag.create_key('outsider', 'write', '{other}') as s"
    [row] = connection.execute(create).fetchall()
    outsider = {"Authorization": f"Bearer {row['s']}"}
    entries = {"json": {"synonyms": {"PTO": ["leave"]}}, "headers": outsider}
    lock = "select from pgrag.libraries where name = 'harbour' for no key update"
    with service(database_url, lock_timeout=60) as client, locked(database_url, lock):
        hidden, missing = (
            client.request("PATCH", f"/v1/libraries/{name}/synonyms", **entries)
            for name in ("harbour", "nothing")
        )
        assert hidden.status_code == missing.status_code == 404
        assert hidden.text.replace("harbour", "nothing") == missing.text


def test_bodies_in_memory_are_shared(database_url, keys, monkeypatch):
    """Half of the bytes of bodies are for others."""
    monkeypatch.setattr(application, "MOST_BODIES", 1)
    with service(database_url, max_page_bytes=1000) as client:

        def searched(name: str, size: int) -> httpx.Response:
            body = json.dumps({"query": "buoy", "filters": {"front_matter.x": "x" * size}})
            return client.request("POST", "/v1/search", content=body, headers={
                "Content-Type": "application/json", **keys[name]
            })  # fmt: skip

        refused = searched("greedy", 600_000)
        assert refused.status_code == 503, refused.text
        assert "of this caller" in refused.json()["detail"]
        assert int(refused.headers["retry-after"]) > 0
        assert searched("polite", 300_000).status_code != 503
        assert searched("greedy", 300_000).status_code != 503, "they were given back"


def test_many_questions_whether_it_is_ready_are_one_check(database_url, connection, monkeypatch):
    checks = []
    check = health._findings
    monkeypatch.setattr(health, "_findings", lambda *given: checks.append(1) or check(*given))
    with serving(database_url) as client:
        with locked(database_url, "lock table pgrag.embedding_models in access exclusive mode"):
            asked = [client.start("GET", "/readyz") for _ in range(50)]
            eventually(lambda: running(connection) > 0)
        assert {future.result(60).status_code for future in asked} == {200}
        assert len(checks) <= 2
