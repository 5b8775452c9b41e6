"""Start, find, stop and remove the private PostgreSQL server of a home folder."""

import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql
from psycopg.pq import Ping

from pgrag.ground import waits
from pgrag.ground.driver_errors import refusal_hint
from pgrag.ground.embedded import postmaster
from pgrag.ground.embedded.cluster import Cluster, load, make_folder
from pgrag.ground.embedded.initialise import SUPERUSER, prepare
from pgrag.ground.errors import DatabaseUnavailable

_DATABASE = "pgrag"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The state of a home's server; what is not known while it does not run is None."""

    running: bool
    log: Path
    version: str | None = None
    pid: int | None = None
    socket: Path | None = None
    port: int | None = None
    data_directory: Path | None = None


class EmbeddedServer:
    """The private PostgreSQL server of a home folder, shared by all processes that use the home. It
    outlives the process that started it and runs until `stop`; one lock per home serialises
    creating, starting and stopping. Every connection needs the generated password, which
    `cluster/server.json` stores with mode 600. For root the server runs as `postgres` or `nobody`:
    if that user cannot enter the home, `cluster` is a symbolic link to a folder in /var/lib/pgrag,
    and if it cannot run the programs, the server runs a copy of them. Permissions of existing
    folders never change. Every method raises `DatabaseUnavailable` if it fails.
    """

    def __init__(self, home: Path) -> None:
        self.home = Path(os.path.abspath(home))
        self.log = self.home / "server.log"

    def start(self, *, listen: bool = False, port: int | None = None) -> str:
        """Start the server unless it runs; return the URL of its database `pgrag`. With `listen`
        the server also listens on 127.0.0.1, and the URL uses TCP, so any client can connect. The
        port is chosen once and stored; `port` changes it. A running server that does not listen, or
        uses another port, is restarted, which ends its sessions; so is one that is stuck in its
        recovery. The URL contains the password.
        """
        if sys.platform == "win32":
            raise DatabaseUnavailable(
                "The embedded PostgreSQL runs on Linux and macOS, not on Windows.",
                hint="Set PGRAG_DATABASE_URL to a PostgreSQL of your own.",
            )
        with _explained(self.home):
            cluster = load(self.home)
            if cluster is None or not _answers(cluster, listen=listen, port=port):
                with self._locked():
                    cluster = self._start(listen=listen, port=port)
            return _url(cluster, tcp=listen)

    def has_crashed(self) -> bool:
        """Whether the server ended without a shutdown, or still recovers from that."""
        cluster = load(self.home)
        return (
            cluster is not None
            and not self.status().running
            and not postmaster.is_shut_down(cluster)
        )

    def revive(self) -> bool:
        """Start the server again if it has crashed; return whether it runs, which it does not if
        another process has stopped it.
        """
        with _explained(self.home), self._locked():
            # Until a server that is stopped has ended, it looks like one that recovers.
            cluster = load(self.home)
            if cluster is None or _was_stopped(cluster, self.log):
                return False
            self._start(listen=False, port=None)
            return True

    def stop(self) -> postmaster.Shutdown | None:
        """Stop the server and its sessions; return how ("fast", or "immediate" if it is stuck), or
        None if it did not run.
        """
        with _explained(self.home):
            if load(self.home) is None:
                return None
            with self._locked():
                cluster = load(self.home)
                return None if cluster is None else postmaster.terminate(cluster)

    def remove(self) -> None:
        """Stop the server; delete its data, its logs and everything else that `start` created."""
        self.stop()
        with _explained(self.home):
            if not self.home.exists():
                return
            with self._locked():
                if cluster := load(self.home):
                    shutil.rmtree(cluster.socket, ignore_errors=True)
                    shutil.rmtree(cluster.directory)
                if (link := self.home / "cluster").is_symlink():
                    link.unlink()
                for log in self.home.glob(f"{self.log.name}*"):
                    log.unlink()

    def status(self) -> ServerStatus:
        """Return the state of the server, without starting it."""
        with _explained(self.home):
            cluster = load(self.home)
            if cluster is None:
                return ServerStatus(running=False, log=self.log)
            stopped = ServerStatus(
                running=False, log=self.log, socket=cluster.socket, data_directory=cluster.data
            )
            try:
                with _connect(cluster, "postgres") as connection:
                    return replace(
                        stopped,
                        running=True,
                        version=connection.info.parameter_status("server_version"),
                        pid=postmaster.recorded_pid(cluster),
                        port=cluster.port if _listens(connection) else None,
                    )
            except psycopg.OperationalError:
                if postmaster.ping(cluster) != Ping.OK:
                    return stopped
                # It takes no further connection: max_connections is used up.
                return replace(stopped, running=True, pid=postmaster.recorded_pid(cluster))

    def _start(self, *, listen: bool, port: int | None) -> Cluster:
        cluster = load(self.home)
        if cluster is not None:
            with waits.told("Waiting for the embedded PostgreSQL to recover from a crash."):
                state = postmaster.settle(cluster, self.log)
            if state is postmaster.State.READY:
                _ensure_database(cluster)
                if _serves(cluster, listen=listen, port=port):
                    return cluster
            is_stuck = state is postmaster.State.STUCK
            if postmaster.terminate(cluster, immediately=is_stuck) and is_stuck:
                log.warning("The embedded PostgreSQL was stuck in its recovery: starting it again.")
        cluster, programs = prepare(self.home, port=port)
        with waits.told("Waiting for the embedded PostgreSQL to start."):
            postmaster.launch(cluster, programs, self.log, listen=listen)
        _ensure_database(cluster)
        return cluster

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl  # noqa: PLC0415 - Windows has none

        if not self.home.exists():
            self.home.parent.mkdir(parents=True, exist_ok=True)
            # Root's server runs as another user, who must be able to traverse the folder.
            make_folder(self.home, mode=0o711 if os.geteuid() == 0 else 0o700)
        deadline = time.monotonic() + 2 * postmaster.PATIENCE
        with open(self.home / "server.lock", "a", encoding="ascii") as lock:
            with waits.told(f"Another process starts or stops the PostgreSQL of {self.home}."):
                while True:
                    with suppress(BlockingIOError):
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    if time.monotonic() > deadline:
                        raise DatabaseUnavailable(
                            "Another process has been starting or stopping the embedded PostgreSQL "
                            f"of {self.home} for {2 * postmaster.PATIENCE:.0f} seconds.",
                            hint=f"End the process that has {lock.name} open.",
                        )
                    time.sleep(postmaster.POLL)
            yield


