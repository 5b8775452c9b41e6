"""The versions that a project pins, by the names and versions of its dependencies."""

import pytest
from library import ingest, page, refused, run, search
from psycopg.types.json import Jsonb


@pytest.fixture(autouse=True)
def libraries(connection):
    for label in ("25.5.4", "26.6.3", "27.0.6"):
        ingest(connection, "jest", [page("mock.md", f"Mocks of {label} are cleared.")], label)
    for library, labels in {
        "next.js": ["13.0.0", "14.2.1"], "babel": ["6.0.0", "7.20.0"], "gin": ["1.9.0", "1.10.0"],
        "facebook/react": ["17.0.2", "18.2.0"], "pydantic_core": ["2.10.1", "2.20.0"], "wiki": [""],
    }.items():  # fmt: skip
        for label in labels:
            ingest(connection, library, [page("a.md", "Clear the mocks.")], label)


def pinned(connection, **dependencies):
    rows = run(connection, "pinned_versions", dependencies=dependencies)
    return {row["library"]: (row["version"], row["reason"]) for row in rows}


@pytest.mark.parametrize(("wish", "version", "reason"), [
    ("26.6.3", "26.6.3", "pinned by the project"),
    ("26.0.1", "26.6.3", "26.0.1, pinned by the project, is not indexed; the nearest version above"
     " it, of the same major"),
    ("^26.0", "26.6.3", "the newest version in the range ^26.0, pinned by the project"),
    (">=25,<27", "26.6.3", "the newest version in the range >=25 <27, pinned by the project"),
    ("~=25.2", "25.5.4", "the newest version in the range ^25.2, pinned by the project"),
    ("~=26.6.1", "26.6.3", "the newest version in the range ~26.6.1, pinned by the project"),
    (">26.6.3 <27", "26.6.3", ">26.6.3 <27, pinned by the project, is not indexed; the nearest to"
     " it"),
    (">=26.7 <26.9", "26.6.3", "is not indexed; the newest version before it"),
    ("==26.*", "26.6.3", "the newest version in the range 26.x, pinned by the project"),
    ("== 26.6.3", "26.6.3", "pinned by the project"),
    (">=25, !=27.0.6, <28", "27.0.6", "the newest version in the range >=25 <28, pinned by"
     " the project"),
    ("25.0 - 26.9", "26.6.3", "the newest version in the range >=25.0 <=26.9, pinned by the"
     " project"),
    ("v26.6.3+incompatible", "26.6.3", "pinned by the project"),
    ("26.6.3rc1", "26.6.3", "pinned by the project"),
    ("26.6.3.post2", "26.6.3", "pinned by the project"),
    ("26.0 || 25.x", "25.5.4", "the newest version in the range 26.0 || 25.x, pinned"),
    ("^30", "27.0.6", "^30, pinned by the project, is not indexed; the newest version before it, of"
     " an older major"),
    ("^1", "27.0.6", "^1, pinned by the project, is not indexed; the newest release"),
])  # fmt: skip
def test_a_version_or_range_with_its_reason(connection, wish, version, reason):
    read, why = pinned(connection, jest=wish)["jest"]
    assert (read, reason in why) == (version, True), why


def test_the_file_is_named_and_what_pins_nothing_is_left_out(connection):
    named = {"version": "26.6.3", "from": "package-lock.json"}
    assert pinned(connection, jest=named)["jest"][1] == "pinned in package-lock.json"
    for nothing in (
        "*", "", "latest", "workspace:*", "file:../jest", ">>26", "26 || main", "^", "npm:jest@26",
        "v0.0.0-20210101000000-abcdef", None, 26, {"from": "a"}, [],
    ):  # fmt: skip
        assert pinned(connection, jest=nothing) == {}


def test_names_are_those_of_libraries_in_other_spellings(connection):
    found = pinned(connection, **{
        "next": "13.0.0", "@babel/core": "6.0.0", "github.com/gin-gonic/gin/v2": "v1.9.0",
        "React": "17.0.2", "Pydantic.Core": "2.10.1", "wiki": "3.1.0", "jestful": "26.6.3",
        "@acme/jest": "25.5.4",
    })  # fmt: skip
    assert {name: version for name, (version, _) in found.items()} == {
        "next.js": "13.0.0", "babel": "6.0.0", "gin": "1.9.0", "facebook/react": "17.0.2",
        "pydantic_core": "2.10.1", "wiki": "",
    }  # fmt: skip
    # The name itself is more than a part of a path, whatever the order.
    both = pinned(connection, **{"a.example/jest": "25.5.4", "jest": "26.6.3"})
    assert both["jest"][0] == "26.6.3"


def test_a_search_reads_the_pinned_version_unless_another_is_asked_for(connection):
    def read(query="clear mocks", **arguments):
        hits = search(connection, query, dependencies={"jest": "26.0.1"}, **arguments)
        return {(hit["library"], hit["version"]) for hit in hits}

    assert read(library="jest") == {("jest", "26.6.3")}
    assert ("jest", "26.6.3") in read() >= {("babel", "7.20.0")}
    assert read(library="jest", version="25.5.4") == {("jest", "25.5.4")}
    assert read("clear mocks in jest 27", library="jest") == {("jest", "27.0.6")}
    [hit] = search(connection, "mocks", library="jest", dependencies={"jest": "26.0.1"})
    assert "pinned by the project" in hit["version_reason"]
    for function in ("context", "search_pages", "facets"):
        assert run(connection, function, query="mocks", library="jest",
                   options={"dependencies": {"jest": "26.0.1"}})  # fmt: skip
    [row] = run(connection, "resolve_version", library="jest", dependencies={"jest": "^25"})
    assert row["version"] == "25.5.4"


def test_what_is_no_object_of_names_is_refused(connection):
    with refused(connection, "PGR01", "dependencies must be an object of names and versions"):
        run(connection, "pinned_versions", dependencies=Jsonb(["jest"]))
    with refused(connection, "PGR01", "more than 50,000 names"):
        run(connection, "pinned_versions", dependencies={str(n): "1" for n in range(50_001)})
