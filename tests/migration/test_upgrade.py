"""Databases of every age become what a fresh one is, or stay as they were."""

import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.config import Config
from campaign import contents
from campaign.restore import definitions
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb
from sqlalchemy import NullPool, create_engine

from pgrag.ground import errors, schema, waits
from pgrag.ground.connections import Database, connect
from pgrag.ground.tree import function_files
from pgrag.models.embedding import install
from pgrag.service.doctor import findings

NEWER = "9000_test"
"""A revision after the last one: a new column, a public type made anew, a function of its own."""
STATEMENTS = """
alter table pgrag.libraries add column motto text not null default 'none';
drop type pgrag.section_version;
create type pgrag.section_version as (document_id bigint, motto text);
create function pgrag.left_behind() returns int language sql as 'select 1';
"""
REVISION = """
from alembic import op

revision = {revision!r}
down_revision = {below!r}


def upgrade() -> None:
    op.execute({statements!r})
"""
PAGES = [
    {
        "key": f"{key}.md",
        "title": key,
        "source_hash": key,
        "documents": [{"content": f"Close the {key} before the pump.", "path": [key]}],
        "edges": [{"target": "valve.md"}],
    }
    for key in ("valve", "tank")
]
#: What an upgrade writes anew.
MIGRATED = ("alembic_version", "installed_functions", "libraries")
FOUND = "select jsonb_agg(to_jsonb(s) order by s.score desc) from pgrag.search('pump', 'k') as s"
UNRELEASED = r"revision {}\) was made by a version of pgrag before 0\.1, and cannot be upgraded"


@pytest.fixture
def sql_tree(tmp_path, monkeypatch) -> Path:
    """A copy of `sql/` that a test may change, used instead of the real one."""
    tree = Path(shutil.copytree(schema.sql_root(), tmp_path / "sql"))
    monkeypatch.setattr(schema, "sql_root", lambda: tree)
    return tree


@pytest.fixture
def alembic_tree(tmp_path, monkeypatch) -> Path:
    tree = Path(shutil.copytree(schema.alembic_root(), tmp_path / "alembic"))
    monkeypatch.setattr(schema, "alembic_root", lambda: tree)
    return tree


def add_revision(alembic_tree: Path, sql_tree: Path, statements: str = STATEMENTS) -> None:
    """Make the package newer: by a revision, and without the functions that it takes from."""
    head = schema._revisions()[1]
    (alembic_tree / "versions" / f"{NEWER}.py").write_text(
        REVISION.format(revision=NEWER, below=head, statements=statements), "utf-8"
    )
    for file in function_files(sql_tree):
        if "section_version" in file.read_text("utf-8"):
            file.unlink()


def index(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pgrag.ingest_pages('k', %s)", [Jsonb(PAGES)])
        connection.execute("select pgrag.embed_pending('k')")
        connection.execute("select pgrag.finish_version('k')")


def go_to(url: str, revision: str, *, is_down: bool = False) -> None:
    """Migrate to a revision by Alembic's own commands."""
    config = Config()
    config.set_main_option("script_location", str(schema.alembic_root()))
    config.set_main_option("path_separator", "os")
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=NullPool
    )
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        (command.downgrade if is_down else command.upgrade)(config, revision)


def value(url: str, query: str, *arguments: object) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode(), arguments).fetchone()
    return row[0] if row else None


def execute(url: str, statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statements.encode())


def routines(url: str) -> set[str]:
    return set(
        value(
            url,
            "select array_agg(p.proname) from pg_proc as p"
            " where p.pronamespace in (to_regnamespace('pgrag'), to_regnamespace('_pgrag'))",
        )
        or ()
    )


def server_findings(url: str) -> list[schema.Finding]:
    with connect(url) as connection:
        return schema.server_findings(connection)


def test_fresh_database_and_a_second_upgrade_that_changes_nothing(empty_database_url):
    before = schema.status(empty_database_url)
    assert (before.state, before.revision, before.functions) == ("missing", None, None)
    with pytest.raises(errors.SchemaOutdated, match=r"no pgrag schema yet.*`pgrag db upgrade`"):
        schema.require_current(empty_database_url)
    after = schema.upgrade(empty_database_url)
    assert after == schema.status(empty_database_url)
    assert (after.state, after.revision, after.functions) == ("current", after.head, after.digest)
    schema.require_current(empty_database_url)
    schema.upgrade(empty_database_url)
    written = (
        "select array_agg(p.xmin::text order by p.oid) from pg_proc as p"
        " where p.pronamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)"
    )
    before = value(empty_database_url, written)
    schema.upgrade(empty_database_url)
    assert value(empty_database_url, written) == before


