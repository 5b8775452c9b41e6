"""Libraries, versions, lists of pages, the resolution of versions, text and health."""

import psycopg
import pytest
from api_client import problem, serving
from psycopg.types.json import Jsonb


def test_libraries_are_listed_by_name(harbour):
    listed = harbour.ok("/v1/libraries")["libraries"]
    assert [row["library"] for row in listed] == ["harbour", "port/authority"]
    first = listed[0]
    assert (first["versions"], first["newest"], first["language"]) == (2, "2.1", "english")
    assert first["pages"] == 6
    assert first["model"] == "static-en-de-ru-256"
    assert first["settings"]["alpha"] == 0.3


def test_libraries_are_found_by_what_they_are_about(harbour):
    found = harbour.ok("/v1/search/libraries", q="depth over the sill at spring tide")["libraries"]
    assert [row["library"] for row in found] == ["harbour"]
    [first] = found
    assert (first["version"], first["title"]) == ("2.1", "Harbour handbook")
    assert 0 < first["score"] <= 1
    assert {"depth", "sill", "tide"} <= set(first["words"])
    assert harbour.ok("/v1/search/libraries", q="xylophone") == {"libraries": []}
    assert harbour.ok("/v1/search/libraries", q="") == {"libraries": []}
    both = harbour.ok("/v1/search/libraries", q="harbour port", top_k=1)["libraries"]
    assert len(both) == 1
    problem(harbour.get("/v1/search/libraries", q="OR type:x"), 422, "invalid-filter")


def test_one_library(harbour):
    listed = harbour.ok("/v1/libraries")["libraries"]
    assert harbour.ok("/v1/libraries/harbour") == listed[0]
    assert harbour.ok("/v1/libraries/%20Harbour") == listed[0]
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
    assert [page["language"] for page in pages["pages"]] == ["german", "russian"]


def test_versions_come_newest_first(harbour):
    answer = harbour.ok("/v1/libraries/harbour/versions")
    assert answer["library"] == "harbour"
    assert [row["version"] for row in answer["versions"]] == ["2.1", "1.0"]
    assert [row["is_newest"] for row in answer["versions"]] == [True, False]
    assert {row["status"] for row in answer["versions"]} == {"ready"}
    assert harbour.ok("/v1/libraries/harbour/versions/1.0") == answer["versions"][1]


def test_pages_follow_each_other_by_key(harbour):
    address = "/v1/libraries/harbour/versions/2.1/pages"
    whole = harbour.ok(address)
    keys = [page["key"] for page in whole["pages"]]
    assert keys == [
        "index.md",
        "navigation/index.md",
        "navigation/tides.md",
        "services/moorings.md",
    ]
    assert whole["next"] is None
    found = []
    page = harbour.ok(address, top_k=3)
    assert page["next"] == keys[2]
    while True:
        found += [row["key"] for row in page["pages"]]
        if page["next"] is None:
            break
        page = harbour.ok(address, top_k=3, after=page["next"])
    assert found == keys
    tides = whole["pages"][2]
    assert tides["tags"] == ["tides", "safety"]
    assert tides["created"].startswith("2025-03-01T")
    assert tides["path"][-1] == "Reading the tide table"


def test_resolution_gives_its_reason(harbour):
    def resolved(**wish: str) -> tuple[str, str]:
        answer = harbour.ok("/v1/resolve", library="harbour", **wish)
        assert answer["library"] == "harbour"
        assert answer["version_id"] > 0
        return answer["version"], answer["reason"]

    assert resolved() == ("2.1", "the newest release")
    assert resolved(version="1.0") == ("1.0", "exact")
    assert resolved(version="^1") == ("1.0", "the newest version in the range ^1")
    version, reason = resolved(version="2.0.5")
    assert version == "1.0"
    assert "2.0.5 is not indexed" in reason


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


TEXT = "/v1/libraries/harbour/text"


def test_lines_come_with_their_context_and_their_page(harbour):
    found = harbour.ok(TEXT, pattern="SILL", case="ignore", context=1, top_k=2, version="2.1")
    assert found["version"] == "2.1"
    assert len(found["lines"]) == 2
    for line in found["lines"]:
        [first, *_] = line["matches"]
        assert line["content"][first["start"] - 1 : first["end"] - 1].lower() == "sill"
        assert len(line["lines_before"]) == 1
        body = harbour.ok(f"/v1/pages/{line['page_id']}")["body"]
        assert line["content"] in body.splitlines()
    rest = harbour.ok(TEXT, pattern="SILL", case="ignore", after=found["next"], version="2.1")
    assert not {str(line["cursor"]) for line in rest["lines"]} & {
        line["cursor"] for line in found["lines"]
    }
    assert rest["next"] is None


def test_every_argument_reaches_the_database(harbour):
    assert harbour.ok(TEXT, pattern="SILL")["lines"] == []
    assert harbour.ok(TEXT, pattern="sill", case="smart", path="no/**")["lines"] == []
    assert harbour.ok(TEXT, pattern="sil", mode="word")["lines"] == []
    lines = harbour.ok(TEXT, pattern=r"^##\s\w", mode="regex", timeout_ms=60_000)["lines"]
    assert lines
    assert all(line["content"].startswith("## ") for line in lines)


def test_health_says_that_nothing_is_wrong(harbour):
    found = harbour.ok("/v1/libraries/harbour/health", version="2.1", checks="documents,pages")
    assert found == {"library": "harbour", "healthy": True, "findings": []}
