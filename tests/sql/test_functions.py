"""What holds for every function of the schema, and for every file that one lives in."""

import re
from collections import Counter
from pathlib import Path

import pytest
from library import search

from pgrag.ground.routines import install_functions
from pgrag.ground.tree import function_files, layer_names

FOLDER = Path(__file__).parents[2] / "sql"
FILES = function_files(FOLDER)
SOURCES = {file.relative_to(FOLDER).as_posix(): file.read_text("utf-8") for file in FILES}
#: The same without comments and texts.
CODE = {name: re.sub(r"--[^\n]*|'(?:[^']|'')*'", "", text) for name, text in SOURCES.items()}
#: A reason, unless the comment on a public function says everything.
BEGINNING = re.compile(r"-- |create or replace function pgrag\.")
DEFINITION = re.compile(r"^create or replace function (_?pgrag\.\w+)\(", re.MULTILINE)
VIEW = re.compile(r"^create or replace view (pgrag\.\w+) ", re.MULTILINE)
TYPE = re.compile(r"^create type (_pgrag\.\w+) as", re.MULTILINE)
CALL = re.compile(r"\b(_?pgrag\.\w+)\(")

ROUTINES = """
select
    format('%s.%s', p.pronamespace::regnamespace, p.proname) as name,
    p.oid::regprocedure::text as signature,
    l.lanname as language,
    p.provolatile as volatility,
    p.proparallel as parallel,
    p.prosecdef as security_definer,
    p.proretset as returns_rows,
    p.prosrc as source,
    coalesce(p.proconfig, '{}') as settings,
    obj_description(p.oid, 'pg_proc') as comment,
    has_function_privilege('public', p.oid, 'execute') as is_public,
    p.proargnames as arguments
from pg_proc as p
join pg_language as l on l.oid = p.prolang
where p.pronamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)
order by 1
"""
WRITING = re.compile(
    r"\b(insert into|update (?:_?pgrag|pg_temp)|delete from|nextval|gin_clean_pending_list"
    r"|create temporary table|create index pages_source_trigrams|for no key update"
    r"|for key share|pg_notify|pg_try_advisory_xact_lock|pg_advisory_xact_lock|create policy"
    r"|drop index if exists|grant all|revoke insert)\b"
)


@pytest.fixture
def routines(connection):
    return connection.execute(ROUTINES).fetchall()


def defined():
    return [name for text in SOURCES.values() for name in DEFINITION.findall(text)]


def is_public(name):
    return name.startswith("pgrag.")


def test_routines_are_those_of_the_files_once_and_for_everybody(routines):
    assert sorted(r["name"] for r in routines) == sorted(defined())
    # A new defaulted argument beside an old signature would make every call ambiguous.
    assert [name for name, count in Counter(r["name"] for r in routines).items() if count > 1] == []
    assert [r["signature"] for r in routines if not r["is_public"]] == []
    assert [r["signature"] for r in routines if r["security_definer"]] == []


def test_public_functions_have_telling_comments(routines):
    commented = {r["name"] for r in routines if r["comment"]}
    assert commented == {r["name"] for r in routines if is_public(r["name"])}
    short = [r["name"] for r in routines if r["comment"] and len(r["comment"]) < 40]
    assert short == []
    silent = [
        r["signature"]
        for r in routines
        if is_public(r["name"])
        for code in re.findall(r"errcode = '(PGR\d\d)'", r["source"])
        if code not in r["comment"] and "rrors as in" not in r["comment"]
    ]
    assert silent == []


def test_public_functions_fix_their_search_path_and_helpers_do_not(routines):
    free = [
        r["signature"]
        for r in routines
        if r["language"] == "plpgsql"
        and is_public(r["name"])
        and not any(s.startswith("search_path=") for s in r["settings"])
    ]
    assert free == []
    # A setting keeps a function out of its caller's plan. That is for some that return rows, for
    # one in suggest, which would else read its long body whenever it is planned, and for the
    # trigger of tables of the user, which applications call with any search_path.
    python = "\n".join(f.read_text("utf-8") for f in (FOLDER.parent / "src").rglob("*.py"))
    fixing = [
        r["name"]
        for r in routines
        if not is_public(r["name"])
        and not r["returns_rows"]
        and any(s.startswith("search_path=") for s in r["settings"])
    ]
    called_from_python = {name for name in fixing if re.search(rf'{name}["(]', python)}
    assert set(fixing) - called_from_python == {"_pgrag.note_changed_rows", "_pgrag.written_form"}
    paths = {s for r in routines for s in r["settings"] if s.startswith("search_path=")}
    assert paths == {"search_path=pg_catalog, public, pg_temp"}


