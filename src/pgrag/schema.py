"""The schema of a database: migrate it, say what state it is in and whether its server fits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import tuple_row

from pgrag import errors
from pgrag.driver_errors import translated_errors
from pgrag.routines import digest, installed_digest

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOCK = 7_238_115_902

_alembic = Lock()
"""Alembic keeps what it works on in global variables: one thread at a time."""


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """What a database has, beside what this package brings.

    `revision` and `functions` (the digest of the installed functions) are None where there is
    nothing; `head` and `digest` are the package's. `state` is "current", "missing", "outdated" or
    "newer".
    """

    state: str
    revision: str | None
    head: str
    functions: str | None
    digest: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `pgrag doctor`: what was checked, how it stands, and what to do about it."""

    name: str
    ok: bool
    message: str
    remedy: str = ""


def sql_root() -> Path:
    """Return the folder of the SQL functions: in the installed package, else in the checkout."""
    return _resource("sql")


def alembic_root() -> Path:
    """Return the folder of the migrations: in the installed package, else in the checkout."""
    return _resource("alembic")


def upgrade(url: str) -> SchemaStatus:
    """Bring a database to this package's state, in one transaction; safe to run at any time.

    Libraries that were indexed before a revision changed how they are ranked are ranked anew from
    what is stored, in a second transaction (about a minute for 100,000 documents).

    Raises `DatabaseError` where PostgreSQL, pgvector or the encoding do not fit, `SchemaTooNew`
    where the database is ahead of the package.
    """
    # Only those who migrate wait for these to be loaded.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from sqlalchemy import NullPool, create_engine  # noqa: PLC0415
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(alembic_root()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: _connect(url), poolclass=NullPool
    )
    with _alembic, translated_errors():
        try:
            with engine.connect() as connection:
                _require_server(raw(connection))
                _require_known(_status(raw(connection)))
                connection.rollback()
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                _rank_anew(raw(connection))
                raw(connection).commit()
                return _status(raw(connection))
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.Error):
                raise error.orig from error
            raise


def status(url: str) -> SchemaStatus:
    """Return what state the database's schema is in."""
    with translated_errors(), _connect(url) as connection:
        return _status(connection)


def require_current(url: str) -> None:
    """Raise `SchemaOutdated` or `SchemaTooNew` unless the database fits this package."""
    found = status(url)
    _require_known(found)
    if found.state != "current":
        raise errors.SchemaOutdated(_describe(found), hint="Run `pgrag db upgrade`.")


def server_findings(connection: psycopg.Connection[Any]) -> list[Finding]:
    """Check version, pgvector, encoding and case folding of a database's server."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        # Else a database of another encoding would answer in bytes.
        cursor.execute("set client_encoding to 'UTF8'")
        cursor.execute(
            """
            select
                current_setting('server_version'),
                current_setting('server_version_num')::integer,
                current_setting('server_encoding'),
                (select e.extversion from pg_extension as e where e.extname = 'vector'),
                (
                    select a.default_version
                    from pg_available_extensions as a
                    where a.name = 'vector'
                )
            """
        )
        [(version, number, encoding, extension, available)] = cursor.fetchall()
        folds = encoding == "UTF8" and cursor.execute(
            "select to_tsvector('german', 'HÄUSER') = to_tsvector('german', 'häuser')"
            " and to_tsvector('russian', 'ДОМА') = to_tsvector('russian', 'дома')"
        ).fetchone() == (True,)
    return [
        _finding(
            "postgresql",
            number >= 160000,
            f"PostgreSQL {version}.",
            "Use PostgreSQL 16 or newer.",
        ),
        _vector_finding(extension, available),
        _finding(
            "encoding",
            encoding == "UTF8",
            f"The database's encoding is {encoding}.",
            "Create the database with encoding 'UTF8'.",
        ),
        _finding(
            "case folding",
            folds,
            "German and Russian words are found in any case."
            if folds
            else "The database's locale does not fold the case of German or Russian letters.",
            "Create the database with a UTF-8 locale, such as C.UTF-8.",
        ),
    ]


def prepare(connection: psycopg.Connection[Any]) -> None:
    """Begin a migration: one at a time, with schema, extension and the functions' search_path."""
    connection.execute("select pg_advisory_xact_lock(%s)", [_LOCK])
    connection.execute("set local client_min_messages = warning")
    connection.execute("create schema if not exists pgrag")
    # Not where "$user" leads: that may be the schema whose routines are replaced.
    connection.execute("create extension if not exists vector with schema public")
    # "set search_path from current" in the functions fixes what is set here.
    connection.execute(
        "select set_config('search_path', format('pg_catalog, %I, pg_temp', n.nspname), true)"
        " from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace"
        " where e.extname = 'vector'"
    )
    # Loads pgvector's library: before that nobody but a superuser may make a function with one of
    # its settings ("set hnsw.ef_search = …").
    connection.execute("select '[1]'::vector")


