"""The server process of a cluster: started, recognised, ended."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from pgrag.embedded.binaries import Installation
from pgrag.embedded.cluster import Cluster
from pgrag.embedded.failures import is_busy, startup_failure
from pgrag.embedded.initialise import ENVIRONMENT, SUPERUSER
from pgrag.errors import DatabaseUnavailable

PATIENCE = 60.0  # seconds: the crash recovery, or the last checkpoint, of a busy server
POLL = 0.02  # seconds

_LARGEST_LOG = 10_000_000  # bytes; a larger one is set aside at the next start
_LEAST_SHARED_MEMORY = 512 << 20  # bytes


def conninfo(cluster: Cluster, database: str) -> str:
    """Return what libpq needs to connect."""
    return make_conninfo(
        host=str(cluster.socket),
        port=cluster.port,
        user=SUPERUSER,
        password=cluster.password,
        dbname=database,
        connect_timeout=10,
    )


def recorded_pid(cluster: Cluster) -> int | None:
    """Return the process id in the pid file, which after a crash may be anybody's."""
    with suppress(OSError, ValueError, IndexError):
        return int((cluster.data / "postmaster.pid").read_text("utf-8").splitlines()[0])
    return None


def running_pid(cluster: Cluster) -> int | None:
    """Return the process id of the server of this very data directory, if it lives."""
    pid = recorded_pid(cluster)
    return pid if pid is not None and _is_postmaster(pid, cluster) else None


def answers(cluster: Cluster) -> bool:
    """Say whether the server takes connections, after it has finished starting or stopping.

    A server that lost its socket (to a cleaner of /tmp) does not count. Raises
    DatabaseUnavailable if the server lives and has a socket, but is silent for a minute: it
    may be busy, and must not be taken for dead.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = _ping(cluster)
        if answer == Ping.OK:
            return True
        pid = running_pid(cluster)
        if answer != Ping.REJECT and (pid is None or not cluster.socket_file.exists()):
            return False
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(
                f"The embedded PostgreSQL (process {pid}) runs, but has taken no connection for "
                f"{PATIENCE:.0f} seconds.",
                hint="Stop it with `pgrag db stop`, or wait if it is recovering from a crash.",
            )
        time.sleep(POLL)


def launch(cluster: Cluster, programs: Installation, log: Path, *, listen: bool) -> None:
    """Start the server and wait until it takes connections.

    After `kill -9` of a server its child processes live on for a moment, and PostgreSQL rightly
    refuses to start beside them: then try again.
    """
    if log.exists() and log.stat().st_size > _LARGEST_LOG:
        log.replace(log.with_name(f"{log.name}.1"))
    deadline = time.monotonic() + PATIENCE
    while True:
        with open(os.open(log, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600), "a+b") as file:
            begin = file.seek(0, os.SEEK_END)
            alive = _spawn(cluster, programs, file.fileno(), listen=listen)
            with open(alive, "rb"):
                if _wait_until_ready(cluster, alive):
                    return
            file.seek(begin)
            written = file.read().decode("utf-8", "replace")
        if time.monotonic() > deadline or not is_busy(written):
            raise startup_failure(written, data=cluster.data, port=cluster.port)
        time.sleep(5 * POLL)


def terminate(cluster: Cluster) -> bool:
    """End the server and its sessions; return whether it lived.

    Raises DatabaseUnavailable if it takes longer than a minute.
    """
    pid = running_pid(cluster)
    if pid is None:
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGINT)  # PostgreSQL's "fast shutdown"
    deadline = time.monotonic() + PATIENCE
    while _is_postmaster(pid, cluster):
        if time.monotonic() > deadline:
            raise DatabaseUnavailable(
                f"The embedded PostgreSQL (process {pid}) has not stopped within "
                f"{PATIENCE:.0f} seconds.",
                hint="It may be writing its last checkpoint: see its log, and try again.",
            )
        time.sleep(POLL)
    return True


def _ping(cluster: Cluster) -> Ping:
    return Ping(PGconn.ping(conninfo(cluster, "postgres").encode()))


def _is_postmaster(pid: int, cluster: Cluster) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        if Path("/proc/self/cmdline").exists():
            return False
        ps = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        command = subprocess.run(ps, check=False, stdout=subprocess.PIPE).stdout
    return b"/postgres -D " + bytes(cluster.data) + b" " in command


def _wait_until_ready(cluster: Cluster, alive: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if _ping(cluster) == Ping.OK:
            return True
        if select.select([alive], [], [], POLL)[0]:
            return False
    return False


def _spawn(cluster: Cluster, programs: Installation, log: int, *, listen: bool) -> int:
    """Start the server as an orphan; return a file that is at its end when the server is gone.

    The shell ends at once, so nobody here has a child to reap, and the server's own session
    keeps it from the terminal's Ctrl-C. The end of the pipe that the server inherits closes
    with its last process: unlike a process id, that cannot be mistaken.
    """
    settings = {
        "listen_addresses": "127.0.0.1" if listen else "",
        "port": str(cluster.port),
        "unix_socket_directories": str(cluster.socket),
        "unix_socket_permissions": "0700",
        "dynamic_shared_memory_type": "mmap" if _shared_memory_is_scarce() else "posix",
    }
    command = [str(programs.program("postgres")), "-D", str(cluster.data)]
    command += [f"--{name}={value}" for name, value in settings.items()]
    environment = dict(ENVIRONMENT)
    if pid := recorded_pid(cluster):
        # A stale pid file may name a process of somebody else, for whose sake PostgreSQL would
        # not start. It ignores the process that this variable names, and still sees by the
        # shared memory whether a server uses the data.
        environment["PG_GRANDPARENT_PID"] = str(pid)
    for stale in (
        cluster.socket_file,
        cluster.socket_file.with_name(f"{cluster.socket_file.name}.lock"),
    ):
        stale.unlink(missing_ok=True)  # nobody answers there, and its pid can mislead as well
    alive, inherited = os.pipe()
    try:
        subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            check=True,
            cwd=cluster.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            pass_fds=[inherited],
            **cluster.account().popen_arguments,
        )
    except BaseException:
        os.close(alive)
        raise
    finally:
        os.close(inherited)
    return alive


def _shared_memory_is_scarce() -> bool:
    """Say whether /dev/shm is too small for parallel index builds: a container's is 64 MB."""
    with suppress(OSError):
        return shutil.disk_usage("/dev/shm").total < _LEAST_SHARED_MEMORY
    return False
