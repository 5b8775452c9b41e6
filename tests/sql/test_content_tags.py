"""Content tags and keywords of documents: stored, filtered by, and kept with their rows."""

import pytest
from library import contents, document, ingest, keys, page, refused, search, value

VALVE = "The gasket of the valve leaks. Replace the gasket before the valve is opened again."
PUMP = "The pump runs day and night. Its motor is cooled by water, and the water by air."
GARDEN = "The garden is open in summer. The water of the pond comes from the pump."


@pytest.fixture
def works(connection):
    ingest(connection, "works", [
        page("valve.md", document(VALVE, content_tags=["procedural", "warning"])),
        page("pump.md", document(PUMP, content_tags=["conceptual"])),
        page("garden.md", GARDEN),
    ], language="en")  # fmt: skip
    return "works"


def keywords(connection, library, key):
    return value(
        connection,
        """
        select d.keywords
        from pgrag.documents as d
        join pgrag.libraries as l on l.library_id = d.library_id
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        where l.name = %s and p.key = %s
        """,
        library, key,
    )  # fmt: skip


def test_search_by_content_tags_and_distinctive_keywords(connection, works):
    for condition, found in [
        ("warning", {"valve.md"}),
        (["warning", "conceptual"], {"valve.md", "pump.md"}),
        ({"all": ["warning", "procedural"]}, {"valve.md"}),
        ({"all": ["warning", "conceptual"]}, set()),
        ({"exists": False}, {"garden.md"}),
    ]:
        rows = search(
            connection, "valve pump water", library=works, filters={"content_tags": condition}
        )
        assert set(keys(rows)) == found
    rows = search(connection, "water", library=works, filters={"keywords": "motor"})
    assert keys(rows) == ["pump.md"]
    with refused(connection, "PGR06", "no operator"):
        search(connection, "water", library=works, filters={"keywords": {"<": "m"}})
    found = keywords(connection, works, "valve.md")
    assert set(found[:2]) == {"gasket", "valve"}
    assert "the" not in found
    assert len(found) <= 5
    assert "water" not in keywords(connection, works, "garden.md")[:2]
    ingest(connection, "recht", [
        page("a.md", "Die Verträge der Mieterinnen. Alle Verträge werden verlängert."),
        page("b.md", "Der Garten hinter dem Haus ist im Sommer geöffnet."),
    ], language="de")  # fmt: skip
    assert keywords(connection, "recht", "a.md")[0] == "verträge"
    assert "verlängert" in keywords(connection, "recht", "a.md")


def test_new_tags_change_their_row_alone_and_unchanged_pages_keep_rows(connection, works):
    vectors = (
        "select count(*) from pgrag.embeddings as e"
        " join pgrag.libraries as l on l.library_id = e.library_id where l.name = 'works'"
    )
    before = value(connection, vectors)
    ingest(connection, works, [page("pump.md", document(PUMP, content_tags=["reference"]))],
           embed=False)  # fmt: skip
    rows = search(connection, "pump", library=works, filters={"content_tags": "reference"})
    assert contents(rows) == [PUMP]
    assert keywords(connection, works, "pump.md") != []
    assert value(connection, vectors) == before
    row = "select xmin::text from pgrag.documents where content = %s"
    before = value(connection, row, VALVE)
    valve = page("valve.md", document(VALVE, content_tags=["procedural", "warning"]))
    ingest(connection, works, [valve])
    assert value(connection, row, VALVE) == before
