"""A plain search runs without the full program, and nobody can tell."""

import re
import signal
import subprocess
import sys
import time

import psycopg
import pytest
from command_line import wait_for

#: A setting that the quick way does not know.
FULL = {"PGRAG_LOG_FORMAT": "text"}
SEARCHES = [
    *(
        ["search", "restore a folder of yesterday", *options]
        for options in (
            [], ["-l", "kestrel"], ["--library=kestrel", "-n", "3"],
            ["-l", "kestrel@2.0", "--full"], ["-l", "kestrel", "-v", "1.0", "--json"],
            ["--limit", "2", "--keyword", "-l", "kestrel"],
            ["--semantic", "-l", "kestrel", "--top-k=4"], ["--snippets", "--json", "-l", "kestrel"],
            ["-l", "kestrel", "-v", "*"], ["-l", "nothing"], ["-l", "kestrel@7"],
            ["-l", "kestrel@"],
            ["-l", "kestrel", "-v", "9.9.9"], ["-l", "kestrel", "-n", "0"], ["-n", "1000"],
            ["-l", "kestrel", "--keyword", "--semantic"], ["-l", "kestrel", "--explain"],
            ["-l", "kestrel", "-l", "kestrel"], ["--lib", "kestrel"], ["-lkestrel"], ["--nothing"],
            ["-l"], ["-l", ""], ["-l", "-v"], ["-l", "kestrel", "--rerank"], ["a third word", "x"],
            ["-l", "kestrel@2.0", "--version", "1.0"], ["-l", "kestrel", "--fusion", "rrf"],
        )
    ),
    *(
        ["search", *words]
        for words in (
            ["kestrel", "restore"], ["kestrel@2.0", "restore", "-n", "1"], ["nothing", "restore"],
            ["kestrel", "restore", "-l", "kestrel"], ["resotre"], ["type:guide restore"], [""],
            ["+restore -folder", "--json"], ["-l", "kestrel", "--", "-folder restore"], [], [" "],
            ["created:soon"], ["no\udc80", "-l", "kestrel"], ["zzzzqqqq", "-l", "kestrel"],
            ["zzzzqqqq", "-l", "kestrel", "--json"], ["a\tb | «ü» 漢字", "-l", "kestrel"],
            ["--help"],
        )
    ),
    ["--version"], ["search"], ["serach", "restore"], ["pages", "restore"],
]  # fmt: skip


@pytest.mark.parametrize("arguments", SEARCHES, ids=lambda arguments: "_".join(arguments)[:60])
def test_both_ways_print_the_same(indexed, arguments):
    quick = indexed.attempt(*arguments)
    full = indexed.with_variables(**FULL).attempt(*arguments)
    assert quick.code == full.code
    assert _without_ids(quick.out) == _without_ids(full.out)
    assert quick.err == full.err


def test_plain_searches_need_neither_driver_nor_typer(indexed):
    program = (
        "import sys; from pgrag.cli import main; main();"
        "print([name for name in ('psycopg', 'pydantic', 'typer', 'rich', 'asyncio')"
        " if name in sys.modules], file=sys.stderr)"
    )

    def imported(*arguments, **variables):
        command = indexed.with_variables(**variables)
        ended = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            env=command.environment, cwd=command.folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return ended.stderr.splitlines()[-1]

    for arguments in SEARCHES[:9]:
        assert imported(*arguments) == "[]", arguments
    assert imported("--version") == "[]"


def test_settings_of_a_file_count_and_a_search_is_recorded(indexed):
    url = indexed.variables["PGRAG_DATABASE_URL"]
    (indexed.folder / ".env").write_text(f"pgrag_database_url={url}\nPGRAG_RECORD_SEARCHES=no\n")
    try:
        bare = indexed.with_variables(PGRAG_DATABASE_URL="")
        assert bare.json("search", "restore", "-l", "kestrel")["search_id"] is None
        (indexed.folder / ".env").write_text(f"pgrag_database_url={url}\n")
        recorded = bare.json("search", "restore", "-l", "kestrel")["search_id"]
        with psycopg.connect(url) as connection:
            found = "select s.client from pgrag.searches as s where s.search_id = %s"
            assert connection.execute(found, [recorded]).fetchone() == ("cli",)
    finally:
        (indexed.folder / ".env").unlink()


@pytest.mark.parametrize("variables", [{}, FULL], ids=["quick", "full"])
def test_an_interrupt_ends_a_search_that_waits_and_its_statement(indexed, variables):
    url = indexed.variables["PGRAG_DATABASE_URL"]
    waiting = (
        "select count(*) from pg_stat_activity as a"
        " where a.datname = current_database() and a.wait_event_type = 'Lock'"
    )
    with psycopg.connect(url) as connection:
        connection.execute("lock table pgrag.libraries in access exclusive mode")
        process = indexed.with_variables(**variables).start("search", "restore")
        wait_for(url, waiting, process, least=1)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == ("", "")
        assert process.returncode == 130
        with psycopg.connect(url, autocommit=True) as other:
            while other.execute(waiting).fetchone() != (0,):
                time.sleep(0.05)


def test_a_role_that_a_session_begins_with_does_not_count(indexed):
    roled = indexed.with_variables(PGOPTIONS="-c role=pgrag_reader")
    quick, full = (each.run("search", "restore") for each in (roled, roled.with_variables(**FULL)))
    assert quick.out
    assert quick == full


def _without_ids(text):
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", text)
