"""Page types: which one a page has, what is refused, and which pages a change outdates."""

from typing import Any

import pytest
from library import ingest, page, refused, run, value
from psycopg.types.json import Jsonb

from pgrag.ingest.matter.page_types import PageTypes
from pgrag.ingest.page import PageOptions

TYPES: dict[str, Any] = {
    "note": {"folders": ["notes", "*.note.md"], "inject": ["status"]},
    "decision": {"folders": ["notes/decisions/"], "chunk_profile": "short"},
    "chapter": {"folders": ["book/**/[0-9][!x]-*.md", "book/??.md"]},
    "aside": {"folders": ["notes/**/aside.md"], "edge_defaults": ["part_of"]},
    "zeta": {"folders": ["notes"]},
    "odd": {"folders": ["./a+b (c)/"]},
}
KEYS = [
    "notes/a.md", "work/notes/deep/a.md", "notes.md", "notes", "x.note.md", "y/x.note.md",
    "notes/decisions/1.md", "work/notes/decisions/1.md", "notes/decisions", "notes/x/aside.md",
    "notes/aside.md", "book/12-x.md", "book/a/b/1a-y.md", "book/1x-y.md", "book/ab.md",
    "book/abc.md", "book/a/bc.md", "a+b (c)/d.md", "aab (c)/d.md", "index.md", "Notes/a.md",
    "ключ/ä.md", "notes/zeile\nzwei.md",
]  # fmt: skip


def configure(connection, **page_types):
    run(connection, "apply_configuration", entries={"page_types": page_types})


def types(connection):
    return PageTypes.of(value(connection, "select pgrag.configuration()"))


def read(connection, key, declared=None):
    """A page as the pipeline would hand it over."""
    known = types(connection)
    return page(key, f"The text of {key}.", type=known.reading(declared, key).type,
                reading=PageOptions(types=known).reading(declared, key))  # fmt: skip


def outdated(connection, **arguments):
    rows = run(connection, "outdated_pages", **arguments)
    return {f"{row['library']}@{row['version']}": (row["pages"], row["total"]) for row in rows}


def test_front_matter_then_the_longest_folder_pattern_then_nothing(connection):
    configure(connection, **TYPES)
    found = {
        key: value(connection, "select pgrag.page_type(%s::text, %s::text)", None, key)
        for key in KEYS
    }
    assert found == {
        "notes/a.md": "note", "work/notes/deep/a.md": "note", "notes.md": None, "notes": "note",
        "x.note.md": "note", "y/x.note.md": "note", "notes/decisions/1.md": "decision",
        "work/notes/decisions/1.md": "note", "notes/decisions": "note",
        "notes/x/aside.md": "aside", "notes/aside.md": "aside", "book/12-x.md": "chapter",
        "book/a/b/1a-y.md": "chapter", "book/1x-y.md": None, "book/ab.md": "chapter",
        "book/abc.md": None, "book/a/bc.md": None, "a+b (c)/d.md": "odd", "aab (c)/d.md": None,
        "index.md": None, "Notes/a.md": None, "ключ/ä.md": None, "notes/zeile\nzwei.md": "note",
    }  # fmt: skip
    # Python decides alike when it reads.
    known = types(connection)
    assert {key: known.reading(None, key).type for key in KEYS} == found
    declared = "select pgrag.page_type(%s::text, 'notes/a.md')"
    assert value(connection, declared, "Essay ") == "Essay"
    assert value(connection, declared, " ") == "note"


def test_a_change_outdates_the_pages_that_it_changes_and_no_others(connection):
    configure(connection, **TYPES, default={})
    source = {"location": "docs", "arguments": {"source": "/docs"}}
    run(connection, "open_version", library="lib", version="1", source=source)
    keys = ["notes/a.md", "notes/b.md", "notes/decisions/1.md", "index.md"]
    pages = [read(connection, key) for key in keys] + [read(connection, "notes/c.md", "Essay")]
    ingest(connection, "lib", pages, "1", embed=False)
    ingest(connection, "by-hand", [page("notes/a.md", "Text.", type="note")], embed=False)
    assert outdated(connection) == {}

    configure(connection, note=TYPES["note"] | {"retriever_weight": 3, "description": "Mine."})
    run(connection, "apply_configuration", entries={"edge_kinds": {"part_of": {"weight": 7}}})
    configure(connection, other={"inject": ["a"]}, note2={"chunk_profile": "medium"})
    assert outdated(connection) == {}

    configure(connection, note=TYPES["note"] | {"inject": []})
    assert outdated(connection) == {"lib@1": (2, 5)}
    configure(connection, note=TYPES["note"], essay={"link_keys": ["up"]})
    assert outdated(connection, wanted=" LIB ") == {"lib@1": (1, 5)}
    configure(connection, essay=None, default={"chunk_profile": "long"})
    assert outdated(connection) == {"lib@1": (2, 5)}  # index.md, and c.md: its type has no entry
    configure(connection, default={}, decision=None)
    assert outdated(connection) == {"lib@1": (1, 5)}  # in notes, which decides now
    assert outdated(connection, wanted="by-hand") == {}
    [row] = run(connection, "outdated_pages")
    assert row["source"]["arguments"] == {"source": "/docs"}

    # A profile that was given for the whole run goes before that of a type.
    configure(connection, **TYPES, default={"chunk_profile": "short"})
    run(connection, "open_version", library="lib", version="1",
        source=source | {"chunk_profile": {"name": "long"}})  # fmt: skip
    assert outdated(connection) == {"lib@1": (1, 5)}  # the decision, which was read as short
    with refused(connection, "PGR02", "no library 'lob'"):
        run(connection, "outdated_pages", wanted="lob")


