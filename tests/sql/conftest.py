"""One database for the tests of a module; what a test writes is rolled back after it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from random import Random

import psycopg
import pytest
from corpus import Author, pages
from library import ingest
from psycopg.rows import dict_row

from pgrag.ground.connections import register_vector_types


@pytest.fixture(scope="module")
def module_connection(
    clone: Callable[[], AbstractContextManager[str]],
) -> Iterator[psycopg.Connection]:
    """A connection to a fresh database, to write what all tests of a module read."""
    with clone() as url, psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        register_vector_types(connection)
        yield connection


@pytest.fixture
def connection(module_connection: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """The same, in a transaction that ends with the test."""
    with module_connection.transaction(force_rollback=True):
        yield module_connection


@pytest.fixture
def notices(connection: psycopg.Connection) -> list[str]:
    """The notices of the connection, as they are raised."""
    raised: list[str] = []
    connection.add_notice_handler(lambda told: raised.append(told.message_primary or ""))
    return raised


@pytest.fixture
def connect(
    clone: Callable[[], AbstractContextManager[str]],
) -> Iterator[Callable[[], psycopg.Connection]]:
    """Makes further connections to one fresh database."""
    with clone() as url:
        opened: list[psycopg.Connection] = []

        def another() -> psycopg.Connection:
            opened.append(psycopg.connect(url, autocommit=True, row_factory=dict_row))
            return opened[-1]

        yield another
        for connection in opened:
            connection.close()


@pytest.fixture(scope="module")
def manual(module_connection: psycopg.Connection) -> str:
    """A library of 30 pages, for the modules that make none of their own."""
    ingest(module_connection, "manual", pages(Author(Random(11)), 30))
    return "manual"