def test_threads_and_processes_that_upgrade_at_once(empty_database_url):
    program = (
        "import sys; from pgrag.ground import schema; print(schema.upgrade(sys.argv[1]).state)"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program, empty_database_url],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    with ThreadPoolExecutor(2) as executor:
        found = list(executor.map(schema.upgrade, [empty_database_url] * 2))
    assert [status.state for status in found] == ["current"] * 2
    assert [process.communicate(timeout=60)[0] for process in processes] == ["current\n"] * 2
    assert value(empty_database_url, "select count(*) from pgrag.installed_functions") == 1


def test_changed_functions_replace_the_old_ones(database_url, sql_tree):
    removed = sql_tree / "text" / "added.sql"
    removed.write_text(
        "create or replace function pgrag.added(a text) returns text language sql"
        " as $$ select pgrag.below(added.a) $$;\n"
        "create or replace function pgrag.below(a text) returns text language sql"
        " as $$ select below.a || '100%% :sure %s'::text $$;\n"
    )
    with pytest.raises(errors.SchemaOutdated, match="functions in the database are not those"):
        schema.require_current(database_url)
    schema.upgrade(database_url)
    assert value(database_url, "select pgrag.added('x')") == "x100%% :sure %s"

    removed.write_text(
        "create or replace function pgrag.added(a text, b integer default 2) returns integer"
        " language sql as $$ select added.b $$;\n"
    )
    schema.upgrade(database_url)
    assert value(database_url, "select pgrag.added('x')") == 2
    assert "below" not in routines(database_url)

    removed.unlink()
    schema.upgrade(database_url)
    assert "added" not in routines(database_url)
    schema.require_current(database_url)


def test_views_of_the_user_stay(database_url, sql_tree):
    file = sql_tree / "text" / "added.sql"
    function = "create or replace function pgrag.{}() returns {} language sql as $$ select {} $$;\n"
    file.write_text(
        function.format("seen", "integer", "1") + function.format("other", "text", "'a'")
    )
    schema.upgrade(database_url)
    execute(database_url, "create view public.mine as select pgrag.seen() as seen")

    file.write_text(function.format("seen", "integer", "2"))
    schema.upgrade(database_url)
    assert value(database_url, "select m.seen from public.mine as m") == 2
    assert "other" not in routines(database_url)

    before = schema.status(database_url)
    file.write_text(function.format("seen", "text", "'x'"))
    with pytest.raises(errors.DatabaseError, match=r"added\.sql:1: cannot change return type"):
        schema.upgrade(database_url)
    file.unlink()
    with pytest.raises(errors.DatabaseError, match=r"pgrag\.seen\(\) is no longer part"):
        schema.upgrade(database_url)
    assert schema.status(database_url).functions == before.functions
    assert value(database_url, "select m.seen from public.mine as m") == 2


def test_a_report_on_a_view_stays_and_sees_what_the_view_becomes(database_url, sql_tree):
    file = sql_tree / "views" / "libraries_overview.sql"
    text = file.read_text("utf-8")
    execute(
        database_url,
        "create view public.report as select o.newest, o.searches from pgrag.libraries_overview"
        " as o; insert into pgrag.libraries (name) values ('mine')",
    )
    file.write_text(text.replace("coalesce(s.searches, 0)", "coalesce(s.searches, 7)"), "utf-8")
    schema.upgrade(database_url)
    assert value(database_url, "select r.searches from public.report as r") == 7
    # Nothing uses the others, so their columns are free to change.
    other = sql_tree / "views" / "pages_now.sql"
    kept = [line for line in other.read_text("utf-8").splitlines() if "topic" not in line]
    other.write_text("\n".join(kept), "utf-8")
    schema.upgrade(database_url)
    fewer = text.replace(",\n    s.last_search\n", "\n").rpartition("comment on column")[0]
    file.write_text(fewer, "utf-8")
    with pytest.raises(errors.DatabaseError, match="cannot drop columns from view") as refused:
        schema.upgrade(database_url)
    assert "drop that, upgrade" in refused.value.hint


