"""Filters in the text of a query: what they mean, what is none, and what cannot be meant."""

import re
from typing import Any

import psycopg
import pytest
import query_filters
from filter_meaning import matches
from hypothesis import given, settings
from hypothesis import strategies as st
from library import refused, run, value
from psycopg.types.json import Jsonb
from test_filters import PAGES

PROPERTY = settings(max_examples=200)


def parsed(connection, query):
    [row] = run(connection, "parse_query", query=query)
    return row["words"], row["filters"]


def test_what_is_meant(connection):
    for query, words, filters in [
        ("type:guide restore", "restore", {"type": "guide"}),
        ("restore  type:guide   a backup", "restore a backup", {"type": "guide"}),
        ("tags:a,b", "", {"tags": ["a", "b"]}),
        ("tags:(a b)", "", {"tags": ["a", "b"]}),
        ("tags:(a, b)", "", {"tags": ["a", "b"]}),
        ('tags:"a b"', "", {"tags": "a b"}),
        ("tags:a b", "", {"tags": {"all": ["a", "b"]}}),
        ("x +tags:a node.js c++", "x", {"tags": {"all": ["a", "node.js", "c++"]}}),
        ("tags:a b type:c d", "d", {"tags": {"all": ["a", "b"]}, "type": "c"}),
        ("tags:a b #c d", "d", {"and": [{"tags": {"all": ["a", "b"]}}, {"tags": "c"}]}),
        ("tags:a b OR type:c", "", {"or": [{"tags": {"all": ["a", "b"]}}, {"type": "c"}]}),
        ("-(tags:a b)", "", {"not": {"tags": {"all": ["a", "b"]}}}),
        ('tags:a "b" c', '"b" c', {"tags": "a"}),
        ("tags:a -b c", "-b c", {"tags": "a"}),
        ("tags:a how? b", "how? b", {"tags": "a"}),
        ("tags:a (b) c", "(b) c", {"tags": "a"}),
        ("tags:a,b c", "c", {"tags": ["a", "b"]}),
        ('tags:"a" c', "c", {"tags": "a"}),
        ("-tags:a b", "b", {"not": {"tags": "a"}}),
        ("tags:!=a b", "b", {"not": {"tags": "a"}}),
        ("tags:* b", "b", {"tags": {"exists": True}}),
        ("tag:a b", "b", {"tags": "a"}),
        ("#a b", "b", {"tags": "a"}),
        ('tag:"a b",c', "", {"tags": ["a b", "c"]}),
        (r'title:"say \"hi\" \\o/"', "", {"title": 'say "hi" \\o/'}),
        ("#linux #a/b", "", {"and": [{"tags": "linux"}, {"tags": "a/b"}]}),
        ("-#old +#new", "", {"not": {"tags": "old"}, "tags": "new"}),
        ("created:>=2024-12-01", "", {"created": {">=": "2024-12-01"}}),
        ("modified:<2025-01-01 x", "x", {"modified": {"<": "2025-01-01"}}),
        ("date:2024-12-01", "", {"created": "2024-12-01"}),
        (
            "created:2024-01-01..2024-12-31",
            "",
            {"created": {">=": "2024-01-01", "<=": "2024-12-31"}},
        ),
        ("created:2024-01-01..", "", {"created": {">=": "2024-01-01"}}),
        ("depth:..2", "", {"depth": {"<=": "2"}}),
        ("before:2024-01-01", "", {"created": {"<": "2024-01-01"}}),
        ("after:2024-01-01", "", {"created": {">": "2024-01-01"}}),
        ("links:note", "", {"links": "note"}),
        ('links:"My note"', "", {"links": "My note"}),
        ("lang:de title:Inst*", "", {"language": "de", "title": {"like": "Inst%"}}),
        ("title:*", "", {"title": {"exists": True}}),
        ("-tags:*", "", {"not": {"tags": {"exists": True}}}),
        ('title:"*"', "", {"title": "*"}),
        ("type:a*,b", "", {"or": [{"type": {"like": "a%"}}, {"type": "b"}]}),
        ("page:guide/*", "", {"page": "guide/*"}),
        ("key:guide/install.md", "", {"key": "guide/install.md"}),
        ("heading:useEffect()", "", {"heading": "useEffect()"}),
        ('section:"A > B"', "", {"section_path": "A > B"}),
        ("path:(A B)", "", {"path": {"in": ["A", "B"]}}),
        ("position:intro level:1", "", {"position": "intro", "level": "1"}),
        ("front_matter.status:draft", "", {"front_matter.status": "draft"}),
        ("front_matter.rank:3", "", {"front_matter.rank": [3, "3"]}),
        ('front_matter.rank:"3"', "", {"front_matter.rank": "3"}),
        ("front_matter.rank:>=3", "", {"front_matter.rank": {">=": 3}}),
        ("front_matter.rank:1..3", "", {"front_matter.rank": {">=": 1, "<=": 3}}),
        ("front_matter.a.b:../x", "", {"front_matter.a.b": "../x"}),
        ("type:!=guide", "", {"not": {"type": "guide"}}),
        ("-type:!=guide", "", {"type": "guide"}),
        ("NOT NOT type:a", "", {"type": "a"}),
        ("NOT type:a AND type:b", "", {"not": {"type": "a"}, "type": "b"}),
        ("type:a OR type:b", "", {"or": [{"type": "a"}, {"type": "b"}]}),
        (
            "type:a OR type:b AND topic:c",
            "",
            {"or": [{"type": "a"}, {"and": [{"type": "b"}, {"topic": "c"}]}]},
        ),
        ("topic:c type:a OR type:b", "", {"topic": "c", "or": [{"type": "a"}, {"type": "b"}]}),
        ("topic:c x type:a OR type:b", "x", {"topic": "c", "or": [{"type": "a"}, {"type": "b"}]}),
        (
            "(type:a OR type:b) AND -(topic:c #d)",
            "",
            {"or": [{"type": "a"}, {"type": "b"}], "not": {"and": [{"topic": "c"}, {"tags": "d"}]}},
        ),
        ("restore AND type:a", "restore", {"type": "a"}),
        (
            "a AND b type:x OR type:y c OR d",
            "a AND b c OR d",
            {"or": [{"type": "x"}, {"type": "y"}]},
        ),
        ("NOT NULL type:sql", "NOT NULL", {"type": "sql"}),
        ('type:x +word -old "a phrase"', '+word -old "a phrase"', {"type": "x"}),
        ("f(a, b) type:x (aside) [c]", "f(a, b) (aside) [c]", {"type": "x"}),
        ("library:tool version:^1.2 x", "x", {"library": "tool", "version": "^1.2"}),
        ("library:a,b type:x", "", {"library": ["a", "b"], "type": "x"}),
        ("version:*", "", {"version": "*"}),
        ("type:' type:$$;--", "", {"and": [{"type": "'"}, {"type": "$$;--"}]}),
        ("Größe type:Übersicht", "Größe", {"type": "Übersicht"}),
        ("type:x (see #setup)", "(see #setup)", {"type": "x"}),
        ("type:x (#A", "(#A", {"type": "x"}),
        ("restore OR #a type:x", "restore OR #a", {"type": "x"}),
        ("((#a) OR #b) c", "c", {"or": [{"tags": "a"}, {"tags": "b"}]}),
    ]:
        assert parsed(connection, query) == (words, filters)
        run(connection, "filter_predicate", filters={
            name: f for name, f in filters.items() if name not in ("library", "version")
        })  # fmt: skip


