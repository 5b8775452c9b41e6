"""One server and one migrated template database a session; a clone of it for every test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from urllib.parse import quote, urlencode

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from pgrag import configuration, schema
from pgrag.db import Database, register_vector_types
from pgrag.embedded import EmbeddedServer
from pgrag.embedding import install

# How long an example takes says how busy the machine is, not whether the property holds.
settings.register_profile("pgrag", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pgrag")

FIXTURES = Path(__file__).parent / "fixtures"


class Databases:
    """Databases made from a template. Those that are done with go when the next one is made.

    By then their sessions have ended: to drop a database at once takes a tenth of a second.
    """

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self.admin = psycopg.connect(server_url, autocommit=True)
        self._done: list[str] = []

    def create(self, template: str = "template1") -> str:
        """Make a database and return its name."""
        self._drop_done()
        name = f"pgrag_test_{uuid.uuid4().hex[:12]}"
        self.admin.execute(
            # Not file_copy: that makes two checkpoints, and a test would wait for them.
            sql.SQL("create database {} template {} strategy wal_log").format(
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
        """Let a database go."""
        self._done.append(name)

    def close(self) -> None:
        """Drop what is left, and disconnect."""
        self._drop_done()
        self.admin.close()

    def _drop_done(self) -> None:
        while self._done:
            self.admin.execute(
                sql.SQL("drop database if exists {} with (force)").format(
                    sql.Identifier(self._done.pop())
                )
            )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a server, directly or by another fixture: `pytest -m server`."""
    for item in items:
        if "server_url" in getattr(item, "fixturenames", ()):
            item.add_marker("server")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine reaches a test, and no test reaches the user's own cluster."""
    for name in list(os.environ):
        if name.upper().startswith("PGRAG_") or name.upper() == "HYBRID_ALPHA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PGRAG_HOME", str(tmp_path / "pgrag-home"))
    monkeypatch.chdir(tmp_path)  # away from a developer's .env


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server to make databases on: PGRAG_TEST_DATABASE_URL, else an embedded one."""
    given = os.environ.get("PGRAG_TEST_DATABASE_URL")
    if given:
        yield given
        return
    server = EmbeddedServer(tmp_path_factory.mktemp("server"))
    try:
        url = server.start()
        with psycopg.connect(url, autocommit=True) as connection:
            # Nothing here has to survive a power failure.
            connection.execute("alter system set fsync = off")
            connection.execute("select pg_reload_conf()")
        yield url
    finally:
        server.remove()


@pytest.fixture(scope="session")
def databases(server_url: str) -> Iterator[Databases]:
    databases = Databases(server_url)
    try:
        yield databases
    finally:
        databases.close()


@pytest.fixture(scope="session")
def admin(databases: Databases) -> psycopg.Connection:
    """A connection to the server that databases are made on."""
    return databases.admin


@pytest.fixture(scope="session")
def url_of(databases: Databases) -> Callable[[str], str]:
    """The URL of a database of the server by its name."""
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
    """Makes fresh databases, migrated, with the built-in model: `with clone() as url`."""

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
    """The project's own access to a fresh database."""
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
