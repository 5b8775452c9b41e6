"""`pgrag` without any setting: it runs a PostgreSQL of its own."""

import os
import re
import shlex
import signal
from pathlib import Path

import psycopg
import pytest
from command_line import CommandLine, assert_complete, wait_for, write_pages

from pgrag.ground.embedded import EmbeddedServer


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A machine on which pgrag has never run; its server goes afterwards."""
    pgrag = CommandLine(tmp_path_factory.mktemp("fresh"), small_batches=True)
    try:
        yield pgrag
    finally:
        server_of(pgrag).remove()


def server_of(pgrag):
    return EmbeddedServer(Path(pgrag.environment["PGRAG_HOME"]))


def test_the_first_command_makes_all_that_it_needs(fresh, kestrel):
    assert fresh.json("db", "status")["running"] is False
    indexed = fresh.run("index", "kestrel@2.0", kestrel / "2.0")
    assert "Making a database in " in indexed.err
    assert "4 pages written" in indexed.out
    found = fresh.run("search", "restore a folder", "-n", "1")
    assert "kestrel 2.0 › Restore a folder" in found.out
    assert "database" not in found.err, "made once"


def test_it_stops_when_asked_and_comes_back_up_to_date_when_needed(fresh):
    assert "has stopped" in fresh.run("db", "stop").out
    assert "does not run" in fresh.run("db", "stop").out
    status = fresh.json("db", "status")
    assert (status["embedded"], status["running"]) == (True, False)
    url = fresh.run("db", "url", "--listen").out.strip()
    assert "@127.0.0.1:" in url
    with psycopg.connect(url) as connection:
        hits = connection.execute("select title from pgrag.search('restore')").fetchall()
    assert hits
    status = fresh.json("db", "status")
    assert (status["running"], status["state"]) == (True, "current")
    server = server_of(fresh)
    server.start()
    status = server.status()
    assert status.pid is not None
    os.kill(status.pid, signal.SIGSTOP)  # now it takes no request to shut down
    stopped = fresh.run("db", "stop").out
    assert "was ended at once" in stopped
    assert "recovers at its next start" in stopped
    assert "kestrel" in fresh.run("libraries").out
    with psycopg.connect(server_of(fresh).start(), autocommit=True) as connection:
        connection.execute("update pgrag.installed_functions set digest = 'another'")
    assert "ok      schema" in fresh.run("doctor").out
    assert "Bringing the database up to date." in fresh.run("libraries").err
    assert fresh.run("libraries").err == ""


def test_a_database_made_before_the_first_release_stays_until_it_is_removed(fresh):
    with psycopg.connect(server_of(fresh).start(), autocommit=True) as connection:
        connection.execute("update pgrag.alembic_version set version_num = '0047'")
    refused = fresh.run("libraries", code=1).err
    assert "was made by a version of pgrag before 0.1" in refused
    assert "up to date" not in refused
    [remedy, upgrade] = re.findall("`pgrag ([^`]+)`", refused)
    fresh.run(*shlex.split(remedy))
    fresh.run(*shlex.split(upgrade))
    assert fresh.json("libraries") == []


def test_a_database_that_goes_away_for_a_moment_does_not_end_a_run(fresh, tmp_path):
    server = server_of(fresh)
    url = server.start()
    source = write_pages(tmp_path / "pumps", 150)
    run = fresh.start("index", "pumps", source)
    wait_for(url, "select count(*) from pgrag.pages as p where p.key like '%/pump-%'", run, least=1)
    status = server.status()
    assert status.pid is not None
    os.kill(status.pid, signal.SIGQUIT)  # "immediate shutdown": as if it had crashed
    server.start()
    out, err = run.communicate()
    assert "Traceback" not in err
    if run.returncode != 0:
        # It had no retry where it was hit: a clear end, and the next run goes on.
        assert err.startswith("error: The database cannot be used"), err
        out = fresh.run("index", "pumps", source).out
    assert "150 pages written" in out or ", 0 removed" in out
    assert_complete(server.start(), library="pumps", pages=150)
