"""Connection poolers between pgrag and PostgreSQL: whether there is one, and what it shares."""

from typing import Any, Literal

import psycopg

from pgrag.ground.connections import connect
from pgrag.ground.driver_errors import translated_errors
from pgrag.ground.identity import is_pooled

Pooling = Literal["none", "session", "transaction", "statement"]
"""How long a pooler leaves a session of the server to a client."""

_SESSION = b"select pg_backend_pid()"


def pooling(url: str) -> Pooling:
    """Tell how the server at an address is reached.

    A pooler that gives a session to a second client while the first is still connected shares it
    by transactions; one that does not may have had another one free.
    """
    with translated_errors(), connect(url, autocommit=True) as first:
        if not is_pooled(first):
            return "none"
        before = _session_of(first)
        with connect(url, autocommit=True) as second:
            try:
                with second.transaction():
                    after = _session_of(second)
            except psycopg.Error:
                return "statement"
        return "transaction" if after == before else "session"


def _session_of(connection: psycopg.Connection[Any]) -> int:
    [(session,)] = connection.execute(_SESSION).fetchall()
    return int(session)
