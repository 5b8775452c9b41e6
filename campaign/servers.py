"""Servers of a campaign: PostgreSQL of its own, sessions in it, and commands of pgrag."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any, LiteralString, NamedTuple

import httpx
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgrag.ground.settings import Settings
from pgrag.service.app import App

#: The statement timeout of a call, in seconds, and its SQLSTATE.
SECONDS = 10
TIMEOUT = "57014"
#: Seconds that a command may take, and a service until it answers.
PATIENCE = 300


@contextmanager
def temporary_server() -> Iterator[App]:
    """An application with an embedded server of its own, without the schema."""
    with tempfile.TemporaryDirectory(prefix="pgrag-campaign-") as folder:
        home = Path(folder)
        # Root's server runs as another user, who must be able to traverse the folder.
        home.chmod(0o711)
        with App(Settings(database_url=None, home=home / "home", embedding_url=None)) as app:
            try:
                yield app
            finally:
                app.close()
                app.server.remove()


def administer(url: str, statement: LiteralString, *names: str) -> None:
    """Run a statement on the server of a database; each `{}` in it becomes one of the names."""
    with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def execute(url: str, *statements: str) -> None:
    """Run statements, each in a transaction of its own."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def create_keys(url: str, **keys: tuple[str, Sequence[str], int, int]) -> dict[str, str]:
    """Create keys, given by role, libraries, searches a second and connections; by name."""
    create = "select pgrag.create_key(%s, %s, %s, rate => %s, concurrency => %s)"
    with psycopg.connect(url, autocommit=True) as connection:
        return {
            name: connection.execute(create, [name, *given]).fetchall()[0][0]
            for name, given in keys.items()
        }


class Answer(NamedTuple):
    """The SQLSTATE of a statement, None if it worked, its seconds, and its rows and messages."""

    state: str | None
    seconds: float
    told: dict[str, Any]

    @property
    def message(self) -> str:
        """The message of the error, if any."""
        return str((self.told["error"] or {}).get("message") or "")


class Session:
    """A connection that is replaced when the server ends it."""

    def __init__(self, url: str, login: Sequence[str] = ()) -> None:
        self._url = url
        self._login = login
        self._notices: list[Any] = []
        self._connection = self._connect()

    def _connect(self) -> psycopg.Connection[Any]:
        connection = psycopg.connect(self._url, autocommit=True)
        for statement in (f"set statement_timeout = '{SECONDS}s'", *self._login):
            connection.execute(statement.encode())
        connection.add_notice_handler(lambda notice: self._notices.append(_diagnostic(notice)))
        return connection

    def close(self) -> None:
        """End the session."""
        self._connection.close()

    def ask(
        self, statement: str, settings: Mapping[str, str] | None = None, *, commit: bool = False
    ) -> Answer:
        """Run a statement with these settings, and undo it unless it is to be committed."""
        self._notices.clear()
        state, error, rows = None, None, []
        started = monotonic()
        try:
            with self._connection.transaction(force_rollback=not commit):
                for setting in (settings or {}).items():
                    self._connection.execute("select set_config(%s, %s, true)", setting)
                cursor = self._connection.execute(statement.encode(), prepare=False)
                rows = [row[0] for row in cursor.fetchall()] if cursor.description else []
        except psycopg.Error as problem:
            error = _diagnostic(problem.diag)
            error["message"] = error["message"] or str(problem)
            # Without a SQLSTATE the connection is lost: the server has crashed.
            state = problem.sqlstate or "lost"
        seconds = monotonic() - started
        if self._connection.closed:
            self._connection = self._connect()
        told = {"rows": rows, "error": error, "notices": self._notices.copy()}
        return Answer(state, seconds, told)


def _diagnostic(told: psycopg.errors.Diagnostic) -> dict[str, str | None]:
    return {
        "state": told.sqlstate,
        "message": told.message_primary,
        "detail": told.message_detail,
        "hint": told.message_hint,
        "context": told.context,
    }


class Processes:
    """Commands of pgrag, each the leader of a process group, with a common log."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self._folder = folder
        self._variables = variables
        self.log = folder / "commands.log"
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start Python with these arguments, `-m pgrag …` or `-c …`."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                env={**os.environ, **self._variables, **variables},
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def serve(self, port: int, *options: str) -> subprocess.Popen[bytes]:
        """Start a service, and wait until it answers."""
        process = self.start("-m", "pgrag", "serve", "--port", str(port), *options)
        deadline = monotonic() + PATIENCE
        while monotonic() < deadline and process.poll() is None:
            with suppress(httpx.TransportError):
                if httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False).is_success:
                    return process
            time.sleep(0.2)
        raise RuntimeError(f"The service does not answer: {self.log.read_text()[-500:]}")

    def kill_all(self) -> None:
        """Kill all commands and their children."""
        for process in self.started:
            kill(process)
        self.started.clear()


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    """A free port on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def service(url: str, *options: str, **variables: str) -> Iterator[tuple[str, int]]:
    """The address of `pgrag serve` in a process of its own, and its pid."""
    with tempfile.TemporaryDirectory() as folder:
        processes = Processes(Path(folder), **variables, PGRAG_DATABASE_URL=url)
        port = free_port()
        try:
            yield f"http://127.0.0.1:{port}", processes.serve(port, *options).pid
        finally:
            processes.kill_all()
