"""The words of links as a field of the page that they lead to."""

import pytest
from consistency import assert_consistent
from library import document, ingest, keys, page, rebuild_statistics, refused, run, search, value
from psycopg.types.json import Jsonb


def link(target, text, line=1):
    return {
        "rule": "explicit:link", "kind": "references", "confidence": 1.0, "target": target,
        "fragment": None, "text": text, "sentence": f"See {text}.", "line": line, "document": 0,
    }  # fmt: skip


def well(*paragraphs):
    return page(
        "well.md",
        document("About wells.", level=0, covers=1),
        *(document(text) for text in paragraphs or ("A deep hole.", "It has a lid.")),
    )


PAGES = [
    well(),
    page("garden.md", "Fetch it early.", edges=[link("well.md", "drinking water", 3)]),
    page("shed.md", "Tools.", edges=[link("well.md", "Drinking  water"), link("shed.md", "self")]),
    page(
        "path.md",
        "Stones.",
        edges=[
            link("well.md", "drinking water"),
            link("well.md", "the spring"),
            link("nowhere.md", "nowhere"),
        ],
    ),
]


@pytest.fixture(scope="module")
def farm(module_connection):
    ingest(module_connection, "farm", PAGES)
    return "farm"


def configure(connection, value):
    run(connection, "configure_library", library="farm", settings=Jsonb({"anchor_texts": value}))


def found(connection, query, **arguments):
    return keys(search(connection, query, library="farm", alpha=0, **arguments))


def anchor_texts(connection):
    return value(connection, "select anchor_texts from pgrag.pages where key = 'well.md'")


def test_words_of_links_find_their_target(connection, farm):
    assert anchor_texts(connection) == []
    assert found(connection, "drinking water") == []
    with refused(connection, "PGR02"):
        run(connection, "refresh_anchor_texts", library="nowhere")
    before = connection.execute("select * from pgrag.embeddings order by 1, 2, 3").fetchall()
    plain = search(connection, "deep hole", library="farm")
    configure(connection, True)
    assert anchor_texts(connection) == ["drinking water", "the spring"]
    assert found(connection, "drinking water") == ["well.md"]
    assert found(connection, "spring") == ["well.md"]
    assert found(connection, "self") == []
    assert_consistent(connection)
    after = connection.execute("select * from pgrag.embeddings order by 1, 2, 3").fetchall()
    assert after == before
    assert "drinking" not in search(connection, "spring", library="farm")[0]["content"]
    configure(connection, False)
    assert anchor_texts(connection) == []
    assert found(connection, "drinking water") == []
    assert_consistent(connection)
    assert search(connection, "deep hole", library="farm") == plain


def test_a_page_that_is_written_again_keeps_them(connection, farm):
    configure(connection, True)
    ingest(connection, "farm", [well("First of all: mind the edge.", "A deep hole.")])
    assert found(connection, "drinking water") == ["well.md"]
    [hit] = search(connection, "drinking water", library="farm", alpha=0)
    assert hit["content"] == "First of all: mind the edge."
    assert found(connection, "lid") == []
    assert_consistent(connection)
    assert value(connection, "select count(*) from pgrag.embeddings") == value(
        connection, "select count(*) from pgrag.documents where covers > 0"
    )


def test_they_follow_the_links(connection, farm):
    configure(connection, True)
    ingest(connection, "farm", [page("path.md", "Stones.", edges=[link("garden.md", "beds")])])
    assert found(connection, "spring") == []
    assert found(connection, "beds") == ["garden.md"]
    assert_consistent(connection)
    assert value(connection, "select pgrag.refresh_anchor_texts('farm')") == 0
    rebuild_statistics(connection, "farm")
    assert found(connection, "beds") == ["garden.md"]
    assert_consistent(connection)


def test_a_repaired_paragraph_keeps_them(connection, farm):
    configure(connection, True)
    assert found(connection, "drinking") == ["well.md"]
    connection.execute(
        "update pgrag.documents set text_hash = gen_random_uuid() where content = 'A deep hole.'"
    )
    faults = run(connection, "repair_library", library="farm")
    assert [fault["problem"] for fault in faults] == [
        "the hash of another text",
        "a passage that searches find elsewhere or not at all",
    ]
    assert found(connection, "drinking") == ["well.md"]
    assert_consistent(connection)
