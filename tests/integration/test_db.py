"""Calls by name, the errors that come of them, and a server that goes and comes back."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psycopg
import pytest
from pgvector import HalfVector
from psycopg.conninfo import make_conninfo
from psycopg_pool import ConnectionPool

from pgrag.ground import connections as db
from pgrag.ground import errors
from pgrag.ground.callers import Work, working
from pgrag.ground.calls import call
from pgrag.ground.connections import Database
from pgrag.ground.embedded import EmbeddedServer
from pgrag.ground.notices import collected_notices

ECHO = """
create function pgrag.echo(
    words text,
    number integer default 7,
    flags jsonb default '{}',
    labels text[] default '{none}'
)
returns table (words text, number integer, flags jsonb, labels text[])
language sql
as $$ select echo.words, echo.number, echo.flags, echo.labels $$;

create function pgrag.fail(code text, message text, hint text default '')
returns setof integer
language plpgsql
as $$
begin
    raise exception '%', fail.message using errcode = fail.code, hint = fail.hint;
end
$$;

create function pgrag.sleep(seconds integer)
returns void
language sql
as $$ select pg_sleep(sleep.seconds) $$;

create function pgrag.say(words text[])
returns setof integer
language plpgsql
as $$
declare
    word text;
begin
    foreach word in array say.words loop
        raise notice '%', word;
    end loop;
    raise debug 'not for people';
    return next 1;