def test_a_query_without_filter_stays_as_it_is(connection):
    for query in [
        "restore a backup", "", " ", "  two   blanks ", "key: value", "key:value store",
        "std::vector", "path::join", "type::Path", "http://example.org/a?b=c:d", "12:30",
        "Error: type: mismatch", "Type:x", "C#", "F# async", "#include <stdio.h>", "#define MAX 3",
        "#ifdef X", "#123", "#fff", "color #dedede", "#1a2b3c", "#!/bin/sh", "a#b", "##heading",
        "#main { color: red }", "# Recap { #recap }", "#count = 1", "#a, b", "#x()", "#a.b",
        "position:absolute", "level:info", "log level:debug", "date:short", "after:hover",
        "::after", "uuid:v4", "link:up", "url:string", "page:next", "depth:first", "foo:bar",
        "image:latest", "docker run nginx:latest", '"type:x"', '"a type:x b"', '-"#tag"',
        "`type:x`", "print(type:x)", "- [ ] type", "type:{}", "{type:x}", "<a type:x>",
        "type:string;", "[type:x]", "x,type:y", "type:", "type: x", "tags:)", "-type:", "AND",
        "a OR b", "NOT NULL AND x", "(a OR b)", "((", ")", "f(x", '5" disk', 'say "hi',
        "select * from a where not (b and c)", "foo:(type:x)", 'alt:"a type:x b"', "type://x",
        "- x", "-- type", "a -b +c", "\x01", "AND OR NOT ( ) -", "(#A", "#A)", "((#a", "(#a))",
        ")#A(", '"#A', '(#a "b', "(see #setup)", "a (#b c", "-(#a", "NOT (#b", "NOT (see #b)",
        "(NOT #b", "(-#a OR #b", "#a OR (", "(#a OR", "OR #a", "#a OR b", "#a AND OR #b",
        "(#a)(#b)", "(#a)b", "C# (", "((((((#a))))))", "#a " * 101,
    ]:  # fmt: skip
        assert parsed(connection, query) == (query, None)
    [row] = run(connection, "parse_query", query=None)
    assert row == {"words": None, "filters": None}
    long = "word " * 5000
    assert parsed(connection, long) == (long, None)
    assert parsed(connection, "type:x " + long)[1] == {"type": "x"}


