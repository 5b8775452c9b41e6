"""Databases of every age become what a fresh one is, or stay as they were."""

import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from campaign.restore import definitions, go_to
from psycopg import sql
from psycopg.types.json import Jsonb

from pgrag import errors, schema
from pgrag.db import Database
from pgrag.doctor import findings
from pgrag.embedding import install
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.writer import page_document
from pgrag.routines import function_files

REVISION = """
from alembic import op

revision = "9000_test"
down_revision = {below!r}


def upgrade() -> None:
    op.execute("alter table pgrag.libraries add column motto text not null default 'none'")
    op.execute("drop type pgrag.hit")
    op.execute("create type pgrag.hit as (document_id bigint, motto text)")
    op.execute("create function pgrag.left_behind() returns int language sql as 'select 1'")
"""


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
    with psycopg.connect(url) as connection:
        return schema.server_findings(connection)


def test_fresh_database(empty_database_url):
    before = schema.status(empty_database_url)
    assert (before.state, before.revision, before.functions) == ("missing", None, None)
    with pytest.raises(errors.SchemaOutdated, match=r"no pgrag schema yet.*`pgrag db upgrade`"):
        schema.require_current(empty_database_url)
    after = schema.upgrade(empty_database_url)
    assert after == schema.status(empty_database_url)
    assert (after.state, after.revision, after.functions) == ("current", after.head, after.digest)
    schema.require_current(empty_database_url)


def test_upgrading_again_changes_nothing(empty_database_url):
    schema.upgrade(empty_database_url)
    written = (
        "select array_agg(p.xmin::text order by p.oid) from pg_proc as p"
        " where p.pronamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)"
    )
    before = value(empty_database_url, written)
    schema.upgrade(empty_database_url)
    assert value(empty_database_url, written) == before


def test_routines_are_those_of_the_files(database_url):
    text = "\n".join(file.read_text("utf-8") for file in function_files(schema.sql_root()))
    names = re.findall(r"(?m)^create or replace (?:function|procedure) _?pgrag\.(\w+)\(", text)
    assert routines(database_url) == set(names)


def test_functions_fix_a_search_path_without_user_schemas(database_url):
    paths = value(
        database_url,
        "select array_agg(distinct setting)"
        " from pg_proc as p cross join unnest(p.proconfig) as setting"
        " where p.pronamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)"
        " and setting like 'search_path=%%'",
    )
    assert paths == ["search_path=pg_catalog, public, pg_temp"]


def test_threads_and_processes_that_upgrade_at_once(empty_database_url):
    program = "import sys; from pgrag import schema; print(schema.upgrade(sys.argv[1]).state)"
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
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
    ],
)
def test_error_names_file_and_line_and_leaves_the_database(database_url, sql_tree, text, words):
    before = definitions(database_url)
    (sql_tree / "text" / "zz.sql").write_text(text, "utf-8")
    with pytest.raises(errors.DatabaseError, match=words):
        schema.upgrade(database_url)
    assert definitions(database_url) == before


def test_database_newer_than_the_package(database_url):
    execute(database_url, "update pgrag.alembic_version set version_num = '9999'")
    before = definitions(database_url)
    for step in (schema.require_current, schema.upgrade):
        with pytest.raises(errors.SchemaTooNew, match="revision 9999"):
            step(database_url)
    assert definitions(database_url) == before


def test_old_database_is_migrated_with_its_data(database_url, alembic_tree, sql_tree):
    execute(database_url, "insert into pgrag.libraries (name) values ('kept')")
    head = schema.status(database_url).head
    (alembic_tree / "versions" / "9998_test.py").write_text(REVISION.format(below=head))
    for file in function_files(sql_tree):
        if re.search(r"pgrag\.(hit|search|keyword_search)\b", file.read_text("utf-8")):
            file.unlink()
    with pytest.raises(errors.SchemaOutdated, match=rf"{head}.*older.*9000_test"):
        schema.require_current(database_url)
    assert schema.upgrade(database_url).revision == "9000_test"
    assert value(database_url, "select l.motto from pgrag.libraries as l") == "none"
    assert "search" not in routines(database_url)


