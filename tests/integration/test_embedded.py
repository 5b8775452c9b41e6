"""The private server, for real: shared, killed, misled, confined, stopped."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg
import pytest
import sqlalchemy

from pgrag.ground.embedded import EmbeddedServer, binary, binary_environment, postmaster
from pgrag.ground.embedded import server as embedded_server
from pgrag.ground.embedded.binaries import installed
from pgrag.ground.embedded.initialise import memory, sized
from pgrag.ground.embedded.revival import Revival
from pgrag.ground.errors import DatabaseUnavailable
from pgrag.ground.settings import processors

START = """
import sys
from pathlib import Path
from pgrag.ground.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
print(server.start(), server.status().pid)
"""


def start_in_other_process(home: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", START, str(home)],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def temporary_server(home: Path) -> Iterator[EmbeddedServer]:
    """A server that leaves nothing behind: neither a process nor a file."""
    server = EmbeddedServer(home)
    try:
        yield server
    finally:
        status = server.status()
        server.remove()
        assert server.status().data_directory is None
        assert sorted(path.name for path in home.glob("*")) in ([], ["server.lock"])
        for folder in (status.socket, status.data_directory):
            assert folder is None or not folder.exists()
        assert status.pid is None or not is_alive(status.pid)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server made under LC_ALL=C by four processes at once; each test may restart it.

    The first process that tried to make it was killed when it had begun.
    """
    home = tmp_path_factory.mktemp("embedded") / "new" / "home"
    with temporary_server(home) as server:
        with start_in_other_process(home) as killed:
            while not list(home.glob("cluster/new-*/data/base")):
                assert killed.poll() is None
                time.sleep(0.01)
            killed.kill()
            killed.communicate()
        assert server.status().data_directory is not None
        assert not server.status().running
        starters = [
            start_in_other_process(
                home, LC_ALL="C", LANG="C", TZ="Asia/Tokyo", PGDATA="/nowhere", PGPORT="1"
            )
            for _ in range(4)
        ]
        answers = [(*starter.communicate(timeout=100), starter.returncode) for starter in starters]
        waiting = f"Another process starts or stops the PostgreSQL of {home}.\n"
        assert {(error.replace(waiting, ""), code) for _, error, code in answers} == {("", 0)}
        assert len({url_and_pid for url_and_pid, *_ in answers}) == 1
        assert answers[0][0] == f"{server.start()} {server.status().pid}\n"
        yield server


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill_9(server: EmbeddedServer) -> None:
    pid = server.status().pid
    os.kill(pid, signal.SIGKILL)
    while is_alive(pid):
        time.sleep(0.01)


def children(pid: int) -> dict[str, int]:
    """The living processes of a server by their titles, such as "checkpointer"."""
    found = {}
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            child = int(folder.name)
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                title = (folder / "cmdline").read_bytes().rstrip(b"\0 ").decode()
                found[title.removeprefix("postgres: ")] = child
    return found


def startup_process(pid: int) -> int | None:
    """The process that recovers, if there is one; its title goes on with what it does."""
    titles = (child for title, child in children(pid).items() if title.startswith("startup"))
    return next(titles, None)


def kill_in_recovery(server: EmbeddedServer, number: signal.Signals) -> int:
    """Kill a child of the server, then send a signal to the process that recovers from it.

    Return the process id of the server, which now takes no connections and does nothing.
    """
    url = server.start()
    pid = server.status().pid
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("drop table if exists written")
        connection.execute("create table written as select n from generate_series(1, 50000) as n")
    for _ in range(10):
        os.kill(children(pid)["checkpointer"], signal.SIGKILL)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            if (startup := startup_process(pid)) is not None:
                os.kill(startup, number)
                time.sleep(0.5)
                if not server.status().running:
                    return pid
                break  # it had already recovered
    raise AssertionError("The server recovers faster than it can be hit.")


