"""Who asks travels with the statement, and a session keeps nothing of it."""

import re
import sys
from contextlib import suppress

import psycopg
import pytest

from pgrag.ground import errors
from pgrag.ground.callers import Caller, Work, calling, working
from pgrag.ground.connections import Database
from pgrag.ground.identity import identity
from pgrag.ground.schema import sql_root

TOLD = """
select current_user::text as role, current_setting('pgrag.library_ids', true) as library_ids,
    current_setting('pgrag.caller', true) as caller, current_setting('pgrag.lease', true) as lease,
    current_setting('statement_timeout') as statement_timeout,
    current_setting('application_name') as application_name,
    current_setting('pgrag.narrowing_versions', true) as narrowing
"""
PID = "select pg_backend_pid() as pid"
BOB = Caller("bob", "pgrag_reader", "{7}", 1500, "3.1")


@pytest.fixture
def url(database_url):
    return database_url


def test_every_setting_that_a_function_reads_is_named(url):
    read = {
        name
        for file in sql_root().rglob("*.sql")
        for name in re.findall(r"current_setting\(\s*'(pgrag\.\w+)'", file.read_text())
    }
    with Database(url) as database, database.connection() as connection:
        statement, _ = identity(connection.own)
    assert len(read) > 8
    assert read <= set(re.findall(r"'([\w.]+)'", statement.decode()))


def test_a_statement_has_its_caller_and_the_session_nothing(url):
    with Database(url, pool_size=1) as database:
        [before] = database.query(PID)
        with calling(BOB), working(Work("few", None, 60.0, 1.0)):
            [row] = database.query(TOLD)
            with database.connection() as connection:
                [same] = connection.execute(TOLD).fetchall()
                connection.execute("select set_config('pgrag.narrowing_versions', '{1}', true)")
            [again] = database.query(TOLD)
            [after] = database.query(PID)
        assert row == same == again
        assert row == {
            "role": "pgrag_reader", "library_ids": "{7}", "caller": "bob", "lease": "3.1",
            "statement_timeout": "1500ms", "application_name": "pgrag job 3.1", "narrowing": "",
        }  # fmt: skip
        assert before != after, "restricted callers have sessions of their own"
        with database._lent() as connection:
            told = connection.execute(TOLD).fetchone()
        assert (told["library_ids"] or "", told["caller"] or "") == ("", "")


def test_settings_that_others_left_in_the_session_do_not_count(url):
    with Database(url, pool_size=1) as database:
        usual = database.query("select current_setting('search_path') as path")
        with database._lent() as connection:
            connection.execute("set pgrag.library_ids = '*'")
            connection.execute("set pgrag.caller = 'eve'")
            connection.execute("set pgrag.narrowing_versions = '{1,2}'")
            connection.execute("set role pgrag_admin")
            connection.execute("set search_path = nowhere")
            connection.execute("set statement_timeout = '1h'")
        [row] = database.query(TOLD)
        assert row["role"] != "pgrag_admin"
        assert (row["library_ids"], row["caller"], row["narrowing"]) == ("", "", "")
        assert row["statement_timeout"] == "0"
        assert database.query("select current_setting('search_path') as path") == usual


def test_a_statement_that_fails_leaves_no_identity(url):
    with Database(url, pool_size=1) as database:
        with calling(BOB), pytest.raises(errors.InvalidInput):
            database.query("select 1 / 0")
        [row] = database.query(TOLD)
        assert (row["caller"], row["role"] == "pgrag_reader") == ("", False)


@pytest.mark.skipif(sys.platform != "linux", reason="psycopg traces on Linux alone")
def test_nothing_follows_the_end_of_a_statement(url, tmp_path):
    """A pooler would take it for a further transaction, and keep a session for it."""
    with Database(url, pool_size=1) as database, (tmp_path / "sent").open("w") as sent:
        with database._lent() as connection:
            connection.pgconn.trace(sent.fileno())
        for statement in ("select 1", "select 1 / 0"):
            with suppress(errors.InvalidInput):
                database.query(statement)
        with database._lent() as connection:
            connection.pgconn.untrace()
    words = [line.split("\t") for line in (tmp_path / "sent").read_text().splitlines()]
    # Queries, as those of a check, say themselves where they end.
    messages = [each[3] for each in words if each[1] == "F"]
    assert messages.count("Sync") == 2
    assert "Flush" not in messages


def test_a_value_that_a_socket_does_not_take_at_once_is_sent(url):
    with Database(url, pool_size=1) as database:
        [row] = database.query("select length(%s::text) as long", ["x" * 20_000_000])
    assert row == {"long": 20_000_000}


def test_locks_of_a_run_are_let_go_one_by_one(url):
    def is_free(name):
        with Database(url) as other, other.lock(name) as prevented:
            return prevented is None

    with Database(url) as database, psycopg.connect(url, autocommit=True) as admin:
        with database.lock("one") as first, database.lock("one") as again:
            assert (first, again) == (None, "one")
            with database.lock("two", "shared"):
                sessions = admin.execute(
                    "select count(distinct l.pid) from pg_locks as l where l.locktype = 'advisory'"
                    " and l.database = (select oid from pg_database"
                    " where datname = current_database())"
                ).fetchone()
                assert sessions == (1,)
                assert (is_free("one"), is_free("two"), is_free("shared")) == (False,) * 3
            assert (is_free("one"), is_free("two")) == (False, True)
        assert is_free("one")
        outer, inner = database.lock("outer"), database.lock("inner")
        assert (outer.__enter__(), inner.__enter__()) == (None, None)
        outer.__exit__(None, None, None)
        assert not is_free("inner")
        inner.__exit__(None, None, None)
        assert (is_free("outer"), is_free("inner")) == (True, True)


def test_locks_that_a_server_lost_are_taken_again_or_missed(url):
    def lose():
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute(
                "select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory'"
                " and database = (select oid from pg_database where datname = current_database())"
            )

    with Database(url) as database, Database(url) as other:
        with database.lock("one"), database.lock("two", "shared"):
            lose()
            database.keep_locks()
            with other.lock("one") as first, other.lock("shared") as second:
                assert (first, second) == ("one", "shared")
            lose()
            with database.lock("three") as further, other.lock("two") as taken:
                assert (further, taken) == (None, "two")
            lose()
            with other.lock("two"), pytest.raises(errors.LeaseLost, match="'two' was lost"):
                database.keep_locks()
            database.keep_locks()
        with other.lock("one") as first, other.lock("two") as second:
            assert (first, second) == (None, None)
