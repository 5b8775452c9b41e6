"""`/v1/feedback`, `/v1/searches` and `/v1/metrics`: what was searched, and what of it."""

import uuid

import psycopg
import pytest
from api_client import problem, serving
from promised_shapes import assert_answered
from psycopg.types.json import Jsonb

RECORD = """
select pgrag.record_search(
    %(query)s,
    (
        select coalesce(jsonb_agg(to_jsonb(h)), '[]')
        from pgrag.search(%(query)s, 'harbour', top_k => 3) as h
        where %(found)s
    ),
    client => 'rest', library => 'harbour', parameters => '{"top_k": 3}',
    timings => '{"keyword": 1.25}', duration_ms => %(ms)s
)
"""


@pytest.fixture(scope="module")
def api(harbour_url):
    with serving(harbour_url) as client:
        yield client


@pytest.fixture
def searched(harbour_url):
    """Three searches; they are gone after the test."""
    with psycopg.connect(harbour_url, autocommit=True) as connection:
        connection.execute("select pgrag.forget_searches('0')")
        made = []
        for query, found, ms in [
            ("mooring fees", True, 4), ("Mooring  fees", True, 6), ("submarine permit", False, 2),
        ]:  # fmt: skip
            row = connection.execute(RECORD, {"query": query, "found": found, "ms": ms}).fetchone()
            made.append(str(row[0]))
        yield made
        connection.execute("select pgrag.forget_searches('0')")


def test_a_hit_and_an_answer_are_rated(api, searched):
    record = api.ok(f"/v1/searches/{searched[0]}")
    assert (record["client"], record["hit_count"], len(record["hits"])) == ("rest", 3, 3)
    assert record["hits"][0]["page_key"] == "services/moorings.md"
    document_id = record["hits"][0]["document_id"]
    rated = {"search_id": searched[0], "rating": 5, "document_id": document_id, "comment": "yes"}
    response = api.post("/v1/feedback", rated)
    assert response.status_code == 200, response.text
    assert response.json()["feedback_id"] > 0
    assert api.post("/v1/feedback", {"search_id": searched[0], "rating": 2}).status_code == 200
    record = api.ok(f"/v1/searches/{searched[0]}")
    assert [(f["rating"], f["document_id"], f["comment"]) for f in record["feedback"]] == [
        (5, document_id, "yes"),
        (2, None, None),
    ]


def test_bad_feedback_is_refused(api, searched):
    nowhere = str(uuid.uuid4())
    found = problem(
        api.post("/v1/feedback", {"search_id": nowhere, "rating": 3}), 404, "unknown-search"
    )
    assert nowhere in found["detail"]
    problem(api.get(f"/v1/searches/{nowhere}"), 404, "unknown-search")
    other = {"search_id": searched[2], "rating": 3, "document_id": 1}
    problem(api.post("/v1/feedback", other), 404, "unknown-document")
    for body in (
        {"search_id": searched[0], "rating": 6},
        {"search_id": searched[0], "rating": 0},
        {"search_id": searched[0]},
        {"search_id": "7", "rating": 3},
        {"search_id": searched[0], "rating": 3, "stars": 4},
        {"search_id": searched[0], "rating": 3, "comment": "\0"},
        {"search_id": searched[0], "rating": 3, "comment": "x" * 10_001},
    ):
        problem(api.post("/v1/feedback", body), 422, "invalid-request")


@pytest.mark.parametrize(
    ("path", "member", "call"),
    [
        ("searches", "searches", "search_history()"),
        ("searches?library=harbour&top_k=2", "searches", "search_history(30, 'harbour', 2)"),
        ("searches?rated=true", "searches", "search_history(rated => true)"),
        ("searches/{search_id}", "", "search_record('{search_id}') as p(answer),"
         " jsonb_to_record(p.answer) as r(query text, hit_count int, parameters jsonb)"),
        ("metrics/searches?days=7&library= Harbour ", "metrics", "search_metrics(7, 'harbour')"),
        ("metrics/searches?period=all", "metrics", "search_metrics(period => 'all')"),
        ("metrics/answers?library=harbour", "metrics", "answer_metrics(library => 'harbour')"),
        ("metrics/popular-queries?top_k=1", "queries", "popular_queries(top_k => 1)"),
        ("metrics/empty-queries", "queries", "empty_queries()"),
        ("metrics/gaps?library=harbour&weak_confidence=0", "gaps",
         "gaps(library => 'harbour', weak_confidence => 0)"),
        ("metrics/gaps?weak_confidence=1", "gaps", "gaps(weak_confidence => 1)"),
        ("metrics/slow-searches?top_k=2", "searches",
         "search_history(top_k => 2, slowest => true)"),
    ],
)  # fmt: skip
def test_a_route_answers_what_its_function_answers(api, searched, path, member, call):
    api.post("/v1/feedback", {"search_id": searched[0], "rating": 4})
    api.app.database.call(
        "record_answer", search_id=uuid.UUID(searched[0]), question="fees?", status="answered",
        library="harbour", timings=Jsonb({"total": 900}), prompt_tokens=100,
    )  # fmt: skip
    assert api.ok(f"/v1/searches/{searched[0]}")["answer"]["status"] == "answered"
    assert_answered(api, path, member, call, {"search_id": searched[0]})


def test_invalid_parameters_are_refused(api):
    problem(api.get("/v1/metrics/searches", library="harbor"), 404, "unknown-library")
    problem(api.get("/v1/metrics/searches", period="hour"), 422, "invalid-request")
    problem(api.get("/v1/metrics/searches", days=0), 422, "invalid-request")
    problem(api.get("/v1/metrics/popular-queries", top_k=0), 422, "invalid-request")
