"""Whatever goes wrong, a sentence says what and what to do; never a traceback."""

from pathlib import Path

import psycopg
from command_line import CommandLine

INJECTION = "x'; drop schema pgrag cascade; --"
KESTREL = Path(__file__).parents[1] / "fixtures" / "kestrel"


def is_intact(pgrag):
    """Say whether there is still what was indexed, and nothing more."""
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"]) as connection:
        return connection.execute("select count(*) from pgrag.versions").fetchone() == (4,)


def test_names_that_do_not_exist_are_answered_with_those_that_do(indexed):
    library, version, replaced = (
        indexed.run("search", "copy", "-l", "kestral", code=1),
        indexed.run("search", "copy", "-l", "kestrel@nightly", "--json", code=1),
        indexed.run("search", "copy", "-l", "kestrel@1.9.2"),
    )
    assert library.err.splitlines() == [
        "error: There is no library 'kestral'.",
        "Did you mean kestrel? The libraries are: kestrel, spravka, wegweiser.",
    ]
    assert "has no version that fits 'nightly'" in version.err
    assert "It has: 2.0, 1.4." in version.err
    assert library.out + version.out == ""
    unquoted = indexed.run("search", "restore", "copy", code=1).err
    assert "There is no library 'restore'." in unquoted
    assert "quote its words" in unquoted
    assert "kestrel 1.4: 1.9.2 is not indexed; the newest version before it" in replaced.err
    ended = indexed.run("search", b"caf\xe9".decode("utf-8", "surrogateescape"), code=1)
    assert ended.err.startswith("error: ")
    assert "The query is empty" in indexed.run("search", "   ", code=1).err
    assert indexed.run("index", "@1.0", ".", code=2).err.count("has no library") == 1


def test_sql_is_a_text_or_refused(indexed):
    indexed.run_all(
        ("search", INJECTION, "--filter", f"type={INJECTION}", "--filter", f"path={INJECTION}"),
        ("context", "copy", "--filters", '{"front_matter": {"x\'; drop": "\'; drop"}}'),
    )
    assert is_intact(indexed)
    refused = indexed.run_all(
        ("search", "copy", "-l", INJECTION),
        ("search", "copy", "-l", f"kestrel@{INJECTION}"),
        ("search", "copy", "--filter", f"{INJECTION}=1"),
        ("search", "copy", "--after", INJECTION),
        ("search", "copy", "--model", INJECTION),
        ("outline", "kestrel@2.0", INJECTION),
        ("configure", "kestrel", f"{INJECTION}=1"),
        ("index", INJECTION, KESTREL),
        ("index", f"kestrel@{INJECTION}", KESTREL),
        code=1,
    )
    assert [ended.err for ended in refused if not ended.err.startswith("error: ")] == []
    assert is_intact(indexed)


def test_a_source_that_cannot_be_read_is_refused(pgrag, tmp_path):
    assert "no such file or folder" in pgrag.run("index", "kestrel", "nowhere", code=1).err
    (tmp_path / "empty").mkdir()
    assert "no documentation in it" in pgrag.run("index", "kestrel", "empty", code=1).err


def test_a_database_or_setting_that_cannot_be_used(tmp_path):
    url = "postgresql://ada:secret@127.0.0.1:9/nowhere"
    pgrag = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": url})
    for arguments in (("search", "copy"), ("index", "kestrel", KESTREL)):
        ended = pgrag.run(*arguments, code=1)
        assert ended.err.startswith("error: The database cannot be used")
        assert "PGRAG_DATABASE_URL" in ended.err
    told = pgrag.run("doctor", code=1)
    assert told.out.startswith("wrong   database")
    assert "secret" not in told.out + told.err
    pgrag = CommandLine(tmp_path, {"HYBRID_ALPHA": "2"})
    assert "HYBRID_ALPHA='2' cannot be used" in pgrag.run("libraries", code=1).err


def test_a_database_older_or_newer_than_the_package(pgrag, empty_database_url):
    empty = pgrag.with_variables(PGRAG_DATABASE_URL=empty_database_url)
    assert empty.run("index", "kestrel", KESTREL, code=1).err.splitlines() == [
        "error: The database has no pgrag schema yet.",
        "Run `pgrag db upgrade`.",
    ]
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("update pgrag.installed_functions set digest = 'another'")
        assert "pgrag db upgrade" in pgrag.run("search", "copy", code=1).err
        assert "wrong   schema" in pgrag.run("doctor", code=1).out
        assert "was outdated" in pgrag.run("db", "upgrade").out
        connection.execute("update pgrag.alembic_version set version_num = 'x9'")
        for command in (("libraries",), ("db", "upgrade")):
            assert "newer than this version of pgrag" in pgrag.run(*command, code=1).err


def test_the_log_is_for_who_asks_and_a_reader_may_have_had_enough(indexed):
    curious = indexed.with_variables(PGRAG_LOG_LEVEL="debug")
    process = curious.start("search", "copy", "-l", "nowhere")
    _, said = process.communicate()
    assert process.returncode == 1
    assert "Traceback" in said
    assert said.splitlines()[-2] == "error: There is no library 'nowhere'."
    process = indexed.start("search", "copy", "-v", "*", "-n", "50", "--json")
    process.stdout.close()
    process.wait()
    assert process.stderr.read() == ""
    process.stderr.close()