end
$$;
"""


@pytest.fixture(scope="module")
def url(databases):
    """A database with the functions above, for all tests of this file."""
    name = databases.create()
    with psycopg.connect(databases.url(name)) as connection:
        connection.execute("create schema pgrag; create extension vector")
        connection.execute(ECHO)
    yield databases.url(name)
    databases.done(name)


@pytest.fixture
def database(url):
    with Database(url, pool_size=2, timeout=30) as database:
        yield database


def test_values_go_by_name_and_defaults_hold(database):
    assert database.call("echo", words="it's %s :x", flags={"a": [1, None]}, number=None) == [
        {"words": "it's %s :x", "number": 7, "flags": {"a": [1, None]}, "labels": ["none"]}
    ]
    assert database.call("echo", number=1, words="", labels=["x", "y"])[0]["labels"] == ["x", "y"]


def test_names_are_quoted(database):
    with pytest.raises(errors.SchemaOutdated, match="db upgrade"):
        database.call('echo"(words => 1); drop schema pgrag cascade; --', words="x")
    with pytest.raises(errors.SchemaOutdated):
        database.call("echo", **{'words" => (select 1)); --': "x"})
    assert database.call("echo", words="still here")


CODES = {
    errors.InvalidInput: "PGR01 22003 23514 54000",
    errors.UnknownLibrary: "PGR02",
    errors.UnknownVersion: "PGR03",
    errors.UnknownPage: "PGR04",
    errors.UnknownDocument: "PGR05",
    errors.InvalidFilter: "PGR06",
    errors.InvalidCursor: "PGR07",
    errors.InvalidQuery: "PGR16",
    errors.DimensionMismatch: "PGR08",
    errors.UnknownModel: "PGR09",
    errors.SchemaOutdated: "42883 42P01 3F000 42703",
    errors.TimeExceeded: "57014",
    errors.DatabaseError: "23505 P0001",
    errors.DatabaseFull: "53100 53200 53400",
    errors.Busy: "40P01 40001 55P03",
    errors.DatabaseUnavailable: "53300 57P01 57P03 08006 25P03",
    errors.NotPermitted: "42501",
}
SAID = {
    errors.SchemaOutdated: "db upgrade",
    errors.TimeExceeded: "cancelled",
    errors.DatabaseError: "refused",
    errors.Busy: "Try again",
    errors.DatabaseUnavailable: "cannot be used",
    errors.DatabaseFull: "The database lacks ",
    errors.NotPermitted: "does not let this role",
}


@pytest.mark.parametrize(
    ("code", "kind"), [(code, kind) for kind, codes in CODES.items() for code in codes.split()]
)
def test_each_code_has_its_error_and_own_codes_carry_message_and_hint(database, code, kind):
    with pytest.raises(errors.PgragError) as caught:
        database.call("fail", code=code, message="there is no 'x'.", hint="It has: y.")
    assert type(caught.value) is kind
    assert SAID.get(kind, "") in str(caught.value)
    assert "there is no 'x'." in str(caught.value).lower()
    assert isinstance(caught.value.__cause__, psycopg.Error)
    if code.startswith("PGR"):
        assert (caught.value.message, caught.value.hint) == ("there is no 'x'.", "It has: y.")


@pytest.mark.parametrize(
    "message", ["cache lookup failed for function 24611", "cached plan must not change result type"]
)
def test_functions_replaced_under_a_call_are_called_again(database, message):
    with pytest.raises(errors.Busy, match=r"upgraded.*Try again"):
        database.call("fail", code="XX000", message=message)


def test_value_of_another_type_is_the_callers_fault(database):
    with pytest.raises(errors.InvalidInput, match="number => bigint"):
        database.call("echo", words="x", number=10**12)
    with pytest.raises(errors.SchemaOutdated):
        database.call("echo", words="x", added_later=1)


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_cannot_be_stored(database, text):
    with pytest.raises(errors.InvalidInput):
        database.call("echo", words=text)
    with pytest.raises(errors.InvalidInput):
        database.call("echo", words="x", flags={"text": text})


def test_notices_are_collected_where_wanted(database):
    database.call("say", words=["nobody listens"])
    with collected_notices() as notices:
        database.call("say", words=["one", "two"])
        with collected_notices() as inner:
            database.call("say", words=["three"])
    assert (notices, inner) == (["one", "two"], ["three"])


def test_notices_belong_to_their_thread(database):
    heard = {}

    def listen(name):
        with collected_notices() as notices:
            for _ in range(20):
                database.call("say", words=[name])
        heard[name] = set(notices)

    threads = [threading.Thread(target=listen, args=[name]) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {"a": {"a"}, "b": {"b"}, "c": {"c"}}


def test_vectors_go_in_and_out(database):
    with database.connection() as connection:
        connection.execute(
            "create function pgrag.half(v halfvec, many halfvec[] default '{}')"
            " returns table (v halfvec, many halfvec[]) language sql"
            " as $$ select half.v, half.many $$"
        )
    vector = HalfVector(np.array([1, 0.5, -2], dtype=np.float16))
    [row] = database.call("half", v=vector, many=[vector, vector])
    assert row["v"] == vector
    assert row["many"] == [vector, vector]


def test_call_inside_a_transaction(database):
    with (
        database.connection() as connection,
        connection.transaction(force_rollback=True),
    ):
        connection.execute("create table pgrag.mine ()")
        assert call(connection, "echo", words="x")
    with pytest.raises(errors.SchemaOutdated, match="mine"):
        database.query("select * from pgrag.mine")


def test_failed_transaction_is_left_behind(database):
    def fail_halfway() -> None:
        with database.connection() as connection, connection.transaction():
            connection.execute("create table pgrag.mine ()")
            call(connection, "fail", code="PGR01", message="no")

    with pytest.raises(errors.InvalidInput, match="no"):
        fail_halfway()
    assert database.query("select to_regclass('pgrag.mine') as found") == [{"found": None}]


def test_a_statement_that_fails_while_it_is_prepared_is_prepared_again(url):
    statement = "select pgrag.come_and_go() as answer"
    made = "create or replace function pgrag.come_and_go() returns integer return 1"
    with Database(url, pool_size=1) as database, psycopg.connect(url, autocommit=True) as other:
        other.execute(made)
        for _ in range(20):
            assert database.query(statement) == [{"answer": 1}]
            other.execute("alter function pgrag.come_and_go() rename to gone")
            with pytest.raises(errors.SchemaOutdated):
                database.query(statement)
            other.execute("alter function pgrag.gone() rename to come_and_go")
        for number in range(20):
            other.execute("alter function pgrag.come_and_go() rename to gone")
            for _ in range(number):
                with pytest.raises(errors.SchemaOutdated):
                    database.query(statement)
            other.execute("alter function pgrag.gone() rename to come_and_go")
            for _ in range(number):
                assert database.query(statement) == [{"answer": 1}]


def test_session_settings(url):
    with Database(url, hybrid_alpha=0.4) as database:
        assert database.query(
            "select current_setting('application_name') as name,"
            " current_setting('pgrag.hybrid_alpha') as alpha"
        ) == [{"name": "pgrag", "alpha": "0.4"}]


def test_work_has_its_own_connections_and_timeouts(url):
    def session() -> tuple[int, str, str]:
        [row] = database.query(
            "select pg_backend_pid() as pid, current_setting('statement_timeout') as runs,"
            " current_setting('lock_timeout') as waits"
        )
        return row["pid"], row["runs"], row["waits"]

    options = f"{url}&options=-c%20statement_timeout%3D60s"
    with Database(options, pool_size=1) as database:
        own = session()
        assert own[1:] == ("1min", "0")
        with working(Work("read", None, 20.0, 1.5)):
            assert session() == (own[0], "20s", "1500ms")
        with working(Work("read", None, 90.0, 1.5)):
            assert session() == (own[0], "1min", "1500ms"), "the server's own is shorter"
        with working(Work("write", 1, 0.2, 1.5)):
            other = session()
            assert other[0] != own[0]
            assert other[1:] == ("200ms", "1500ms")
            with pytest.raises(errors.TimeExceeded):
                database.call_within(60_000, "sleep", seconds=10)
            assert session() == other
        assert session() == own


def test_statement_timeout_is_explained(database):
    with database.connection() as connection:
        connection.execute("set statement_timeout = '30ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("select pg_sleep(10)")
    with (
        pytest.raises(errors.DatabaseError, match="statement timeout"),
        database.connection() as connection,
    ):
        connection.execute("set statement_timeout = '30ms'; select pg_sleep(10)")


@pytest.mark.parametrize(
    ("wrong_url", "words"),
    [
        ("postgresql://pgrag@127.0.0.1:1/pgrag", "refused"),
        ("postgresql://pgrag@/pgrag?host=/nowhere", "No such file"),
    ],
)
def test_wrong_url_is_told_soon(wrong_url, words):
    with Database(wrong_url, timeout=600) as database, ThreadPoolExecutor(1) as threads:
        told = threads.submit(database.call, "search", query="x").exception(timeout=120)
    assert isinstance(told, errors.DatabaseUnavailable)
    assert "PGRAG_DATABASE_URL" in str(told)
    assert words in str(told)


def test_unknown_database_is_told(url_of):
    with (
        Database(url_of("pgrag_is_not_here"), timeout=30) as database,
        pytest.raises(errors.DatabaseUnavailable, match="pgrag_is_not_here"),
    ):
        database.call("search", query="x")


def test_all_connections_in_use(url):
    with (
        Database(url, pool_size=1, timeout=2) as database,
        database.connection(),
        pytest.raises(errors.DatabaseUnavailable, match="PGRAG_POOL_SIZE"),
    ):
        database.query("select 1")


_END_SLEEPING = """
select pg_terminate_backend(a.pid, 5000)
from pg_stat_activity as a
where a.wait_event = 'PgSleep' and a.datname = current_database()
"""


def test_a_session_that_cannot_be_made_ready_is_not_called_one_in_use(url):
    limited = make_conninfo(url, options="-c temp_file_limit=64kB -c work_mem=64kB")
    with Database(limited, pool_size=1) as database, pytest.raises(errors.DatabaseFull) as failed:
        database.call("libraries")
    assert "temp_file_limit" in failed.value.message


def test_lost_connection_is_replaced(database):
    def backend() -> int:
        return database.query("select pg_backend_pid() as pid")[0]["pid"]

    first = backend()
    assert backend() == first
    with pytest.raises(errors.DatabaseUnavailable):
        database.query("select pg_terminate_backend(pg_backend_pid())")
    second = backend()
    assert second != first
    with ThreadPoolExecutor(2) as threads, psycopg.connect(database.url, autocommit=True) as other:
        sleeping = [threads.submit(database.call, "sleep", seconds=600) for _ in range(2)]
        ended = 0
        while ended < 2:
            ended += len(other.execute(_END_SLEEPING).fetchall())
    assert {type(s.exception()) for s in sleeping} == {errors.DatabaseUnavailable}
    assert backend()
    assert backend()


def test_all_connections_may_be_lost_at_once(url):
    in_use = threading.Barrier(8, timeout=120)

    def use(database):
        with database.connection():
            in_use.wait()

    with Database(url, pool_size=8, timeout=30) as database:
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(use, [database] * 8))
        with psycopg.connect(url, autocommit=True) as other:
            ended = other.execute(
                "select pg_terminate_backend(a.pid, 10000) from pg_stat_activity as a"
                " where a.application_name = 'pgrag' and a.datname = current_database()"
            ).fetchall()
        assert len(ended) >= 8
        assert database.query("select 1 as one") == [{"one": 1}]


def test_connection_is_asked_whether_it_lives_only_after_a_while(database, monkeypatch):
    asked = []
    database.query("select 1")
    monkeypatch.setattr(ConnectionPool, "check_connection", asked.append)
    for _ in range(3):
        database.query("select 1")
    assert not asked
    monkeypatch.setattr(db, "_TRUSTED", 0.0)
    database.query("select 1")
    assert asked


def test_server_that_goes_and_comes_back(tmp_path):
    server = EmbeddedServer(tmp_path)
    url = server.start()
    try:
        with Database(url, timeout=30) as database:
            assert database.query("select 1 as one") == [{"one": 1}]
            server.stop()
            with pytest.raises(errors.DatabaseUnavailable):
                database.query("select 1 as one")
            assert server.start() == url
            assert database.query("select 1 as one") == [{"one": 1}]
            server.stop()
            server.start()
            assert database.query("select 1 as one") == [{"one": 1}]
    finally:
        server.remove()