@pytest.mark.parametrize(
    ("query", "column", "message", "hint"),
    [
        ("restore OR type:x", 9, "OR needs a filter on its left", 'write "OR"'),
        ("type:x OR restore", 8, "OR needs a filter on its right", "type:a OR type:b"),
        ("type:x OR", 8, "OR needs a filter on its right", ""),
        ("AND type:x", 1, "AND needs a filter on its left", ""),
        ("type:x AND", 8, "AND needs a filter on its right", ""),
        ("(OR type:x)", 2, "OR needs a filter on its left", ""),
        ("type:x OR OR type:y", 11, "OR needs a filter on its left", ""),
        ("(type:a)(type:b)", 9, "a space is missing before (", ""),
        ('type:x"y"', 7, "a comma or space is missing", ""),
        ("type:a " * 101, 701, "more than 100 filters", ""),
        ("tags:a" + " b" * 100, 206, "more than 100 tags", "write tag:a"),
        ("created:>", 10, "a value is missing", ""),
        ("created:>=", 11, "a value is missing", ""),
        ('type:"', 6, "quote is not closed", ""),
        ('ab title:"abc', 10, "quote is not closed", r"\""),
        ("tags:(a b", 6, "list is not closed", "tags:(a b)"),
        ("tags:a, b", 8, "a value is missing", "tags:(a b)"),
        ("tags:,a", 6, "a value is missing", ""),
        ("tags:()", 7, "a value is missing", ""),
        ('tags:"a"b', 9, "a comma or space is missing before b", ""),
        ("created:soon", 9, "needs a date, got 'soon'", "Write 2024-12-01"),
        ("-version:a b", 10, "version cannot be excluded", ""),
        ("ab created:2024-13-45", 12, "needs a date", ""),
        ("created:soon..2024-01-01", 9, "needs a date", ""),
        ("created:..", 9, "at least one side", "created:A..B"),
        ("created:=>2024-01-01", 9, "created has no operator =>", "<, <=, > and >="),
        ("title:~x", 7, "title has no operator ~", "needs quotes"),
        ("tags:>a", 7, 'has no operator ">"', "Use ="),
        ("created:>2024-01-01,2024-02-01", 10, "takes one value", ""),
        ("tags:py*", 6, "takes no pattern", 'tags:"py*"'),
        ("depth:1e", 7, "needs a number", ""),
        ("-library:a", 10, "library cannot be excluded", "library:NAME"),
        ("NOT library:a", 1, "cannot be excluded", ""),
        ("library:a library:b", 11, "library is given twice", "library:a,b"),
        ("library:a OR library:b", 14, "given twice", "library:a,b"),
        ("library:a OR type:b", 11, "OR needs a filter on its left", ""),
        ("version:1,2", 9, "takes one value", ""),
        ("links:...", 7, "needs the name of a note", ""),
        ("Größe größer type:x OR", 21, "OR needs", ""),
    ],
)
def test_what_cannot_be_meant_names_its_column(connection, query, column, message, hint):
    with refused(connection, "PGR06", f"Column {column} of the query: ", hint):
        parsed(connection, query)
    with refused(connection, "PGR06", message):
        parsed(connection, query)


