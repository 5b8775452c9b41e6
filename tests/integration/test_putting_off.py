"""A run that stores much puts the HNSW index off and builds it at its end, or the next run does."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from embedding_server import answer, serving
from pgvector import HalfVector
from pipeline_runs import Recorder, index, is_complete, write
from psycopg.conninfo import make_conninfo

from pgrag.ground.connections import Database
from pgrag.ground.errors import EmbeddingError
from pgrag.ground.settings import Settings
from pgrag.ingest import vector_index
from pgrag.ingest.vector_index import LEAST_VECTORS, VectorIndex
from pgrag.service.app import App
from pgrag.service.doctor import findings

BUILTIN = "static-en-de-ru-256"
#: Indexes a folder until the model is asked for vectors, and then waits to be killed.
STUCK = """
import sys, threading
from pathlib import Path
from pipeline_runs import Recorder, index
from pgrag.ground.connections import Database

def wait():
    print("embedding", flush=True)
    threading.Event().wait()

embedder = Recorder()
embedder.before = wait
index(Database(sys.argv[1]), embedder, Path(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def builtin():
    return Recorder()


@pytest.fixture
def embedder(builtin):
    builtin.before = lambda: None
    return builtin


@pytest.fixture
def folder(tmp_path):
    """A page of more passages than are inserted one by one."""
    write(tmp_path / "docs", {"valves.md": sections(LEAST_VECTORS + 10)})
    return tmp_path / "docs"


@pytest.fixture
def little(tmp_path):
    write(tmp_path / "little", {"pump.md": sections(3)})
    return tmp_path / "little"


def fail():
    raise EmbeddingError("The model is away.")


def sections(count):
    return "\n\n".join(f"## Valve {n}\n\nClose valve {n} before the pump." for n in range(count))


def state(database, model=BUILTIN):
    [row] = database.call("vector_index_state", model=model)
    return row


def told(database):
    """What the doctor says of vector indexes: level and remedy."""
    found = findings(database.url, is_embedded=False, models=[BUILTIN, "endpoint"])
    return [(one.level, one.remedy) for one in found if one.name == "vector index"]


def test_it_is_put_off_while_much_is_loaded(database, embedder, folder):
    during = []

    def look():
        row = state(database)
        during.append((row["valid"], row["put_off"], told(database)))

    embedder.before = look
    index(database, embedder, folder)
    assert during == [(None, True, [("warning", "Wait for its end.")])] * len(during) != []
    after = state(database)
    assert (after["valid"], after["put_off"]) == (True, False)
    assert told(database) == []
    assert is_complete(database)


def test_little_is_inserted(database, embedder, little):
    before = built(database)
    embedder.before = lambda: during.append(state(database)["valid"])
    during = []
    index(database, embedder, little)
    assert during
    assert all(during)
    assert built(database) == before


def test_a_run_does_not_wait_for_a_build_in_another_one(database, embedder, little):
    """Which would wait for it: the builder has the lock of the vectors and waits for snapshots."""
    waits = make_conninfo(database.url, options="-c lock_timeout=2s")
    with psycopg.connect(database.url) as builder, Database(waits, pool_size=4) as impatient:
        builder.execute("lock table pgrag.embeddings in share update exclusive mode")
        assert index(impatient, embedder, little).written == 1


def built(database):
    """The id of the index: another one after every build."""
    [row] = database.query(
        "select i.indexrelid::bigint as id from pg_index as i join pg_class as c"
        " on c.oid = i.indexrelid where c.relname ~ '^embeddings_hnsw_' order by 1"
    )
    return int(row["id"])


@pytest.fixture
def killed(database_url, folder):
    """A run that was killed when it had put the index off."""
    with subprocess.Popen(
        [sys.executable, "-c", STUCK, database_url, str(folder)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout.readline() == "embedding\n"
        run.send_signal(signal.SIGKILL)
    with psycopg.connect(database_url, autocommit=True) as connection:
        # The server notices a moment later.
        for _ in range(1200):
            others = connection.execute(
                "select pg_sleep(0.05) from pg_stat_activity as a"
                " where a.datname = current_database() and a.pid <> pg_backend_pid()"
                " and a.backend_type = 'client backend'"
            ).fetchall()
            if not others:
                break


class TestAfterKill9:
    def test_searches_scan_until_the_next_run_builds_it(self, killed, database, embedder, folder):
        row = state(database)
        assert (row["valid"], row["put_off"]) == (None, False)
        [(level, remedy)] = told(database)
        assert level == "wrong"
        assert "`pgrag embed guide`" in remedy
        assert database.call("search", query="close a valve", library="guide")
        index(database, embedder, folder)
        assert state(database)["valid"] is True
        assert told(database) == []
        assert is_complete(database)

    @pytest.mark.parametrize("is_advised", [False, True])
    def test_so_does_another_run_or_advice(
        self, killed, database_url, database, little, is_advised
    ):
        with App(Settings(database_url=database_url)) as app:
            _ = app.embed("guide") if is_advised else app.index("other", "", str(little))
        assert state(database)["valid"] is True
        assert told(database) == []


def test_what_the_server_builds_for_a_killed_run_is_left_to_it(database, embedder, folder, little):
    """The lock of a killed run is gone at once; its statement goes on."""
    index(database, embedder, folder)
    with (
        psycopg.connect(database.url) as backup,
        psycopg.connect(database.url, autocommit=True) as orphan,
    ):
        orphan.execute(state(database)["drop_statement"])
        backup.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        backup.execute("select from pgrag.libraries")
        create = state(database)["create_statement"]
        builder = threading.Thread(target=orphan.execute, args=[create])
        builder.start()
        while state(database)["valid"] is None:
            time.sleep(0.01)
        assert state(database)["may_build"] is False
        index(database, embedder, little)
        assert state(database)["valid"] is False
        backup.rollback()
        builder.join()
    assert state(database)["valid"] is True


def test_a_run_that_fails_or_is_killed_leaves_it_to_the_next(database, embedder, folder):
    embedder.before = fail
    with pytest.raises(EmbeddingError):
        index(database, embedder, folder)
    row = state(database)
    assert (row["valid"], row["put_off"]) == (None, False)
    embedder.before = lambda: None
    index(database, embedder, folder)
    assert state(database)["valid"] is True
    before = built(database)
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("update pg_index set indisvalid = false where indexrelid = %s", [before])
    assert state(database)["valid"] is False
    [(level, _)] = told(database)
    assert level == "wrong"
    index(database, embedder, folder)
    assert state(database)["valid"] is True
    assert built(database) != before


def test_an_earlier_session_is_not_waited_for_long(database, embedder, folder, monkeypatch):
    monkeypatch.setattr(vector_index, "PATIENCE", "100ms")
    with psycopg.connect(database.url) as backup:
        backup.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        backup.execute("select from pgrag.libraries")
        index(database, embedder, folder)
        assert state(database)["valid"] is False
        assert told(database)[0][0] == "wrong"
    index(database, embedder, folder)
    assert state(database)["valid"] is True


def test_others_leave_it_to_the_run_that_put_it_off(database, embedder, folder, database_url):
    index(database, embedder, folder)
    with Database(database_url) as other:
        loading, small = (
            VectorIndex(connected, BUILTIN, "guide") for connected in (database, other)
        )
        loading.expect(10_000)
        assert state(database)["valid"] is None
        assert small.build() is False
        small.expect(10_000)
        assert small.build() is False
        assert loading.build() is True
        assert small.build() is False
        assert state(database)["valid"] is True


def test_a_library_embedded_by_another_model(database_url, database, embedder, folder):
    index(database, embedder, folder)
    during = []

    def look(handler, payload):
        if len(payload["input"]) > 1:  # not the question for the dimensions
            during.append(state(database, "endpoint")["valid"])
        answer(handler, payload)

    with serving(look) as server:
        settings = Settings(
            database_url=database_url, embedding_url=server.url, embedding_model="endpoint"
        )
        with App(settings) as app:
            app.embed("guide", "endpoint")
    assert during
    assert set(during) == {None}
    assert state(database, "endpoint")["valid"] is True
    assert state(database)["valid"] is True


@pytest.fixture
def few(database):
    let_be_many(database, 41)


def let_be_many(database, passages):
    """Let a run call so many passages many."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("alter function _pgrag.default_settings() rename to shipped_settings")
        connection.execute(
            "create function _pgrag.default_settings() returns jsonb immutable language sql as"
            " $$ select _pgrag.shipped_settings()"
            f" || jsonb_build_object('exact_limit', {passages - 1}) $$"
        )


def own(database, library):
    [row] = database.call("vector_index_state", model=BUILTIN, library=library)
    return row


class TestOfALargeLibrary:
    def test_it_is_made_and_dropped_when_it_is_small(self, database, embedder, folder, few):
        index(database, embedder, folder)
        state = own(database, "guide")
        assert (state["owner"], state["valid"]) == ("guide", True)
        assert [row["own_index"] for row in placed(database)] == [True]
        found = findings(database.url, is_embedded=False, models=[BUILTIN])
        [told] = [one for one in found if one.name == "vector index"]
        assert (told.level, "in guide have an index of their own" in told.message) == ("ok", True)
        write(folder, {"valves.md": sections(3)})
        index(database, embedder, folder)
        assert own(database, "guide")["owner"] is None
        assert [row["own_index"] for row in placed(database)] == [False]
        names = database.query(
            "select c.relname as name from pg_class as c where c.relname ~ '^embeddings_hnsw_'"
        )
        assert [row["name"] for row in names] == ["embeddings_hnsw_1"]

    def test_the_shared_one_gets_none_of_its_vectors(self, database, embedder, folder):
        """Nor those of the first batch, of 1,500: the number of files tells."""
        let_be_many(database, 4000)
        for number in range(1500):
            (folder / f"{number}.md").write_text(sections(2), encoding="utf-8")
        during = []
        embedder.before = lambda: during.append(placed(database))
        index(database, embedder, folder)
        assert len(during) > 2
        assert all([row["own_index"] for row in rows] in ([], [True]) for rows in during)

    def test_what_a_killed_run_put_off_is_built_by_the_next(self, database, embedder, folder, few):
        embedder.before = fail
        with pytest.raises(EmbeddingError):
            index(database, embedder, folder)
        assert own(database, "guide")["valid"] is None
        assert ("wrong", "`pgrag embed guide`") in [
            (level, re.search("`[^`]*`", remedy)[0]) for level, remedy in told(database)
        ]
        embedder.before = lambda: None
        index(database, embedder, folder)
        assert own(database, "guide")["valid"] is True

    def test_every_model_with_vectors_of_the_library_has_one(self, database, embedder, folder):
        index(database, embedder, folder)
        let_be_many(database, 41)
        database.call("register_model", name="tiny", dimensions=2)
        texts = database.call("pending_embeddings", library="guide", model="tiny")
        with closing(VectorIndex(database, "tiny", "guide")) as indexes:
            indexes.expect(len(texts))
            database.call(
                "store_embeddings",
                library="guide",
                model="tiny",
                text_hashes=[row["text_hash"] for row in texts],
                vectors=[HalfVector([1, n]) for n in range(len(texts))],
            )
            indexes.place()
            assert indexes.build() is True
        for model in (BUILTIN, "tiny"):
            [state] = database.call("vector_index_state", model=model, library="guide")
            assert (state["owner"], state["valid"]) == ("guide", True)

    def test_passages_without_a_vector_count_once(self, database, embedder, folder):
        index(database, embedder, folder)
        let_be_many(database, 2 * LEAST_VECTORS)
        with closing(VectorIndex(database, BUILTIN, "guide")) as indexes:
            indexes.expect(LEAST_VECTORS)
        assert own(database, "guide")["owner"] is None

    def test_it_stays_while_another_run_loads_the_library(
        self, database, embedder, little, few, database_url
    ):
        index(database, embedder, little)
        with Database(database_url) as other:
            loading, small = (
                VectorIndex(connected, BUILTIN, "guide") for connected in (database, other)
            )
            loading.expect(LEAST_VECTORS, 1000)
            assert own(database, "guide")["owner"] == "guide"
            small.place()
            assert own(database, "guide")["owner"] == "guide"
            # It became no large library after all.
            loading.place()
            assert own(database, "guide")["owner"] is None
            assert loading.build() is False

    def test_the_doctor_tells_of_one_that_is_left(self, database, embedder, folder, few):
        index(database, embedder, folder)
        with psycopg.connect(database.url) as reader:
            reader.execute("select from pgrag.embeddings limit 1")
            database.call("remove_library", library="guide")
        found = findings(database.url, is_embedded=False, models=[BUILTIN])
        [left] = [one for one in found if one.name == "vector index"]
        with psycopg.connect(database.url, autocommit=True) as connection:
            connection.execute(left.remedy)
        assert told(database) == []

    def test_two_runs_at_once_make_one_each(self, database, folder, few, database_url):
        """Two builds would wait for each other, a deadlock."""
        failures = []

        def load(library):
            try:
                with App(Settings(database_url=database_url)) as app:
                    app.index(library, "", str(folder))
            except Exception as failure:
                failures.append(failure)

        threads = [threading.Thread(target=load, args=[name]) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert [own(database, name)["valid"] for name in ("one", "two")] == [True, True]
        assert state(database)["valid"] is True


def placed(database):
    return database.query("select distinct own_index from pgrag.embeddings order by 1")


def test_who_does_not_own_the_tables_inserts_or_does_without(database, embedder, folder):
    with psycopg.connect(database.url, autocommit=True) as owner:
        owner.execute("drop role if exists pgrag_test_writer")
        owner.execute("create role pgrag_test_writer login password 'geheim'")
        owner.execute("grant pgrag_writer to pgrag_test_writer")
        owner.execute("select pgrag.grant_libraries('pgrag_test_writer', '{*}')")
    try:
        url = re.sub(r"//[^@]*@", "//pgrag_test_writer:geheim@", database.url)
        with Database(url, pool_size=2) as writer:
            before = built(database)
            index(writer, embedder, folder)
            assert built(database) == before
            database.call("put_off_vector_index", model=BUILTIN, expected=10_000)
            index(writer, embedder, folder, "2.0")
            assert state(database)["valid"] is None
    finally:
        with psycopg.connect(database.url, autocommit=True) as owner:
            owner.execute("drop owned by pgrag_test_writer; drop role pgrag_test_writer")