@pytest.fixture(params=[signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def stuck(server, request):
    """The process id of a server the recovery of which was killed or stopped.

    PostgreSQL waits for ever for the end of a startup process that was killed while it recovered
    from the end of another process.
    """
    return kill_in_recovery(server, request.param)


def value(url: str, query: str) -> object:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query).fetchone()
    return row[0]


def without_password(url: str) -> str:
    password = urlsplit(url).password
    assert password
    return url.replace(f":{password}", "")


def test_starters_leave_a_server_of_its_own_session(server):
    server.start()
    status = server.status()
    assert status.running
    assert status.version.startswith("18.")
    assert os.getsid(status.pid) != os.getsid(0)
    assert status.port is None
    assert status.log.read_text().count("ready to accept connections") >= 1


def test_case_folds_although_the_server_was_made_under_lc_all_c(server):
    url = server.start()
    for configuration, upper, lower in (
        ("german", "HÄUSER", "häuser"),
        ("russian", "ДОМА", "дома"),
    ):
        with psycopg.connect(url) as connection:
            row = connection.execute(
                "select to_tsvector(%(c)s::regconfig, %(u)s)::text,"
                " to_tsvector(%(c)s::regconfig, %(l)s)::text, lower(%(u)s)",
                {"c": configuration, "u": upper, "l": lower},
            ).fetchone()
        assert row[0] == row[1]
        assert row[2] == lower
    # In the C locale every character beyond ASCII would count as a letter.
    assert value(url, "select to_tsvector('simple', 'eins…zwei')::text") == "'eins':1 'zwei':2"
    assert value(url, "select current_setting('server_encoding')") == "UTF8"
    assert value(url, "select current_setting('TimeZone')") == "UTC"


def test_server_is_set_for_search_and_stays_durable(server):
    url = server.start()
    expected = {
        "max_wal_size": "2GB", "random_page_cost": "1.1", "jit": "off", "max_connections": "100",
        "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
        "track_functions": "none", "listen_addresses": "",
    }  # fmt: skip
    assert {name: value(url, f"show {name}") for name in expected} == expected


def test_server_is_sized_by_the_machine(server):
    url = server.start()
    for name, size in sized(memory(), processors()).items():
        bytes_of = "pg_size_bytes(current_setting('{}')) = pg_size_bytes('{}')"
        assert value(url, f"select {bytes_of.format(name, size)}"), name


def test_settings_can_be_changed_by_alter_system(server):
    url = server.start()
    value_before = value(url, "show shared_buffers")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("alter system set shared_buffers = '64MB'")
    server.stop()
    assert value(server.start(), "show shared_buffers") == "64MB" != value_before
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("alter system reset shared_buffers")


def test_kill_9_loses_nothing_that_was_committed(server):
    url = server.start()
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        connection.execute("create table survivor as select n from generate_series(1, 1000) as n")
        connection.execute("create extension vector")
        before = server.status().pid
        # The process of a busy session outlives its server, and a new one must wait for it.
        connection.pgconn.send_query(
            b"do 'begin while clock_timestamp() < now() + ''10 s'' loop end loop; end'"
        )
        kill_9(server)
        assert not server.status().running
        assert server.start() == url
    assert server.status().pid != before
    assert value(url, "select count(*) from survivor") == 1000
    assert value(url, "select '[1,2]'::vector <#> '[3,4]'::vector") == -11
    log = server.log.read_text()
    assert "still in use" in log
    assert "automatic recovery in progress" in log


def test_a_server_that_is_stopped_is_not_brought_back(server):
    server.start()
    revival = Revival(server)
    with ThreadPoolExecutor(1) as threads:
        with server._locked():
            # As a server looks that has ended its sessions and writes its last checkpoint.
            kill_9(server)
            revived = threads.submit(revival)
            while revival._start is None:
                time.sleep(0.01)
            server._start(listen=False, port=None)
            assert postmaster.terminate(embedded_server.load(server.home))
        assert revived.result() is False
    assert not server.status().running
    server.start()
    kill_9(server)
    assert revival() is True
    assert server.status().running


def test_stale_pid_file_that_names_a_living_process(server):
    url = server.start()
    data = server.status().data_directory
    kill_9(server)
    owner = data.stat()
    account = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "60"], **account) as stranger:
        try:
            pid_file = data / "postmaster.pid"
            _, *rest = pid_file.read_text().splitlines(keepends=True)
            pid_file.write_text("".join([f"{stranger.pid}\n", *rest]))
            assert not server.stop()
            assert server.start() == url
            assert value(url, "select 1") == 1
            assert server.status().pid != stranger.pid
            assert server.stop()
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_starters_bring_a_stuck_server_back(server, stuck):
    log = len(server.log.read_text())
    begun = time.monotonic()
    starters = [start_in_other_process(server.home) for _ in range(2)]
    answers = [starter.communicate(timeout=100) for starter in starters]
    seconds = time.monotonic() - begun
    told = "The embedded PostgreSQL was stuck in its recovery: starting it again.\n"
    assert sum(told in error for _, error in answers) == 1, server.log.read_text()[log:]
    assert answers[0][0] == answers[1][0] == f"{server.start()} {server.status().pid}\n"
    assert not is_alive(stuck)
    assert value(server.start(), "select count(*) from written") == 50_000
    written = server.log.read_text()[log:]
    assert written.count("received immediate shutdown request") == 1
    assert written.count("ready to accept connections") == 1
    # One attempt to connect a second, after some quick ones to the old server and to the new one.
    attempts = len(re.findall("FATAL:  the database system is", written))
    assert 3 < attempts < 30 + seconds, written