def _was_stopped(cluster: Cluster, log: Path) -> bool:
    state = postmaster.settle(cluster, log)
    return state is postmaster.State.GONE and postmaster.is_shut_down(cluster)


def _connect(cluster: Cluster, database: str) -> psycopg.Connection:
    return psycopg.connect(postmaster.conninfo(cluster, database), autocommit=True)


def _answers(cluster: Cluster, *, listen: bool, port: int | None) -> bool:
    """Whether the server runs as it is wanted."""
    try:
        return _serves(cluster, listen=listen, port=port)
    except psycopg.OperationalError:
        return False


def _serves(cluster: Cluster, *, listen: bool, port: int | None) -> bool:
    """Whether a server that runs need not be restarted; raises if it refuses the connection, which
    is no reason to end the sessions of others.
    """
    if port not in (None, cluster.port):
        return False
    with _connect(cluster, _DATABASE) as connection:
        return not listen or _listens(connection)


def _listens(connection: psycopg.Connection) -> bool:
    row = connection.execute("select current_setting('listen_addresses')").fetchone()
    return row is not None and row[0] != ""


def _ensure_database(cluster: Cluster) -> None:
    with _connect(cluster, "postgres") as connection:
        known = "select 1 from pg_catalog.pg_database as d where d.datname = %s"
        if connection.execute(known, [_DATABASE]).fetchone() is None:
            connection.execute(sql.SQL("create database {}").format(sql.Identifier(_DATABASE)))


def _url(cluster: Cluster, *, tcp: bool) -> str:
    credentials = f"{SUPERUSER}:{cluster.password}"
    if tcp:
        return f"postgresql://{credentials}@127.0.0.1:{cluster.port}/{_DATABASE}"
    folder = quote(str(cluster.socket))
    return f"postgresql://{credentials}@/{_DATABASE}?host={folder}&port={cluster.port}"


@contextmanager
def _explained(home: Path) -> Iterator[None]:
    """Translate errors of the operating system and the driver into `DatabaseUnavailable`."""
    try:
        yield
    except (OSError, subprocess.SubprocessError) as error:
        raise DatabaseUnavailable(
            f"The embedded PostgreSQL cannot work in {home}: {error}.",
            hint="Set PGRAG_HOME to a folder that you can write to, on a disk with free space, or "
            "PGRAG_DATABASE_URL to a database of your own.",
        ) from error
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"The embedded PostgreSQL of {home} refused: {error}.",
            hint=refusal_hint(error) or f"See {home / 'server.log'}.",
        ) from error
