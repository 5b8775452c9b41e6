"""`/v1/feedback`, `/v1/searches` and `/v1/metrics`: what was searched, and what of it."""

import uuid
from collections.abc import Iterator

import psycopg
import pytest
from api_client import ApiClient, problem, serving
from promised_shapes import assert_promised
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
def api(harbour_url: str) -> Iterator[ApiClient]:
    with serving(harbour_url) as client:
        yield client


@pytest.fixture
def searched(harbour_url: str) -> Iterator[list[str]]:
    """Three searches; they are gone after the test."""
    with psycopg.connect(harbour_url, autocommit=True) as connection:
        connection.execute("select pgrag.forget_searches('0')")
        made = []
        for query, found, ms in [
            ("mooring fees", True, 4), ("Mooring  fees", True, 6), ("submarine permit", False, 2),
        ]:  # fmt: skip
            row = connection.execute(RECORD, {"query": query, "found": found, "ms": ms}).fetchone()
            assert row is not None
            made.append(str(row[0]))
        yield made
        connection.execute("select pgrag.forget_searches('0')")


def test_a_hit_and_an_answer_are_rated(api: ApiClient, searched: list[str]) -> None:
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


def test_bad_feedback_is_refused(api: ApiClient, searched: list[str]) -> None:
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


def test_metrics(api: ApiClient, searched: list[str]) -> None:
    api.post("/v1/feedback", {"search_id": searched[0], "rating": 4})
    [row] = api.ok("/v1/metrics/searches", days=7, library=" Harbour ")["metrics"]
    assert (row["library_name"], row["searches"], row["max_ms"]) == ("harbour", 3, 6)
    assert row["empty_share"] == pytest.approx(1 / 3)
    assert row["mean_rating"] == 4
    assert len(api.ok("/v1/metrics/searches", period="all")["metrics"]) == 1
    api.app.database.call(
        "record_answer", search_id=uuid.UUID(searched[0]), question="fees?", status="answered",
        library="harbour", timings=Jsonb({"total": 900}), prompt_tokens=100,
    )  # fmt: skip
    [row] = api.ok("/v1/metrics/answers", library="harbour")["metrics"]
    assert (row["answers"], row["answered_share"], row["p50_ms"]) == (1, 1, 900)
    assert api.ok(f"/v1/searches/{searched[0]}")["answer"]["status"] == "answered"
    popular = api.ok("/v1/metrics/popular-queries", top_k=1)["queries"]
    assert [(row["query"], row["searches"]) for row in popular] == [("mooring fees", 2)]
    empty = api.ok("/v1/metrics/empty-queries")["queries"]
    assert [row["query"] for row in empty] == ["submarine permit"]
    [gap] = api.ok("/v1/metrics/gaps", library="harbour", weak_score=0)["gaps"]
    assert (gap["topic"], gap["searches"], gap["found_nothing"]) == ("submarine permit", 1, 1)
    assert len(api.ok("/v1/metrics/gaps", weak_score=1)["gaps"]) == 2
    slow = api.ok("/v1/metrics/slow-searches", top_k=2)["searches"]
    assert [(row["duration_ms"], row["timings"]) for row in slow] == [
        (6, {"keyword": 1.25}),
        (4, {"keyword": 1.25}),
    ]


@pytest.mark.parametrize(
    "address",
    [
        "/v1/searches",
        "/v1/searches/{search_id}",
        "/v1/metrics/searches",
        "/v1/metrics/answers",
        "/v1/metrics/popular-queries",
        "/v1/metrics/empty-queries",
        "/v1/metrics/gaps",
        "/v1/metrics/slow-searches",
    ],
)
def test_answers_have_the_shape_that_is_promised(
    api: ApiClient, searched: list[str], address: str
) -> None:
    address = address.format(search_id=searched[0])
    assert_promised(address, api.ok(address))


def test_invalid_parameters_are_refused(api: ApiClient) -> None:
    problem(api.get("/v1/metrics/searches", library="harbor"), 404, "unknown-library")
    problem(api.get("/v1/metrics/searches", period="hour"), 422, "invalid-request")
    problem(api.get("/v1/metrics/searches", days=0), 422, "invalid-request")
    problem(api.get("/v1/metrics/popular-queries", top_k=0), 422, "invalid-request")


def test_searches_are_listed_the_latest_first(api: ApiClient, searched: list[str]) -> None:
    listed = api.ok("/v1/searches", library="harbour", top_k=2)["searches"]
    assert [row["search_id"] for row in listed] == [searched[2], searched[1]]
    assert (listed[0]["query"], listed[0]["hit_count"]) == ("submarine permit", 0)
