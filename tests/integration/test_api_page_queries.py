"""Queries over pages, over REST."""

import psycopg
import pytest
from api_client import problem, serving
from psycopg.types.json import Jsonb

PAGES = [
    {"key": "a.md", "title": "A", "body": "- [ ] Do", "front_matter": {"n": 1, "s": "x"}},
    {"key": "b.md", "title": "B", "body": "b", "front_matter": {"n": 2, "s": 3}},
]
ADDRESS = "/v1/libraries/team/notes/query"


@pytest.fixture(scope="module")
def notes(clone):
    with clone() as url:
        with psycopg.connect(url) as connection:
            connection.execute("select pgrag.ingest_pages('team/notes', %s, '1.0')", [Jsonb(PAGES)])
            connection.execute("select pgrag.finish_version('team/notes', '1.0')")
        with serving(url) as client:
            yield client


def test_a_query_by_address_and_by_body(notes):
    query = "TABLE n, n * 2 AS Twice WHERE n > 1"
    answer = notes.ok(ADDRESS, q=query)
    assert answer["columns"] == ["File", "n", "Twice"]
    [row] = answer["rows"]
    assert (row.pop("page_id") > 0, row) == (
        True,
        {
            "key": "b.md", "title": "B", "line": None, "document_id": None,
            "fields": {"File": "[[b]]", "n": 2, "Twice": 4}, "values": ["[[b]]", 2, 4],
        },
    )  # fmt: skip
    assert (answer["library"], answer["version"], answer["notices"]) == ("team/notes", "1.0", [])
    posted = notes.post(ADDRESS, {"query": query, "version": "^1"})
    assert posted.json() == notes.ok(ADDRESS, q=query, version="1.0")
    assert len(notes.ok(ADDRESS, q="LIST", top_k=1)["rows"]) == 1
    [task] = notes.ok(ADDRESS, q="TASK")["rows"]
    assert (task["line"], task["fields"]["Task"]) == (1, "Do")
    assert notes.ok(ADDRESS, q="LIST WHERE m")["notices"] == ["No page has a property 'm'."]


def test_mistakes(notes):
    mistake = problem(notes.get(ADDRESS, q="LIST WHERE n >"), 422, "invalid-query")
    assert mistake["column"] == 15
    assert "expected a value, a property or a function" in mistake["detail"]
    assert "TABLE" in mistake["hint"]
    endless = "LIST x" + " FLATTEN list(1, 2, 3, 4, 5, 6, 7, 8, 9) AS x" * 9
    problem(notes.get(ADDRESS, q=endless, timeout_ms=50), 422, "took-too-long")
    body = {"query": endless, "timeout_ms": 50}
    problem(notes.post(ADDRESS, body), 422, "took-too-long")
    problem(notes.get("/v1/libraries/nowhere/query", q="LIST"), 404, "unknown-library")
    problem(notes.get(ADDRESS), 422, "invalid-request")
    problem(notes.get(ADDRESS, q="LIST", version="next"), 404, "unknown-version")
