"""Standbys of an embedded server, which tests delay, promote and kill."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrag.ground.embedded.account import Account
from pgrag.ground.embedded.binaries import binary
from servers import PREFIX, folder


@dataclass
class Standby:
    """A server that follows another one."""

    url: str
    start: Callable[[], subprocess.Popen[bytes]] = field(repr=False)

    def __post_init__(self) -> None:
        self.process = self.start()

    def ask(self, statement: str):
        """The only value of a statement."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            [value] = connection.execute(statement).fetchone()
        return value

    def kill(self) -> None:
        """End it at once, with all its sessions."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def restart(self) -> None:
        """Let it run again."""
        self.process = self.start()
        until(lambda: self.ask("select true"))

    def promote(self) -> None:
        """Let it follow no longer, and take writes."""
        assert self.ask("select pg_promote()")

    def follow(self, url: str) -> None:
        """Wait until it has replayed everything."""
        with psycopg.connect(url) as connection:
            [written] = connection.execute("select pg_current_wal_flush_lsn()").fetchone()
        until(lambda: self.ask(f"select pg_last_wal_replay_lsn() >= '{written}'::pg_lsn"))

    @contextmanager
    def delayed(self) -> Iterator[None]:
        """Let it replay nothing within the block."""
        self.ask("select pg_wal_replay_pause()")
        until(lambda: self.ask("select pg_get_wal_replay_pause_state()") == "paused")
        try:
            yield
        finally:
            self.ask("select pg_wal_replay_resume()")


@contextmanager
def following(url: str) -> Iterator[Standby]:
    """A standby of the server of a URL, with the same database."""
    given = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    with psycopg.connect(url) as primary:
        program, data_of_primary = primary.execute(
            "select (select setting from pg_config() where name = 'BINDIR') || '/postgres',"
            " current_setting('data_directory')"
        ).fetchone()
    owner = Path(data_of_primary).stat()
    account = Account(owner.st_uid, owner.st_gid, switch=os.geteuid() == 0)
    home = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=folder()))
    data = home / "data"
    subprocess.run(
        [
            *(binary("pg_basebackup"), "--dbname", make_conninfo("", **given | {"dbname": ""})),
            *("--pgdata", data, "--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
        ],
        check=True,
    )
    for path in (home, data, *data.rglob("*")):
        account.own(path)
    command = [program, "-D", data, "-k", home, "-p", given["port"], "-c", "listen_addresses="]

    def start() -> subprocess.Popen[bytes]:
        with (home / "log").open("ab") as log:
            return subprocess.Popen(
                command, cwd="/", stdout=log, stderr=log, **account.popen_arguments
            )

    standby = Standby(make_conninfo("", **given | {"host": str(home)}), start)
    try:
        until(lambda: standby.ask("select true"))
        standby.follow(url)
        yield standby
    finally:
        standby.kill()
        shutil.rmtree(home)


def until(holds) -> None:
    """Wait until something holds; a server that does not answer yet says that it does not."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if holds():
                return
        except psycopg.OperationalError:
            pass
        time.sleep(0.02)
    raise AssertionError("it has taken longer than a minute")
