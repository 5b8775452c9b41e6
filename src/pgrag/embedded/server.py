"""Starts, finds and stops the private PostgreSQL server of a home."""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from pgrag.embedded.binaries import Installation
from pgrag.embedded.cluster import (
    ENVIRONMENT,
    SUPERUSER,
    Cluster,
    free_port,
    load,
    prepare,
    save,
    startup_failure,
)
from pgrag.errors import DatabaseUnavailable

_DATABASE = "pgrag"
_PATIENCE = 60.0  # seconds: a crash recovery, or a shutdown, of a busy server
_POLL = 0.02  # seconds
_LARGEST_LOG = 10_000_000  # bytes; a larger one is set aside at the next start
_LEAST_SHARED_MEMORY = 512 << 20  # bytes; a container's default of 64 MB breaks parallel builds
_BUSY = ("pre-existing shared memory", "already exists")


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """How the server of a home is.

    `version` and `pid` are None while it does not run, `port` also while it does not listen on
    127.0.0.1; `socket` and `data_directory` are None in a home that never had a server.
    """

    running: bool
    version: str | None
    pid: int | None
    socket: Path | None
    port: int | None
    data_directory: Path | None
    log: Path


class EmbeddedServer:
    """The private PostgreSQL server of a home folder, shared by every process that names it.

    The server outlives the process that started it and ends with `stop`. One lock per home
    covers making, starting and stopping; a server counts as running when it answers a
    connection with the home's password, never because a pid file says so.

    Access: the socket's folder is open to the server's user only, and every connection, by
    socket or TCP, needs the password (SCRAM) that `server.json` in the home keeps with mode 600.

    Root: PostgreSQL refuses to run as root, so for root it runs as `postgres` (or `nobody`; an
    existing cluster: as its owner). If that user can enter the home, the cluster lies in it, as
    for everybody; if not (a home below /root), it lies in /var/lib/pgrag/<hash of the home>,
    which `server.json` records. No permission of an existing folder is changed. If that user
    cannot run the installed programs (a virtual environment below /root), the server runs a
    copy of them, owned by root, beside the cluster.
    """

    def __init__(self, home: Path) -> None:
        self.home = Path(os.path.abspath(home))
        self.log = self.home / "server.log"

    def start(self, *, listen: bool = False, port: int | None = None) -> str:
        """Start the server unless it runs, and return the URL of its database `pgrag`.

        With `listen` it also listens on 127.0.0.1 and the URL is one for TCP; the port is
        remembered, and `port` chooses another. A running server that does not listen there yet
        is restarted for it, which ends its sessions. Raises DatabaseUnavailable.
        """
        with _explained(self.home):
            cluster = load(self.home)
            if cluster and port in (None, cluster.port) and self._serves(cluster, listen=listen):
                return _url(cluster, tcp=listen)
            with self._locked():
                cluster = self._start(listen=listen, port=port)
            return _url(cluster, tcp=listen)

    def stop(self) -> bool:
        """Stop the server, ending its sessions; return whether it ran.

        Raises DatabaseUnavailable if it has not ended within a minute.
        """
        with _explained(self.home):
            if load(self.home) is None:
                return False
            with self._locked():
                cluster = load(self.home)
                return cluster is not None and self._stop(cluster)

    def status(self) -> ServerStatus:
        """Return how the server is, without starting it."""
        with _explained(self.home):
            cluster = load(self.home)
            if cluster is None:
                return ServerStatus(False, None, None, None, None, None, self.log)
            stopped = ServerStatus(False, None, None, cluster.socket, None, cluster.data, self.log)
            try:
                with _connect(cluster, "postgres") as connection:
                    version = connection.info.parameter_status("server_version")
                    listens = _listens(connection)
            except psycopg.OperationalError:
                return stopped
            return replace(
                stopped,
                running=True,
                version=version,
                pid=_recorded_pid(cluster),
                port=cluster.port if listens else None,
            )

    def _serves(self, cluster: Cluster, *, listen: bool) -> bool:
        try:
            with _connect(cluster, _DATABASE) as connection:
                return not listen or _listens(connection)
        except psycopg.OperationalError:
            return False

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # A folder that root makes here may hold the cluster of another user, who must get in.
        self.home.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        with open(self.home / "server.lock", "a") as lock:
            deadline = time.monotonic() + 2 * _PATIENCE
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise DatabaseUnavailable(
                            f"Another process has been starting or stopping the database of "
                            f"{self.home} for {2 * _PATIENCE:.0f} seconds.",
                            hint=f"End the process that holds {lock.name}.",
                        ) from None
                    time.sleep(_POLL)
            yield

    def _start(self, *, listen: bool, port: int | None) -> Cluster:
        cluster = load(self.home)
        if cluster and port not in (None, cluster.port):
            self._stop(cluster)
            cluster = replace(cluster, port=port or free_port())
            save(self.home, cluster)
        if cluster and _answers(cluster):
            with _connect(cluster, "postgres") as connection:
                if not listen or _listens(connection):
                    _ensure_database(connection)
                    return cluster
        if cluster:
            # Either it shall listen, or it lives but lost its socket to a cleaner of /tmp.
            self._stop(cluster)
        cluster, programs = prepare(self.home)
        if port not in (None, cluster.port):
            cluster = replace(cluster, port=port or free_port())
            save(self.home, cluster)
        self._launch(cluster, programs, listen=listen)
        with _connect(cluster, "postgres") as connection:
            _ensure_database(connection)
        return cluster

    def _launch(self, cluster: Cluster, programs: Installation, *, listen: bool) -> None:
        """Start the server and wait until it takes connections.

        After `kill -9` of a postmaster its children live on for a moment, and PostgreSQL
        rightly refuses to start beside them: then try again.
        """
        if self.log.exists() and self.log.stat().st_size > _LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        deadline = time.monotonic() + _PATIENCE
        while True:
            with open(self.log, "ab") as log:
                begin = log.tell()
                alive = _spawn(cluster, programs, log.fileno(), listen=listen)
            with open(alive, "rb"):
                if _wait_until_ready(cluster, alive, deadline):
                    return
            written = self.log.read_bytes()[begin:].decode("utf-8", "replace")
            if time.monotonic() > deadline or not any(words in written for words in _BUSY):
                raise startup_failure(cluster, written)
            time.sleep(5 * _POLL)

    def _stop(self, cluster: Cluster) -> bool:
        pid = _recorded_pid(cluster)
        if pid is None or not _is_postmaster(pid, cluster):
            return False
        os.kill(pid, signal.SIGINT)  # PostgreSQL's "fast shutdown"
        deadline = time.monotonic() + _PATIENCE
        while _is_postmaster(pid, cluster):
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(
                    f"The embedded PostgreSQL (process {pid}) has not stopped within "
                    f"{_PATIENCE:.0f} seconds.",
                    hint=f"See {self.log}.",
                )
            time.sleep(_POLL)
        return True


