"""One server and one migrated template database per session, and one clone per test."""

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

# The duration of an example depends on the load of the machine, not on the property.
settings.register_profile("pgrag", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("pgrag")

#: No test database has to survive a power failure or lives long enough for vacuuming, so the
#: server's background processes sleep.
SERVER_SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "bgwriter_lru_maxpages": "0",
    "bgwriter_delay": "'10s'",
    "wal_writer_delay": "'10s'",
    "checkpoint_flush_after": "0",
}

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the server, directly or through a fixture: `pytest -m server`."""
    for item in items:
        if "server_url" in getattr(item, "fixturenames", ()):
            item.add_marker("server")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Isolate tests from the machine's settings and from the user's cluster."""
    for name in list(os.environ):
        if name.upper().startswith("PGRAG_") or name.upper() == "HYBRID_ALPHA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PGRAG_HOME", str(tmp_path / "pgrag-home"))
    monkeypatch.chdir(tmp_path)  # away from a developer's .env


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server for the test databases: PGRAG_TEST_DATABASE_URL, else an embedded one."""
    given = os.environ.get("PGRAG_TEST_DATABASE_URL")
    if given:
        yield given
        return
    server = EmbeddedServer(tmp_path_factory.mktemp("server"))
    try:
        url = server.start()
        with psycopg.connect(url, autocommit=True) as connection:
            for setting, text in SERVER_SETTINGS.items():
                connection.execute(f"alter system set {setting} = {text}")
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
