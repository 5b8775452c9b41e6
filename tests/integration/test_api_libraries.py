"""Libraries, versions, lists of pages, the resolution of versions, text and health."""

import psycopg
import pytest
from api_client import problem, serving
from psycopg.types.json import Jsonb


def test_libraries_are_found_by_what_they_are_about(harbour):
    found = harbour.ok("/v1/search/libraries", q="depth over the sill at spring tide")["libraries"]
    assert [row["library"] for row in found] == ["harbour"]
    assert harbour.ok("/v1/search/libraries", q="") == {"libraries": []}
    problem(harbour.get("/v1/search/libraries", q="OR type:x"), 422, "invalid-filter")


def test_one_library(harbour):
    listed = harbour.ok("/v1/libraries")["libraries"]
    assert harbour.ok("/v1/libraries/harbour") == listed[0]
    assert harbour.ok("/v1/libraries/%20Harbour") == listed[0]
    versions = harbour.ok("/v1/libraries/harbour/versions")["versions"]
    assert [row["version"] for row in versions] == ["2.1", "1.0"]
    assert harbour.ok("/v1/libraries/harbour/versions/1.0") == versions[1]
    # To PostgreSQL this is "port/authority", to Python it is not.
    problem(harbour.get("/v1/libraries/port/authorİty"), 404, "unknown-library")


@pytest.mark.parametrize("name", ["port/authority", "port%2Fauthority"])
def test_a_slash_in_a_name_may_be_escaped(harbour, name):
    assert harbour.ok(f"/v1/libraries/{name}")["library"] == "port/authority"
    [version] = harbour.ok(f"/v1/libraries/{name}/versions")["versions"]
    assert version["class"] == "unversioned"
    assert harbour.ok(f"/v1/libraries/{name}/versions/-") == version
    pages = harbour.ok(f"/v1/libraries/{name}/versions/-/pages")
    assert (pages["library"], pages["version"]) == ("port/authority", "")
    assert [page["language"] for page in pages["pages"]] == ["de", "ru"]


def test_pages_follow_each_other_by_key(harbour):
    address = "/v1/libraries/harbour/versions/2.1/pages"
    whole = harbour.ok(address)
    first = harbour.ok(address, top_k=3)
    assert first["next"] == "navigation/tides.md"
    rest = harbour.ok(address, top_k=3, after=first["next"])
    assert (first["pages"] + rest["pages"], rest["next"]) == (whole["pages"], whole["next"])
    assert (len(whole["pages"]), whole["next"]) == (4, None)


@pytest.fixture
def odd_names(database_url):
    """Libraries and versions whose names look like parts of an address."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        for library, version in [("versions", "pages"), ("b", ""), ("b", "release/1.0")]:
            connection.execute(
                "select pgrag.ingest_page(%s, %s, %s)",
                [library, Jsonb({"key": "x.md", "body": "Some words."}), version],
            )
        connection.execute("select pgrag.open_version('b', 'x%2fy')")
    with serving(database_url) as client:
        yield client


def test_names_that_look_like_addresses(odd_names):
    ok = odd_names.ok
    assert ok("/v1/libraries/versions")["library"] == "versions"
    assert ok("/v1/libraries/versions/versions/pages")["version"] == "pages"
    assert ok("/v1/libraries/versions/versions/pages/pages")["pages"][0]["key"] == "x.md"
    assert ok("/v1/libraries/b/versions/release%2F1.0")["version"] == "release/1.0"
    assert ok("/v1/libraries/b/versions/release/1.0/pages")["pages"][0]["key"] == "x.md"
    assert ok("/v1/libraries/b/versions/x%252fy")["status"] == "indexing"
    assert ok("/v1/libraries/b/versions/-")["version"] == ""


def test_a_database_without_libraries(database_url):
    with serving(database_url) as empty:
        assert empty.ok("/v1/libraries") == {"libraries": []}
        assert empty.ok("/v1/search", q="anything")["hits"] == []
        document = problem(empty.get("/v1/libraries/harbour"), 404, "unknown-library")
        assert "pgrag index" in document["hint"]


def test_lines_follow_each_other(harbour):
    text = "/v1/libraries/harbour/text?pattern=SILL&case=ignore"
    first = harbour.ok(f"{text}&top_k=2")
    rest = harbour.ok(f"{text}&after={first['next']}")
    assert (first["version"], rest["next"]) == ("2.1", None)
    assert first["lines"] + rest["lines"] == harbour.ok(text)["lines"]
