"""Filters: what they leave is what they say, and what they cannot mean they name."""

from typing import Any

import psycopg
import pytest
from filter_meaning import Refused, matches
from hypothesis import given, settings
from hypothesis import strategies as st
from library import contents, document, ingest, page, refused, run, search
from psycopg.types.json import Jsonb

from pgrag.ingest.document import page_document
from pgrag.ingest.page import PageOptions, read_page

PAGES = [
    page(
        "guide/install.md",
        document("One note.", path=["Guide", "Install"], depth=1, heading="Install"),
        document(
            "Two note.", path=["Guide", "Install", "Linux"], depth=2, heading="Linux",
            root_section="Install", position="conclusion", types=["code", "text"], heading_level=3,
        ),
        title="Install", path=["Guide"], type="guide", topic="setup", tags=["linux", "new"],
        uuid="u-1", created="2024-03-01", modified="2024-05-01T12:30:00Z",
        link="https://wiki.example.org/1", url="https://example.org/guide/install",
        front_matter={"status": "draft", "rank": 3, "seen": True, "by": ["ann", "bob"],
                      "meta": {"team": "core", "size": 2.5}},
    ),
    page(
        "guide/upgrade_100%.md",
        document("Three note.", path=["Guide", "Upgrade"], depth=1, heading="Upgrade"),
        title="Upgrade", path=["Guide"], type="guide", tags=["linux"], language="de",
        created="2024-12-01T23:00:00Z",
        front_matter={"status": "final", "rank": 10, "by": "ann", "none": None},
    ),
    page(
        "reference.md",
        document("Four note.", path=["Reference"], depth=0, heading="Reference"),
        title="Reference", path=["Reference"], type="reference", topic="api",
        created="2025-01-01", front_matter={"status": "Draft", "rank": "3", "date": "2024-06-01"},
    ),
    page("plain.md", document("Five note.", path=["A > B"]), title="it's; \"odd\" \\ 100%"),
]  # fmt: skip


@pytest.fixture(scope="module")
def notes(module_connection):
    ingest(module_connection, "notes", PAGES)
    return "notes"