def test_volatility_is_declared_and_forbidden_plans_not_compiled(routines):
    """An undeclared volatility is "volatile", an undeclared parallel "unsafe"."""
    by_name = {r["name"]: r for r in routines}

    def writes(name, seen=frozenset()):
        source = by_name[name]["source"]
        called = set(CALL.findall(source)) & set(by_name) - seen - {name}
        return bool(WRITING.search(source)) or any(writes(c, seen | {name}) for c in called)

    wrong = {
        r["signature"]: (r["volatility"], r["parallel"])
        for r in routines
        if (r["volatility"] == "v") != writes(r["name"])
        or (r["volatility"] == "i" and r["parallel"] != "s")
    }
    assert wrong == {}
    tables = re.compile(r"\b(from|join) pgrag\.\w+\b(?!\()")
    assert [
        r["name"] for r in routines if r["volatility"] == "i" and tables.search(r["source"])
    ] == []
    # Up to PostgreSQL 17 a forbidden plan is a very dear one, and a dear plan is compiled: by
    # default every call would pay seconds for it.
    forbidding = [r for r in routines if any(s.startswith("enable_") for s in r["settings"])]
    assert forbidding
    assert [r["name"] for r in forbidding if "jit=off" not in r["settings"]] == []


def test_bodies_are_valid_and_functions_stay_callable_for_readers(connection):
    """All functions again, now with every body read: they must replay, and be right."""
    connection.execute("set local search_path = pg_catalog, public")
    connection.execute("set local check_function_bodies = on")
    for file in FILES:
        if file.parent.name == "types":
            continue
        connection.execute(file.read_bytes())
    # Hardened databases take "execute" from public for every function that is made.
    connection.execute("alter default privileges revoke execute on functions from public")
    connection.execute("set local search_path = pg_catalog, public, pg_temp")
    connection.execute("update pgrag.installed_functions set digest = 'of an older release'")
    assert install_functions(connection, FOLDER)
    connection.execute("set local role pgrag_reader")
    assert search(connection, "anything") == []


def test_functions_call_none_of_a_higher_layer_and_helpers_are_called():
    layers = layer_names(FOLDER)
    layer_of = {
        file: layers.index(folder) for file in SOURCES if (folder := file.rpartition("/")[0])
    }
    homes = {
        name: layer
        for file, layer in layer_of.items()
        for name in DEFINITION.findall(SOURCES[file])
    }
    upwards = [
        f"{file} calls {name}"
        for file, layer in layer_of.items()
        for name in CALL.findall(CODE[file])
        if homes.get(name, 0) > layer
    ]
    assert upwards == []
    assert {file.parent.name for file in FILES} == {*layer_names(FOLDER), FOLDER.name}
    python = [file.read_text("utf-8") for file in (FOLDER.parent / "src").rglob("*.py")]
    text = "\n".join([*SOURCES.values(), *python])
    uses = Counter(re.findall(r"\b_?pgrag\.\w+(?=[\s('\"])", text))
    assert [name for name in defined() if not is_public(name) and uses[name] < 2] == []


def test_files_are_short_and_named_after_their_function():
    assert [name for name, text in SOURCES.items() if not BEGINNING.match(text)] == []
    assert [name for name, text in SOURCES.items() if text.count("\n") > 350] == []
    wrong = [
        f"{name}:{number}"
        for name, text in SOURCES.items()
        for number, line in enumerate(text.splitlines(), 1)
        if "\t" in line
        or line != line.rstrip()
        or (len(line) > 100 and not line.startswith("comment on function"))
    ]
    assert wrong == []
    keywords = r"\b(SELECT|FROM|WHERE|JOIN|BEGIN|END|RETURNS?|CREATE|FUNCTION|AND|OR|NOT|AS)\b"
    assert {
        name: found for name, code in CODE.items() if (found := re.findall(keywords, code))
    } == {}
    # Citus plans `using (…)` of merged columns worse, and readers must guess.
    merged = re.compile(r"\bjoin\b[^;]*?\busing\s*\(")
    assert [name for name, code in CODE.items() if merged.search(code)] == []
    wrong = {}
    for name, text in SOURCES.items():
        names = DEFINITION.findall(text) + VIEW.findall(text) + TYPE.findall(text)
        public = [each.removeprefix("pgrag.") for each in names if is_public(each)]
        expected = public or [each.replace("_pgrag.", "_") for each in names[:1]]
        if name != "grants.sql" and [Path(name).stem] != expected:
            wrong[name] = expected
    assert wrong == {}
