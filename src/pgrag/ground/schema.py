"""The schema of a database: migrate it, report its state, check that its server fits."""

import re
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import psycopg
from psycopg.rows import tuple_row

from pgrag.ground import errors, waits
from pgrag.ground.connections import begin_afresh, connect
from pgrag.ground.driver_errors import translated_errors
from pgrag.ground.routines import installed_digest
from pgrag.ground.tree import digest, resource

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOCK = 7_238_115_902

_LEAST_VECTOR = (0, 8)
# The version that mended a fault of HNSW indexes, and the fault; see pgvector's changelog.
_VECTOR_FAULTS = (
    ((0, 8, 2), "parallel builds of HNSW indexes may reveal other data or crash (CVE-2026-3172)"),
    ((0, 8, 3), "vacuum may corrupt an HNSW index"),
    ((0, 8, 4), "vacuum of an HNSW index, and inserts meanwhile, may fail"),
)
_UPDATE_VECTOR = "Run `alter extension vector update` in the database."

_alembic = Lock()
"""Serialises migrations: Alembic keeps its state in global variables."""


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    """The schema of a database, compared with this package's. `revision` and `functions` (the
    digest of the installed functions) are None if nothing is installed; `head` and `digest` are the
    package's. `state` is "current", "missing", "outdated", "newer", or "unreleased": made before
    the first release, so it cannot be upgraded.
    """

    state: str
    revision: str | None
    head: str
    functions: str | None
    digest: str

    @property
    def message(self) -> str:
        """The state in a sentence."""
        compared = f"this version of pgrag (revision {self.head})"
        return {
            "current": f"The schema is that of {compared}.",
            "missing": "The database has no pgrag schema yet.",
            "newer": f"The database (revision {self.revision}) is newer than {compared}.",
            "unreleased": f"The database (revision {self.revision}) was made by a version of pgrag"
            " before 0.1, and cannot be upgraded.",
            "outdated": "The functions in the database are not those of this version of pgrag."
            if self.revision == self.head
            else f"The database (revision {self.revision}) is older than {compared}.",
        }[self.state]

    @property
    def remedy(self) -> str:
        """What to do about it; empty if the schema is current."""
        return {
            "current": "",
            "newer": "Install the version of pgrag that wrote it, or a newer one.",
            "unreleased": "Run `pgrag db psql -- -c 'drop schema pgrag, _pgrag cascade'`, which"
            " removes everything that pgrag keeps there, then `pgrag db upgrade`, and index anew.",
        }.get(self.state, "Run `pgrag db upgrade`.")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of `pgrag doctor`: what was checked, the result, and the remedy. `level` is "ok",
    "wrong", or "warning": pgrag works, but the remedy is advised.
    """

    name: str
    level: Literal["ok", "warning", "wrong"]
    message: str
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """Whether pgrag works despite it, as it does after a warning."""
        return self.level != "wrong"


def sql_root() -> Path:
    """Return the folder of the SQL functions: in the installed package, else in the checkout."""
    return resource("sql")


def alembic_root() -> Path:
    """Return the folder of the migrations: in the installed package, else in the checkout."""
    return resource("alembic")


def upgrade(url: str) -> SchemaStatus:
    """Upgrade a database to this package's schema, in one transaction; safe to run at any time. A
    second transaction makes roles and policies as far as the role of the connection may; see
    `pgrag.secure_tables`.

    Raises `DatabaseError` if PostgreSQL, pgvector or the encoding does not fit, `SchemaTooNew` if
    the database is newer than the package, `SchemaOutdated` if it cannot be upgraded, `ReadOnly` if
    it has to be and is a standby.
    """
    # Imported here, so that only a migration waits for them to load.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415
    from sqlalchemy import NullPool, create_engine  # noqa: PLC0415
    from sqlalchemy.exc import DBAPIError  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(alembic_root()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    # A connection is closed after its use, which ends its transaction: there is nothing to reset,
    # and one that was lost is not complained about besides the error.
    engine = create_engine(
        "postgresql+psycopg://",
        creator=lambda: connect(url),
        poolclass=NullPool,
        pool_reset_on_return=None,
    )
    with _alembic, translated_errors():
        try:
            with engine.connect() as connection:
                lift_limits(raw(connection))
                for finding in server_findings(raw(connection)):
                    if not finding.ok:
                        raise errors.DatabaseError(finding.message, hint=finding.remedy)
                before = _status(raw(connection))
                _require_known(before)
                if is_read_only(raw(connection)):
                    if before.state == "current":
                        return before
                    raise errors.ReadOnly(
                        f"{before.message} This server is read-only, such as a standby.",
                        hint="Upgrade the primary: run `pgrag db upgrade` with its address in"
                        " PGRAG_DATABASE_URL; its standbys follow.",
                    )
                connection.rollback()
                begin_afresh(raw(connection))
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                begin_afresh(raw(connection))
                _lock_upgrades(raw(connection))
                raw(connection).execute("select from pgrag.secure_tables()")
                after = _status(raw(connection))
                raw(connection).commit()
                return after
        except (DBAPIError, psycopg.Error) as error:
            raise _reason(error) from error


def _reason(error: BaseException) -> BaseException:
    """Return what ended a transaction: what fails when a lost one is rolled back says less."""
    chain = [error]
    while chain[-1].__context__ is not None:
        chain.append(chain[-1].__context__)
    return next((e for e in reversed(chain) if isinstance(e, psycopg.Error)), error)


def is_read_only(connection: psycopg.Connection[Any]) -> bool:
    """Whether nothing can be written by way of a connection, such as to a standby."""
    return connection.execute("show transaction_read_only").fetchone() == ("on",)


def status(url: str) -> SchemaStatus:
    """Return the state of the database's schema."""
    with translated_errors(), connect(url) as connection:
        return _status(connection)