def left(connection, filters, **arguments):
    """The first words of the hits for "note" with these filters."""
    given = {"query": "note", "library": "notes", "filters": Jsonb(filters), "top_k": 100}
    hits = run(connection, "search", **given, **arguments)
    return {hit["content"].split()[0].lower() for hit in hits}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "one two three four five"),
        ({"type": "guide"}, "one two three"),
        ({"type": ["guide", "reference"]}, "one two three four"),
        ({"type": []}, ""),
        ({"type": None}, "five"),
        ({"type": [None, "reference"]}, "four five"),
        ({"type": {"!=": "guide"}}, "four five"),
        ({"type": {"exists": True}}, "one two three four"),
        ({"type": {"exists": False}}, "five"),
        ({"type": {"like": "%ide"}}, "one two three"),
        ({"type": {">": "guide"}}, "four"),
        ({"topic": "setup"}, "one two"),
        ({"title": "it's; \"odd\" \\ 100%"}, "five"),
        ({"uuid": "u-1"}, "one two"),
        ({"link": {"exists": True}}, "one two"),
        ({"url": "https://example.org/guide/install"}, "one two"),
        ({"key": "plain.md"}, "five"),
        ({"key": {"like": "guide/%"}}, "one two three"),
        ({"page": "guide/*"}, "one two three"),
        ({"page": "guide/upgrade_100%.md"}, "three"),
        ({"page": "guide/upgrade_1__%.md"}, ""),
        ({"page": ["plain.md", "https://example.org/*"]}, "one two five"),
        ({"page": {"!=": "guide/*"}}, "four five"),
        ({"tags": "linux"}, "one two three"),
        ({"tags": ["new", "other"]}, "one two"),
        ({"tags": {"all": ["linux", "new"]}}, "one two"),
        ({"tags": {"!=": "new"}}, "three four five"),
        ({"tags": {"exists": False}}, "four five"),
        ({"tags": None}, "four five"),
        ({"language": "de"}, "three"),
        ({"language": "german"}, "three"),
        ({"language": ["en", "de-AT"]}, "one two three four five"),
        ({"path": "Guide"}, "one two three"),
        ({"created": "2024-03-01"}, "one two"),
        ({"date": {">=": "2024-12-01"}}, "three four"),
        ({"created": {">": "2024-12-01"}}, "four"),
        ({"created": {"<=": "2024-12-01"}}, "one two three"),
        ({"created": {"<": "2024-12-01"}}, "one two"),
        ({"created": {">=": "2024-03-01", "<": "2025-01-01"}}, "one two three"),
        ({"created": ["2024-03-01", "2025-01-01"]}, "one two four"),
        ({"created": {"exists": False}}, "five"),
        ({"modified": "2024-05-01T12:30:00Z"}, "one two"),
        ({"modified": {"<": "2024-05-01T14:31:00+02:00"}}, "one two"),
        ({"heading": "Linux"}, "two"),
        ({"root_section": "Install"}, "two"),
        ({"position": ["conclusion", "intro"]}, "two"),
        ({"types": "code"}, "two"),
        ({"types": {"all": ["code", "text"]}}, "two"),
        ({"section_path": "Guide > Install"}, "one two"),
        ({"section_path": ["Install", "Linux"]}, "two"),
        ({"section_path": "Install"}, "one two"),
        ({"section_path": "Guide > Linux"}, ""),
        ({"section_path": ["A > B"]}, "five"),
        ({"section_path": {"in": [["Linux"], "Guide > Upgrade"]}}, "two three"),
        ({"depth": 1}, "one three"),
        ({"depth": [0, 2]}, "two four five"),
        ({"depth_min": 1, "depth_max": 1}, "one three"),
        ({"depth_min": 1.5}, "two"),
        ({"depth": 1.5}, ""),
        ({"depth": {"<": 1e9}}, "one two three four five"),
        ({"depth": {">": 0, "<=": "2"}}, "one two three"),
        ({"heading_level": 3}, "two"),
        ({"level": 2}, "one two three four five"),
        ({"front_matter.status": "draft"}, "one two four"),
        ({"front_matter": {"status": "dRAFT", "rank": 3}}, "one two"),
        ({"front_matter.status": ["draft", "final"]}, "one two three four"),
        ({"front_matter.status": {"!=": "draft"}}, "three five"),
        ({"front_matter.by": "Bob"}, "one two"),
        ({"type": "GUIDE"}, "one two three"),
        ({"type": {"like": "G%"}}, "one two three"),
        ({"title": "INSTALL"}, "one two"),
        ({"uuid": "U-1"}, "one two"),
        ({"key": "PLAIN.md"}, ""),
        ({"page": "Guide/INSTALL.md"}, "one two"),
        ({"page": "install"}, "one two"),
        ({"page": "guide/install"}, "one two"),
        ({"page": "Reference"}, "four"),
        ({"tags": "Linux"}, "one two three"),
        ({"tags": {"all": ["LINUX", "New"]}}, "one two"),
        ({"tags": "#linux"}, "one two three"),
        ({"tags": "lin"}, ""),
        ({"tags": ["l.*"]}, ""),
        ({"types": "Code"}, "two"),
        ({"heading": "linux"}, "two"),
        ({"section_path": "guide > INSTALL"}, "one two"),
        ({"path": "guide"}, "one two three"),
        ({"path": ["guide"]}, "one two three"),
        ({"path": "gui"}, ""),
        ({"position": "Conclusion"}, "two"),
        ({"created": "2024-12"}, "three"),
        ({"created": "2024"}, "one two three"),
        ({"created": {">": "2024"}}, "four"),
        ({"created": {"<=": "2024-03"}}, "one two"),
        ({"created": {">": "2024-03", "<": "2025"}}, "three"),
        ({"created": "1.3.2024"}, "one two"),
        ({"created": {">=": "01.12.2024"}}, "three four"),
        ({"front_matter.status": {"like": "%raft"}}, "one two four"),
        ({"front_matter.rank": 3}, "one two"),
        ({"front_matter.rank": "3"}, "four"),
        ({"front_matter.rank": {">": 2}}, "one two three"),
        ({"front_matter.rank": {">=": 3, "<": 10}}, "one two"),
        ({"front_matter.date": {">=": "2024-05-01"}}, "four"),
        ({"front_matter.seen": True}, "one two"),
        ({"front_matter.by": "ann"}, "one two three"),
        ({"front_matter.by": {"all": ["ann", "bob"]}}, "one two"),
        ({"front_matter.by": {"in": ["bob", "eve"]}}, "one two"),
        ({"front_matter.meta.team": "core"}, "one two"),
        ({"front_matter.meta.size": {"<": 3}}, "one two"),
        ({"front_matter.meta": {"exists": True}}, "one two"),
        ({"front_matter.none": {"exists": True}}, "three"),
        ({"front_matter.nothing.at.all": {"exists": False}}, "one two three four five"),
        ({"type": "guide", "tags": "new"}, "one two"),
        ({"and": [{"type": "guide"}, {"depth": 2}]}, "two"),
        ({"or": [{"type": "reference"}, {"depth": 2}, {"key": "plain.md"}]}, "two four five"),
        ({"not": {"type": "guide"}}, "four five"),
        ({"not": {"or": [{"type": "guide"}, {"topic": "api"}]}}, "five"),
        ({"not": {"not": {"not": {"type": "guide"}}}}, "four five"),
        ({"type": "'; drop table pgrag.pages; --"}, ""),
        ({"front_matter.x'y\"z\\": "'"}, ""),
        ({"title": "p.type d.level"}, ""),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("alpha", [0, 1])
