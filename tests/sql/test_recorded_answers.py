"""Answers are recorded beside their search, counted, exported and forgotten with it."""

import uuid

import pytest
from library import ingest, page, refused, run, value
from psycopg.types.json import Jsonb

QUESTION = "How do I prime the pump?"


@pytest.fixture(scope="module", autouse=True)
def libraries(module_connection):
    ingest(module_connection, "pumps", [page("prime.md", "Prime the pump before the first run.")])
    ingest(module_connection, "valves", [page("valve.md", "Close the valve by hand.")])


def record(connection, **given):
    arguments = {
        "search_id": None, "question": QUESTION, "status": "answered", "library": "Pumps",
    } | given  # fmt: skip
    [row] = run(connection, "record_answer", **arguments)
    return row["record_answer"]


def test_an_answer_is_recorded_with_the_search_of_its_sources(connection):
    [found] = run(connection, "answer_context", question=QUESTION, library="pumps")
    search_id = uuid.uuid4()
    assert search_id == record(
        connection, search_id=search_id, answer="Prime it first [1].", client="rest",
        intent=found["intent"], model="small", sources=Jsonb(found["sources"]),
        citations=Jsonb([{"number": 1}]), trace=Jsonb([{"step": 1}]), prompt_tokens=900,
        completion_tokens=20, timings={"total": 1234.5}, search_timings={"keyword": 2, "fusion": 3},
        parameters={"top_k": 10},
    )  # fmt: skip
    exported = value(connection, "select pgrag.search_record(%s)", search_id)
    assert exported["query"] == QUESTION
    assert (exported["library"], exported["client"]) == ("pumps", "rest")
    assert (exported["hit_count"], exported["duration_ms"]) == (len(found["sources"]), 5)
    assert exported["hits"][0]["page_key"] == "prime.md"
    assert exported["hits"][0]["document_id"] == found["sources"][0]["document_id"]
    answer = exported["answer"]
    assert answer["answer"] == "Prime it first [1]."
    assert (answer["status"], answer["model"]) == ("answered", "small")
    assert answer["intent"] == "PROCEDURAL"
    assert (answer["citations"], answer["trace"]) == ([{"number": 1}], [{"step": 1}])
    assert (answer["prompt_tokens"], answer["timings"]) == (900, {"total": 1234.5})
    run(connection, "give_feedback", search_id=search_id, rating=5)
    run(connection, "give_feedback", search_id=search_id, rating=4,
        document_id=found["sources"][0]["document_id"])  # fmt: skip


def test_a_search_that_is_recorded_already_is_kept_and_an_answer_is_one(connection):
    search_id = value(connection, "select pgrag.record_search('prime', '[]', library => 'pumps')")
    assert record(connection, search_id=search_id, status="failed") == search_id
    assert record(connection, search_id=search_id, status="answered") == search_id
    found = value(connection, "select pgrag.search_record(%s)", search_id)
    assert (found["query"], found["answer"]["status"]) == ("prime", "failed")
    alone = value(connection, "select pgrag.record_search('seal', '[]')")
    assert value(connection, "select pgrag.search_record(%s)", alone)["answer"] is None


def test_errors_become_warnings(connection, notices):
    assert record(connection, status="perhaps") is None
    assert [n for n in notices if "The answer was not recorded" in n]
    assert value(connection, "select count(*) from pgrag.searches") == 0
    assert record(connection, question=None, answer=None, citations=None, timings=None)
    connection.execute("create role answers_reader")
    connection.execute("grant usage on schema pgrag to answers_reader")
    connection.execute("grant select on all tables in schema pgrag to answers_reader")
    connection.execute("set local role answers_reader")
    assert record(connection) is None
    connection.execute("reset role")
    connection.execute(
        "grant insert on pgrag.searches, pgrag.search_hits, pgrag.feedback to answers_reader"
    )
    connection.execute("set local role answers_reader")
    assert record(connection), "its search is recorded as before there were answers"
    connection.execute("reset role")
    assert value(connection, "select count(*) from pgrag.answers") == 1
    connection.execute("set transaction_read_only = on")
    assert record(connection) is None


def test_metrics_count_answers_by_day_and_library(connection):
    for number, status in enumerate(["answered", "answered", "not_in_documentation", "failed"]):
        search_id = record(connection, status=status, timings={"total": 100 * (number + 1)},
                           prompt_tokens=10, completion_tokens=number)  # fmt: skip
    run(connection, "give_feedback", search_id=search_id, rating=2)
    record(connection, status="cancelled", library="valves", timings={"total": "soon"})
    rows = {row["library_name"]: row for row in run(connection, "answer_metrics")}
    assert set(rows) == {"pumps", "valves"}
    pumps = rows["pumps"]
    assert pumps["answers"] == 4
    assert [
        pumps[f"{name}_share"]
        for name in ("answered", "not_in_documentation", "failed", "cancelled")
    ] == [0.5, 0.25, 0.25, 0]
    assert (pumps["p50_ms"], pumps["mean_rating"]) == (250, 2)
    assert (pumps["mean_prompt_tokens"], pumps["mean_completion_tokens"]) == (10, 1.5)
    assert (rows["valves"]["cancelled_share"], rows["valves"]["p50_ms"]) == (1, None)
    [whole] = run(connection, "answer_metrics", library="pumps", period="all")
    assert whole["answers"] == 4
    with refused(connection, "PGR02"):
        run(connection, "answer_metrics", library="no-such")


def test_answers_are_forgotten_with_their_searches(connection):
    record(connection)
    record(connection, library="valves")
    connection.execute(
        "update pgrag.searches set at = now() - interval '91 days' where library = 'pumps'"
    )
    assert value(connection, "select pgrag.forget_searches()") == 1
    assert value(connection, "select array_agg(library) from pgrag.answers") == ["valves"]