def test_stop_ends_a_stuck_server(server, stuck):
    assert server.stop() == "immediate"
    assert not is_alive(stuck)
    assert server.stop() is None
    assert value(server.start(), "select count(*) from written") == 50_000


def test_server_that_gets_stuck_again_is_stopped_and_explained(server):
    """As a standby without a primary it recovers for ever, and takes no connections by setting."""
    server.start()
    server.stop()
    data = server.status().data_directory
    settings = data / "postgresql.auto.conf"
    before = settings.read_text()
    settings.write_text(f"{before}\nhot_standby = off\n")
    signal_file = data / "standby.signal"
    signal_file.touch()
    try:
        with pytest.raises(DatabaseUnavailable, match="got stuck in its recovery") as caught:
            server.start()
        assert str(server.log) in str(caught.value.hint)
        assert str(data) in str(caught.value.hint)
        assert not (data / "postmaster.pid").exists()
    finally:
        settings.write_text(before)
        signal_file.unlink()
    assert value(server.start(), "select 1") == 1


def test_stop_ends_sessions_and_says_whether_it_ran(server):
    url = server.start()
    pid = server.status().pid
    with psycopg.connect(url) as connection:
        assert server.stop()
        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
    assert not is_alive(pid)
    assert not server.stop()
    assert not server.status().running
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_a_server_whose_connections_are_used_up_is_not_taken_for_a_stopped_one(server, monkeypatch):
    url = server.start()
    pid = server.status().pid
    with ExitStack() as held:
        with suppress(psycopg.OperationalError):
            while True:
                held.enter_context(psycopg.connect(url))
        assert server.status().running
        assert server.status().pid == pid
        assert not server.has_crashed()
        with pytest.raises(DatabaseUnavailable, match="too many clients") as refused:
            server.start()
        assert "max_connections" in refused.value.hint
        # A connection was free for a moment.
        monkeypatch.setattr(embedded_server, "_ensure_database", lambda cluster: None)
        with pytest.raises(DatabaseUnavailable, match="too many clients"):
            server.start()
    monkeypatch.undo()
    assert server.start() == url
    assert server.status().pid == pid, "the sessions of others go on"


def test_no_connection_without_the_password(server):
    local = server.start()
    remote = server.start(listen=True)
    port = server.status().port
    assert urlsplit(remote).hostname == "127.0.0.1"
    assert urlsplit(remote).port == port is not None
    assert value(remote, "select inet_server_port()") == port
    assert value(local, "select 1") == 1
    for url in (local, remote):
        password = urlsplit(url).password
        with pytest.raises(psycopg.OperationalError, match="no password supplied"):
            psycopg.connect(without_password(url))
        with pytest.raises(psycopg.OperationalError, match="authentication failed"):
            psycopg.connect(url.replace(password, "guess"))
    server.stop()
    assert server.start(listen=True) == remote  # the port is remembered
    assert server.start() == local
    assert server.status().port == port  # who does not ask for TCP does not end it either


def test_secrets_are_for_the_owner_only(server):
    server.stop()
    server.start()  # clears away what the killed process of the fixture has left
    status = server.status()
    remembered = server.home / "cluster" / "server.json"
    assert stat.S_IMODE(remembered.stat().st_mode) == 0o600
    assert stat.S_IMODE(server.log.stat().st_mode) == 0o600
    for folder in (status.data_directory, status.socket):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    beside = {path.name for path in remembered.parent.iterdir()}
    assert {name for name in beside if not name.startswith("postgresql-")} == {
        "data",
        "server.json",
        "socket",
    }


def test_another_port_is_taken_when_asked_for_and_explained_when_in_use(server):
    with closing(socket.create_server(("127.0.0.1", 0))) as occupant:
        port = occupant.getsockname()[1]
        with pytest.raises(DatabaseUnavailable, match=f"port {port} of 127.0.0.1 is in use"):
            server.start(listen=True, port=port)
    assert urlsplit(server.start(listen=True, port=port)).port == port


def test_windows_is_told_what_to_do(tmp_path, monkeypatch):
    server = EmbeddedServer(tmp_path / "home")
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(DatabaseUnavailable) as caught:
        server.start()
    monkeypatch.undo()
    assert "Linux and macOS" in caught.value.message
    assert "PGRAG_DATABASE_URL" in str(caught.value.hint)
    assert not (tmp_path / "home").exists()