def raw(connection: Connection) -> psycopg.Connection[Any]:
    """Return the psycopg connection below a SQLAlchemy one."""
    driver_connection = connection.connection.driver_connection
    if not isinstance(driver_connection, psycopg.Connection):
        raise TypeError(driver_connection)
    return driver_connection


def _connect(url: str) -> psycopg.Connection[Any]:
    # The files of functions are sent as they are, whatever PGCLIENTENCODING says.
    return psycopg.connect(url, client_encoding="UTF8")


def _resource(name: str) -> Path:
    package = Path(__file__).parent
    for folder in (package / name, package.parents[1] / name):
        if folder.is_dir():
            return folder
    raise errors.PgragError(f"The folder {name}/ is missing.", hint="Install pgrag again.")


def _finding(name: str, ok: bool, message: str, remedy: str) -> Finding:
    return Finding(name, ok, message, "" if ok else remedy)


def _vector_finding(extension: str | None, available: str | None) -> Finding:
    found = extension or available
    if found is None:
        return Finding(
            "pgvector",
            ok=False,
            message="pgvector is not available on this server.",
            remedy="Install pgvector 0.8 or newer on the server.",
        )
    return _finding(
        "pgvector",
        _is_vector_fit(found),
        f"pgvector {found}.",
        "Run `alter extension vector update` in the database."
        if _is_vector_fit(available)
        else "Install pgvector 0.8 or newer on the server.",
    )


def _is_vector_fit(version: str | None) -> bool:
    return tuple(int(part) for part in re.findall(r"\d+", version or "0")[:2]) >= (0, 8)


def _rank_anew(connection: psycopg.Connection[Any]) -> None:
    connection.execute(
        "select pgrag.refresh_statistics(l.name) from pgrag.libraries as l"
        " where pgrag._lacks_title_weights(l.library_id)"
    )


def _require_server(connection: psycopg.Connection[Any]) -> None:
    for finding in server_findings(connection):
        if not finding.ok:
            raise errors.DatabaseError(finding.message, hint=finding.remedy)


def _require_known(found: SchemaStatus) -> None:
    if found.state == "newer":
        raise errors.SchemaTooNew(
            _describe(found), hint="Install the version of pgrag that wrote it, or a newer one."
        )


def _describe(found: SchemaStatus) -> str:
    if found.state == "missing":
        return "The database has no pgrag schema yet."
    if found.state == "newer":
        return (
            f"The database (revision {found.revision}) is newer than this version of pgrag"
            f" (revision {found.head})."
        )
    if found.revision != found.head:
        return (
            f"The database (revision {found.revision}) is older than this version of pgrag"
            f" (revision {found.head})."
        )
    if found.state == "outdated":
        return "The functions in the database are not those of this version of pgrag."
    return f"The schema is that of this version of pgrag (revision {found.revision})."


def _status(connection: psycopg.Connection[Any]) -> SchemaStatus:
    with connection.cursor(row_factory=tuple_row) as cursor:
        revision = None
        cursor.execute("select to_regclass('pgrag.alembic_version') is not null")
        if cursor.fetchone() == (True,):
            row = cursor.execute("select max(version_num) from pgrag.alembic_version").fetchone()
            revision = row[0] if row else None
    functions = installed_digest(connection)
    known, head = _revisions()
    wanted = digest(sql_root())
    if revision is None:
        state = "missing"
    elif revision not in known:
        state = "newer"
    else:
        state = "current" if (revision, functions) == (head, wanted) else "outdated"
    return SchemaStatus(state, revision, head, functions, wanted)


def _revisions() -> tuple[set[str], str]:
    """Read the names of the revisions, and that of the last one, without loading Alembic."""
    text = "\n".join(
        file.read_text(encoding="utf-8") for file in (alembic_root() / "versions").glob("*.py")
    )
    assigned = r'(?m)^{}(?:: [^=]+)? = ["\']([^"\']+)["\']'
    names = set(re.findall(assigned.format("revision"), text))
    [head] = names.difference(re.findall(assigned.format("down_revision"), text))
    return names, head
