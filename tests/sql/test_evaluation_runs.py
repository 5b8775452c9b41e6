"""Runs: what is asked, what is kept, and what refuses to run."""

from math import sqrt
from statistics import stdev

import pytest
from labelled import QUERIES, evaluate, import_set, labelled_library, metrics, returned
from library import ingest, keys, page, refused, run, search, value
from psycopg.types.json import Jsonb


@pytest.fixture(scope="module", autouse=True)
def winery(module_connection):
    labelled_library(module_connection)


def test_averages_and_margins_are_those_of_the_queries(connection):
    run_id = evaluate(connection, name="keyword")
    rows = run(connection, "_pgrag.evaluation_scores", run_id=run_id, metrics=["ndcg@10"])
    assert [row["query_id"] for row in rows] == ["q1", "q2", "q3"]
    mean = sum(row["score"] for row in rows) / 3
    assert metrics(connection, run_id, "ndcg@10") == {"ndcg@10": pytest.approx(mean)}
    [stored] = run(connection, "evaluation_runs", evaluation_set="questions")
    assert stored["averages"]["ndcg@10"] == pytest.approx(mean)
    assert mean > 0.6
    arguments = {"filters": {"page": "field/*"}}
    run_id = evaluate(
        connection, configuration={"function": "keyword_search", "arguments": arguments}
    )
    assert "q3" not in returned(connection, run_id)
    scores = run(connection, "_pgrag.evaluation_scores", run_id=run_id, metrics=["mrr@10"])
    assert [row["score"] for row in scores] == [0, 1, 0]
    assert metrics(connection, run_id, "mrr@10") == {"mrr@10": pytest.approx(1 / 3)}
    wrong = {"id": "q4", "text": "bottles", "judgements": {"field/pruning.md": 1}}
    import_set(connection, [*QUERIES, wrong])
    run_id = evaluate(connection, name="keyword")
    names = ["mrr@1"]
    rows = run(connection, "_pgrag.evaluation_scores", run_id=run_id, metrics=names)
    scores = [row["score"] for row in rows]
    assert scores == [1, 1, 1, 0]
    [row] = run(connection, "evaluation_metrics", run_id=run_id, metrics=names)
    three_degrees = 3.182446  # the 0.975 quantile of Student's t, from a table
    expected = three_degrees * stdev(scores) / sqrt(len(scores))
    assert row["margin"] == pytest.approx(expected, rel=0.02), "a series of four terms"


def test_a_run_stores_its_inputs(connection):
    run_id = evaluate(
        connection, name="half", configuration={"function": "search", "arguments": {"alpha": 0.5}}
    )
    [stored] = run(connection, "evaluation_runs", evaluation_set="questions")
    assert stored["run_id"] == run_id
    assert stored["configuration"] == {
        "function": "search", "arguments": {"alpha": 0.5}, "aggregate": "max", "depth": 20,
        "pool": 100, "settings": {},
    }  # fmt: skip
    assert (stored["name"], stored["set_name"]) == ("half", "questions")
    assert (stored["library"], stored["version"], stored["unit"]) == ("winery", "", "page")
    assert stored["model"] == value(connection, "select _pgrag.builtin_model()")
    assert stored["settings"]["k1"] == 1.2
    digest = value(connection, "select max(digest) from pgrag.installed_functions")
    assert stored["functions"] == digest
    assert stored["query_count"] == 3
    assert stored["finished_at"] >= stored["started_at"]


def test_builtin_configurations_are_these_searches(connection):
    for name, function, arguments in [
        ("keyword", "keyword_search", {}), ("semantic", "semantic_search", {}),
        ("hybrid", "search", {}), ("rrf", "search", {"fusion": "rrf"}),
    ]:  # fmt: skip
        run_id = evaluate(connection, name=name)
        hits = run(connection, function, query="too cold for yeast", library="winery",
                   max_per_page=1, top_k=20, **arguments)  # fmt: skip
        assert returned(connection, run_id)["q3"] == keys(hits)
        scores = connection.execute(
            "select r.score from pgrag.evaluation_results as r"
            " where r.run_id = %s and r.query_id = 'q3' order by r.rank",
            [run_id],
        )
        assert [row["score"] for row in scores] == [hit["score"] for hit in hits]


