"""For whom a statement works travels with it, as settings of its transaction.

A session keeps nothing of a caller: behind a pooler the next statement of the session may be
another client's, and another client may have changed the settings of the session.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from pgrag.ground import callers

#: Settings by which functions tell views what to read.
_OF_FUNCTIONS = (
    "pgrag.narrowing",
    "pgrag.narrowing_versions",
    "pgrag.narrowing_lexemes",
    "pgrag.title_lexemes",
    "pgrag.lexemes_beside",
)
_OWN = ("statement_timeout", "lock_timeout", "search_path", "pgrag.hybrid_alpha")
_READ_OWN = """
select n.name, coalesce(s.reset_val, '') as value
from unnest(%s::text[]) as n (name)
left join pg_catalog.pg_settings as s on s.name = n.name
"""
_READ_KIND = """
select
    max(s.reset_val) filter (where s.name = 'default_transaction_isolation'),
    max(s.reset_val) filter (where s.name = 'default_transaction_read_only'),
    pg_catalog.pg_is_in_recovery()
from pg_catalog.pg_settings as s
"""


def is_pooled(connection: psycopg.Connection[Any]) -> bool:
    """Whether a pooler is between client and server. It makes the keys by which its clients cancel
    statements, so the process that such a key names is not that of the server.
    """
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute("select pg_backend_pid()").fetchone()
    return row != (connection.info.backend_pid,)


def afresh(connection: psycopg.Connection[Any]) -> tuple[bytes, ...]:
    """What begins each transaction behind a pooler: a session has whatever its last client set.

    Of the kind of the transaction itself, which was fixed before, a standby has no choice. None
    of these takes a snapshot, after which it could not be changed.
    """
    with connection.cursor(row_factory=tuple_row) as cursor:
        [(isolation, read_only, is_standby)] = cursor.execute(_READ_KIND).fetchall()
    kind = (
        f"set transaction_isolation = '{isolation}'".encode(),
        f"set transaction_read_only = {read_only}".encode(),
    )
    return (b"reset all", *(() if is_standby else kind))


def own_settings(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """What server, database and role set for each session; timeouts are milliseconds, 0: none."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        own: dict[str, str] = dict(cursor.execute(_READ_OWN, [[*_OWN]]).fetchall())
    return {"role": "none", **own}


def identity(own: Mapping[str, str], milliseconds: int | None = None) -> tuple[bytes, list[str]]:
    """The statement, with its values, that says for whom the rest of a transaction works, and how
    long each of its statements may take. It names every setting that counts. `own`: those of the
    session; `milliseconds`: a limit of this call.
    """
    caller = callers.current_caller()
    given = {
        **own,
        **({} if caller.role is None else {"role": caller.role}),
        **limits(own, milliseconds),
        "pgrag.library_ids": caller.library_ids,
        "pgrag.caller": caller.name,
        "pgrag.lease": caller.lease,
        "application_name": caller.application,
        **dict.fromkeys(_OF_FUNCTIONS, ""),
    }
    return setting(given, is_local=True)


def of_service(own: Mapping[str, str]) -> tuple[bytes, list[str]]:
    """The statement, with its values, after which the rest of a transaction of a caller is work of
    the service itself.
    """
    given = {"role": own["role"], "pgrag.library_ids": "", "pgrag.caller": ""}
    return setting(given, is_local=True)


def limits(own: Mapping[str, str], milliseconds: int | None = None) -> dict[str, str]:
    """The timeouts of a statement: the shortest of those of the session, of the class of work, of
    the caller, and of this call.
    """
    work = callers.current_work()
    given = {
        "statement_timeout": (callers.statement_limit(), milliseconds),
        "lock_timeout": (None if work is None else max(1, round(1000 * work.lock_timeout)),),
    }
    return {
        name: str(min((ms for ms in (int(own[name]), *others) if ms), default=0))
        for name, others in given.items()
    }


def setting(settings: Mapping[str, str], *, is_local: bool) -> tuple[bytes, list[str]]:
    """The statement, with its values, that sets these for the transaction or for the session."""
    return _statement(tuple(settings), is_local=is_local), [*settings.values()]


@lru_cache(maxsize=8)
def _statement(names: tuple[str, ...], *, is_local: bool) -> bytes:
    calls = ", ".join(f"pg_catalog.set_config('{name}', %s, {is_local})" for name in names)
    return f"select {calls}".encode()
