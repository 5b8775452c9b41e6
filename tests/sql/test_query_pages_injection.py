"""Whatever a query holds, it is data: no SQL, no error but the project's own, no change."""

import json

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from library import ingest, page, run, value
from psycopg.types.json import Jsonb

PROPERTY = settings(max_examples=80)
#: PostgreSQL stores neither.
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
EVIL = [
    "'; drop table pgrag.pages cascade; --",
    "') or true --",
    '" OR 1=1',
    "\\'; select pg_sleep(9); --",
    "$$; $1 %s %L %1$I {} {0} :x",
    "E'\\x27'",
    "\\",
    '\\"',
    "/*",
]
WORDS = """
TABLE LIST TASK WITHOUT ID FROM WHERE SORT GROUP BY FLATTEN LIMIT AS and or not ( ) [ ] ! - + * / %
= != < > , . #a/b "projects" "it's" [[a]] outgoing([[a]]) status file.name file rows key row 1 2.5
date(today) date(2024-01-01) contains( length( regexmatch( null true
"""
PIECES = st.lists(st.one_of(st.sampled_from(WORDS.split()), TEXTS), max_size=14)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@pytest.fixture(scope="module")
def written(module_connection):
    pages = [
        page(
            f"projects/{n}.md", f"- [ ] Text {n}",
            front_matter={"n": n, "status": evil, evil: n}, tags=["a/b"],
        )
        for n, evil in enumerate(EVIL)
    ]  # fmt: skip
    ingest(module_connection, "evil", pages, language="simple", embed=False)


def ask(connection, query):
    return run(connection, "query_pages", query=query, library="evil")


def state(connection):
    return value(
        connection,
        "select json_agg(json_build_array(p.key, p.front_matter, p.tags) order by p.key)"
        " from pgrag.pages as p",
    )


def assert_is_told(connection, query):
    """Rows, or an error of a query that does not follow the grammar."""
    found, refusal = None, None
    try:
        with connection.transaction():
            found = ask(connection, query)
    except psycopg.Error as error:
        refusal = (error.sqlstate, bool(error.diag.column_name))
    assert refusal in (None, ("PGR16", True)), query
    return found


@given(PIECES)
@example(["TABLE", "WHERE", "'; drop table pgrag.pages; --"])
@PROPERTY
def test_any_query_gives_rows_or_an_error_of_its_grammar(connection, written, pieces):
    before = state(connection)
    for beginning in ("", "LIST WHERE "):
        assert_is_told(connection, beginning + " ".join(pieces))
    assert state(connection) == before


@given(TEXTS)
@PROPERTY
def test_a_text_finds_exactly_itself(connection, written, text):
    found = assert_is_told(connection, f"LIST n WHERE status = {quoted(text)}")
    assert found is not None
    assert [row["values"][1] for row in found] == [n for n, evil in enumerate(EVIL) if evil == text]


@pytest.mark.parametrize("evil", EVIL)
def test_sql_in_a_text_finds_exactly_itself(connection, written, evil):
    [n] = [n for n, known in enumerate(EVIL) if known == evil]
    for condition in (
        f"status = {quoted(evil)}",
        f"contains(list(status), {quoted(evil)})",
        f"startswith(status, {quoted(evil)}) and endswith(status, {quoted(evil)})",
        f"row[{quoted(evil)}] = {n}",
        f"default(nothing, {quoted(evil)}) = status",
        f"file.frontmatter[{quoted(evil)}] = {n}",
    ):
        rows = ask(connection, f"LIST n WHERE {condition}")
        assert [row["values"][1] for row in rows if row["values"][1] == n] == [n]
        assert len(rows) == sum(evil in known for known in [EVIL[n]])
    [row] = ask(connection, f"TABLE WITHOUT ID status AS {quoted(evil)} WHERE n = {n}")
    assert row["columns"] == [" ".join(evil.split())]
    assert row["values"] == [evil]
    [row] = ask(connection, f"LIST WITHOUT ID x FLATTEN {quoted(evil)} AS x WHERE n = {n}")
    assert row["values"] == [evil]
    assert ask(connection, f"LIST FROM {quoted(evil)}") == []
    assert len(ask(connection, f"LIST SORT {quoted(evil)}")) == len(EVIL)
    rows = ask(connection, f"LIST length(rows) GROUP BY {quoted(evil)} AS {quoted(evil)}")
    assert [row["values"] for row in rows] == [[evil, len(EVIL)]]


@given(name=TEXTS, found=st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | TEXTS
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
))  # fmt: skip
@example(name="a", found="9999-12-31T23:59:59+14:00")
@example(name="a", found="0000-00-00")
@example(name="a", found="999999 years")
@example(name="a", found=1e308)
@PROPERTY
def test_any_property_can_be_asked_for(connection, written, name, found):
    connection.execute(
        "update pgrag.pages set front_matter = %s where key = 'projects/0.md'",
        [Jsonb({name: found})],
    )
    x = f"row[{quoted(name)}]"
    [row] = ask(
        connection,
        f"TABLE WITHOUT ID {x}, {x} = {x}, {x} < 3, {x} >= date(today), {x} + {x}, {x} - {x},"
        f" {x} * {x}, {x} + dur(1 day), date(today) + {x}, date({x}), dur({x}), {x}.year, {x}.a,"
        f" {x}[0], length({x}), contains({x}, {x}), icontains({x}, {x}), sort(list({x}, 1, {x})),"
        f" sum({x}), round({x}), lower({x}), number({x}), regexmatch({x}, {x}),"
        f" regexreplace({x}, {x}, {x}), substring({x}, {x}, {x}), split({x}, {x}), string({x}),"
        f' join({x}, {x}), typeof({x}), date(today) - {x} FROM "projects/0" SORT {x}, -{x}',
    )
    assert json.dumps(row["values"][0], sort_keys=True) == json.dumps(
        value(connection, "select %s::jsonb", Jsonb(found)), sort_keys=True
    )
    assert row["values"][1] is True
    run(connection, "properties", library="evil")
