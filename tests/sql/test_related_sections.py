"""Sections to go on with: along links, and in the tree of headings; and documents by their keys."""

import psycopg
import pytest
from library import document, ingest, page, run

UUID = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"


def section(number: int, heading: str, level: int, parent: int) -> list[dict]:
    """A section and its only paragraph."""
    own = {"heading": heading, "depth": level, "anchor": heading.lower(), "path": ["Moor", heading]}
    return [
        document(heading, level=1, covers=2, parent=parent, **own),
        document(f"Words of {heading}.", parent=number, **own),
    ]


PAGES = [
    page(
        "moor.md",
        document("Moor", level=0, covers=1),
        *section(1, "Peat", 1, 0),
        *section(3, "Cutting", 2, 1),
        *section(5, "Water", 1, 0),
        *section(7, "Birds", 1, 0),
        title="Moor",
        uuid=UUID,
        edges=[
            {"target": "sluice", "document": 6, "rule": "explicit:wikilink"},
            {"target": "moor", "fragment": "birds", "document": 6, "rule": "explicit:wikilink"},
        ],
    ),
    page("sluice.md", document("A gate for water."), title="Sluice"),
    page(
        "heron.md",
        document("Herons wade."),
        title="Heron",
        edges=[{"target": "moor", "fragment": "water", "document": 0, "rule": "explicit:wikilink"}],
    ),
]


@pytest.fixture(scope="module")
def ids(module_connection: psycopg.Connection) -> dict[str, int]:
    ingest(module_connection, "moor", PAGES, embed=False)
    rows = module_connection.execute("select content, document_id from pgrag.documents")
    return {row["content"]: row["document_id"] for row in rows}


def related(connection: psycopg.Connection, *document_ids: int, **options: object) -> list[tuple]:
    rows = run(connection, "related_sections", document_ids=list(document_ids), **options)
    return [(row["heading"] or row["title"], row["relation"]) for row in rows]


def test_links_come_before_backlinks_and_neighbours(module_connection, ids):
    # Birds is linked and comes next.
    assert related(module_connection, ids["Words of Water."]) == [
        ("Birds", "link"),
        ("Sluice", "link"),
        ("Heron", "backlink"),
        ("Cutting", "before"),
    ]
    assert related(module_connection, ids["Words of Water."], top_k=1) == [("Birds", "link")]
    assert related(module_connection, ids["Words of Peat."]) == [("Cutting", "child")]
    assert related(module_connection, ids["Words of Cutting."]) == [
        ("Peat", "before"),
        ("Water", "after"),
    ]
    given = [ids["Words of Water."], ids["Words of Birds."], ids["A gate for water."]]
    assert related(module_connection, *given) == [("Heron", "backlink"), ("Cutting", "before")]
    assert related(module_connection) == []
    given = ids["Words of Water."]
    only = {"filters": '{"page": "moor.md"}'}
    assert related(module_connection, given, **only) == [("Birds", "link"), ("Cutting", "before")]
    assert related(module_connection, given, query="birds title:Sluice") == [("Sluice", "link")]
    assert related(module_connection, given, exclude=[str(ids["Birds"])])[0] == ("Sluice", "link")
    with pytest.raises(psycopg.Error, match="There is no passage 0"):
        related(module_connection, 0)
    with pytest.raises(psycopg.Error, match="top_k"):
        related(module_connection, ids["Moor"], top_k=0)


def found(connection: psycopg.Connection, chunk_key: str) -> str:
    return run(connection, "find_document", library="moor", chunk_key=chunk_key)[0]["content"]


@pytest.mark.parametrize("name", ["moor.md", "moor", "MOOR", UUID, UUID.upper()])
def test_a_document_by_its_key(module_connection, ids, name: str) -> None:
    assert found(module_connection, f"{name}#c4") == "Words of Cutting."


def test_every_key_of_a_hit_finds_it(module_connection, ids) -> None:
    hits = run(module_connection, "keyword_search", query="words water", library="moor")
    assert hits
    for hit in hits:
        assert found(module_connection, hit["chunk_key"]) == hit["content"]


@pytest.mark.parametrize(("chunk_key", "state", "words"), [
    ("moor.md", "PGR01", "not the key of a passage: 'moor.md'"),
    (None, "PGR01", "null"),
    ("moor.md#c99", "PGR05", "Page 'moor.md' has no passage c99"),
    ("mor.md#c1", "PGR04", "no page 'mor.md'"),
])  # fmt: skip
def test_keys_that_name_nothing(module_connection, ids, chunk_key, state, words) -> None:
    with pytest.raises(psycopg.Error, match=words) as error:
        found(module_connection, chunk_key)
    assert error.value.sqlstate == state