def contents(url: str) -> tuple[int, int]:
    """Return how many libraries and pages a database holds, whatever its revision."""
    statement = b"select (select count(*) from pgrag.libraries), (select count(*) from pgrag.pages)"
    with translated_errors(), connect(url) as connection:
        if _status(connection).state == "missing":
            return 0, 0
        row = connection.execute(statement).fetchone()
        return row if row else (0, 0)


def require_current(url: str) -> None:
    """Raise `SchemaOutdated` or `SchemaTooNew` unless the schema matches this package."""
    current = status(url)
    _require_known(current)
    if current.state != "current":
        raise errors.SchemaOutdated(current.message, hint=current.remedy)


def server_findings(connection: psycopg.Connection[Any]) -> list[Finding]:
    """Check version, pgvector, encoding and case folding of a database's server."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(
            """
            select
                current_setting('server_version'),
                current_setting('server_version_num')::integer,
                current_setting('server_encoding'),
                (select e.extversion from pg_extension as e where e.extname = 'vector'),
                (select a.default_version from pg_available_extensions as a where a.name = 'vector')
            """
        )
        [(version, number, encoding, extension, available)] = cursor.fetchall()
        folds = encoding == "UTF8" and cursor.execute(
            # Turkish pairs I with ı, so that INSTALL is not install.
            "select to_tsvector('english', 'INSTALL') = to_tsvector('english', 'install')"
            " and to_tsvector('german', 'HÄUSER') = to_tsvector('german', 'häuser')"
            " and to_tsvector('russian', 'ДОМА') = to_tsvector('russian', 'дома')"
        ).fetchone() == (True,)
    return [
        _server_finding(version, number),
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
            "English, German and Russian words are found in any case."
            if folds
            else "The database's locale does not fold the case of English, German or Russian"
            " letters.",
            "Create the database with a UTF-8 locale, such as C.UTF-8.",
        ),
    ]


def prepare(connection: psycopg.Connection[Any]) -> None:
    """Begin a migration under a lock; create schema and extension, set the search_path."""
    _lock_upgrades(connection)
    connection.execute("set local client_min_messages = warning")
    # Not in "$user": that may be the schema whose routines are replaced.
    extension = b"create extension if not exists vector with schema public"
    for statement, remedy in (
        (b"create schema if not exists pgrag", "grant create on database … to …"),
        (extension, extension.decode()),
    ):
        try:
            connection.execute(statement)
        except psycopg.errors.InsufficientPrivilege as error:
            raise errors.NotPermitted(
                f"The upgrade needs a right that this role lacks: {error.diag.message_primary}.",
                hint=f"Let a superuser run `{remedy}` in the database, then upgrade again.",
            ) from error
    # The functions fix this search_path by "set search_path from current".
    connection.execute(
        "select set_config('search_path', format('pg_catalog, %I, pg_temp', n.nspname), true)"
        " from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace"
        " where e.extname = 'vector'"
    )
    # Load pgvector's library: until then only a superuser may create a function that sets one of
    # its parameters ("set hnsw.ef_search = …").
    connection.execute("select '[1]'::vector")


def _lock_upgrades(connection: psycopg.Connection[Any]) -> None:
    """Wait for other upgrades of the database, and let none begin until the transaction ends."""
    lift_limits(connection)
    with waits.told("Waiting for another upgrade of the database to end."):
        connection.execute("select pg_advisory_xact_lock(%s)", [_LOCK])


def lift_limits(connection: psycopg.Connection[Any]) -> None:
    """Let the transaction last, as pg_dump does: limits for searches would end each upgrade."""
    for name in ("statement_timeout", "transaction_timeout", "idle_in_transaction_session_timeout"):
        connection.execute(
            "select set_config(%s, '0', true) where current_setting(%s, true) is not null",
            [name, name],
        )


def raw(connection: "Connection") -> psycopg.Connection[Any]:
    """Return the psycopg connection of a SQLAlchemy connection."""
    driver_connection = connection.connection.driver_connection
    if not isinstance(driver_connection, psycopg.Connection):
        raise TypeError(driver_connection)
    return driver_connection


def _finding(name: str, ok: bool, message: str, remedy: str) -> Finding:
    return Finding(name, "ok" if ok else "wrong", message, "" if ok else remedy)


def _server_finding(version: str, number: int) -> Finding:
    """Report a server that is too old, or whose row-level security has a known fault."""
    if 160000 <= number < 160005 or number == 170000:
        return Finding(
            "postgresql",
            "warning",
            f"PostgreSQL {version} may let a role read rows that row-level security hides from it"
            " (CVE-2024-10976), so libraries are not safely separated.",
            "Update it to 16.6, 17.2 or newer.",
        )
    return _finding(
        "postgresql", number >= 160000, f"PostgreSQL {version}.", "Use PostgreSQL 16 or newer."
    )


def _vector_finding(extension: str | None, available: str | None) -> Finding:
    version = extension or available
    if version is None or _number(version) < _LEAST_VECTOR:
        return Finding(
            "pgvector",
            "wrong",
            f"pgvector {version}." if version else "pgvector is not available on this server.",
            _UPDATE_VECTOR
            if _number(available) >= _LEAST_VECTOR
            else "Install pgvector 0.8 or newer on the server.",
        )
    faults = [fault for fixed, fault in _VECTOR_FAULTS if _number(version) < fixed]
    if not faults:
        return Finding("pgvector", "ok", f"pgvector {version}.")
    return Finding(
        "pgvector",
        "warning",
        f"pgvector {version} has known faults: {'; '.join(faults)}.",
        _UPDATE_VECTOR
        if _number(available) >= _VECTOR_FAULTS[-1][0]
        else "Install pgvector 0.8.4 or newer on the server, then run"
        " `alter extension vector update` in the database.",
    )


def _number(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version or "0")[:3])


def _require_known(current: SchemaStatus) -> None:
    if current.state in {"newer", "unreleased"}:
        kind = errors.SchemaTooNew if current.state == "newer" else errors.SchemaOutdated
        raise kind(current.message, hint=current.remedy)


def _status(connection: psycopg.Connection[Any]) -> SchemaStatus:
    with connection.cursor(row_factory=tuple_row) as cursor:
        revision = None
        cursor.execute("select to_regclass('pgrag.alembic_version') is not null")
        if cursor.fetchone() == (True,):
            row = cursor.execute("select max(version_num) from pgrag.alembic_version").fetchone()
            revision = row[0] if row else None
    functions = installed_digest(connection)
    known, head = _revisions()
    current = digest(sql_root())
    if revision is None:
        state = "missing"
    elif revision not in known:
        # Revisions were numbers alone before the first release, and have names since.
        state = "unreleased" if re.fullmatch(r"\d{4}", revision) else "newer"
    else:
        state = "current" if (revision, functions) == (head, current) else "outdated"
    return SchemaStatus(state, revision, head, functions, current)


def _revisions() -> tuple[set[str], str]:
    text = "\n".join(
        file.read_text(encoding="utf-8") for file in (alembic_root() / "versions").glob("*.py")
    )
    assigned = r'(?m)^{}(?:: [^=]+)? = ["\']([^"\']+)["\']'
    names = set(re.findall(assigned.format("revision"), text))
    [head] = names.difference(re.findall(assigned.format("down_revision"), text))
    return names, head