def test_upgraded_database_is_as_a_fresh_one(empty_database_url, database_url):
    revisions = sorted(file.stem[:4] for file in (schema.alembic_root() / "versions").glob("*.py"))
    for revision in revisions:
        go_to(empty_database_url, revision)
    schema.require_current(empty_database_url)
    schema.upgrade(empty_database_url)  # Alembic's own command gives no roles their privileges
    assert definitions(empty_database_url) == definitions(database_url)


def test_way_down_and_up_again(database_url):
    before = definitions(database_url)
    go_to(database_url, "base", is_down=True)
    assert routines(database_url) == set()
    assert schema.status(database_url).state == "missing"
    schema.upgrade(database_url)
    assert definitions(database_url) == before


def test_links_that_went_with_a_revision_come_with_the_next_run(database_url):
    pages = [{"key": "a.md", "source_hash": "1", "edges": [{"target": "a.md"}]}]
    for _ in range(2):
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("select pgrag.ingest_pages('k', %s)", [Jsonb(pages)])
        assert value(database_url, "select count(*) from pgrag.edges") == 1
        go_to(database_url, "0009", is_down=True)
        schema.upgrade(database_url)


def test_each_step_down_leads_to_what_was_there_before(empty_database_url, database_url):
    # The functions of a revision build its types by the order of their attributes.
    revisions = sorted(file.stem[:4] for file in (schema.alembic_root() / "versions").glob("*.py"))
    for revision in revisions:
        go_to(empty_database_url, revision)
    for revision in reversed(revisions[:-1]):
        go_to(empty_database_url, revision, is_down=True)
    go_to(database_url, "base", is_down=True)
    go_to(database_url, revisions[0])
    assert definitions(empty_database_url) == definitions(database_url)


