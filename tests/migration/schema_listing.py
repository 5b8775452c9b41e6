"""The tables and types of a database as text, one fact a line, the same on every server version.

    python tests/migration/schema_listing.py

migrates a database of its own and writes golden_schema.txt, which the migrations are held to.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from pgrag.ground import schema
from pgrag.ground.embedded import EmbeddedServer

GOLDEN = Path(__file__).with_name("golden_schema.txt")

RELATIONS = """
select
    c.oid, case when n.nspname = '_pgrag' then '_pgrag.' else '' end || c.relname, c.relkind,
    coalesce(array_to_string(c.reloptions, ', '), '')
from pg_class as c
join pg_namespace as n on n.oid = c.relnamespace
where n.nspname in ('pgrag', '_pgrag')
    and c.relkind in ('r', 'c')
    and c.relname <> 'alembic_version'
order by c.relkind desc, n.nspname desc, c.relname
"""
COLUMNS = """
select
    a.attname,
    format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> t.typcollation then format(' collate "%%s"', l.collname) end,
    case when a.attnotnull then ' not null' end,
    case a.attidentity when 'a' then ' generated always as identity' end,
    ' default ' || pg_get_expr(d.adbin, d.adrelid),
    case when a.attstorage <> t.typstorage then format(' storage %%s', a.attstorage) end,
    case when coalesce(a.attstattarget, -1) >= 0
        then format(' statistics %%s', a.attstattarget) end
from pg_attribute as a
join pg_type as t on t.oid = a.atttypid
left join pg_collation as l on l.oid = a.attcollation
left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
where a.attrelid = %s and a.attnum > 0 and not a.attisdropped
order by a.attnum
"""
CONSTRAINTS = """
select format('%%s %%s', k.conname, pg_get_constraintdef(k.oid))
from pg_constraint as k
where k.conrelid = %s and k.contype <> 'n'
order by 1
"""
INDEXES = """
select pg_get_indexdef(i.indexrelid)
from pg_index as i
where i.indrelid = %s and not i.indisprimary
order by 1
"""


def listing(connection: psycopg.Connection, *, physical: bool = True) -> str:
    """Everything that a migration makes; without `physical`, not how columns are stored."""
    lines = []
    # Names are shown with their schema unless they are found without it.
    connection.execute("set search_path = public")
    for oid, name, kind, options in connection.execute(RELATIONS).fetchall():
        lines.append(
            f"{'table' if kind == 'r' else 'type'} {name}" + (f" ({options})" * bool(options))
        )
        lines += [f"    {line}" for line in _columns(connection, oid, physical=physical)]
        for query in (CONSTRAINTS, INDEXES):
            lines += [f"    {line}" for (line,) in connection.execute(query, [oid]).fetchall()]
    return "\n".join(lines) + "\n"


def _columns(connection: psycopg.Connection, oid: int, *, physical: bool) -> Iterator[str]:
    for name, type_, *properties in connection.execute(COLUMNS, [oid]).fetchall():
        kept = properties if physical else properties[:-2]
        yield f"{name} {type_}" + "".join(filter(None, kept))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as home:
        server = EmbeddedServer(Path(home) / "pgrag")
        try:
            url = server.start()
            schema.upgrade(url)
            with psycopg.connect(url) as database:
                GOLDEN.write_text(listing(database), "utf-8")
        finally:
            server.remove()