@pytest.mark.parametrize("used", [
    "select (_pgrag.make_request('x', '{}')).words as words",
    "select m.page_id from _pgrag.matching_pages as m",
])  # fmt: skip
def test_a_view_of_the_user_on_something_private_is_named(database_url, sql_tree, used):
    execute(database_url, f"create view public.mine as {used}")
    before = definitions(database_url)
    (sql_tree / "text" / "zz.sql").write_text("select 1;")
    with pytest.raises(errors.DatabaseError, match="view mine") as refused:
        schema.upgrade(database_url)
    assert refused.value.hint
    assert definitions(database_url) == before
    execute(database_url, "drop view public.mine")
    schema.upgrade(database_url)


@pytest.mark.parametrize(("text", "words"), [
    ("-- ü\nselect 1;\n\ncreate function broken(;\n", r"text/zz\.sql:4: syntax error"),
    (
        "\n\ncreate or replace function pgrag.zz() returns integer language sql"
        " as $$ select missing $$;",
        r"text/zz\.sql:3: column \"missing\" does not exist",
    ),
    (
        "\ncreate or replace function pgrag.zz() returns integer language plpgsql"
        " as $$ begin retrun 1; end $$;",
        r"text/zz\.sql:2: syntax error",
    ),
])  # fmt: skip
def test_error_names_file_and_line_and_leaves_the_database(database_url, sql_tree, text, words):
    before = definitions(database_url)
    (sql_tree / "text" / "zz.sql").write_text(text, "utf-8")
    with pytest.raises(errors.DatabaseError, match=words):
        schema.upgrade(database_url)
    assert definitions(database_url) == before


def test_database_newer_than_the_package(database_url):
    execute(database_url, "update pgrag.alembic_version set version_num = '9999_test'")
    before = definitions(database_url)
    for step in (schema.require_current, schema.upgrade):
        with pytest.raises(errors.SchemaTooNew, match="revision 9999_test"):
            step(database_url)
    assert definitions(database_url) == before


@pytest.mark.parametrize("revision", ["0012", "0047"])
def test_a_database_made_before_the_first_release_is_refused_and_stays(database_url, revision):
    index(database_url)
    execute(database_url, f"update pgrag.alembic_version set version_num = '{revision}'")
    before = definitions(database_url), contents.rows(database_url)
    for step in (schema.require_current, schema.upgrade):
        with pytest.raises(errors.SchemaOutdated, match=UNRELEASED.format(revision)) as refused:
            step(database_url)
        assert "drop schema pgrag, _pgrag cascade" in (refused.value.hint or "")
    assert schema.status(database_url).state == "unreleased"
    assert (definitions(database_url), contents.rows(database_url)) == before


def test_old_database_is_migrated_with_its_data(database_url, alembic_tree, sql_tree):
    index(database_url)
    found = value(database_url, FOUND)
    rows = contents.rows(database_url, without=MIGRATED)
    head = schema.status(database_url).head
    add_revision(alembic_tree, sql_tree)
    with pytest.raises(errors.SchemaOutdated, match=rf"{head}.*older.*{NEWER}"):
        schema.require_current(database_url)
    with ThreadPoolExecutor(2) as executor:
        upgraded = list(executor.map(schema.upgrade, [database_url] * 2))
    assert [(status.state, status.revision) for status in upgraded] == [("current", NEWER)] * 2
    assert value(database_url, "select l.motto from pgrag.libraries as l") == "none"
    assert {"section_history", "left_behind"}.isdisjoint(routines(database_url))
    assert value(database_url, FOUND) == found
    assert len(found) == 2
    assert contents.rows(database_url, without=MIGRATED) == rows
    index(database_url)  # equal pages are passed over, by the functions of today
    assert value(database_url, FOUND) == found


def test_an_upgraded_database_is_as_a_fresh_one(
    database_url, empty_database_url, alembic_tree, sql_tree
):
    add_revision(alembic_tree, sql_tree)
    schema.upgrade(database_url)
    schema.upgrade(empty_database_url)
    assert definitions(database_url) == definitions(empty_database_url)


