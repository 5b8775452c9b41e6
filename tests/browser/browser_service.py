"""Services over own pages for browsers, and what may go wrong behind them."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree
from typing import Any

import hostile
import psycopg
import uvicorn
from anyio.from_thread import start_blocking_portal
from mcp_service import PATIENCE, eventually
from psycopg import sql
from psycopg.rows import dict_row

from pgrag.api import create_app
from pgrag.api.connections import configured
from pgrag.ground.settings import Settings
from pgrag.service.access import Policy
from pgrag.service.app import App
from pgrag.service.worker import Worker

_KESTREL = "https://kestrel.example/docs"
_NEWS = """\
---
title: Restore a folder
type: guide
tags: [recovery, days]
---

# Restore a folder

To restore a folder, name the day and the folder: `kestrel restore --day 2025-02-01 /home/ada`. The
files of that day are put beside the present ones, never over them, with the day in their names.

> [!WARNING]
> A copy that nobody has read is a hope, not a backup: read one before you need it.

## From a phone

The application of the phone restores single files, one at a time, from the newest copy only. See
[the commands](../reference/commands.md#kestrel-prune), and [what is lost](nowhere.md).
"""


class Service:
    """A running service on loopback; see `running`."""

    _numbers = itertools.count(1)

    def __init__(self, url: str, database_url: str, admin: psycopg.Connection[Any]) -> None:
        self.url = url
        self.database_url = database_url
        self._admin = admin

    def run(self, statement: str, *arguments: Any) -> list[dict[str, Any]]:
        """Run a statement as the owner of the database; returns its rows."""
        with psycopg.connect(
            self.database_url, autocommit=True, row_factory=dict_row
        ) as connection:
            cursor = connection.execute(statement.encode(), arguments)
            return cursor.fetchall() if cursor.description else []

    def make_key(self, role: str = "search", **options: Any) -> str:
        """Make a key with the options of `pgrag.create_key`; returns its secret."""
        given: dict[str, Any] = {"libraries": ["*"], **options}
        stated = ", ".join(f"{option} => %s" for option in given)
        name = f"{role}-{next(self._numbers)}"
        [row] = self.run(
            f"select pgrag.create_key(%s, %s, {stated}) as secret", name, role, *given.values()
        )
        return str(row["secret"])

    @contextmanager
    def slow(self) -> Iterator[None]:
        """Let whatever reads pages or libraries wait until the block ends, as behind a lock."""
        with psycopg.connect(self.database_url) as connection:
            connection.execute("lock table pgrag.pages, pgrag.libraries in access exclusive mode")
            yield

    @contextmanager
    def down(self) -> Iterator[None]:
        """Let the database refuse all connections until the block ends."""
        name = psycopg.conninfo.conninfo_to_dict(self.database_url)["dbname"]
        allow = sql.SQL("alter database {} allow_connections {}").format
        self._admin.execute(allow(sql.Identifier(str(name)), sql.SQL("false")))
        try:
            self._admin.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name]
            )
            yield
        finally:
            self._admin.execute(allow(sql.Identifier(str(name)), sql.SQL("true")))


@contextmanager
def running(
    database_url: str,
    admin: psycopg.Connection[Any],
    *,
    policy: Policy = Policy(allow_writes=True),  # noqa: B008 - frozen
    works: bool = True,
    around: Callable[[Any], Any] = lambda app: app,
    origins: tuple[str, ...] = (),
    **settings: Any,
) -> Iterator[Service]:
    """Serve a database, with a worker if it `works`, as `pgrag serve` does; `around` wraps the
    ASGI application. `admin` is a connection to another database of the server.
    """
    app = App(Settings(database_url=database_url, pool_size=4, **settings))
    worker = Worker(app, poll=0.2) if works else None
    api = create_app(app, policy=policy, worker=worker, cors_origins=origins)
    options = {"port": 0, "log_level": "critical", "timeout_graceful_shutdown": 1}
    server = uvicorn.Server(configured(around(api), app.settings, **options))
    with start_blocking_portal() as portal:
        serving = portal.start_task_soon(server.serve)
        eventually(lambda: server.started or serving.done())
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield Service(f"http://127.0.0.1:{port}", database_url, admin)
        finally:
            server.should_exit = True
            serving.result(PATIENCE)


def indexed(database_url: str, fixtures: Path, folder: Path) -> None:
    """Index what the tests look for: kestrel in three releases, the garden, and hostile pages."""
    newest, attacks = folder / "kestrel", folder / "attacks"
    copytree(fixtures / "kestrel" / "2.0", newest)
    (newest / "guide" / "restore.md").write_text(_NEWS, encoding="utf-8")
    (newest / "reference" / "commands.md").unlink()
    attacks.mkdir()
    hostile.write(attacks)
    with App(Settings(database_url=database_url, pool_size=2)) as app:
        for version in ("1.4", "2.0"):
            source = fixtures / "kestrel" / version
            app.index("kestrel", version, str(source), base_url=f"{_KESTREL}/{version}/")
        app.index("kestrel", "2.1", str(newest), base_url=f"{_KESTREL}/2.1/")
        app.index("garden", "", str(fixtures / "garden"))
        app.index("attacks", "1.0", str(attacks), base_url="https://docs.example/attacks/")
    with psycopg.connect(database_url, autocommit=True) as connection:
        hostile.ingest_addresses(connection)
