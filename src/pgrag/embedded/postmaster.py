"""Start, recognise and stop the server process of a cluster."""

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
from pgrag.embedded.initialise import ENVIRONMENT, SUPERUSER, is_busy, startup_failure
from pgrag.errors import DatabaseUnavailable

PATIENCE = 60.0  # seconds: enough for crash recovery or the last checkpoint of a busy server
POLL = 0.02  # seconds

_LARGEST_LOG = 10_000_000  # bytes; a larger log is rotated at the next start
_LEAST_SHARED_MEMORY = 512 << 20  # bytes


def conninfo(cluster: Cluster, database: str) -> str:
    """Return the libpq connection string."""
    return make_conninfo(
        host=str(cluster.socket),
        port=cluster.port,
        user=SUPERUSER,
        password=cluster.password,
        dbname=database,
        connect_timeout=10,
    )


def recorded_pid(cluster: Cluster) -> int | None:
    """Return the process id in the pid file; after a crash it may be any process's."""
    with suppress(OSError, ValueError, IndexError):
        return int((cluster.data / "postmaster.pid").read_text("utf-8").splitlines()[0])
    return None


def running_pid(cluster: Cluster) -> int | None:
    """Return the process id of the server that runs on this data directory, if any."""
    pid = recorded_pid(cluster)
    return pid if pid is not None and _is_postmaster(pid, cluster) else None


def answers(cluster: Cluster) -> bool:
    """Whether the server accepts connections, after it has finished starting or stopping.

    False for a server that lost its socket (to a cleaner of /tmp). Raises DatabaseUnavailable
    if a server with a socket does not answer for a minute: it may be busy, so it must not be
    considered dead.
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
    """Start the server and wait until it accepts connections.

    After `kill -9` of a server its child processes survive for a moment, and PostgreSQL rightly
    refuses to start while they run: then retry.
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
    """Stop the server and its sessions; return whether it ran.

    Raises DatabaseUnavailable if the shutdown takes longer than a minute.
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
    """Start the server as an orphan; return a file descriptor that reads EOF when it is gone.

    The shell exits at once, so this process has no child to reap; a separate session protects
    the server from the terminal's Ctrl-C. The server's end of the pipe closes with its last
    process: unlike a process id, it cannot be confused with another process.
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
        # A stale pid file may name an unrelated process, and PostgreSQL would refuse to start.
        # PostgreSQL ignores the process named by this variable, and still detects by shared
        # memory whether a server uses the data.
        environment["PG_GRANDPARENT_PID"] = str(pid)
    for stale in (
        cluster.socket_file,
        cluster.socket_file.with_name(f"{cluster.socket_file.name}.lock"),
    ):
        stale.unlink(missing_ok=True)  # no server answers there, and the lock's pid may be stale
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
    """Whether /dev/shm is too small for parallel index builds: a container has 64 MB."""
    with suppress(OSError):
        return shutil.disk_usage("/dev/shm").total < _LEAST_SHARED_MEMORY
    return False