def test_pages_of_an_earlier_release_are_outdated_where_a_type_does_something(connection):
    configure(connection, guide={}, default={})
    run(connection, "open_version", library="lib", source={"location": "docs"})
    ingest(connection, "lib", [page("a.md", "A.", type="Guide"), page("b.md", "B.")], embed=False)
    assert outdated(connection) == {}
    configure(connection, guide={"inject": ["status"]})
    assert outdated(connection) == {"lib@": (1, 2)}


def test_injected_text_is_searched_and_embedded_and_not_shown(connection):
    run(connection, "open_version", library="lib")
    plain, injected = page("a.md", "Turn the tap."), page("a.md", "Turn the tap.")
    injected["documents"][0]["context"] = "status: urgent"
    injected["source_hash"] = "other"
    ingest(connection, "lib", [plain])
    before = run(connection, "search", query="urgent", library="lib")
    [vector] = connection.execute("select embedding::text from pgrag.embeddings").fetchall()
    ingest(connection, "lib", [injected])
    [hit] = run(connection, "keyword_search", query="urgent", library="lib")
    assert not any(row["keyword_score"] for row in before)
    assert hit["content"] == "Turn the tap."
    [other] = connection.execute("select embedding::text from pgrag.embeddings").fetchall()
    assert other != vector


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"Note": {}}, "page_types/Note: the name must be of small letters, digits, _ and -."),
        ({"a": {"folder": []}}, "page_types/a/folder: there is no such field."),
        ({"a": {"folders": "notes"}}, "page_types/a/folders: must be a list of folders"),
        ({"a": {"folders": [""]}}, "page_types/a/folders: must be a list of folders"),
        ({"a": {"folders": ["a\\b"]}}, "page_types/a/folders: must be a list of folders"),
        ({"a": {"folders": ["[[:alpha:]]"]}}, "page_types/a/folders: must be a list of folders"),
        ({"a": {"folders": ["[z-a]*"]}}, "page_types/a/folders: '[z-a]*' is not a pattern."),
        ({"a": {"chunk_profile": "tiny"}}, "page_types/a/chunk_profile: must be by_heading, by_m"),
        ({"a": {"edge_defaults": ["part of"]}}, "page_types/a/edge_defaults: must be a list of"),
        ({"a": {"retriever_weight": -1}}, "must be 0 to 10, got -1."),
        ({"a": {"retriever_weight": 10.5}}, "must be 0 to 10, got 10.5."),
        ({"a": {"retriever_weight": "2"}}, "must be 0 to 10, got '2'."),
        ({"a": {"link_keys": [3]}}, "page_types/a/link_keys: must be a list of front matter keys"),
        ({"a": {"inject": {"a": 1}}}, "page_types/a/inject: must be a list of front matter keys"),
    ],
)
def test_invalid_page_types_are_refused_with_their_location(connection, entries, message):
    before = value(connection, "select pgrag.configuration()")
    for function in (
        "compare_configuration",
        "apply_configuration",
        "_pgrag.install_configuration",
    ):
        with refused(connection, "PGR01", message):
            run(connection, function, entries=Jsonb({"page_types": {"fine": {}} | entries}))
    assert value(connection, "select pgrag.configuration()") == before


def test_kinds_of_edges_have_a_name_and_a_weight(connection):
    run(connection, "apply_configuration", entries={"edge_kinds": {"blocks": {"weight": 2.5}}})
    kinds = value(connection, "select pgrag.configuration()")["edge_kinds"]
    assert kinds["blocks"] == {"description": "", "weight": 2.5}
    assert kinds["references"]["weight"] == 1
    for entries, message in (
        ({"Blocks": {}}, "edge_kinds/Blocks: the name must be of small letters, digits and _."),
        ({"blocks": {"weight": 11}}, "edge_kinds/blocks/weight: must be 0 to 10"),
        ({"blocks": {"wait": 1}}, "edge_kinds/blocks/wait: there is no such field."),
    ):
        with refused(connection, "PGR01", message):
            run(connection, "apply_configuration", entries={"edge_kinds": entries})
