"""The tables and types of a database as text, one fact a line, the same on every server version."""

from __future__ import annotations

import psycopg

RELATIONS = """
select c.oid, c.relname
from pg_class as c
where c.relnamespace = 'pgrag'::regnamespace
    and c.relkind = 'r'
    and c.relname <> 'alembic_version'
order by c.relname
"""
COLUMNS = """
select concat(
    a.attname, ' ', format_type(a.atttypid, a.atttypmod),
    case when a.attcollation <> t.typcollation then format(' collate "%%s"', l.collname) end,
    case when a.attnotnull then ' not null' end,
    case a.attidentity when 'a' then ' generated always as identity' end,
    ' default ' || pg_get_expr(d.adbin, d.adrelid)
)
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


def listing(connection: psycopg.Connection) -> list[str]:
    """Columns, constraints and indexes of every table of pgrag."""
    lines = []
    # Names are shown with their schema unless they are found without it.
    connection.execute("set search_path = public")
    for oid, name in connection.execute(RELATIONS).fetchall():
        lines.append(f"table {name}")
        for query in (COLUMNS, CONSTRAINTS, INDEXES):
            lines += [f"    {line}" for (line,) in connection.execute(query, [oid]).fetchall()]
    return lines
