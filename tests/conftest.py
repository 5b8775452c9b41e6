"""One server and one migrated template database a session; a clone of it for every test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from pgrag import schema
from pgrag.db import Database, register_vector_types
from pgrag.embedded import EmbeddedServer
from pgrag.embedding import install

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting of the machine reaches a test, and no test reaches the user's own cluster."""
    for name in list(os.environ):
        if name.startswith("PGRAG_") or name == "HYBRID_ALPHA":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PGRAG_HOME", str(tmp_path / "pgrag-home"))


@pytest.fixture(scope="session")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server to make databases on: PGRAG_TEST_DATABASE_URL, else an embedded one."""
    given = os.environ.get("PGRAG_TEST_DATABASE_URL")
    if given:
        yield given
        return
    server = EmbeddedServer(tmp_path_factory.mktemp("server"))
    try:
        yield server.start()
    finally:
        server.stop()


def _url_of(server_url: str, name: str) -> str:
    parts = {key: value for key, value in conninfo_to_dict(server_url).items() if value}
    host = str(parts.get("host", "localhost"))
    user = quote(str(parts.get("user", "postgres")), safe="")
    password = quote(str(parts["password"]), safe="") if "password" in parts else ""
    credentials = f"{user}:{password}" if password else user
    return (
        f"postgresql://{credentials}@/{name}?host={quote(host, safe='')}"
        f"&port={parts.get('port', 5432)}"
    )


@pytest.fixture(scope="session")
def url_of(server_url: str) -> Callable[[str], str]:
    """The URL of a database of the server by its name."""
    return partial(_url_of, server_url)


@pytest.fixture(scope="session")
def admin(server_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server_url, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def template(admin: psycopg.Connection, server_url: str) -> Iterator[str]:
    """The name of a migrated database with the built-in model."""
    name = f"pgrag_template_{uuid.uuid4().hex[:12]}"
    _create(admin, name)
    url = _url_of(server_url, name)
    schema.upgrade(url)
    with psycopg.connect(url, autocommit=True) as connection:
        install(connection)
    yield name
    _drop(admin, name)


def _create(admin: psycopg.Connection, name: str, template: str | None = None) -> None:
    admin.execute(
        # Not file_copy: that makes two checkpoints, and a test would wait a second for them.
        sql.SQL("create database {} template {} strategy wal_log").format(
            sql.Identifier(name), sql.Identifier(template or "template1")
        )
    )


def _drop(admin: psycopg.Connection, name: str) -> None:
    admin.execute(sql.SQL("drop database if exists {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def empty_database_url(admin: psycopg.Connection, server_url: str) -> Iterator[str]:
    """A database without pgrag."""
    name = f"pgrag_test_{uuid.uuid4().hex[:12]}"
    _create(admin, name)
    yield _url_of(server_url, name)
    _drop(admin, name)


@pytest.fixture(scope="session")
def clone(
    admin: psycopg.Connection, template: str, server_url: str
) -> Callable[[], AbstractContextManager[str]]:
    """Makes fresh databases, migrated, with the built-in model: `with clone() as url`."""

    @contextmanager
    def fresh() -> Iterator[str]:
        name = f"pgrag_test_{uuid.uuid4().hex[:12]}"
        _create(admin, name, template)
        yield _url_of(server_url, name)
        _drop(admin, name)

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
