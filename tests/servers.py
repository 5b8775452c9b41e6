"""The embedded servers of the test databases.

Nothing on them outlives a run, so their data is in memory where there is enough, and what protects
it from a crash is off. What a killed run left behind is removed by the next one.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg import sql

from pgrag.ground.embedded import EmbeddedServer
from pgrag.ground.embedded.binaries import installed

#: Test databases live too briefly for vacuuming, so the server's background processes sleep.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "bgwriter_lru_maxpages": "0",
    "bgwriter_delay": "10s",
    "wal_writer_delay": "10s",
    "checkpoint_flush_after": "0",
}

_MEMORY = Path("/dev/shm")
# Bytes for the databases of several workers, of which a large library takes the most.
_ROOM = 6 << 30
PREFIX = "pgrag-tests-"


@contextmanager
def embedded() -> Iterator[str]:
    """An embedded server, and its URL."""
    home = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=folder()))
    home.chmod(0o711)  # root's server runs as another user
    server = EmbeddedServer(home)
    try:
        url = server.start()
        with psycopg.connect(url, autocommit=True) as connection:
            for name, value in SETTINGS.items():
                connection.execute(
                    sql.SQL("alter system set {} = {}").format(sql.Identifier(name), value)
                )
            connection.execute("select pg_reload_conf()")
        yield url
    finally:
        server.remove()
        shutil.rmtree(home)


@contextmanager
def oldest() -> Iterator[str]:
    """The same, of the oldest version that is promised: `make test-oldest` puts its wheel first."""
    assert installed().version[0] == 16, f"PostgreSQL {installed().version} is not the oldest"
    with embedded() as url:
        yield url


def remove_leftovers() -> None:
    """Remove the embedded servers of runs that were killed."""
    for home in folder().glob(f"{PREFIX}*"):
        if home.stat().st_uid == os.geteuid() and not runs(home.name.split("-")[2]):
            EmbeddedServer(home).remove()
            shutil.rmtree(home)


def runs(pid: str) -> bool:
    """Tell whether there is a process of this id."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def folder() -> Path:
    """Return the folder for the data: in memory if that has room."""
    roomy = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM
    return _MEMORY if roomy else Path(tempfile.gettempdir())
