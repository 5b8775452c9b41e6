"""Pages, documents and their neighbours."""

import psycopg
import pytest
from api_client import serving
from api_corpus import SOURCES, indexed


@pytest.fixture(scope="module")
def sill(harbour):
    """The hit about the depth over the sill."""
    found = harbour.ok("/v1/search", q="half tide sill", library="harbour", version="2.1")
    [hit] = [hit for hit in found["hits"] if hit["heading"] == "Depth over the sill"]
    return hit


def test_a_page_with_its_text_and_all_of_its_front_matter(harbour, sill):
    page = harbour.ok(f"/v1/pages/{sill['page_id']}")
    assert page["key"] == "navigation/tides.md"
    assert (page["library"], page["version"]) == ("harbour", "2.1")
    assert page["body"].lstrip().startswith("# Reading the tide table")
    assert page["front_matter"]["uuid"] == "7d1c1a52-0f4c-4b7a-9f6e-2f6a0f9f4a11"
    assert page["link"] == "https://intranet.example/tides"
    assert "weights" not in page


def test_a_page_by_what_it_is_called(harbour, sill):
    for name in ("tides", "navigation/tides.md", "Reading the Tide Table", str(sill["page_id"])):
        page = harbour.ok("/v1/pages", library="Harbour", page=name)
        assert page["page_id"] == sill["page_id"]
        assert set(page) == {"page_id", "key", "url", "title"}


def test_the_outline_of_a_page(harbour, sill):
    answer = harbour.ok(f"/v1/pages/{sill['page_id']}/outline")
    assert answer["page_id"] == sill["page_id"]
    headings = [entry["heading"] for entry in answer["outline"]]
    assert headings[0] == "Reading the tide table"
    assert headings[-2:] == ["Depth over the sill", "Spring tides"]
    by_id = {entry["document_id"]: entry for entry in answer["outline"]}
    assert all(entry["parent_id"] in by_id for entry in answer["outline"][1:])
    orders = [entry["sort_order"] for entry in answer["outline"]]
    assert orders == sorted(orders)


def test_a_document(harbour, sill):
    document = harbour.ok(f"/v1/documents/{sill['document_id']}")
    for column in ("content", "url", "path", "title", "library", "version", "line_start"):
        assert document[column] == sill[column]
    assert harbour.ok("/v1/documents", library="harbour", chunk_key=sill["chunk_key"]) == document


def test_neighbours_agree_with_each_other(harbour, sill):
    here = f"/v1/documents/{sill['document_id']}"
    parent = harbour.ok(f"{here}/parent")["parent"]
    assert parent["relation"] == "parent"
    children = harbour.ok(f"/v1/documents/{parent['document_id']}/children")["children"]
    assert sill["document_id"] in [child["document_id"] for child in children]
    ancestors = harbour.ok(f"{here}/ancestors")["ancestors"]
    assert ancestors[0]["document_id"] == parent["document_id"]
    assert [row["distance"] for row in ancestors] == list(range(1, len(ancestors) + 1))
    assert ancestors[-1]["title"] == "Harbour handbook"
    top = f"/v1/documents/{ancestors[-1]['document_id']}/parent"
    assert harbour.ok(top) == {"parent": None}
    siblings = harbour.ok(f"{here}/siblings")["siblings"]
    same_level = [row for row in children if row["level"] == sill["level"]]
    # the paragraphs of its section, then those of the sections beside it
    assert {row["document_id"] for row in siblings} > {row["document_id"] for row in same_level} - {
        sill["document_id"]
    }
    assert {row["level"] for row in siblings} == {sill["level"]}


def test_siblings_before_and_after(harbour, sill):
    outline = harbour.ok(f"/v1/pages/{sill['page_id']}/outline")["outline"]
    first, last = [entry for entry in outline if entry["heading_level"] == 2]
    whole = harbour.ok(f"/v1/documents/{first['document_id']}/siblings")["siblings"]
    assert [row["heading"] for row in whole] == ["Spring tides"]
    after = harbour.ok(f"/v1/documents/{first['document_id']}/siblings", after=1)["siblings"]
    assert [(row["relation"], row["distance"]) for row in after] == [("after", 1)]
    before = harbour.ok(f"/v1/documents/{last['document_id']}/siblings", before=1, after=0)
    assert [(row["relation"], row["distance"]) for row in before["siblings"]] == [("before", -1)]


def test_a_document_among_its_own(harbour, sill):
    here = f"/v1/documents/{sill['document_id']}"
    around = harbour.ok(f"{here}/context")
    assert around["document"] == harbour.ok(here)
    assert around["parent"] == harbour.ok(f"{here}/parent")["parent"]
    near = harbour.ok(f"{here}/siblings", before=1, after=1)["siblings"]
    assert around["siblings"] == near
    orders = [row["sort_order"] for row in around["expansion"]]
    assert orders == sorted(orders)
    assert [row["document_id"] for row in around["expansion"] if row["relation"] == "hit"] == [
        sill["document_id"]
    ]
    assert {row["page_id"] for row in around["expansion"]} == {sill["page_id"]}
    assert len(around["expansion"]) > 1
    alone = harbour.ok(f"{here}/context", max_chunks_per_document=0, before=0, after=0)
    assert [row["relation"] for row in alone["expansion"]] == ["hit"]
    assert alone["siblings"] == []


def test_ids_are_numbers_that_every_reader_of_json_holds(database_url, tmp_path):
    """Those of the last library are the largest."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("alter table pgrag.libraries alter library_id restart 1048575")
    with serving(indexed(database_url, tmp_path, SOURCES[:1])) as client:
        asked = client.get("/v1/search", q="half tide sill", library="harbour")
        hit = asked.json()["hits"][0]
        for name in ("document_id", "page_id"):
            assert hit[name] > 2**52
            assert int(float(hit[name])) == hit[name]
        assert client.ok(f"/v1/documents/{hit['document_id']}")["page_id"] == hit["page_id"]
        assert client.ok(f"/v1/pages/{hit['page_id']}")["key"] == hit["key"]
