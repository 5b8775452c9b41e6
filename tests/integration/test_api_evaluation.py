"""Evaluation over REST: sets, runs, comparisons, and why a query scored as it did."""

from typing import Any

import psycopg
import pytest
from api_client import ApiClient, problem
from promised_shapes import assert_promised
from psycopg.types.json import Jsonb

QUERIES = [
    {"id": "q/1", "text": "tide table", "judgements": {"navigation/tides.md": 1}},
    {"id": "q2", "text": "mooring fees", "judgements": {"index.md": 2}},
]


@pytest.fixture(scope="module")
def questions(harbour: ApiClient) -> str:
    with psycopg.connect(harbour.app.url, autocommit=True) as connection:
        connection.execute(
            "select pgrag.import_evaluation_set('questions', 'harbour', %s)", [Jsonb(QUERIES)]
        )
    return "questions"


def run(harbour: ApiClient, **body: object) -> Any:
    response = harbour.post("/v1/evaluations/questions/runs", body)
    assert response.status_code == 200, response.text
    return response.json()


def test_sets_and_runs_are_listed(harbour, questions):
    made = run(harbour, name="keyword")
    assert made["averages"]["mrr@10"] > 0.5
    assert harbour.ok(f"/v1/evaluation-runs/{made['run_id']}") == made
    [listed] = harbour.ok("/v1/evaluations")["sets"]
    assert (listed["name"], listed["library"], listed["queries"]) == (questions, "harbour", 2)
    assert harbour.ok("/v1/evaluations/questions/runs")["runs"][0] == made


def test_a_configuration_of_ones_own(harbour, questions):
    made = run(harbour, name="a", function="search", arguments={"alpha": 0.9}, depth=5)
    assert made["configuration"]["arguments"] == {"alpha": 0.9}
    assert made["configuration"]["depth"] == 5
    assert "recall@20" not in made["averages"]


def test_runs_are_compared_and_shown(harbour, questions):
    one, other = run(harbour, name="keyword")["run_id"], run(harbour, name="semantic")["run_id"]
    compared = harbour.ok(f"/v1/evaluation-runs/{one}/comparison", other=other, metric="mrr@10")
    assert compared["wins"] + compared["losses"] + compared["ties"] == 2
    assert compared["metric"] == "mrr@10"
    shown = harbour.ok(f"/v1/evaluation-runs/{one}/queries/q%2F1")
    assert shown["results"][0]["target"] == "navigation/tides.md"
    assert shown["results"][0]["explanation"]["keyword"]["score"] > 0


def test_bad_requests_are_problems(harbour, questions):
    problem(harbour.get("/v1/evaluations/nothing/runs"), 404, "unknown-evaluation-set")
    problem(harbour.post("/v1/evaluations/nothing/runs", {}), 404, "unknown-evaluation-set")
    problem(harbour.get("/v1/evaluation-runs/4711"), 404, "unknown-evaluation-run")
    url = "/v1/evaluations/questions/runs"
    problem(harbour.post(url, {"name": "best"}), 422, "invalid-input")
    problem(harbour.post(url, {"settings": {"alpha": 1}}), 422, "invalid-request")
    half = problem(harbour.post(url, {"arguments": {"alpha": 0.5}}), 422, "invalid-request")
    assert "arguments without function" in half["detail"]
    bad = harbour.post(url, {"function": "search", "arguments": {"alhpa": 1}})
    assert "no argument 'alhpa'" in problem(bad, 422, "invalid-input")["detail"]
    one = run(harbour)["run_id"]
    address = f"/v1/evaluation-runs/{one}/comparison"
    problem(harbour.get(address, other=one, metric="x@10"), 422, "invalid-request")
    problem(harbour.get(f"/v1/evaluation-runs/{one}/queries/q9"), 422, "invalid-input")


def test_sets_are_made_replaced_and_removed(harbour):
    address = "/v1/evaluations/made-here"
    body = {"library": "harbour", "queries": [*QUERIES, {"id": "q3", "text": "x"}]}
    made = harbour.request("PUT", address, json=body)
    assert made.status_code == 200, made.text
    assert made.json() == {"name": "made-here", "queries": 2, "judgements": 2, "unjudged": ["q3"]}
    one = harbour.post(f"{address}/runs", {"name": "keyword"}).json()["run_id"]
    again = harbour.post(f"/v1/evaluation-runs/{one}/repeat", {})
    assert again.status_code == 200, again.text
    other = again.json()
    assert other["configuration"]["function"] == "keyword_search"
    assert harbour.request("DELETE", f"/v1/evaluation-runs/{one}").json() == {"run_id": one}
    problem(harbour.get(f"/v1/evaluation-runs/{one}"), 404, "unknown-evaluation-run")
    gone = harbour.request("DELETE", address)
    assert gone.json() == {"set": "made-here", "runs": 1}
    problem(harbour.request("DELETE", address), 404, "unknown-evaluation-set")
    broken = {"library": "harbour", "queries": [{"id": "q1", "text": "x", "judgements": {"a": -1}}]}
    problem(harbour.request("PUT", address, json=broken), 422, "invalid-input")


def test_results_are_graded_one_by_one(harbour):
    address = "/v1/evaluations/graded-here/judgements"
    problem(harbour.get(address), 404, "unknown-evaluation-set")
    body = {"library": "harbour", "query": "tide table", "target": "navigation/tides.md"}
    made = harbour.request("PUT", address, json=body | {"grade": 2})
    assert made.status_code == 200, made.text
    assert set(made.json()) == {"query_id", "judged_unit", "query_count", "judgement_count"}
    harbour.request("PUT", address, json=body | {"query": "fees", "grade": 0})
    every, one = harbour.ok(address), harbour.ok(address, query="tide table")
    assert_promised(address, every)
    assert (every["set"], every["library"], every["unit"]) == ("graded-here", "harbour", "page")
    assert len(every["judgements"]) == 2
    assert one["judgements"] == [{
        "query_id": made.json()["query_id"], "query_text": "tide table",
        "target": "navigation/tides.md", "grade": 2,
    }]  # fmt: skip
    for wrong, slug in [
        ({"grade": 0.5}, "request"), ({"grade": -1}, "request"), ({}, "request"),
        ({"grade": 1, "unit": "word"}, "request"), ({"grade": 1, "query": " "}, "request"),
        ({"grade": 1, "target": "x"}, "input"), ({"grade": 1, "unit": "section"}, "input"),
    ]:  # fmt: skip
        problem(harbour.request("PUT", address, json=body | wrong), 422, f"invalid-{slug}")
    found = harbour.request("PUT", address, json=body | {"grade": 1, "library": "nowhere"})
    problem(found, 404, "unknown-library")
    assert harbour.request("PUT", address, json=body | {"grade": None}).json()["query_count"] == 1
    harbour.request("DELETE", "/v1/evaluations/graded-here")
