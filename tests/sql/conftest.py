"""One database for all tests of the SQL functions; what a test writes is rolled back after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import psycopg
import pytest
from psycopg.rows import dict_row

from pgrag.db import register_vector_types


@pytest.fixture(scope="session")
def shared_connection(
    clone: Callable[[], AbstractContextManager[str]],
) -> Iterator[psycopg.Connection]:
    with clone() as url, psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        register_vector_types(connection)
        yield connection


@pytest.fixture(scope="module")
def module_connection(shared_connection: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """The same, to write what all tests of a module read; it goes with the module."""
    with shared_connection.transaction(force_rollback=True):
        yield shared_connection


@pytest.fixture
def connection(shared_connection: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """A connection to an empty library of libraries, in a transaction that ends with the test."""
    with shared_connection.transaction(force_rollback=True):
        yield shared_connection
