"""Campaigns that kill and restore: they pass, and report what they are there to find."""

import psycopg
import pytest
from campaign import corpus, jobs, kills, restore

from pgrag.ground import routines, schema
from pgrag.ground.embedded import EmbeddedServer


def test_a_kill_of_each_kind_leaves_the_library_whole():
    outcome = kills.run(count=4, seed=3)
    assert sum(outcome.counts.values()) == 4
    assert outcome.faults == []


def test_what_a_kill_leaves_behind_is_reported(monkeypatch):
    """A page that is gone after each kill, as if a transaction had been torn."""
    check = kills._check

    def after_loss(url, expected):
        with psycopg.connect(url) as connection:
            connection.execute(
                "delete from pgrag.embeddings where document_id ="
                " (select min(document_id) from pgrag.embeddings)"
            )
        return check(url, expected)

    monkeypatch.setattr(kills, "_check", after_loss)
    [fault] = kills.run(count=1, seed=1).faults
    assert "embeddings: 1 rows lost" in fault
    assert "check_library" in fault


def test_a_job_outlives_a_disturbance_of_each_kind():
    outcome = jobs.run(count=6, seed=1)
    assert outcome.faults == []
    assert set(outcome.counts.values()) == {1}


def test_what_a_disturbed_worker_does_twice_or_loses_is_reported(monkeypatch):
    run = jobs._until_ended

    def and_again(app, job):
        state = run(app, job)
        with psycopg.connect(app.url) as connection:
            connection.execute(
                "with gone as (delete from pgrag.embeddings where document_id ="
                " (select min(document_id) from pgrag.embeddings) returning *)"
                " insert into public.embedded select library_id, null, 1, 'a' from gone, "
                " generate_series(1, 2)"
            )
        return state

    monkeypatch.setattr(jobs, "_until_ended", and_again)
    monkeypatch.setattr(jobs, "CASES", ("killed",))
    faults = " ".join(jobs.run(count=1, seed=1).faults)
    assert "1 texts were embedded twice" in faults
    assert "embeddings: 1 rows lost" in faults
    assert "check_library" in faults


@pytest.fixture
def other_server(tmp_path):
    server = EmbeddedServer(tmp_path / "other")
    yield server
    server.remove()


def test_a_dump_restored_on_another_server_can_be_used_by_its_roles(database_url, other_server):
    corpus.build(database_url)
    other = other_server.start()
    restore.restore(database_url, other)
    assert restore.compared(database_url, other) == []
    with psycopg.connect(other) as connection:
        connection.execute("create role guest in role pgrag_reader")
        connection.execute("select pgrag.grant_libraries('guest', '{pump}')")
        connection.execute("set local session authorization guest")
        found = connection.execute("select library from pgrag.search('valve')").fetchall()
        assert {*found} == {("pump",)}
    with psycopg.connect(other) as connection:
        connection.execute("update pgrag.pages set title = 'Else' where key = 'install.md'")
        connection.execute("drop policy visible on pgrag.pages")
    faults = restore.compared(database_url, other)
    assert {"pages", "definitions"} <= {fault.partition(":")[0] for fault in faults}


def test_grants_that_a_dump_lacks_come_with_an_upgrade(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("revoke usage on schema pgrag, _pgrag from public")
        schema.upgrade(database_url)
        assert connection.execute(
            "select has_schema_privilege('public', 'pgrag', 'usage'),"
            " has_schema_privilege('public', '_pgrag', 'usage')"
        ).fetchone() == (True, True)
        assert not routines.install_functions(connection, schema.sql_root())
