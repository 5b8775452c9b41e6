"""Make, copy and drop databases."""

from __future__ import annotations

from typing import LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo


def administer(url: str, statement: LiteralString, *names: str) -> None:
    """Run a statement on the server of a database; each `{}` in it becomes one of the names."""
    with psycopg.connect(make_conninfo(url, dbname="postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