def _connect(cluster: Cluster, database: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(_conninfo(cluster, database), autocommit=True)


def _conninfo(cluster: Cluster, database: str) -> str:
    return make_conninfo(
        host=str(cluster.socket),
        port=cluster.port,
        user=SUPERUSER,
        password=cluster.password,
        dbname=database,
        connect_timeout=10,
    )


def _url(cluster: Cluster, *, tcp: bool) -> str:
    who = f"postgresql://{SUPERUSER}:{cluster.password}@"
    if tcp:
        return f"{who}127.0.0.1:{cluster.port}/{_DATABASE}"
    return f"{who}/{_DATABASE}?host={quote(str(cluster.socket))}&port={cluster.port}"


def _listens(connection: psycopg.Connection[tuple[object, ...]]) -> bool:
    row = connection.execute("select current_setting('listen_addresses')").fetchone()
    return row is not None and row[0] != ""


def _ensure_database(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    known = "select 1 from pg_catalog.pg_database as d where d.datname = %s"
    if connection.execute(known, [_DATABASE]).fetchone() is None:
        connection.execute(sql.SQL("create database {}").format(sql.Identifier(_DATABASE)))


def _answers(cluster: Cluster) -> bool:
    """Say whether the server takes connections, after it has finished starting or stopping."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        answer = PGconn.ping(_conninfo(cluster, "postgres").encode())
        if answer != Ping.REJECT or time.monotonic() > deadline:
            return answer == Ping.OK
        time.sleep(_POLL)


def _wait_until_ready(cluster: Cluster, alive: int, deadline: float) -> bool:
    while time.monotonic() < deadline:
        if PGconn.ping(_conninfo(cluster, "postgres").encode()) == Ping.OK:
            return True
        if select.select([alive], [], [], _POLL)[0]:
            return False
    return False


def _spawn(cluster: Cluster, programs: Installation, log: int, *, listen: bool) -> int:
    """Start the server as an orphan; return a file that is at its end when the server is gone.

    The shell ends at once, so nobody here has a child to reap, and the server's own session
    keeps it from the terminal's Ctrl-C. The end of the pipe that the server inherits closes
    with its last process: unlike a pid that cannot be mistaken.
    """
    settings = {
        "listen_addresses": "127.0.0.1" if listen else "",
        "port": str(cluster.port),
        "unix_socket_directories": str(cluster.socket),
        "unix_socket_permissions": "0700",
        "dynamic_shared_memory_type": "mmap" if _scarce_shared_memory() else "posix",
    }
    command = [str(programs.program("postgres")), "-D", str(cluster.data)]
    command += [f"--{name}={value}" for name, value in settings.items()]
    environment = dict(ENVIRONMENT)
    if pid := _recorded_pid(cluster):
        # A stale pid file may name a process of somebody else, for which PostgreSQL would not
        # start. It ignores this one pid, and still sees by its shared memory whether a server
        # uses the data.
        environment["PG_GRANDPARENT_PID"] = str(pid)
    alive, inherited = os.pipe()
    try:
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            cwd=cluster.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=[inherited],
            check=True,
            **cluster.account.popen_arguments,
        )
    except BaseException:
        os.close(alive)
        raise
    finally:
        os.close(inherited)
    return alive


def _scarce_shared_memory() -> bool:
    with suppress(OSError):
        return shutil.disk_usage("/dev/shm").total < _LEAST_SHARED_MEMORY
    return False


def _recorded_pid(cluster: Cluster) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int((cluster.data / "postmaster.pid").read_text("utf-8").splitlines()[0])
    return None


def _is_postmaster(pid: int, cluster: Cluster) -> bool:
    """Say whether process `pid` is the server of this very data directory."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        if Path("/proc/self/cmdline").exists():
            return False
        ps = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        command = subprocess.run(ps, stdout=subprocess.PIPE, check=False).stdout
    return b"postgres -D " + bytes(cluster.data) + b" " in command


@contextmanager
def _explained(home: Path) -> Iterator[None]:
    """Turn errors of the operating system and the driver into ours."""
    try:
        yield
    except (OSError, subprocess.SubprocessError) as error:
        raise DatabaseUnavailable(
            f"The embedded PostgreSQL cannot work in {home}: {error}.",
            hint="Set PGRAG_HOME to a folder that you can write to, on a disk with free space, or "
            "PGRAG_DATABASE_URL to a database of yours.",
        ) from error
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"The embedded PostgreSQL of {home} refused: {error}",
            hint=f"See {home / 'server.log'}.",
        ) from error