@pytest.mark.parametrize(
    ("query", "words", "filters", "message"),
    [
        ("ab (type:x", "ab (", {"type": "x"}, "Column 4"),
        ("what is (#foo type:x", "what is (#foo", {"type": "x"}, None),
        ("(NOT type:x", "(", {"not": {"type": "x"}}, "Column 1"),
        ("type:x)", ")", {"type": "x"}, "Column 7"),
        ("(type:x)) now", "( )) now", {"type": "x"}, "Column 9"),
        ("(see type:x)", "(see )", {"type": "x"}, "words and filters cannot share"),
        ("(library:a type:x)", "( )", {"type": "x", "library": "a"}, "outside of parentheses"),
        ("((((((type:a))))))", "(((((( ))))))", {"type": "a"}, "nested deeper than 5"),
        ("a] } type:x [", "a] } [", {"type": "x"}, None),
    ],
)
def test_signs_without_their_other_half_are_words(
    connection, notices, query, words, filters, message
):
    assert parsed(connection, query) == (words, filters)
    assert [message in notice for notice in notices] == ([True] if message else [])


def test_a_hint_quotes_what_was_written(connection):
    with refused(connection, "PGR06", "needs a number", 'quotes: "depth:1e"'):
        parsed(connection, "notes depth:1e now")


def test_every_field_of_a_filter_has_a_name_in_queries(connection):
    with pytest.raises(psycopg.Error) as caught, connection.transaction():
        run(connection, "filter_predicate", filters={"colour": 1})
    known = re.findall(r"\w+", (caught.value.diag.message_hint or "").split("or front_matter")[0])
    rows = connection.execute("select * from _pgrag.query_fields()").fetchall()
    assert set(known) - {"Use"} == {row["field"] for row in rows} - {"library", "version"}
    values = {
        "time": "2024-01-01", "language": "de", "number": "1", "bound": "1", "text": '"intro"',
    }  # fmt: skip
    for row in rows:
        query = f"words {row['name']}:{values.get(row['kind'], 'x.md')}"
        words, filters = parsed(connection, query)
        assert (words, filters and row["field"] in filters) == ("words", True), query


# Any filter, written and read, leaves what it leaves.


def left_by(filter_):
    return [matches(filter_, written, row) for written in PAGES for row in written["documents"]]


@PROPERTY
@given(
    written=st.lists(query_filters.filters, min_size=1, max_size=3),
    around=st.lists(query_filters.words, min_size=4, max_size=4),
    places=st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_a_written_filter_means_what_it_says(connection, written, around, places):
    parts, words = [], []
    for place, word in enumerate(around):
        if places[place]:
            parts.append(word)
            words.append(word)
        if place < len(written):
            parts.append(written[place][0])
    found_words, found = parsed(connection, " ".join(parts))
    assert found is not None
    assert found_words == " ".join(words)
    assert left_by(found) == left_by({"and": [meaning for _, meaning in written]})
    run(connection, "filter_predicate", filters=found)


pieces = st.one_of(
    query_filters.single.map(lambda one: one[0]),
    st.sampled_from(
        ["AND", "OR", "NOT", "(", ")", "-", "+", '"', ":", ",", "..", "#a", "type:", "tags:(", "\\",
         "library:a", "version:", ">=", "*", "created:", "front_matter.", "'", "$$", "\t", "\n",
         "%"]
    ),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5),
)  # fmt: skip


@PROPERTY
@given(
    parts=st.lists(pieces, max_size=8),
    blanks=st.lists(st.sampled_from(["", " ", "  "]), min_size=8, max_size=8),
)
def test_garbage_is_read_or_refused_at_its_column(connection, parts, blanks):
    query = "".join(part + blank for part, blank in zip(parts, blanks, strict=False))
    refusal: psycopg.Error | None = None
    filters: dict[str, Any] | None = None
    words = ""
    try:
        with connection.transaction():
            words, filters = parsed(connection, query)
    except psycopg.Error as error:
        refusal = error
    if refusal is not None:
        assert refusal.sqlstate == "PGR06", query
        place = re.match(r"Column (\d+) of the query: .", refusal.diag.message_primary or "")
        assert place
        assert 1 <= int(place[1]) <= len(query) + 1
        assert refusal.diag.message_hint
        return
    if filters is None:
        assert words == query
        return
    conditions = {k: v for k, v in filters.items() if k not in ("library", "version")}
    predicate = value(connection, "select pgrag.filter_predicate(%s)", Jsonb(conditions))
    # Whatever a value holds, it stays within its literal: the condition is one that can be run.
    connection.execute(
        "set local timezone = 'UTC'; select from pgrag.pages as p"
        f" join pgrag.documents as d on d.page_id = p.page_id where {predicate}".replace("%", "%%")
    )
