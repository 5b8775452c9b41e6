"""`pgrag db`, `pgrag doctor`, and what a person sees on a terminal."""

import os
import pty
import re
import shlex
import subprocess

import psycopg
from command_line import CommandLine, write_pages

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(pgrag, *arguments, answer=""):
    """Run a command on a terminal; return its exit status and what the screen got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        pgrag.command(*arguments),
        cwd=pgrag.folder,
        env=pgrag.environment | {"COLUMNS": "100"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, answer.encode())
    screen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux: the terminal has closed
            break
        if not part:
            break
        screen += part
    os.close(ours)
    return process.wait(), screen.decode()


def test_psql_finds_the_functions_and_shows_errors_without_those_inside(indexed):
    queries = (
        "select library from pgrag.search('zlib compiler', top_k => 1)",
        "select count(*) from libraries()",
    )
    ended = indexed.run("db", "psql", "--", "-At", *(part for q in queries for part in ("-c", q)))
    assert ended.out.split() == ["kestrel", "3"]
    query = "select * from pgrag.search('x', 'nowhere')"
    shown = indexed.run("db", "psql", "--", "-c", query, code=1).err
    assert [line.partition(":")[0] for line in shown.splitlines()] == ["ERROR", "HINT"]
    shown = indexed.run("db", "psql", "--", "-v", "SHOW_CONTEXT=always", "-c", query, code=1).err
    assert "CONTEXT:" in shown


def rows(url):
    """The rows of every table, but for times of installation."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "select relname from pg_class where relnamespace = 'pgrag'::regnamespace"
            " and relkind = 'r' and relname <> 'installed_functions' order by 1"
        ).fetchall()
        return {
            name: connection.execute(
                f"select array_agg(t::text order by t::text) from pgrag.{name} as t".encode()
            ).fetchone()
            for (name,) in tables
        }


def test_a_dump_restores_what_it_holds(indexed, empty_database_url, tmp_path):
    ours, theirs = indexed.variables["PGRAG_DATABASE_URL"], empty_database_url
    # As PostgreSQL 17.12 does it, with a number that others refuse.
    mark = "update pg_attribute set attoptions = {} where attrelid = 'pgrag.pages'::regclass"
    script, archive = tmp_path / "dump.sql", tmp_path / "dump"
    with psycopg.connect(ours) as connection:
        connection.execute(mark.format("'{pg_attver=7}'"))
    script.write_text(indexed.run("db", "dump").out)
    with psycopg.connect(ours) as connection:
        connection.execute(mark.format("null"))
    indexed.run("db", "dump", "--format", "custom", "--file", archive)
    copy = indexed.with_variables(PGRAG_DATABASE_URL=theirs)
    assert "Restored 3 libraries with " in copy.run("db", "restore", script).out
    assert rows(theirs) == rows(ours)
    copy.run("remove", "kestrel", "--yes")
    assert "Restored 3 libraries with " in copy.run("db", "restore", archive, "--yes").out
    assert rows(theirs) == rows(ours)
    query = ("search", "compiler", "-l", "kestrel")
    hits = ([{**hit, "search_id": None} for hit in each.hits(*query)] for each in (indexed, copy))
    assert next(hits) == next(hits)
    assert copy.json("doctor", "kestrel") == []


