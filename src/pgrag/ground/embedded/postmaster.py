"""Start, recognise and stop the server process of a cluster."""

import os
import select
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import Literal

from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from pgrag.ground.embedded.binaries import Installation
from pgrag.ground.embedded.cluster import Cluster
from pgrag.ground.embedded.initialise import ENVIRONMENT, SUPERUSER, is_busy, startup_failure
from pgrag.ground.embedded.processes import Idleness, command_of
from pgrag.ground.errors import DatabaseUnavailable

PATIENCE = 60.0  # seconds: enough for crash recovery or the last checkpoint of a busy server
POLL = 0.02  # seconds

# Seconds. PostgreSQL itself kills what does not end within 5 seconds of an immediate shutdown.
_LONGEST_IDLENESS = 10.0
# Seconds between two attempts to connect; the server logs each that it rejects.
_LONGEST_PAUSE = 1.0
_LARGEST_LOG = 10_000_000  # bytes; a larger log is rotated at the next start
_LEAST_SHARED_MEMORY = 512 << 20  # bytes

#: How a server was stopped, in the terms of PostgreSQL. After "immediate" the next start recovers.
Shutdown = Literal["fast", "immediate"]


class State(Enum):
    """What becomes of a server that starts, stops or recovers. STUCK: it rejects connections, idle
    for ever.
    """

    READY = auto()
    GONE = auto()
    STUCK = auto()


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


def is_shut_down(cluster: Cluster) -> bool:
    """Whether the last server of this data directory was shut down, and so needs no recovery."""
    try:
        with (cluster.data / "global" / "pg_control").open("rb") as control:
            # After the system's identifier and two versions; DB_SHUTDOWNED and …_IN_RECOVERY.
            return struct.unpack_from("=QIII", control.read(20))[3] in (1, 2)
    except (OSError, struct.error):
        return True


def settle(cluster: Cluster, log: Path, *, alive: int | None = None) -> State:
    """Wait until the server accepts connections, is gone or is stuck. `alive` is the file
    descriptor of a server that has just been started; see `_spawn`. Any other server is also GONE
    if it lost its socket (to a cleaner of /tmp). Raises DatabaseUnavailable if the server works or
    is silent for a minute: it may be busy, so it must not be considered dead.
    """
    deadline = time.monotonic() + PATIENCE
    idleness = None
    for pause in _pauses():
        answer = ping(cluster)
        if answer == Ping.OK:
            return State.READY
        pid = running_pid(cluster)
        if alive is not None:
            if select.select([alive], [], [], 0)[0]:
                return State.GONE
        elif answer != Ping.REJECT and (pid is None or not cluster.socket_file.exists()):
            return State.GONE
        if answer == Ping.REJECT and pid is not None:
            idleness = idleness or Idleness(pid)
            if idleness.seconds() > _LONGEST_IDLENESS:
                return State.STUCK
        if time.monotonic() > deadline:
            break
        time.sleep(pause)
    raise DatabaseUnavailable(
        f"The embedded PostgreSQL (process {pid}) runs, but has taken no connection for "
        f"{PATIENCE:.0f} seconds.",
        hint="Wait if it is recovering from a crash, or stop it with `pgrag db stop`; its log is "
        f"{log}.",
    )


def launch(cluster: Cluster, programs: Installation, log: Path, *, listen: bool) -> None:
    """Start the server and wait until it accepts connections. Retries while children of a killed
    server survive; one that gets stuck is stopped again.
    """
    if log.exists() and log.stat().st_size > _LARGEST_LOG:
        log.replace(log.with_name(f"{log.name}.1"))
    deadline = time.monotonic() + PATIENCE
    while True:
        with open(os.open(log, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600), "a+b") as file:
            begin = file.seek(0, os.SEEK_END)
            alive = _spawn(cluster, programs, file.fileno(), listen=listen)
            with open(alive, "rb"):
                state = settle(cluster, log, alive=alive)
            if state is State.READY:
                return
            if state is State.STUCK:
                terminate(cluster, immediately=True)
                raise DatabaseUnavailable(
                    "The embedded PostgreSQL got stuck in its recovery, and has been stopped: it "
                    f"rejected connections and did nothing for {_LONGEST_IDLENESS:.0f} seconds.",
                    hint=f"Mend what its log {log} names, then start again. If that does not help, "
                    f"move {cluster.data} away, and restore a backup or index the sources again.",
                )
            file.seek(begin)
            written = file.read().decode("utf-8", "replace")
        if time.monotonic() > deadline or not is_busy(written):
            raise startup_failure(written, data=cluster.data, port=cluster.port)
        time.sleep(5 * POLL)


def terminate(cluster: Cluster, *, immediately: bool = False) -> Shutdown | None:
    """Stop the server and its sessions; return how, or None if it did not run. A fast shutdown
    writes a checkpoint. If it takes more than a minute, or the server's processes do nothing, an
    immediate shutdown follows, as the only one if `immediately`. It loses nothing that was
    committed. Raises DatabaseUnavailable if the server survives it.
    """
    pid = running_pid(cluster)
    if pid is None:
        return None
    if not immediately and _ends_by(signal.SIGINT, pid, cluster):
        return "fast"
    if _ends_by(signal.SIGQUIT, pid, cluster):
        return "immediate"
    raise DatabaseUnavailable(
        f"The embedded PostgreSQL (process {pid}) does not stop, not even at once (SIGQUIT).",
        hint=f"End it with `kill -9 {pid}`; the next start recovers.",
    )


def _ends_by(number: signal.Signals, pid: int, cluster: Cluster) -> bool:
    """Send a signal to the server; return whether it ends before it is idle or takes too long."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        if number == signal.SIGQUIT:
            os.kill(pid, signal.SIGCONT)  # a process that is stopped (SIGSTOP) receives no other
    deadline = time.monotonic() + PATIENCE
    idleness = Idleness(pid)
    for pause in _pauses():
        if not _is_postmaster(pid, cluster):
            return True
        if time.monotonic() > deadline or idleness.seconds() > _LONGEST_IDLENESS:
            break
        time.sleep(pause)
    return False


def _pauses() -> Iterator[float]:
    pause = POLL
    while True:
        yield pause
        pause = min(1.5 * pause, _LONGEST_PAUSE)


def ping(cluster: Cluster) -> Ping:
    """Return what the server answers: OK also if it refuses this connection, but not others."""
    return Ping(PGconn.ping(conninfo(cluster, "postgres").encode()))


def _is_postmaster(pid: int, cluster: Cluster) -> bool:
    return b"/postgres -D " + bytes(cluster.data) + b" " in command_of(pid)


def _spawn(cluster: Cluster, programs: Installation, log: int, *, listen: bool) -> int:
    """Start the server as an orphan; return a file descriptor that reads EOF when it is gone. The
    shell exits at once, so this process has no child to reap; a separate session protects the
    server from the terminal's Ctrl-C. The server's end of the pipe closes with its last process:
    unlike a process id, it cannot be confused with another process.
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
    for suffix in ("", ".lock"):  # no server answers there, and the lock's pid may be stale
        Path(f"{cluster.socket_file}{suffix}").unlink(missing_ok=True)
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
