"""What a user reads when the database, a disk or a connection fails under a command, and what is
left: `pytest -rP` prints a row for each."""

import os
import re
import signal
import socket
import subprocess
import tarfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from command_line import CommandLine, assert_complete, wait_for, write_pages
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrag.ground.embedded import EmbeddedServer


def said(fault, told):
    """Print the row of a fault, as docs/security.md has it; return what was read on one line."""
    words = " ".join(told.split())
    print(f"| {fault} | {words[:300]} |")
    return words


@pytest.fixture
def own(tmp_path):
    """`pgrag` with a server of its own, and the server."""
    pgrag = CommandLine(tmp_path, small_batches=True)
    server = EmbeddedServer(Path(pgrag.environment["PGRAG_HOME"]))
    try:
        yield pgrag, server
    finally:
        server.remove()


def next_line(process):
    """What a command says next on stderr, however long it then goes on."""
    return process.stderr.readline()


@contextmanager
def unwritable(server):
    """Crash the server, and let it write nothing when it starts again, as on a full disk."""
    status = server.status()
    status.data_directory.chmod(0o500)
    os.kill(status.pid, signal.SIGQUIT)
    try:
        yield
    finally:
        status.data_directory.chmod(0o700)


def test_a_server_that_cannot_write_is_told_at_once_and_the_next_run_completes(own, tmp_path):
    pgrag, server = own
    source = write_pages(tmp_path / "pumps", 600)  # so many that it is hit while it writes
    url = server.start()
    pgrag.run("db", "upgrade")
    run = pgrag.start("index", "pumps", source)
    wait_for(url, "select count(*) from pgrag.pages", run, least=1)
    os.kill(run.pid, signal.SIGSTOP)
    with unwritable(server):
        os.kill(run.pid, signal.SIGCONT)
        out, err = run.communicate()
        words = said("the server cannot write, during `pgrag index`", err)
        assert run.returncode == 1, out
        assert "The embedded PostgreSQL did not start: the permissions are wrong" in words
        assert "must belong to the user that runs the server" in words
        # Each attempt to start it is in its log: it is not started again and again.
        assert server.log.read_text().count("starting PostgreSQL") <= 4
        told = pgrag.run("search", "pump", code=1).err
        words = said("the same, `pgrag search`", told)
        assert "did not start: the permissions are wrong" in words
    assert "pages written" in pgrag.run("index", "pumps", source).out
    assert_complete(server.start(), library="pumps", pages=600)


def test_a_database_that_is_closed_under_a_run_ends_it_with_the_reason(
    admin, pgrag, databases, tmp_path
):
    source = write_pages(tmp_path / "pumps", 600)
    url = pgrag.variables["PGRAG_DATABASE_URL"]
    name = conninfo_to_dict(url)["dbname"]
    pgrag = replace(pgrag, small_batches=True)
    run = pgrag.start("index", "pumps", source)
    wait_for(url, "select count(*) from pgrag.pages", run, least=1)
    os.kill(run.pid, signal.SIGSTOP)
    admin.execute(f"alter database {name} with allow_connections false".encode())
    admin.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
    )
    try:
        os.kill(run.pid, signal.SIGCONT)
        _, err = run.communicate()
    finally:
        admin.execute(f"alter database {name} with allow_connections true".encode())
    *tried, last, _ = err.splitlines()
    said("the database is closed, during `pgrag index`", err)
    assert run.returncode == 1
    assert len(tried) <= 1
    for told in tried:
        assert re.search(r"The database cannot be used: .*Trying again for \d+ seconds", told)
    assert "is not currently accepting connections" in last, "told, and not tried for so long"
    pgrag.run("index", "pumps", source)
    assert_complete(url, library="pumps", pages=600)


FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="an operating system without /dev/full")
@pytest.mark.parametrize(
    "arguments", [("search", "compiler"), ("search", "compiler", "--json"), ("db", "dump")]
)
def test_a_full_disk_for_the_output_is_named(indexed, arguments):
    with FULL.open("w") as full:
        ended = subprocess.run(
            indexed.command(*arguments),
            check=False,
            cwd=indexed.folder,
            env=indexed.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
    words = said(f"the disk of the output is full, `pgrag {arguments[0]}`", ended.stderr)
    assert (ended.returncode, "There is no space left on the disk" in words) == (1, True)
    assert "Unexpected" not in words


def test_a_server_that_is_silent_is_waited_for_aloud_and_not_for_ever(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        url = f"postgresql://pgrag@127.0.0.1:{port}/pgrag?connect_timeout=4"
        run = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": url}).start("search", "pump")
        first = next_line(run)
        assert run.poll() is None, "told while it waits"
        _, rest = run.communicate()
    words = said("a server that does not answer, `pgrag search`", first + rest)
    assert first == "Waiting for a connection to the database.\n"
    assert "error: The database cannot be used: " in words
    assert "timeout" in words


REFUSALS = [
    ("alter role clerk connection limit 0", "too many connections", "connection limit"),
    ("alter role clerk nologin", "not permitted to log in", "Check database and user"),
    ("alter role clerk password 'other'", "password authentication failed", "Check user and pass"),
    ("alter database {} with allow_connections false", "not currently accept", "Check database"),
    ("alter database {} rename to pgrag_test_moved", "does not exist", "Check database and user"),
    (
        "alter database {} set default_transaction_read_only = on",
        "the database is read-only",
        "default_transaction_read_only to off",
    ),
    ("alter role clerk set statement_timeout = '5ms'", "statement timeout", "Ask for less"),
]


@pytest.mark.parametrize(("change", "reason", "remedy"), REFUSALS)
def test_what_an_administrator_changes_is_told_with_its_remedy(
    admin, databases, url_of, template, tmp_path, change, reason, remedy
):
    name = databases.create(template)
    admin.execute("create role clerk login superuser password 'b2Nlk8u3'")
    # Superusers pass every limit, but then own nothing.
    admin.execute(f"alter database {name} owner to clerk".encode())
    try:
        url = url_of(name)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("grant all on all tables in schema pgrag, _pgrag to clerk")
            connection.execute("grant usage on schema pgrag, _pgrag to clerk")
            connection.execute("grant pgrag_admin to clerk")
        admin.execute("alter role clerk nosuperuser")
        own = make_conninfo(url, user="clerk", password="b2Nlk8u3")
        pgrag = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": own})
        source = write_pages(tmp_path / "pumps", 3)
        admin.execute(change.format(name).encode())
        words = said(f"`{change}`", pgrag.run("index", "pumps", source, code=1).err)
        assert reason in words
        assert remedy in words
        for undo in (
            "alter role clerk connection limit -1 login password 'b2Nlk8u3'",
            "alter role clerk reset all",
        ):
            admin.execute(undo.encode())
    finally:
        if "rename" in change:
            admin.execute(f"alter database pgrag_test_moved rename to {name}".encode())
        admin.execute(f"alter database {name} owner to current_user".encode())
        admin.execute(f"alter database {name} with allow_connections true".encode())
        admin.execute(f"alter database {name} reset all".encode())
        with psycopg.connect(url_of(name), autocommit=True) as connection:
            connection.execute("drop owned by clerk")
        admin.execute("drop role clerk")
        databases.done(name)


def test_half_of_a_dump_changes_nothing_whatever_its_form(pgrag, tmp_path):
    pgrag.run("index", "pumps", write_pages(tmp_path / "pumps", 2))
    url = pgrag.variables["PGRAG_DATABASE_URL"]
    state = "select count(*), sum(page_id) from pgrag.pages"
    with psycopg.connect(url, autocommit=True) as connection:
        before = connection.execute(state).fetchone()
        for form in ("plain", "custom", "tar"):
            whole = tmp_path / form
            pgrag.run("db", "dump", "--format", form, "--exclude-table-data=pgrag.model_tokens",
                      "--file", whole)  # fmt: skip
            data = whole.read_bytes()
            half = tmp_path / "half"
            for cut in (3, 100, len(data) // 10, len(data) // 2, -1500):
                half.write_bytes(data[:cut])
                words = " ".join(pgrag.run("db", "restore", half, "-y", code=1).err.split())
                assert re.search("is not a dump|its end is missing|nothing has changed", words)
                assert re.search(r"[Dd]ump it again|`pgrag db dump` writes one", words), words
            said(f"half of a dump ({form})", words)
        folder = tmp_path / "folder"
        pgrag.run("db", "dump", "--format", "directory", "--file", folder)
        for spoilt in sorted(folder.glob("*.dat.gz"))[::20]:
            content = spoilt.read_bytes()
            spoilt.write_bytes(content[: len(content) // 2])
            words = " ".join(pgrag.run("db", "restore", folder, "-y", code=1).err.split())
            assert "nothing has changed" in words
            spoilt.write_bytes(content)
        said("half of a dump (directory)", words)
        assert connection.execute(state).fetchone() == before
    assert tarfile.is_tarfile(tmp_path / "tar")