def test_what_is_left(connection, notes, filters, expected, alpha):
    assert left(connection, filters, alpha=alpha) == set(expected.split())


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"colour": "red"}, 'There is no filter field "colour".'),
        ({"d.level": 1}, 'There is no filter field "d.level".'),
        ({"front_matter": "x"}, 'There is no filter field "front_matter".'),
        ({"or": {"type": "a"}}, '"or" needs a list of filters'),
        ({"and": []}, '"and" needs a list of filters'),
        ({"and": ["x"]}, 'A filter must be an object, got "x".'),
        ({"not": []}, "A filter must be an object, got []."),
        ([], "A filter must be an object, got []."),
        ([1], "A filter must be an object"),
        ("x", 'A filter must be an object, got "x".'),
        (5, "A filter must be an object, got 5."),
        ({"type": {}}, 'The filter field "type" has no condition.'),
        ({"type": {"~": "x"}}, 'The filter field "type" has no operator "~".'),
        ({"type": {"=": {"a": 1}}}, 'The filter field "type" cannot be compared with {"a": 1}.'),
        ({"type": {"<": None}}, 'The filter field "type" cannot be compared with null.'),
        ({"type": {"like": "x\\"}}, 'The filter field "type" cannot be compared with'),
        ({"front_matter.a": {"like": "\\"}}, '"front_matter.a" cannot be compared'),
        ({"front_matter.a": {"=": {"b": 1}}}, '"front_matter.a" cannot be compared'),
        ({"tags": {"<": "a"}}, 'The filter field "tags" has no operator "<".'),
        ({"depth": "deep"}, 'The filter field "depth" needs a number, got "deep".'),
        ({"depth": [1, "deep"]}, 'The filter field "depth" needs a number'),
        ({"depth": True}, 'The filter field "depth" needs a number, got true.'),
        ({"depth": "1e999999"}, 'The filter field "depth" needs a number'),
        ({"depth": {"like": "1"}}, 'The filter field "depth" has no operator "like".'),
        ({"depth_min": {"<": 1}}, 'The filter field "depth_min" has no operator "<".'),
        ({"created": "yesterday"}, 'The filter field "created" needs a date, got'),
        ({"created": "2024-13-45"}, 'The filter field "created" needs a date'),
        ({"date": {">": 20240101}}, 'The filter field "date" needs a date'),
        ({"created": {"all": ["2024-01-01"]}}, 'The filter field "created" has no operator "all".'),
        ({"created": {"like": "2024%"}}, 'The filter field "created" has no operator "like".'),
        ({"and": [{"library": "x"}]}, 'There is no filter field "library".'),
        ({"title": "x" * 20_001}, "The filters are longer than 20,000 characters."),
    ],
    ids=lambda value: str(value)[:60],
)  # fmt: skip
def test_what_cannot_be_meant(connection, notes, filters, message):
    with refused(connection, "PGR06", message):
        left(connection, filters)