def test_any_argument_may_be_given_and_excluded_pages_are_replaced(connection):
    arguments = {
        "filters": {"page": "cellar/*"}, "levels": [1, 2], "rrf_weights": [1, 0.5],
        "fusion": "rrf", "min_score": 0, "model": None,
    }  # fmt: skip
    run_id = evaluate(
        connection, name="x", configuration={"function": "search", "arguments": arguments}
    )
    found = returned(connection, run_id)
    assert all(key.startswith("cellar/") for targets in found.values() for key in targets)
    hits = search(connection, "clean barrels", library="winery", max_per_page=1)
    assert "cellar/barrels.md" in keys(hits)
    run_id = evaluate(connection, configuration={"function": "search", "depth": 2.0})
    found = returned(connection, run_id)["q2"]
    assert len(found) == 2
    assert "cellar/barrels.md" not in found


BACKWARDS = """
create function {}(query text, library text, top_k integer)
returns setof pgrag.hit language sql stable as
$$ select s.* from pgrag.search(query, library, max_per_page => 1) as s order by s.score $$
"""


def test_functions_that_the_owner_added_to_pgrag_are_evaluated_too(connection):
    connection.execute(BACKWARDS.format("pgrag.backwards"))
    run_id = evaluate(connection, name="mine", configuration={"function": "pgrag.backwards"})
    hits = search(connection, "too cold for yeast", library="winery", max_per_page=1)
    assert returned(connection, run_id)["q3"] == keys(hits)[::-1]


@pytest.mark.parametrize("function", ["mine.backwards", "_pgrag.backwards", "public.backwards"])
def test_functions_of_other_schemas_are_refused(connection, function):
    """Whoever may create a function would run it with the rights of the service."""
    connection.execute("create schema mine")
    connection.execute(BACKWARDS.format(function))
    with refused(connection, "PGR01", f"no search function '{function}'", "schema pgrag"):
        evaluate(connection, configuration={"function": function})
    run_id = evaluate(connection)
    connection.execute(
        "update pgrag.evaluation_runs set configuration = jsonb_set("
        "configuration, '{function}', to_jsonb(%s::text)) where run_id = %s",
        [function, run_id],
    )
    with refused(connection, "PGR01", f"no search function '{function}'"):
        run(connection, "repeat_evaluation", run_id=run_id)
    with refused(connection, "PGR01", f"no search function '{function}'"):
        run(connection, "evaluation_answer", run_id=run_id, query_id="q1")


def test_passages_become_one_score_by_page_or_are_judged(connection):
    for aggregate in ["mean", "sum", "rrf"]:
        run_id = evaluate(connection, configuration={"function": "search", "aggregate": aggregate})
        hits = search(connection, "leaking barrel", library="winery", top_k=100)
        scores: dict[str, list[float]] = {}
        for place, hit in enumerate(hits, start=1):
            scores.setdefault(hit["key"], []).append(
                1 / (60 + place) if aggregate == "rrf" else hit["score"]
            )
        expected = {
            key: sum(values) / (len(values) if aggregate == "mean" else 1)
            for key, values in scores.items()
        }
        assert returned(connection, run_id)["q1"] == sorted(
            expected, key=lambda key: -expected[key]
        )
    for unit, target in [
        ("section", "cellar/barrels.md#leaks"),
        ("document", "cellar/barrels.md#c1"),
    ]:
        queries = [{"id": "q1", "text": "leaking barrel soaked", "judgements": {target: 1}}]
        import_set(connection, queries, unit=unit)
        run_id = evaluate(connection)
        assert returned(connection, run_id)["q1"][0] == target
        assert metrics(connection, run_id, "mrr@10") == {"mrr@10": 1}
        found = returned(connection, run_id)["q1"]
        assert len(found) == len(set(found)) > 5


def test_settings_hold_for_one_run_only_also_if_it_fails(connection):
    configuration = {
        "function": "search", "arguments": {"fusion": "magic"}, "settings": {"alpha": 0.9},
    }  # fmt: skip
    with refused(connection, "PGR01", "fusion"):
        evaluate(connection, configuration=configuration)
    assert value(connection, "select settings from pgrag.libraries") == {}
    assert run(connection, "evaluation_runs") == []
    # Field weights shape what is stored: it is rewritten for the run, and then as before.
    stored = "select array_agg(i.weights::text order by i.document_id) from pgrag.impacts as i"
    before = value(connection, stored)
    plain = evaluate(connection, name="keyword")
    weights = {"title": 0, "path": 0, "url": 0}
    run_id = evaluate(
        connection, name="content only",
        configuration={"function": "keyword_search", "settings": {"field_weights": weights}},
    )  # fmt: skip
    assert value(connection, stored) == before
    assert value(connection, "select settings from pgrag.libraries") == {}
    scores = "select array_agg(r.score) from pgrag.evaluation_results as r where r.run_id = %s"
    assert value(connection, scores, run_id) != value(connection, scores, plain)
    latest = run(connection, "evaluation_runs")[0]
    assert latest["settings"]["field_weights"] == weights | {"content": 1}


