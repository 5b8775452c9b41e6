"""Reading from standbys, on real ones: what goes where, and what a lost server costs."""

import os
import signal
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import psycopg
import pytest
from api_client import serving
from api_corpus import indexed
from campaign import corpus
from campaign.functions import callers
from campaign.servers import Session
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrag.ground import errors, replicas
from pgrag.ground.connections import Database
from pgrag.ground.counts import counted
from pgrag.ground.replicas import Replicas, Seen, aside, on_primary, seeing
from pgrag.ground.settings import Settings
from pgrag.ground.standbys import standings
from pgrag.service.app import App
from servers import embedded
from standbys import following, until

VOLATILITY = "select proname, provolatile from pg_proc where pronamespace = 'pgrag'::regnamespace"
SESSIONS = "count(*) from pg_stat_activity where application_name = 'pgrag'"
SYNONYMS = "/v1/libraries/harbour/synonyms"


@contextmanager
def reading(primary, *urls):
    """A database whose functions that only read are called on other servers."""
    with (
        Database(primary, pool_size=2, replicas=Replicas(together(*urls), pool_size=2)) as database,
        seeing(Seen()),
    ):
        yield database


def together(*urls):
    """The URL of several servers."""
    given = [conninfo_to_dict(url) for url in urls]
    lists = {name: ",".join(str(one[name]) for one in given) for name in ("host", "port")}
    return make_conninfo("", **given[0] | lists)


def unanswered():
    """How many reads a standby did not answer, by the reason."""
    return {dict(labels)["reason"]: times for labels, times in counted("replica_failures").items()}


def names(database):
    return {row["library"] for row in database.call("libraries")}