def test_a_restore_replaces_nothing_unasked_and_nothing_by_half(pgrag, indexed, tmp_path):
    pgrag.run("index", "pumps", write_pages(tmp_path / "pumps", 2))
    url = pgrag.variables["PGRAG_DATABASE_URL"]
    before = rows(url)
    dump = tmp_path / "dump.sql"
    dump.write_text(indexed.run("db", "dump").out)
    asked = pgrag.run("db", "restore", dump, code=2)
    assert "give --yes to replace 1 library with 2 pages" in " ".join(asked.err.split())
    code, screen = on_terminal(pgrag, "db", "restore", dump, answer="n\n")
    assert (code, "Nothing was restored." in screen) == (1, True)

    half = tmp_path / "half.sql"
    half.write_bytes(dump.read_bytes()[:-2000])
    assert "its end is missing" in pgrag.run("db", "restore", half, "-y", code=1).err
    wrong = tmp_path / "wrong.sql"
    wrong.write_text(dump.read_text().replace("CREATE TABLE pgrag.pages ", "CREATE TABEL x "))
    failed = pgrag.run("db", "restore", wrong, "-y", code=1).err
    assert "nothing has changed" in failed
    assert 'syntax error at or near "TABEL"' in failed
    archive = tmp_path / "archive"
    indexed.run("db", "dump", "--format", "custom", "--file", archive)
    data = archive.read_bytes()
    archive.write_bytes(data[: len(data) // 2])
    assert "nothing has changed" in pgrag.run("db", "restore", archive, "-y", code=1).err
    archive.write_bytes(data[:6] + b"\x7f" + data[7:])
    newer = " ".join(pgrag.run("db", "restore", archive, "-y", code=1).err.split())
    assert "was written by a newer pg_dump (archive format 1.127" in newer
    assert "pg_restore --no-owner --file=pgrag.sql" in newer
    for missing in ("nothing.sql", "."):
        said = pgrag.run("db", "restore", tmp_path / missing, code=1).err
        assert "`pgrag db dump` writes one" in said
    assert rows(url) == before


def test_url_and_status_say_where_the_database_is(indexed):
    url = indexed.variables["PGRAG_DATABASE_URL"]
    assert indexed.run("db", "url").out.strip() == url
    status = indexed.json("db", "status")
    assert (status["embedded"], status["state"]) == (False, "current")
    password = psycopg.conninfo.conninfo_to_dict(url).get("password")
    assert not password or str(password) not in status["url"]


def test_a_database_made_before_the_first_release_is_refused_and_can_be_made_anew(pgrag, tmp_path):
    source = write_pages(tmp_path / "pumps", 2)
    pgrag.run("index", "pumps", source)
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("update pgrag.alembic_version set version_num = '0047'")
        refusal = (
            "(revision 0047) was made by a version of pgrag before 0.1, and cannot be upgraded"
        )
        for arguments in (
            ("search", "pump"), ("index", "pumps", source), ("libraries",), ("db", "upgrade"),
        ):  # fmt: skip
            assert refusal in pgrag.run(*arguments, code=1).err
        assert refusal in pgrag.run("doctor", code=1).out
        assert refusal in pgrag.run("db", "status").out
        status = pgrag.json("db", "status")
        assert status["state"] == "unreleased"
        assert connection.execute("select count(*) from pgrag.pages").fetchone() == (2,)
    [remedy, upgrade] = re.findall("`pgrag ([^`]+)`", status["remedy"])
    pgrag.run(*shlex.split(remedy))
    pgrag.run(*shlex.split(upgrade))
    pgrag.run("index", "pumps", source)
    pgrag.run("doctor")


def test_the_doctor_finds_what_is_wrong_warns_and_says_how_to_mend_it(pgrag, tmp_path):
    pgrag.run("index", "pumps", write_pages(tmp_path / "pumps", 2))
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("delete from pgrag.embeddings")
        told = pgrag.run("doctor", code=1)
        assert "Run `pgrag embed pumps`." in told.out
        pgrag.run("embed", "pumps")
        connection.execute("delete from pgrag.model_tokens")
        connection.execute("update pgrag.embedding_models set checksum = 'other'")
        connection.execute("update pgrag.versions set status = 'indexing'")
        findings = pgrag.run("doctor", "--json", code=1).json
        wrong = [finding["name"] for finding in findings if finding["level"] == "wrong"]
        assert wrong == ["model", "library pumps"]
        pgrag.run("db", "upgrade")
        pgrag.run("index", "pumps", "pumps")
        assert "wrong" not in pgrag.run("doctor").out
        connection.execute("update pg_extension set extversion = '0.8.1' where extname = 'vector'")
        told = pgrag.run("doctor", code=0).out
        assert "warning pgvector       pgvector 0.8.1 has known faults: " in told
        assert "CVE-2026-3172" in told
        assert "Run `alter extension vector update` in the database." in told
        findings = {row["name"]: row["level"] for row in pgrag.json("doctor")}
        assert [name for name, level in findings.items() if level != "ok"] == ["pgvector"]
        assert findings["pgvector"] == "warning"
        connection.execute("alter extension vector update")
    assert "warning" not in pgrag.run("doctor", code=0).out


def test_settings_and_help_need_no_database(tmp_path):
    (tmp_path / ".env").write_text("PGRAG_POOL_SIZE=3\nPGRAG_EMBEDDING_API_KEY=sesame\n")
    pgrag = CommandLine(tmp_path, {"HYBRID_ALPHA": "0.4"})
    listed = {row["name"]: row for row in pgrag.json("doctor", "--settings")}
    assert (listed["PGRAG_POOL_SIZE"]["value"], listed["PGRAG_POOL_SIZE"]["source"]) == (
        "3",
        ".env",
    )
    assert listed["HYBRID_ALPHA"]["source"] == "environment"
    assert listed["PGRAG_EMBEDDING_API_KEY"]["value"] == "********"
    pgrag = CommandLine(tmp_path, {"PGRAG_POOL_SIZE": "broken"})
    assert pgrag.run("--version").out.startswith("pgrag ")
    assert "LIBRARY[@VERSION]" in pgrag.run("index", "--help").out


def test_a_terminal_gets_progress_and_colour_and_is_asked(pgrag, tmp_path):
    code, screen = on_terminal(pgrag, "index", "pumps", write_pages(tmp_path / "pumps", 40))
    assert code == 0
    assert "Indexing pumps" in screen
    assert "40/40" in screen

    code, screen = on_terminal(pgrag, "search", "pressure", "--keyword", "-n", "1")
    assert "\x1b[1;33m" in screen, "the word is marked"
    assert max(len(line) for line in ESCAPE.sub("", screen).splitlines()) <= 100
    plain = pgrag.with_variables(NO_COLOR="1")
    code, screen = on_terminal(plain, "search", "pressure", "--keyword", "-n", "1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", screen), "NO_COLOR is respected"

    code, screen = on_terminal(pgrag, "remove", "pumps", answer="n\n")
    assert "Remove pumps with all its versions (40 pages)?" in screen
    assert (code, "Nothing was removed." in screen) == (1, True)
    code, screen = on_terminal(pgrag, "remove", "pumps", answer="y\n")
    assert (code, "Removed pumps" in screen) == (0, True)
