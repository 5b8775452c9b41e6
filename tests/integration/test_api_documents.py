"""Pages and documents: what no single function answers."""

from urllib.parse import quote

import psycopg
from api_client import problem, serving
from api_corpus import SOURCES, indexed

PAGE_ROUTES = (
    "", "/outline", "/properties", "/backlinks", "/related", "/edges", "/rendered", "/versions",
)  # fmt: skip


def test_a_page_has_all_of_its_front_matter_and_the_root_no_parent(harbour):
    [hit, *_] = harbour.ok("/v1/search", q="half tide sill", library="harbour")["hits"]
    page = harbour.ok(f"/v1/pages/{hit['page_id']}")
    assert page["front_matter"]["uuid"] == "7d1c1a52-0f4c-4b7a-9f6e-2f6a0f9f4a11"
    assert "weights" not in page
    ancestors = harbour.ok(f"/v1/documents/{hit['document_id']}/ancestors")["ancestors"]
    top = f"/v1/documents/{ancestors[-1]['document_id']}"
    assert harbour.ok(f"{top}/parent") == {"parent": None}
    assert harbour.ok(f"{top}/context")["document"] == harbour.ok(top)


def test_names_and_keys_are_as_good_as_ids(harbour):
    [hit, *_] = harbour.ok("/v1/search", q="half tide sill", library="harbour")["hits"]
    for name in ("navigation/tides.md", "tides", "harbour@2:tides", hit["page_id"]):
        for below in PAGE_ROUTES:
            by_id = harbour.ok(f"/v1/pages/{hit['page_id']}{below}")
            assert harbour.ok(f"/v1/pages/{quote(str(name))}{below}") == by_id
    key = hit["chunk_key"]
    for below in ("", "/children", "/siblings", "/ancestors", "/parent", "/context", "/history"):
        by_id = harbour.ok(f"/v1/documents/{hit['document_id']}{below}")
        assert harbour.ok(f"/v1/documents/{quote(f'harbour:{key}')}{below}") == by_id
    assert harbour.ok("/v1/path", **{"from": "tides", "to": hit["page_id"]})["path"]
    problem(harbour.get("/v1/pages/tid"), 404, "unknown-page")
    problem(harbour.get("/v1/documents/x/parent"), 404, "unknown-page")
    left = harbour.ok(
        "/v1/search", q="half tide sill", library="harbour", exclude=f"{key},index.md"
    )
    assert key not in {each["chunk_key"] for each in left["hits"]}
    assert "index.md" not in {each["key"] for each in left["hits"]}


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
