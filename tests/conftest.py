"""One server and one migrated template database per session, and one clone per test."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from pgrag.ground import schema
from pgrag.ground.connections import Database, register_vector_types
from pgrag.models.embedding import install
from pgrag.service import configuration
from servers import embedded, oldest, remove_leftovers

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

# The duration of an example depends on the load of the machine, not on the property.
# The connection that a test gets is rolled back after all its examples.
UNCHECKED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("pgrag", deadline=None, suppress_health_check=UNCHECKED)
settings.load_profile("pgrag")

#: The server that the tests have used.
USED = pytest.StashKey[str]()

FIXTURES = Path(__file__).parent / "fixtures"


class Databases:
    """Databases cloned from a template. Creating one drops those that are no longer used.

    By then their sessions have ended: dropping a database immediately takes a tenth of a second.
    """

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self.admin = psycopg.connect(server_url, autocommit=True)
        self._done: list[str] = []

    def create(self, template: str = "template1") -> str:
        """Create a database and return its name."""
        self._drop_done()
        name = f"pgrag_test_{uuid.uuid4().hex[:12]}"
        self.admin.execute(
            # file_copy takes two checkpoints, cheap without fsync, but writes nothing to the WAL.
            sql.SQL("create database {} template {} strategy file_copy").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        return name

    def url(self, name: str) -> str:
        """Return the URL of a database of this server."""
        given = {**conninfo_to_dict(self._server_url)}
        given.pop("dbname", None)
        credentials = quote(str(given.pop("user", "postgres")), safe="")
        if password := given.pop("password", None):
            credentials += f":{quote(str(password), safe='')}"
        return f"postgresql://{credentials}@/{name}?{urlencode({'host': 'localhost', **given})}"

    def done(self, name: str) -> None:
        """Release a database; a later call drops it."""
        self._done.append(name)

    def close(self) -> None:
        """Drop the remaining databases, and disconnect."""
        self._drop_done()
        self.admin.close()

    def _drop_done(self) -> None:
        while self._done:
            self.admin.execute(
                sql.SQL("drop database if exists {} with (force)").format(
                    sql.Identifier(self._done.pop())
                )
            )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pgrag")
    group.addoption(
        "--server",
        default="embedded",
        help="The server of the test databases: embedded, oldest, container, or a URL of yours.",
    )
    group.addoption("--ran", type=Path, help="Append to this file what ran, on which server.")


def pytest_configure(config: pytest.Config) -> None:
    # Killed by SIGTERM, pytest would leave its servers running.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return
    remove_leftovers()
    if config.option.server == "container":
        if reason := _containers().missing_engine():
            required = os.environ.get("PGRAG_REQUIRE_CONTAINERS") == "1"
            _say(config, "in a container: not run, no Docker engine answers")
            pytest.exit(reason, returncode=int(required))
        _containers().remove_leftovers()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController) -> None:
    """Take over which server a worker of xdist has used."""
    if used := getattr(node, "workeroutput", {}).get("server"):
        node.config.stash[USED] = used


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    if exitstatus == 0 and not hasattr(config, "workerinput"):
        lane = config.option.server
        if lane != "embedded" and USED not in config.stash and not config.option.collectonly:
            raise pytest.UsageError(f"no test has used the server: {lane}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close with what ran, and where."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter and not hasattr(config, "workerinput"):
        counts = {
            outcome: len(reporter.stats[outcome])
            for outcome in ("passed", "failed", "error", "skipped", "rerun")
            if reporter.stats.get(outcome)
        }
        if counts:
            ran = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
            _say(config, f"{config.stash.get(USED, 'without a server')}: {ran}")


def _containers() -> ModuleType:
    import containers  # noqa: PLC0415 - takes a second, and only one lane needs it

    return containers


def _say(config: pytest.Config, text: str) -> None:
    print(text)
    if config.option.ran:
        with config.option.ran.open("a", encoding="utf-8") as file:
            print(text, file=file)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the server, directly or through a fixture: `pytest -m server`."""
    for item in items:
        if "server_url" in getattr(item, "fixturenames", ()):
            item.add_marker("server")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Isolate tests from the machine's settings and from the user's cluster."""
    for name in list(os.environ):
        if name.upper().startswith("PGRAG_") or name.upper() in {
            "HYBRID_ALPHA",
            "FORWARDED_ALLOW_IPS",
        }:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PGRAG_HOME", str(tmp_path / "pgrag-home"))
    monkeypatch.chdir(tmp_path)  # away from a developer's .env


@pytest.fixture(scope="session")
def server_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The server of `--server`; each worker of xdist has its own."""
    lane, where = request.config.option.server, "given by its URL"
    if lane == "container":
        given, where = _containers().container(), _containers().IMAGE
    elif "://" in lane:
        given = nullcontext(lane)
    else:
        given, where = {"embedded": embedded, "oldest": oldest}[lane](), lane
    with given as url:
        with psycopg.connect(url) as connection:
            version = str(connection.info.parameter_status("server_version")).split()[0]
        used = f"PostgreSQL {version} ({where})"
        getattr(request.config, "workeroutput", {})["server"] = used
        request.config.stash[USED] = used
        yield url


@pytest.fixture(scope="session")
def databases(server_url: str) -> Iterator[Databases]:
    databases = Databases(server_url)
    try:
        yield databases
    finally:
        databases.close()


@pytest.fixture(scope="session")
def admin(databases: Databases) -> psycopg.Connection:
    """A connection to the server of the test databases."""
    return databases.admin


@pytest.fixture(scope="session")
def url_of(databases: Databases) -> Callable[[str], str]:
    """Returns the URL of a test database by its name."""
    return databases.url


@pytest.fixture(scope="session")
def template(databases: Databases) -> Iterator[str]:
    """The name of a migrated database with the built-in model."""
    name = databases.create()
    schema.upgrade(databases.url(name))
    with psycopg.connect(databases.url(name), autocommit=True) as connection:
        install(connection)
        configuration.install(connection)
    yield name
    databases.done(name)


@pytest.fixture
def empty_database_url(databases: Databases) -> Iterator[str]:
    """A database without pgrag."""
    name = databases.create()
    yield databases.url(name)
    databases.done(name)


@pytest.fixture(scope="session")
def clone(databases: Databases, template: str) -> Callable[[], AbstractContextManager[str]]:
    """Creates migrated databases with the built-in model: `with clone() as url`."""

    @contextmanager
    def fresh() -> Iterator[str]:
        name = databases.create(template)
        yield databases.url(name)
        databases.done(name)

    return fresh


@pytest.fixture
def database_url(clone: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """A fresh database, migrated, with the built-in model."""
    with clone() as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A `Database` of the package for a fresh database."""
    with Database(database_url, pool_size=4) as database:
        yield database


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    """A plain connection to a fresh database, rows as dictionaries."""
    with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as connection:
        register_vector_types(connection)
        yield connection


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES
