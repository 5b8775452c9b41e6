"""The schema of a database: migrate it, install its functions, say what state it is in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from pgrag import errors
from pgrag.db import translated_errors

_LOCK = 7_238_115_902


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """`revision` and `functions` are what the database has (None: nothing); `state` is
    "current", "missing", "outdated" or "newer".
    """

    state: str
    revision: str | None
    head: str
    functions: str | None
    digest: str


def sql_root() -> Path:
    """The folder of the SQL functions: in the installed package, else in the checkout."""
    return _resource("sql")


def alembic_root() -> Path:
    """The folder of the migrations: in the installed package, else in the checkout."""
    return _resource("alembic")


def _resource(name: str) -> Path:
    package = Path(__file__).parent
    for folder in (package / name, package.parents[1] / name):
        if folder.is_dir():
            return folder
    raise errors.PgragError(f"The folder {name}/ is missing.", hint="Install pgrag again.")


def function_files() -> list[Path]:
    """The files of `sql/` in the order of installation."""
    return sorted(sql_root().rglob("*.sql"))


def digest() -> str:
    """The SHA-256 over names and contents of the files of `sql/`."""
    root = sql_root()
    total = hashlib.sha256()
    for file in function_files():
        total.update(file.relative_to(root).as_posix().encode() + b"\0")
        total.update(file.read_bytes() + b"\0")
    return total.hexdigest()


def upgrade(url: str) -> SchemaStatus:
    """Brings the database to this package's state, in one transaction; safe to run at any time.

    Raises `DatabaseError` where PostgreSQL, pgvector or the encoding do not fit, `SchemaTooNew`
    where the database is ahead of the package.
    """
    with _sqlalchemy_connection(url) as connection:
        require_server(raw(connection))
        if _state(connection).state == "newer":
            raise _too_new(_state(connection))
        command.upgrade(_config(connection), "head")
        return _state(connection)


def status(url: str) -> SchemaStatus:
    """What state the database's schema is in."""
    with _sqlalchemy_connection(url) as connection:
        return _state(connection)


def require_current(url: str) -> None:
    """Raises `SchemaOutdated` or `SchemaTooNew` unless the database fits this package."""
    found = status(url)
    if found.state == "newer":
        raise _too_new(found)
    if found.state != "current":
        raise errors.SchemaOutdated(
            "The database has no pgrag schema yet."
            if found.state == "missing"
            else "The database is older than this version of pgrag.",
            hint="Run `pgrag db upgrade`.",
        )


def install_functions(connection: psycopg.Connection[Any]) -> bool:
    """Replaces the functions of the schema by those of `sql/`, unless they are the same already.

    Runs in the caller's transaction, on the raw connection: file bytes hold `%` and `:name`, which
    SQLAlchemy would take for its own. Bodies are not checked while they are installed, so that
    the order of files within a folder does not matter.
    """
    wanted = digest()
    with connection.cursor() as cursor:
        cursor.execute("select digest from pgrag.installed_functions")
        if [wanted] == [row[0] for row in cursor.fetchall()]:
            return False
        cursor.execute(
            "select format('drop routine if exists %s cascade', p.oid::regprocedure)"
            " from pg_proc as p where p.pronamespace = 'pgrag'::regnamespace"
            " and not exists (select from pg_depend as d where d.classid = 'pg_proc'::regclass"
            " and d.objid = p.oid and d.deptype = 'e')"
        )
        for (statement,) in cursor.fetchall():
            cursor.execute(statement)
        cursor.execute("set local check_function_bodies = off")
        for file in function_files():
            try:
                cursor.execute(file.read_bytes())
            except psycopg.Error as error:
                raise errors.DatabaseError(
                    f"{file.relative_to(sql_root())}: {error.diag.message_primary}"
                ) from error
        cursor.execute("delete from pgrag.installed_functions")
        cursor.execute("insert into pgrag.installed_functions (digest) values (%s)", [wanted])
    return True


def require_server(connection: psycopg.Connection[Any]) -> None:
    """Raises `DatabaseError` unless the server is one that pgrag can work in."""
    failed = [finding for finding in server_findings(connection) if not finding.ok]
    if failed:
        raise errors.DatabaseError(failed[0].message, hint=failed[0].remedy)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `pgrag doctor`: what was checked, how it stands, and what to do about it."""

    name: str
    ok: bool
    message: str
    remedy: str = ""


def server_findings(connection: psycopg.Connection[Any]) -> list[Finding]:
    """Checks version, pgvector, encoding and case folding of a server."""
    with connection.cursor() as cursor:

        def value(query: str) -> Any:
            row = cursor.execute(query.encode()).fetchone()
            if row is None:
                return None
            return next(iter(row.values())) if isinstance(row, dict) else row[0]

        number = int(value("select current_setting('server_version_num')"))
        version = value("select current_setting('server_version')")
        vector = value(
            "select coalesce("
            "(select extversion from pg_extension where extname = 'vector'),"
            "(select default_version from pg_available_extensions where name = 'vector'))"
        )
        encoding = value("select current_setting('server_encoding')")
        folds = encoding == "UTF8" and value(
            "select to_tsvector('german', 'HÄUSER') = to_tsvector('german', 'häuser')"
            " and to_tsvector('russian', 'ДОМА') = to_tsvector('russian', 'дома')"
        )
    vector_number = tuple(int(part) for part in (vector or "0").split(".")[:2])
    return [
        Finding(
            "postgresql",
            number >= 160000,
            f"PostgreSQL {version}",
            "" if number >= 160000 else "Use PostgreSQL 16 or newer.",
        ),
        Finding(
            "pgvector",
            vector_number >= (0, 8),
            f"pgvector {vector}" if vector else "pgvector is not available on this server.",
            "" if vector_number >= (0, 8) else "Install pgvector 0.8 or newer on the server.",
        ),
        Finding(
            "encoding",
            encoding == "UTF8",
            f"The database's encoding is {encoding}.",
            "" if encoding == "UTF8" else "Create the database with encoding 'UTF8'.",
        ),
        Finding(
            "case folding",
            bool(folds),
            "German and Russian words are found in any case."
            if folds
            else "The database's locale does not fold the case of German or Russian letters.",
            "" if folds else "Create the database with a UTF-8 locale, such as C.UTF-8.",
        ),
    ]


@contextmanager
def _sqlalchemy_connection(url: str) -> Iterator[Connection]:
    address = make_url(url) if "://" in url else None
    engine = (
        create_engine(address.set(drivername="postgresql+psycopg"), poolclass=NullPool)
        if address is not None
        else create_engine(
            "postgresql+psycopg://", creator=lambda: psycopg.connect(url), poolclass=NullPool
        )
    )
    try:
        with _driver_errors(), engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


@contextmanager
def _driver_errors() -> Iterator[None]:
    """SQLAlchemy wraps the driver's errors; what is inside says more."""
    with translated_errors():
        try:
            yield
        except Exception as error:
            original = getattr(error, "orig", None)
            if isinstance(original, psycopg.Error):
                raise original from error
            raise


def raw(connection: Connection) -> psycopg.Connection[Any]:
    """The psycopg connection below a SQLAlchemy one."""
    driver_connection = connection.connection.driver_connection
    if not isinstance(driver_connection, psycopg.Connection):
        raise TypeError(driver_connection)
    return driver_connection


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(alembic_root()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _state(connection: Connection) -> SchemaStatus:
    scripts = ScriptDirectory(str(alembic_root()))
    head = scripts.get_current_head() or ""
    context = MigrationContext.configure(connection, opts={"version_table_schema": "pgrag"})
    revision = context.get_current_revision()
    functions = None
    if revision is not None:
        row = connection.exec_driver_sql("select digest from pgrag.installed_functions").first()
        functions = None if row is None else str(row[0])
    connection.rollback()
    known = {script.revision for script in scripts.walk_revisions()}
    if revision is None:
        state = "missing"
    elif revision not in known:
        state = "newer"
    elif revision == head and functions == digest():
        state = "current"
    else:
        state = "outdated"
    return SchemaStatus(state, revision, head, functions, digest())


def _too_new(found: SchemaStatus) -> errors.SchemaTooNew:
    return errors.SchemaTooNew(
        f"The database (revision {found.revision}) is newer than this version of pgrag"
        f" (revision {found.head}).",
        hint="Install the version of pgrag that wrote it, or a newer one.",
    )