def test_a_database_of_ones_own_needs_nothing_of_posix(database_url):
    """Windows has no fcntl and no pwd, and `os` no users there."""
    program = (
        "import os, sys\n"
        "for name in ('fcntl', 'pwd', 'grp', 'resource', 'termios'): sys.modules[name] = None\n"
        "del os.geteuid, os.getegid, os.fork, os.chown\n"
        "from pgrag.cli import main\n"
        "main()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "libraries", "--json"],
        env={**os.environ, "PGRAG_DATABASE_URL": database_url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, "[]"), ended.stderr


def test_psql_and_sqlalchemy_understand_the_url(server):
    for url in (server.start(), server.start(listen=True)):
        shown = subprocess.run(
            [binary("psql"), "-XAtc", "select 'é'", url],
            env={**binary_environment(), "LC_ALL": "C"},
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        assert shown.stdout == "é\n"
        engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
        with engine.connect() as connection:
            assert connection.scalar(sqlalchemy.text("select current_database()")) == "pgrag"
        engine.dispose()


def test_server_that_lost_its_socket_is_restarted(server):
    server.start()
    status = server.status()
    shutil.rmtree(status.socket)
    assert value(server.start(), "select 1") == 1
    assert server.status().pid != status.pid


@pytest.mark.parametrize(
    ("spoil", "restore", "message", "hint"),
    [
        (lambda data: (data / "PG_VERSION").write_text("16\n"),
         lambda data: (data / "PG_VERSION").write_text("18\n"),
         r"made by PostgreSQL 16, but .* 18", "pgrag db dump"),
        # PostgreSQL's own line, too.
        (lambda data: data.chmod(0o755), lambda data: data.chmod(0o700),
         r"(?s)the permissions are wrong.*has invalid permissions", "with mode 700."),
        # An empty database must not take its place.
        (lambda data: data.rename(data.with_name("elsewhere")),
         lambda data: data.with_name("elsewhere").rename(data), "is gone", "Put it back"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used_is_explained(server, spoil, restore, message, hint):
    server.stop()
    data = server.status().data_directory
    spoil(data)
    with pytest.raises(DatabaseUnavailable, match=message) as caught:
        server.start()
    restore(data)
    assert hint in caught.value.hint
    assert value(server.start(), "select 1") == 1


def test_home_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    server = EmbeddedServer(tmp_path / "file" / "home")
    with pytest.raises(DatabaseUnavailable, match=r"Not a directory.*Set PGRAG_HOME"):
        server.start()


def test_new_home_has_no_server(tmp_path):
    server = EmbeddedServer(tmp_path / "home")
    assert not server.status().running
    assert server.status().data_directory is None
    assert not server.stop()
    server.remove()
    assert not server.home.exists()


def test_long_home_that_everybody_can_enter():
    with TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        home = Path(folder) / ("documentation, " * 8) / "größer"
        with temporary_server(home) as server:
            url = server.start()
            status = server.status()
            assert status.data_directory == home / "cluster" / "data"
            assert len(bytes(status.socket)) < 60
            assert stat.S_IMODE(status.socket.stat().st_mode) == 0o700
            assert value(url, "select 1") == 1
            shutil.rmtree(status.socket)  # as a cleaner of /tmp would
            server.stop()
            assert value(server.start(), "select 1") == 1


def test_home_and_programs_below_a_closed_folder(tmp_path):
    """The usual container: root, its virtual environment and its home below /root, mode 700."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    wheel = installed()
    copy = closed / "packages" / wheel.directory.parent.name / wheel.directory.name
    keep = shutil.ignore_patterns("include", "pgxs", "*.a")
    shutil.copytree(wheel.directory, copy, ignore=keep)
    (copy / "include").mkdir()
    shutil.copy(wheel.directory / "include" / "pg_config.h", copy / "include")
    (copy.parent / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    shutil.copytree(wheel.shared_libraries, closed / "packages" / wheel.shared_libraries.name)

    with temporary_server(closed / "home") as server:
        starter = start_in_other_process(server.home, PYTHONPATH=str(closed / "packages"))
        output, error = starter.communicate(timeout=100)
        assert error == ""
        url, pid = output.split()
        assert value(url, "select 1") == 1
        assert value(url, "select to_tsvector('german', 'HÄUSER')::text") == "'haus':1"
        status = server.status()
        assert str(status.pid) == pid
        program = Path(os.readlink(f"/proc/{pid}/exe"))
        process = Path(f"/proc/{pid}").stat()
        assert process.st_uid == status.data_directory.stat().st_uid != 0
        if os.geteuid() == 0:
            assert not status.data_directory.is_relative_to(closed)
            assert program.is_relative_to(status.data_directory.parent)
            assert program.stat().st_uid == 0
        else:
            assert status.data_directory.is_relative_to(server.home)
            assert program == copy / "bin" / "postgres"
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        kill_9(server)
        starter = start_in_other_process(server.home, PYTHONPATH=str(closed / "packages"))
        assert starter.communicate(timeout=100)[0].split()[0] == url