@pytest.mark.parametrize("indexed_in", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("searched_in", ["Pacific/Auckland", "America/Los_Angeles"])
def test_a_day_is_the_same_day_in_every_time_zone(connection, indexed_in, searched_in):
    connection.execute(f"set local timezone = '{indexed_in}'")
    ingest(connection, "diary", [page("a.md", "One note.", created="2024-12-01")])
    connection.execute(f"set local timezone = '{searched_in}'")
    for condition, count in {"2024-12-01": 1, "2024-11-30": 0, "2024-12-02": 0}.items():
        hits = search(connection, "note", library="diary", filters={"created": condition})
        assert len(hits) == count


def linking(key, text):
    """The page of a Markdown text, with its links."""
    return page_document(read_page(key, text.encode(), PageOptions()))


def test_links_to_a_note(connection):
    for written, found in [
        ("[[Setup]]", True), ("![[setup]]", True), ("[[Setup|here]]", True),
        ("[[setup#Linux]]", True), ("[[Guide/Setup#^a1|x]]", True), ("[[setup.md]]", True),
        ("a table: [[setup\\|x]]", True), ("[x](setup.md)", True),
        ("[x](../guide/SETUP.md#y)", True), ("[x](https://example.org/setup/?a=b)", True),
        ("![x](<my folder/setup.md>)", True), ('[x](setup "Title")', True), ("setup", False),
        ("[setup](other.md)", False), ("[[setup two]]", False), ("[[other|setup]]", False),
        ("[[other#setup]]", False), ("[x](setup/other.md)", False), ("[x](other.md#setup)", False),
        ("[[a.setup]]", False), ("[x](presetup.md)", False),
    ]:  # fmt: skip
        ingest(connection, "linked", [linking("a.md", f"Note with {written} in it.")])
        for name in ("setup", "Setup.md"):
            assert (
                bool(search(connection, "note", library="linked", filters={"links": name})) is found
            )


def test_links_to_notes_with_signs_and_blanks(connection):
    texts = [
        "[[Über *alles* (1.0)]] note",
        "[x](a/My%20big%20note.md) note",
        "[[aXb]] note",
        "note",
    ]
    pages = [linking(f"{place}.md", text) for place, text in enumerate(texts)]
    ingest(connection, "linked", pages)
    for wanted, expected in {
        "über *ALLES* (1.0)": {"0.md"},
        "my big note": {"1.md"},
        "a.b": set(),
    }.items():
        for condition in (wanted, [wanted, "nowhere"], {"in": [wanted]}):
            hits = search(connection, "note", library="linked", filters={"links": condition})
            assert {hit["key"] for hit in hits} == expected
        others = search(connection, "note", library="linked", filters={"links": {"!=": wanted}})
        assert {hit["key"] for hit in others} == {"0.md", "1.md", "2.md", "3.md"} - expected
    for wanted in ("(", ""):
        with refused(connection, "PGR06", "needs the name of a note", "Getting started"):
            search(connection, "note", library="linked", filters={"links": wanted})


def test_links_to_pages_by_any_of_their_names(connection):
    ingest(connection, "linked", [
        linking("guide/setup.md", "---\ntitle: Install\naliases: [Begin]\n---\nA note. [[#x]]"),
        linking("other/setup.md", "Another note."),
        linking("a.md", "A note on [it](guide/setup.md) and [[folder/missing|that]]."),
        linking("b.md", "A note that [[Begin|begins]]."),
        linking("c.md", "A note on [[other/setup]]. #begin"),
    ])  # fmt: skip
    for wanted, expected in {
        "setup": {"a.md", "b.md", "c.md"},
        "guide/setup": {"a.md", "b.md"},
        "Install": {"a.md", "b.md"},
        "[[begin#x|y]]": {"a.md", "b.md"},
        "other/setup.md": {"c.md"},
        "missing": {"a.md"},
        "folder/missing": {"a.md"},
        "elsewhere/missing": set(),
    }.items():
        hits = search(connection, "note", library="linked", filters={"links": wanted})
        assert {hit["key"] for hit in hits} == expected, wanted
    run(connection, "remove_pages", library="linked", keys=["guide/setup.md"])
    hits = search(connection, "note", library="linked", filters={"links": "begin"})
    assert {hit["key"] for hit in hits} == {"b.md"}


def test_nesting_has_a_limit(connection, notes):
    deep: dict[str, Any] = {"type": "guide"}
    for _ in range(20):
        deep = {"not": deep}
    assert left(connection, deep) == {"one", "two", "three"}
    with refused(connection, "PGR06", "nested deeper than 20"):
        left(connection, {"not": {"not": deep}})


def test_library_and_version_in_the_filters(connection, notes):
    ingest(connection, "other", [page("a.md", "Six note.")])
    with refused(connection, "PGR06", "The library is asked for as notes and as other."):
        left(connection, {"library": "other"})
    with refused(connection, "PGR02", "no library 'nope'"):
        search(connection, "note", filters={"library": "nope"})
    assert contents(search(connection, "note", filters={"library": "other"})) == ["Six note."]
    both = search(connection, "note", filters={"library": ["other", "notes"], "depth": 2})
    assert [hit["content"] for hit in both] == ["Two note."]
    for version in ("1.0", "2.0"):
        ingest(connection, "dated", [page("a.md", f"Note of {version}.")], version)
    for wish, argument, expected in [
        ("1.0", None, ["1.0"]), ("*", None, ["1.0", "2.0"]), (None, None, ["2.0"]),
        ("1.x", "1.x", ["1.0"]),
    ]:  # fmt: skip
        given = {"library": "dated", "version": argument, "filters": {"version": wish}}
        found = contents(search(connection, "note", **given))
        assert sorted(found) == [f"Note of {label}." for label in expected]
    with refused(connection, "PGR06", "The version is asked for as 2.0 and as 1.x."):
        search(connection, "note", library="dated", version="2.0", filters={"version": "1.x"})
    with refused(connection, "PGR03", "no version that fits '0.1'"):
        search(connection, "note", library="dated", filters={"version": "0.1"})


# Any filter at all: no error but PGR06, and what it leaves is what Python leaves.

texts = st.sampled_from(
    ["guide", "reference", "draft", "Draft", "ann", "3", "it's", "%", "_raft", ""]
)
numbers = st.sampled_from([0, 1, 2, 3, 10, 2.5, -1])
scalars = st.one_of(texts, numbers, st.booleans(), st.none())
days = st.sampled_from(["2024-03-01", "2024-12-01", "2025-01-01", "2024-05-01T12:30:00Z", "soon"])
orders = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
anything = st.sampled_from(["=", "!=", "<", "in", "all", "like", "exists", "~"])


def conditions(operators, values):
    return st.one_of(
        values, st.lists(values, max_size=2), st.dictionaries(operators, values, max_size=2)
    )


fields = st.one_of(
    st.tuples(st.sampled_from(["type", "topic", "uuid"]), conditions(anything, texts | st.none())),
    st.tuples(st.just("tags"), conditions(anything, st.sampled_from(["linux", "new", "x"]))),
    st.tuples(
        st.sampled_from(["depth", "level", "depth_min"]), conditions(orders, numbers | texts)
    ),
    st.tuples(st.sampled_from(["created", "modified"]), conditions(orders, days)),
    st.tuples(
        st.sampled_from(["status", "rank", "seen", "by", "meta.team"]).map(
            "front_matter.{}".format
        ),
        conditions(anything, scalars),
    ),
)
filters = st.recursive(
    st.lists(fields, max_size=2).map(dict),
    lambda inner: st.one_of(
        st.builds(lambda f: {"not": f}, inner),
        st.builds(lambda w, f: {w: f}, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3)),
    ),
    max_leaves=5,
)


@settings(max_examples=250)
@given(filter_=filters)
def test_any_filter_means_what_it_means_in_python(connection, notes, filter_):
    try:
        expected = {
            row["content"]
            for written in PAGES
            for row in written["documents"]
            if matches(filter_, written, row)
        }
    except Refused:
        expected = None
    try:
        with connection.transaction():
            rows = run(connection, "search", query="note", library="notes", filters=Jsonb(filter_),
                       top_k=100, alpha=0)  # fmt: skip
            found = {row["content"] for row in rows}
    except psycopg.Error as error:
        if error.sqlstate != "PGR06":
            raise
        found = None
    assert found == expected