def test_a_revision_that_fails_leaves_the_database(database_url, alembic_tree, sql_tree):
    add_revision(alembic_tree, sql_tree, STATEMENTS + "select 1 / 0;")
    before = definitions(database_url)
    with pytest.raises(errors.PgragError, match="Division by zero"):
        schema.upgrade(database_url)
    assert definitions(database_url) == before


@pytest.mark.parametrize("is_second", [False, True], ids=["functions", "roles"])
def test_an_upgrade_that_loses_its_connection_says_why_and_nothing_else(
    database_url, sql_tree, caplog, is_second
):
    lost = "perform pg_terminate_backend(pg_backend_pid());"
    if is_second:
        roles = sql_tree / "access" / "secure_tables.sql"
        roles.write_text(roles.read_text().replace("\nbegin\n", f"\nbegin {lost}\n", 1))
    else:
        (sql_tree / "text" / "zz.sql").write_text(f"do $$ begin {lost} end $$;")
    with pytest.raises(errors.DatabaseUnavailable, match="terminating connection due to admin"):
        schema.upgrade(database_url)
    assert [r.message for r in caplog.records if r.levelname in {"WARNING", "ERROR"}] == []


def test_limits_of_the_role_end_no_upgrade(admin, empty_database_url):
    name = conninfo_to_dict(empty_database_url)["dbname"]
    admin.execute(f"alter database {name} set statement_timeout = '20ms'".encode())
    assert schema.upgrade(empty_database_url).state == "current"
    with connect(empty_database_url) as connection:
        install(connection)


def test_a_private_type_changes_without_a_migration(database_url, sql_tree):
    index(database_url)
    found = value(database_url, FOUND)
    revision = schema.status(database_url).revision
    types = sql_tree / "types" / "_search_target.sql"
    text = types.read_text("utf-8")
    last = "    phrase_conditions tsquery[]\n);"
    assert text.count(last) == 1
    types.write_text(text.replace(last, last[:-3] + ",\n    motto text\n);"), "utf-8")
    (sql_tree / "search" / "motto.sql").write_text(
        "create or replace function pgrag.motto(request _pgrag.search_request) returns text"
        " language sql as $$ select (request).motto $$;",
        "utf-8",
    )
    assert schema.upgrade(database_url).revision == revision
    members = (
        "select attname from pg_attribute where attrelid = '_pgrag.search_request'::regclass"
        " order by attnum desc limit 1"
    )
    assert value(database_url, members) == "motto"
    assert value(database_url, FOUND) == found

    types.write_text(text, "utf-8")
    (sql_tree / "search" / "motto.sql").unlink()
    schema.upgrade(database_url)
    assert value(database_url, members) == "phrase_conditions"
    assert value(database_url, FOUND) == found


def test_each_revision_by_itself_makes_what_all_make_at_once(empty_database_url, database_url):
    for revision in sorted(schema._revisions()[0]):
        go_to(empty_database_url, revision)
    schema.require_current(empty_database_url)
    schema.upgrade(empty_database_url)  # Alembic's own command gives no roles their privileges
    assert definitions(empty_database_url) == definitions(database_url)


def test_way_down_and_up_again(database_url):
    before = definitions(database_url)
    index(database_url)
    for revision in [*sorted(schema._revisions()[0], reverse=True)[1:], "base"]:
        go_to(database_url, revision, is_down=True)
    assert routines(database_url) == set()
    assert schema.status(database_url).state == "missing"
    schema.upgrade(database_url)
    assert definitions(database_url) == before


def test_extension_in_another_schema(empty_database_url):
    execute(
        empty_database_url, 'create schema "My Types"; create extension vector schema "My Types"'
    )
    schema.upgrade(empty_database_url)
    with psycopg.connect(empty_database_url) as connection:
        install(connection)
    with Database(empty_database_url) as database:
        assert database.call("embed", input="words")[0]["embed"].dimensions() == 256
        assert database.query("show search_path") == [{"search_path": '"$user", public'}]