def test_library_of_the_first_revision_ranks_as_one_of_now(database_url):
    pages = [
        {
            "key": f"{key}.md",
            "title": title,
            "source_hash": key,
            "body": text,
            "documents": [{"content": text, "path": [title, heading], "level": 2, "covers": 6}],
        }
        for key, title, heading, text in (
            ("pods", "Pod priority", "Preemption", "A pod with a higher class goes first."),
            ("nodes", "Nodes", "Priority", "The priority of a pod is seen by every node."),
            ("the", "The", "", "Priority here, priority there."),
        )
    ]
    ranked = (
        "select jsonb_agg(to_jsonb(s) - 'explanation') from pgrag.search('pod priority', 'k') as s"
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        install(connection)
        connection.execute("select pgrag.ingest_pages('k', %s)", [Jsonb(pages)])
        connection.execute("select pgrag.finish_version('k')")
    before = value(database_url, ranked)
    tellings = "select jsonb_object_agg(d.document_id, d.keywords) from pgrag.documents as d"
    keywords = value(database_url, tellings)
    go_to(database_url, "0001", is_down=True)
    schema.upgrade(database_url)
    assert value(database_url, ranked) == before
    assert value(database_url, tellings) == keywords
    assert value(database_url, "select pgrag.refresh_statistics('k')") is False


def test_libraries_of_an_older_revision_keep_the_weights_that_their_impacts_have(database_url):
    go_to(database_url, "0043", is_down=True)
    execute(
        database_url,
        "insert into pgrag.libraries (name, settings) values"
        " ('old', '{\"alpha\": 0.2}'), ('own', '{\"field_weights\": {\"title\": 2, \"url\": 0}}')",
    )
    schema.upgrade(database_url)
    execute(database_url, "insert into pgrag.libraries (name) values ('new')")
    settings = (
        "select pgrag.effective_settings(l.settings) from pgrag.libraries as l where name = %s"
    )
    weights = {"title": 6, "path": 3, "url": 2, "content": 1}
    old = value(database_url, settings, "old")
    assert (old["alpha"], old["field_weights"]) == (0.2, weights)
    own = value(database_url, settings, "own")
    assert own["field_weights"] == weights | {"title": 2, "url": 0}
    assert value(database_url, settings, "new")["field_weights"] == weights | {"title": 4}
    go_to(database_url, "0043", is_down=True)
    stated = "select settings -> 'field_weights' from pgrag.libraries where name = %s"
    assert value(database_url, stated, "new") == {"title": 4}
    assert value(database_url, stated, "old") == {"title": 6}


@pytest.mark.parametrize("weight", ["title", "path"])
def test_a_tuning_of_an_older_revision_is_undone_as_it_was(database_url, weight):
    go_to(database_url, "0043", is_down=True)
    tuned = {"field_weights": {weight: 1}}
    execute(
        database_url,
        f"""
        insert into pgrag.libraries (name, settings) values ('k', '{json.dumps(tuned)}');
        insert into pgrag.tuning_runs (
            library_id, library, version, source, seed, settings_before, settings_after, proposed,
            outcome, reason, started_at, finished_at
        )
        select library_id, 'k', '', 'library', 1, '{{}}', settings, settings, 'accepted', '',
            now(), now()
        from pgrag.libraries;
        """,
    )
    schema.upgrade(database_url)
    execute(database_url, "select pgrag.undo_tuning('k')")
    settings = value(database_url, "select settings -> 'field_weights' from pgrag.libraries")
    assert settings == {"title": 6}


def test_pages_of_an_older_revision_are_compared_as_those_of_now(database_url):
    title = "---\ntitle: Spool\n---\n# Spool\n\nOne line.\n\n## Day\n\nA copy.\n\n## Day\n\nB.\n"
    texts = {"spool.md": title, "flat.md": "Only text, no heading.\n", "empty.md": ""}
    with psycopg.connect(database_url, autocommit=True) as connection:
        for version, more in (("1", ""), ("2", "\nC.\n")):
            pages = [
                page_document(read_page(key, (text + more).encode(), PageOptions()))
                for key, text in texts.items()
            ]
            bare = {"key": "bare.md", "body": "No lines.", "source_hash": version}
            connection.execute(
                "select pgrag.ingest_pages('k', %s, %s)", [Jsonb([*pages, bare]), version]
            )
    hashes = (
        "select jsonb_agg(to_jsonb(s) || jsonb_build_object('body_hash', p.body_hash)"
        " order by p.page_id, s.document_id) from pgrag.pages as p"
        " left join pgrag.section_texts as s on s.page_id = p.page_id"
    )
    before = value(database_url, hashes)
    assert len(before) > 8
    go_to(database_url, "0012", is_down=True)
    schema.upgrade(database_url)
    assert value(database_url, hashes) == before


def test_links_of_an_older_revision_are_references(database_url):
    text = "[[one]] [two](two.md) [[rel:links_to three]] [[rel:references four]]\n"
    page = page_document(read_page("a.md", text.encode(), PageOptions()))
    with psycopg.connect(database_url, autocommit=True) as connection:
        install(connection)
        connection.execute("select pgrag.ingest_page('k', %s)", [Jsonb(page)])
        connection.execute(
            "select pgrag.apply_configuration(%s)",
            [Jsonb({"edge_kinds": {"references": {"weight": 0.5}}})],
        )
    kinds = (
        "select jsonb_agg(jsonb_build_array(e.target, e.kind) order by e.place) from pgrag.edges e"
    )
    weights = (
        "select jsonb_object_agg(k.name, k.weight) from pgrag.edge_kinds as k"
        " where k.name in ('links_to', 'references')"
    )
    before = value(database_url, kinds)
    go_to(database_url, "0014", is_down=True)
    assert value(database_url, kinds) == [
        ["one", "links_to"], ["two.md", "links_to"], ["three", "links_to"], ["four", "references"],
    ]  # fmt: skip
    assert value(database_url, weights) == {"links_to": 0.5}
    schema.upgrade(database_url)
    assert value(database_url, kinds) == before
    assert value(database_url, weights) == {"references": 0.5}


def test_models_of_an_older_revision_get_their_vector_indexes(database_url):
    """Two models with vectors: one without an index, one whose build was killed."""
    pages = [{"key": "a.md", "documents": [{"content": f"Valve {n}."} for n in range(30)]}]
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("select pgrag.ingest_pages('k', %s)", [Jsonb(pages)])
        connection.execute("select pgrag.embed_pending('k')")
        connection.execute("select pgrag.register_model('tiny', 2)")
        connection.execute(
            "select pgrag.store_embeddings('k', 'tiny', array_agg(p.text_hash),"
            " array_agg('[1,2]'::halfvec)) from pgrag.pending_embeddings('k', 'tiny') as p"
        )
        connection.execute("select pgrag.finish_version('k')")
        connection.execute(
            """select pgrag.configure_library('k', settings => '{"exact_limit": 9}')"""
        )
    before = definitions(database_url)
    found = (
        "select jsonb_agg(jsonb_build_array(s.document_id, s.semantic_score, s.explanation"
        " -> 'plans' -> 0) order by s.semantic_score desc, s.document_id)"
        " from pgrag.semantic_search('valve 7', 'k', top_k => 30,"
        """ options => '{"explain": true}') as s"""
    )
    hits = value(database_url, found)
    assert hits[0][2]["plan"] == "hnsw"
    go_to(database_url, "0030", is_down=True)
    made = "select count(*) from pg_indexes where indexdef ~ 'USING hnsw'"
    assert value(database_url, made) == 0
    execute(
        database_url,
        "create index embeddings_hnsw_2 on pgrag.embeddings using hnsw"
        " ((embedding::halfvec(2)) halfvec_ip_ops) where model_id = 2;"
        "update pg_index set indisvalid = false"
        " where indexrelid = 'pgrag.embeddings_hnsw_2'::regclass",
    )
    schema.upgrade(database_url)
    assert definitions(database_url) == before
    assert value(
        database_url,
        "select array_agg(s.valid) from pgrag.embedding_models as m"
        " cross join lateral pgrag.vector_index_state(m.name) as s",
    ) == [True, True]
    assert value(database_url, found) == hits


def test_large_libraries_of_an_older_revision_get_vector_indexes_of_their_own(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        for library in ("large", "small"):
            pages = [{"key": "a.md", "documents": [{"content": f"{library} {n}"} for n in "1234"]}]
            connection.execute("select pgrag.ingest_pages(%s, %s)", [library, Jsonb(pages)])
            connection.execute("select pgrag.embed_pending(%s)", [library])
            connection.execute("select pgrag.finish_version(%s)", [library])
    go_to(database_url, "0041", is_down=True)
    # As if it had so many.
    execute(
        database_url,
        "update pgrag.versions as v set document_count = 20001 from pgrag.libraries as l"
        " where l.library_id = v.library_id and l.name = 'large'",
    )
    schema.upgrade(database_url)
    placed = (
        "select jsonb_object_agg(l.name, jsonb_build_array(e.own_index, s.owner, s.valid))"
        " from pgrag.libraries as l"
        " join (select distinct library_id, own_index from pgrag.embeddings) as e"
        " using (library_id)"
        " join pgrag.embedding_models as m using (model_id)"
        " cross join lateral pgrag.vector_index_state(m.name, l.name) as s"
    )
    assert value(database_url, placed) == {
        "large": [True, "large", True],
        "small": [False, None, True],
    }
    before = definitions(database_url)
    go_to(database_url, "0041", is_down=True)
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


@pytest.mark.parametrize(
    ("options", "failing", "words"),
    [
        ("encoding 'SQL_ASCII' locale 'C'", ["encoding", "case folding"], "encoding is SQL_ASCII"),
        ("encoding 'UTF8' locale 'C'", ["case folding"], "does not fold the case"),
    ],
)
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


def test_a_built_in_model_that_was_never_filled_gets_the_name_of_today(database_url):
    names = "select jsonb_agg(m.name order by m.name) from pgrag.embedding_models as m"
    [today] = value(database_url, names)
    go_to(database_url, "0032", is_down=True)
    assert value(database_url, names) == [today], "a model with tokens keeps its name"
    execute(
        database_url,
        "delete from pgrag.model_tokens;"
        "update pgrag.embedding_models set name = 'static-docs-256', checksum = null",
    )
    schema.upgrade(database_url)
    assert value(database_url, names) == [today]