def test_another_library_can_be_searched_and_a_run_repeated(connection):
    ingest(connection, "winery-half", [page("field/barrels.md", "Clean barrels each spring.")])
    run_id = evaluate(connection, configuration={"function": "search", "library": "winery-half"})
    assert returned(connection, run_id)["q2"] == ["field/barrels.md"]
    [stored] = run(connection, "evaluation_runs")
    assert stored["library"] == "winery-half"
    first = evaluate(connection, configuration={"function": "search", "arguments": {"alpha": 0.6}})
    connection.execute("delete from pgrag.evaluation_sets")
    [row] = run(connection, "repeat_evaluation", run_id=first)
    again = row["repeat_evaluation"]
    assert again != first
    assert returned(connection, again) == returned(connection, first)
    assert metrics(connection, again) == metrics(connection, first)


def test_empty_runs_unknown_names_and_deeper_metrics_are_refused(connection):
    ingest(connection, "empty", [page("a.md", "Nothing that helps.")])
    connection.execute("select pgrag.remove_pages('empty', array['a.md'])")
    with refused(connection, "PGR01", "Not one of 3 queries of the set 'questions'", "empty"):
        evaluate(connection, configuration={"function": "keyword_search", "library": "empty"})
    assert run(connection, "evaluation_runs") == []
    with refused(connection, "PGR10", "no evaluation set 'nothing'", "questions"):
        evaluate(connection, evaluation_set="nothing")
    with refused(connection, "PGR01", "no configuration 'best'", "keyword, semantic"):
        evaluate(connection, name="best")
    for function in ("evaluation_metrics", "repeat_evaluation", "remove_evaluation_run"):
        with refused(connection, "PGR11", "no evaluation run 4711"):
            run(connection, function, run_id=4711)
    run_id = evaluate(connection, configuration={"function": "search", "depth": 10})
    assert "recall@20" not in run(connection, "evaluation_runs")[0]["averages"]
    with refused(connection, "PGR01", "kept 10 results", '"depth"'):
        metrics(connection, run_id, "recall@20")


@pytest.mark.parametrize(
    ("configuration", "message", "hint"),
    [
        ([1], "must be an object", "function"),
        ({}, 'needs a "function"', "keyword_search, recorded_search, search, semantic_search"),
        ({"function": "libraries"}, "no search function 'libraries'", "search"),
        ({"function": "search", "argument": {}}, "no 'argument'", "arguments"),
        ({"function": "search", "arguments": 3}, "arguments must be an object", ""),
        ({"function": "search", "arguments": {"alhpa": 1}}, "no argument 'alhpa'", "alpha"),
        ({"function": "search", "arguments": {"alpha": "x"}}, "alpha must be 0 to 1, got 'x'", ""),
        ({"function": "search", "arguments": {"levels": {"a": 1}}}, "a list of 0 to 2", ""),
        ({"function": "search", "arguments": {"query": "x"}}, "set by the evaluation", ""),
        ({"function": "search", "aggregate": "median"}, "max, mean, sum or rrf", ""),
        ({"function": "search", "depth": 0}, "depth must be", ""),
        ({"function": "search", "pool": 2.5}, "pool must be", ""),
        ({"function": "search", "settings": {"k9": 1}}, "no library setting k9", ""),
    ],
)
def test_invalid_configurations_are_refused(connection, configuration, message, hint):
    with refused(connection, "PGR01", message, hint):
        evaluate(connection, configuration=Jsonb(configuration))
    assert run(connection, "evaluation_runs") == []


def test_runs_and_sets_are_removed(connection):
    first, second = evaluate(connection), evaluate(connection)
    run(connection, "remove_evaluation_run", run_id=first)
    assert [row["run_id"] for row in run(connection, "evaluation_runs")] == [second]
    [row] = run(connection, "remove_evaluation_set", evaluation_set="questions")
    assert row["remove_evaluation_set"] == 1
    for table in ("sets", "queries", "judgements", "runs", "run_queries", "results"):
        assert value(connection, f"select count(*) from pgrag.evaluation_{table}") == 0
    assert value(connection, "select count(*) from pgrag.pages") == 5