def test_an_upgrade_that_waits_for_another_says_so_before_it_goes_on(
    empty_database_url, caplog, monkeypatch
):
    monkeypatch.setattr(waits, "TELL_SECONDS", 0.1)
    with (
        ThreadPoolExecutor(1) as thread,
        psycopg.connect(empty_database_url, autocommit=True) as other,
    ):
        other.execute("select pg_advisory_lock(%s)", [schema._LOCK])
        # A limit for searches must not end an upgrade.
        limited = make_conninfo(empty_database_url, options="-c statement_timeout=3s")
        upgraded = thread.submit(schema.upgrade, limited)
        while "Waiting for another upgrade of the database to end." not in caplog.messages:
            assert not upgraded.done()
            time.sleep(0.05)
        other.execute("select pg_sleep(4)")
        assert not upgraded.done()
        other.execute("select pg_advisory_unlock_all()")
        assert upgraded.result().state == "current"


def test_the_right_that_an_upgrade_lacks_is_named(admin, databases, url_of):
    role, name = "pgrag_test_owner", databases.create()
    admin.execute(f"drop role if exists {role}; create role {role} login password 'geheim'")
    limited = make_conninfo(url_of(name), user=role, password="geheim")
    try:
        for schema_is_allowed, remedy in (
            (False, "grant create on database"),
            (True, "create extension if not exists vector"),
        ):
            if schema_is_allowed:
                admin.execute(f"alter database {name} owner to {role}".encode())
            with pytest.raises(errors.NotPermitted, match=remedy):
                schema.upgrade(limited)
    finally:
        admin.execute(f"drop database {name} with (force)".encode())
        admin.execute(f"drop role {role}")


def test_owner_without_special_rights(admin, databases, url_of):
    role, name = "pgrag_test_owner", databases.create()
    admin.execute(f"drop role if exists {role}; create role {role} login password 'geheim'")
    owner_url = re.sub(r"//[^@]*@", f"//{role}:geheim@", url_of(name))
    try:
        admin.execute(
            sql.SQL("alter database {} owner to {}").format(
                sql.Identifier(name), sql.Identifier(role)
            )
        )
        execute(url_of(name), "create extension vector")
        assert schema.upgrade(owner_url).state == "current"
        assert all(finding.ok for finding in server_findings(owner_url))
    finally:
        admin.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
        admin.execute(f"drop role {role}")


@pytest.mark.parametrize(("options", "failing", "words"), [
    ("encoding 'SQL_ASCII' locale 'C'", ["encoding", "case folding"], "encoding is SQL_ASCII"),
    ("encoding 'UTF8' locale 'C'", ["case folding"], "does not fold the case"),
])  # fmt: skip
def test_database_that_cannot_serve(admin, databases, url_of, options, failing, words):
    name = "pgrag_test_unfit"
    admin.execute(
        f"create database {name} template template0 locale_provider libc {options}".encode()
    )
    try:
        findings = server_findings(url_of(name))
        wrong = [finding for finding in findings if not finding.ok]
        assert [finding.name for finding in wrong] == failing
        assert all(finding.remedy for finding in wrong)
        assert not any(finding.remedy for finding in findings if finding.level == "ok")
        with pytest.raises(errors.DatabaseError, match=words):
            schema.upgrade(url_of(name))
        assert value(url_of(name), "select to_regnamespace('pgrag')::text") is None
    finally:
        admin.execute(f"drop database {name} with (force)")


def test_doctor_finds_a_schema_in_which_anyone_may_shadow_a_function(database_url):
    def wrong() -> list[str]:
        listed = findings(database_url, is_embedded=False, models=["static-en-de-ru-256"])
        return [finding.remedy for finding in listed if not finding.ok]

    assert wrong() == []
    execute(database_url, "grant create on schema public to public")
    assert wrong() == ["Run `revoke create on schema public from public`."]


def test_functions_arrive_whatever_the_client_encoding(empty_database_url, sql_tree, monkeypatch):
    (sql_tree / "text" / "zz.sql").write_text(
        "create or replace function pgrag.zz() returns text language sql as $$ select 'ü€я' $$;",
        "utf-8",
    )
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    schema.upgrade(empty_database_url)
    with Database(empty_database_url) as database:
        assert database.call("zz") == [{"zz": "ü€я"}]


def test_unreachable_database():
    for step in (schema.status, schema.upgrade, schema.require_current):
        with pytest.raises(errors.DatabaseUnavailable, match="refused"):
            step("postgresql://pgrag@127.0.0.1:1/pgrag")
