"""The functions of `sql/` into a database: whole, in one transaction, nothing else's touched."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from pgrag import errors

# Routines that something outside of the schema's routines needs (a view of a user's, say) cannot be
# dropped, nor can those that they need. Extensions own theirs.
_REPLACEABLE = """
with recursive routine as (
    select p.oid
    from pg_proc as p
    where p.pronamespace = to_regnamespace('pgrag')
        and not exists (
            select
            from pg_depend as d
            where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
        )
),
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
_VALIDATIONS = """
select p.proname, format('select %s(%s)', l.lanvalidator::regproc, p.oid)
from pg_proc as p
join pg_language as l on l.oid = p.prolang
where p.pronamespace = 'pgrag'::regnamespace and l.lanname in ('sql', 'plpgsql')
order by p.oid
"""
# A routine's settings go when it is replaced: one that still has the mark is in no file.
_MARK = """
select format('alter routine %s set pgrag.kept to yes', p.oid::regprocedure)
from pg_proc as p
where p.pronamespace = 'pgrag'::regnamespace
    and not exists (
        select
        from pg_depend as d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
    )
"""
_MARKED = """
select p.oid::regprocedure::text
from pg_proc as p
where p.pronamespace = 'pgrag'::regnamespace and 'pgrag.kept=yes' = any(p.proconfig)
order by 1
"""


def function_files(root: Path) -> list[Path]:
    """Return the files of a tree of functions in the order of installation."""
    return sorted(root.rglob("*.sql"))


def digest(root: Path) -> str:
    """Return the SHA-256 over names and contents of the files of a tree of functions."""
    total = hashlib.sha256()
    for file in function_files(root):
        total.update(file.relative_to(root).as_posix().encode() + b"\0")
        total.update(file.read_bytes() + b"\0")
    return total.hexdigest()


def installed_digest(connection: psycopg.Connection[Any]) -> str | None:
    """Return the digest of the tree that a database has; None if it has none."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute("select to_regclass('pgrag.installed_functions') is not null")
        if cursor.fetchone() == (False,):
            return None
        row = cursor.execute("select max(digest) from pgrag.installed_functions").fetchone()
        return row[0] if row else None


def install_functions(connection: psycopg.Connection[Any], root: Path) -> bool:
    """Replace the routines of the schema by those of a tree, unless they are the same already.

    Runs in the caller's transaction, whose search_path the functions keep, and on the raw
    connection: the files hold `%` and `:name`, which SQLAlchemy would take for its own. Bodies
    are checked when all are there, so that a file's helpers may stand below their user. Raises
    `DatabaseError` that names file and line.
    """
    wanted = digest(root)
    if installed_digest(connection) == wanted:
        return False
    drop_functions(connection)
    with connection.cursor(row_factory=tuple_row) as cursor:
        for (mark,) in cursor.execute(_MARK).fetchall():
            cursor.execute(mark.encode())
        cursor.execute("set local check_function_bodies = off")
        for file in function_files(root):
            _run(cursor, file, root)
        cursor.execute("set local check_function_bodies = on")
        for name, validation in cursor.execute(_VALIDATIONS).fetchall():
            _validate(cursor, name, validation, root)
        left_over = cursor.execute(_MARKED).fetchone()
        if left_over:
            raise errors.DatabaseError(
                f"{left_over[0]} is no longer part of pgrag, but is used in this database.",
                hint="Drop the view, index or function that uses it, then upgrade again.",
            )
        cursor.execute("insert into pgrag.installed_functions (digest) values (%s)", [wanted])
    return True


def drop_functions(connection: psycopg.Connection[Any]) -> None:
    """Drop the routines of the schema, so that what they use can change.

    What others need is kept: it can only be replaced in place.
    """
    with connection.cursor(row_factory=tuple_row) as cursor:
        names = [name for (name,) in cursor.execute(_REPLACEABLE)]
        if names:
            # In one statement, as they may need each other.
            cursor.execute(f"drop routine {', '.join(names)}".encode())
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
        if isinstance(error, psycopg.errors.InvalidFunctionDefinition):
            hint = "Something in this database uses it: drop that, upgrade, and make it again."
        raise errors.DatabaseError(
            f"{file.relative_to(root)}:{line}: {error.diag.message_primary}", hint=hint
        ) from error


def _validate(cursor: psycopg.Cursor[Any], name: str, validation: str, root: Path) -> None:
    try:
        cursor.execute(validation.encode())
    except psycopg.Error as error:
        definition = re.compile(rf"create or replace \w+ pgrag\.{re.escape(name)}\b")
        homes = [
            f"{file.relative_to(root)}:{text[: match.start()].count(chr(10)) + 1}"
            for file in function_files(root)
            if (match := definition.search(text := file.read_text(encoding="utf-8")))
        ]
        raise errors.DatabaseError(
            f"{', '.join(homes) or name}: {error.diag.message_primary}"
            f" ({error.diag.context or name})"
        ) from error
