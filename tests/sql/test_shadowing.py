"""What a caller defines in a schema of their own answers no policy and no barrier.

A policy calls its functions with the search_path of the caller, who can put a schema before
pg_catalog, define what fits the types of a call better, and name types in pg_temp.
"""

import pytest
from library import ingest, page, run, value

#: Shadows of all functions of pg_catalog with these names that can have one in PL/pgSQL.
FUNCTIONS = """
select format(
    'create function thief.%%I(%%s) returns %%s language plpgsql stable as'
    ' $$ begin raise exception ''stolen by %%s''; end $$',
    p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid), p.proname
)
from pg_proc as p
where p.pronamespace = 'pg_catalog'::regnamespace
    and p.prokind = 'f'
    and not p.proretset
    and p.proname = any (%s)
    and not (p.proargtypes::oid[] || p.prorettype)
        && array['"any"'::regtype, 'internal'::regtype, 'cstring'::regtype]::oid[]
"""
OPERATORS = """
select format(
    'create function thief.%%I(%%s, %%s) returns %%s language plpgsql stable as'
    ' $$ begin raise exception ''stolen by operator %%s''; end $$;'
    ' create operator thief.%%s (leftarg = %%s, rightarg = %%s, function = thief.%%I)',
    'f' || o.oid, o.oprleft::regtype, o.oprright::regtype, o.oprresult::regtype, o.oprname,
    o.oprname, o.oprleft::regtype, o.oprright::regtype, 'f' || o.oid
)
from pg_operator as o
where o.oprnamespace = 'pg_catalog'::regnamespace
    and o.oprleft <> 0
    and not array[o.oprleft, o.oprright, o.oprresult]
        && array['internal'::regtype, 'cstring'::regtype]::oid[]
    and o.oprname = any (%s)
"""
#: What functions call, as far as a text shows it.
USED = """
select array_agg(distinct m.parts[1])
from pg_proc as p
cross join lateral regexp_matches(p.prosrc, '([a-z_]+)\\s*\\(', 'g') as m (parts)
where p.oid = any (%s)
"""
SIGNS = ["<>", "=", "<", ">", "<<", "|", "||", "&&", "&", "-", "@@"]
#: The functions that policies and views with the rights of their owner call, and those they call.
REACHED = """
with recursive reached (oid) as (
    select d.refobjid
    from pg_depend as d
    join pg_proc as p on p.oid = d.refobjid and p.pronamespace = '_pgrag'::regnamespace
    where d.refclassid = 'pg_proc'::regclass
        and d.classid in ('pg_policy'::regclass, 'pg_rewrite'::regclass)
    union
    select p.oid
    from reached as r
    join pg_proc as caller on caller.oid = r.oid
    join pg_proc as p
        on p.pronamespace = '_pgrag'::regnamespace
        and caller.prosrc ~ ('_pgrag\\.' || p.proname || '\\(')
)
select array_agg(r.oid) from reached as r
"""
TABLES = """
select format('%I.%I', c.relnamespace::regnamespace, c.relname) as name
from pg_class as c
where c.relkind in ('r', 'v')
    and has_table_privilege('thief_reader', c.oid, 'select')
    and (
        c.relnamespace = '_pgrag'::regnamespace
        or c.relnamespace = 'pgrag'::regnamespace
        and exists (select from pg_policy as p where p.polrelid = c.oid)
    )
order by 1
"""


@pytest.fixture
def connection(module_connection):
    connection = module_connection
    with connection.transaction(force_rollback=True):
        ingest(connection, "ours", [page("guide.md", "Drain a node.")])
        ingest(connection, "theirs", [page("secret.md", "Drain the quokka.")])
        connection.execute("create role thief_reader in role pgrag_reader")
        run(connection, "grant_libraries", role_name="thief_reader", libraries=["ours"])
        run(connection, "record_search", query="quokka", hits=None)
        yield connection


@pytest.fixture
def reached(connection):
    oids = value(connection, REACHED)
    names = value(
        connection, "select array_agg(o::regproc::text) from unnest(%s::oid[]) as o", oids
    )
    assert {
        "_pgrag.visible_libraries", "_pgrag.is_service", "_pgrag.is_admin", "_pgrag.caller",
        "_pgrag.sees_every_library", "_pgrag.narrowed_scope", "_pgrag.posting_keys",
    } <= {*names}  # fmt: skip
    return oids


def become_thief(connection):
    connection.execute("set local session authorization thief_reader")
    # A service has set it; who is none cannot.
    connection.execute("set local pgrag.library_ids = '*'")
    for name in ("narrowing_versions", "narrowing_lexemes", "lexemes_beside", "title_lexemes"):
        connection.execute(f"set local pgrag.{name} = '{{1,2,3,4,5,6,7,8,9}}'")
    connection.execute("set local pgrag.narrowing = 'quokka | node'")


def test_functions_and_operators_in_a_schema_of_ones_own(connection, reached):
    connection.execute("create schema thief authorization thief_reader")
    used = value(connection, USED, reached)
    assert {"pg_has_role", "current_setting", "array_position", "to_regrole"} <= {*used}
    made = [
        *connection.execute(FUNCTIONS, [used]).fetchall(),
        *connection.execute(OPERATORS, [SIGNS]).fetchall(),
    ]
    assert len(made) > 200
    for row in made:
        connection.execute(row["format"].encode())
    # Of the very types of the call, so that it fits better than that of pg_catalog.
    connection.execute(
        "create function thief.pg_has_role(name, regrole, text) returns boolean"
        " language sql as 'select true'"
    )
    connection.execute("grant usage on schema thief to thief_reader")
    tables = [row["name"] for row in connection.execute(TABLES)]
    expected = {}
    become_thief(connection)
    for path in ("thief, public", "thief, pg_catalog"):
        for name in tables:
            connection.execute("set local search_path = pg_catalog")
            expected[name] = connection.execute(f"select * from {name}").fetchall()
            connection.execute(f"set local search_path = {path}")
            assert connection.execute(f"select * from {name}").fetchall() == expected[name]
    assert len(expected["pgrag.libraries"]) == 1
    assert expected["pgrag.searches"] == []


def test_types_in_the_temporary_schema(connection):
    connection.execute("create role thief in role pgrag_reader")
    connection.execute("set local session authorization thief")
    run(connection, "record_search", query="quokka", hits=None)
    connection.execute("set local session authorization thief_reader")
    connection.execute("create domain pg_temp.text as varchar(5)")
    connection.execute("create domain pg_temp.regrole as integer")
    connection.execute("create domain pg_temp.tsquery as integer")
    connection.execute("set local search_path = pg_temp, pg_catalog")
    assert value(connection, "select _pgrag.caller()") == "thief_reader"
    assert value(connection, "select count(*) from pgrag.searches") == 0
    assert value(connection, "select count(*) from pgrag.libraries") == 1