def written(url, library):
    """Make a library on the primary, as others do."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "select pgrag.ingest_pages(%s, %s::jsonb)",
            [library, '[{"key": "a.md", "body": "A crane lifts containers."}]'],
        )


def test_a_standby_answers_every_function_that_only_reads(primary, standby):
    known = corpus.build(primary)
    standby.follow(primary)
    called, usual = callers(primary, Random(1), known)
    with psycopg.connect(primary) as connection:
        volatile = dict(connection.execute(VOLATILITY))
    with closing(Session(standby.url, ["set statement_timeout = 0"])) as session:
        states = {}
        for routine in called:
            for _ in range(10):
                arguments = {
                    name: usual.usual(name, type_)
                    for name, type_ in [*routine.types.items()][: routine.required]
                }
                state = session.ask(routine.statement(arguments)).state
                states.setdefault(routine.name, set()).add(state)
    assert "25006" in states["create_job"]
    assert not {
        name: found
        for name, found in states.items()
        if volatile[name] != "v" and not all(s is None or s.startswith("PGR") for s in found)
    }


def test_what_only_reads_goes_to_a_standby_and_what_writes_to_the_primary(primary, standby):
    with reading(primary, standby.url) as database, standby.delayed():
        before = names(database)
        database.call("set_synonyms", library="harbour", synonyms={"quay": ["wharf"]})
        written(primary, "crane")
        with seeing(Seen()):
            assert names(database) == before
        with seeing(Seen()), on_primary():
            assert names(database) == before | {"crane"}
        with Database(primary) as alone:
            assert names(alone) == before | {"crane"}
    standby.follow(primary)


def test_a_caller_sees_what_it_has_written(primary, standby):
    with reading(primary, standby.url) as database:
        late = unanswered()
        for number in range(5):
            database.call(
                "ingest_pages", library=f"dock-{number}", pages=[{"key": "a", "body": "b"}]
            )
            assert f"dock-{number}" in names(database)
        # The standby followed in time.
        assert unanswered() == late
        with standby.delayed():
            database.call("ingest_pages", library="lock", pages=[{"key": "a", "body": "b"}])
            assert "lock" in names(database)
            assert unanswered()["behind"] == late.get("behind", 0) + 1
            position = database.position()
            with seeing(Seen()):
                assert database.position() is None
                assert "lock" not in names(database)
            with seeing(Seen(position)):
                assert "lock" in names(database)
    standby.follow(primary)


def test_no_read_waits_for_a_record(primary, standby):
    with reading(primary, standby.url) as database, standby.delayed():
        with aside():
            database.call("record_search", query="quay", hits=[])
        late = unanswered()
        names(database)
        assert database.position() is None
        assert unanswered() == late


def test_what_a_standby_does_not_know_yet_the_primary_says(primary, standby):
    with reading(primary, standby.url) as database, standby.delayed():
        written(primary, "sluice")
        [row] = database.call("library_versions", library="sluice")
        assert row["pages"] == 1
        with pytest.raises(errors.UnknownLibrary):
            database.call("library_versions", library="nowhere")
    standby.follow(primary)


def test_another_server_answers_for_one_that_is_lost(primary, standby):
    with following(primary) as second, reading(primary, second.url, standby.url) as database:
        for killed in (False, True):
            if killed:
                second.kill()
            before = unanswered()
            for _ in range(6):
                assert database.call("search", query="moorings", library="harbour")
            assert unanswered().get("behind", 0) == before.get("behind", 0)
        # One attempt finds its connection lost, the next asks the other standby.
        assert unanswered().get("lost", 0) <= before.get("lost", 0) + 1
        assert standby.ask(f"select {SESSIONS}") > 0


def test_the_primary_answers_while_no_standby_does(primary, monkeypatch):
    monkeypatch.setattr(replicas, "_PAUSE", 2.0)
    with following(primary) as only, reading(primary, only.url) as database:
        assert database.call("search", query="moorings", library="harbour")
        only.kill()
        before = unanswered().get("lost", 0)
        for _ in range(5):
            assert database.call("search", query="moorings", library="harbour")
        # It is not asked again for a while.
        assert unanswered()["lost"] == before + 1
        only.restart()

        def is_read():
            database.call("search", query="moorings", library="harbour")
            return only.ask(f"select {SESSIONS}") > 0

        until(is_read)


def test_a_promoted_standby_answers_on(primary):
    with following(primary) as promoted, reading(primary, promoted.url) as database:
        expected = database.call("search", query="moorings", library="harbour")
        promoted.promote()
        before = unanswered()
        assert database.call("search", query="moorings", library="harbour") == expected
        assert unanswered() == before
        [standing] = standings(primary, promoted.url)
        assert (standing.level, standing.lag_bytes) == ("wrong", None)
        assert "promoted" in standing.message


def test_searches_go_on_without_a_primary_and_after_its_standby_took_over(tmp_path):
    with embedded() as url:
        with App(Settings(database_url=url)) as app:
            app.upgrade()
        indexed(url, tmp_path)
        with psycopg.connect(url) as connection:
            [data] = connection.execute("show data_directory").fetchone()
        with following(url) as first:
            both = together(url, first.url)
            settings = {"read_url": first.url, "record_searches": True}
            with serving(f"{both} target_session_attrs=read-write", **settings) as api:

                def search():
                    return api.get("/v1/search", q="moorings", library="harbour")

                hits = search().json()["hits"]
                assert hits
                assert api.get("/readyz").status_code == 200
                postmaster = int((Path(data) / "postmaster.pid").read_text().split()[0])
                os.kill(postmaster, signal.SIGKILL)
                until(lambda: not answers(url))
                for _ in range(3):
                    found = search()
                    assert found.status_code == 200, found.text
                    assert keys(found.json()["hits"]) == keys(hits)
                    assert found.json()["search_id"] is None
                ready = api.get("/readyz")
                assert ready.status_code == 200
                assert ready.json()["findings"][0]["level"] == "warning"
                first.promote()
                until(lambda: not first.ask("select pg_is_in_recovery()"))
                until(lambda: search().json()["search_id"] is not None)
                sent = api.request("PATCH", SYNONYMS, json={"synonyms": {"quay": ["wharf"]}})
                assert sent.status_code == 200, sent.text


def keys(hits):
    return [(hit["document_id"], hit["score"]) for hit in hits]


def answers(url):
    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True
