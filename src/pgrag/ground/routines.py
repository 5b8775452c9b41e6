"""Install the functions of `sql/`: all of them, in one transaction, without touching others."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from pgrag.ground import errors
from pgrag.ground.tree import digest, function_files

# Routines of an extension in these schemas belong to the extension.
_ROUTINES = """
select p.oid
from pg_proc as p
where p.pronamespace in (to_regnamespace('pgrag'), to_regnamespace('_pgrag'))
    and not exists (
        select
        from pg_depend as d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    )
"""
# A routine that an object outside the two schemas needs (a user's view, say) cannot be dropped,
# nor can the routines that it needs.
_REPLACEABLE = f"""
with recursive routine as ({_ROUTINES}),
dependency as (
    select d.refobjid as needed, r.oid as by_routine
    from pg_depend as d
    join routine as needed on needed.oid = d.refobjid
    left join routine as r on d.classid = 'pg_proc'::regclass and r.oid = d.objid
    where d.refclassid = 'pg_proc'::regclass
),
kept as (
    select d.needed as oid
    from dependency as d
    where d.by_routine is null
    union
    select d.needed
    from dependency as d
    join kept as k on k.oid = d.by_routine
)
select r.oid::regprocedure::text
from routine as r
where r.oid not in (select k.oid from kept as k)
"""
_VIEWS = """
select c.oid::regclass::text
from pg_class as c
where c.relnamespace = to_regnamespace('pgrag') and c.relkind = 'v'
"""
# Views (v), and row types of private functions (c), which no table uses.
_PRIVATE = """
select c.oid::regclass::text
from pg_class as c
where c.relnamespace = to_regnamespace('_pgrag') and c.relkind = '{}'
"""
_VALIDATIONS = """
select
    format('%s.%s', p.pronamespace::regnamespace, p.proname),
    format('select %s(%s)', l.lanvalidator::regproc, p.oid)
from pg_proc as p
join pg_language as l on l.oid = p.prolang
where p.pronamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)
    and l.lanname in ('sql', 'plpgsql')
order by p.oid
"""
_LACKS_GRANTS = "select not has_schema_privilege('public', 'pgrag', 'usage')"
# What PostgreSQL raises where a function or a view in use would change its columns.
_REFUSED = (psycopg.errors.InvalidFunctionDefinition, psycopg.errors.InvalidTableDefinition)
# One transaction installs all files: a routine that an earlier one has written is in no file.
_LEFT_OVER = f"""
select r.oid::regprocedure::text
from ({_ROUTINES}) as r
join pg_proc as p on p.oid = r.oid
where p.xmin <> pg_current_xact_id()::xid
order by 1
"""


def installed_digest(connection: psycopg.Connection[Any]) -> str | None:
    """Return the digest of the functions in a database; None if none are installed."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute("select to_regclass('pgrag.installed_functions') is not null")
        if cursor.fetchone() == (False,):
            return None
        row = cursor.execute("select max(digest) from pgrag.installed_functions").fetchone()
        return row[0] if row else None


def install_functions(connection: psycopg.Connection[Any], root: Path) -> bool:
    """Replace the routines of the two schemas by those of a tree, unless they are the same; return
    whether it did. Runs in the transaction and with the search_path of the caller. Bodies are
    checked after all routines exist. Privileges, which a dump lacks, are granted again. Raises
    `DatabaseError` that names file and line.
    """
    current = digest(root)
    if installed_digest(connection) == current:
        with connection.cursor(row_factory=tuple_row) as cursor:
            if cursor.execute(_LACKS_GRANTS).fetchone() == (True,):
                _run(cursor, root / "grants.sql", root)
        return False
    drop_functions(connection)
    with connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute("set local check_function_bodies = off")
        *files, grants = function_files(root)
        for file in files:
            _run(cursor, file, root)
        # Before the grants, which write every routine once more.
        left_over = cursor.execute(_LEFT_OVER).fetchone()
        _run(cursor, grants, root)
        cursor.execute("set local check_function_bodies = on")
        for name, validation in cursor.execute(_VALIDATIONS).fetchall():
            _validate(cursor, name, validation, root)
        if left_over:
            raise errors.DatabaseError(
                f"{left_over[0]} is no longer part of pgrag, but is used in this database.",
                hint="Drop the view, index or function that uses it, then upgrade again.",
            )
        cursor.execute("insert into pgrag.installed_functions (digest) values (%s)", [current])
    return True


def drop_functions(connection: psycopg.Connection[Any]) -> None:
    """Drop private and public routines, views and types that no other object depends on."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        for (view,) in cursor.execute(_VIEWS).fetchall():
            # A view that a report of an analyst uses stays, and is replaced in place.
            with suppress(psycopg.errors.DependentObjectsStillExist), connection.transaction():
                connection.execute(f"drop view {view}".encode())
        for kind, listed in (
            ("view", _PRIVATE.format("v")),
            ("routine", _REPLACEABLE),
            ("type", _PRIVATE.format("c")),
        ):
            names = ", ".join(name for (name,) in cursor.execute(listed.encode()))
            if not names:
                continue
            try:
                # In one statement, because they may depend on each other.
                cursor.execute(f"drop {kind} {names}".encode())
            except psycopg.errors.DependentObjectsStillExist as error:
                raise errors.DatabaseError(
                    f"Something of pgrag that changes is used: {error.diag.message_detail}.",
                    hint="The schema _pgrag is private: drop what uses it, then upgrade again.",
                ) from error
        if installed_digest(connection) is not None:
            cursor.execute("delete from pgrag.installed_functions")


def _run(cursor: psycopg.Cursor[Any], file: Path, root: Path) -> None:
    content = file.read_bytes()
    try:
        cursor.execute(content)
    except psycopg.Error as error:
        position = int(error.diag.statement_position or 0)
        line = content.decode(errors="replace")[: max(position - 1, 0)].count("\n") + 1
        hint = error.diag.message_hint
        if isinstance(error, _REFUSED):
            hint = "Something in this database uses it: drop that, upgrade, and make it again."
        raise errors.DatabaseError(
            f"{file.relative_to(root)}:{line}: {error.diag.message_primary}", hint=hint
        ) from error


def _validate(cursor: psycopg.Cursor[Any], name: str, validation: str, root: Path) -> None:
    try:
        cursor.execute(validation.encode())
    except psycopg.Error as error:
        definition = re.compile(rf"create or replace \w+ {re.escape(name)}\b")
        homes = [
            f"{file.relative_to(root)}:{text[: match.start()].count(chr(10)) + 1}"
            for file in function_files(root)
            if (match := definition.search(text := file.read_text(encoding="utf-8")))
        ]
        raise errors.DatabaseError(
            f"{', '.join(homes) or name}: {error.diag.message_primary}"
            f" ({error.diag.context or name})"
        ) from error
