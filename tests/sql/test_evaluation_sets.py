"""Importing labelled sets: whole or not at all."""

import pytest
from labelled import QUERIES, evaluate, import_set, labelled_library, metrics
from library import document, ingest, page, refused, run, value


@pytest.fixture(scope="module", autouse=True)
def winery(module_connection):
    labelled_library(module_connection)


def test_a_set_is_listed_and_replaced_and_excludes_nothing_relevant(connection):
    run_id = evaluate(connection)
    [row] = run(connection, "evaluation_sets")
    assert {**row, "created_at": None} == {
        "name": "questions", "library": "winery", "unit": "page", "queries": 3, "judgements": 4,
        "runs": 1, "source": {}, "created_at": None,
    }  # fmt: skip
    before = metrics(connection, run_id)
    import_set(connection, QUERIES[:1])
    assert value(connection, "select count(*) from pgrag.evaluation_queries") == 1
    assert metrics(connection, run_id) == before
    assert value(connection, "select count(*) from pgrag.evaluation_run_queries") == 3
    queries = [*QUERIES, {"id": "q4", "text": "frost"}, {"id": "q5", "text": "a", "judgements": {}}]
    row = import_set(connection, queries)
    assert row == {"imported_queries": 3, "imported_judgements": 4, "unjudged": ["q4", "q5"]}
    query = QUERIES[1] | {"excluded": ["cellar/barrels.md", "field/barrels.md"]}
    import_set(connection, [query])
    excluded = value(connection, "select excluded from pgrag.evaluation_queries")
    assert excluded == ["cellar/barrels.md"]


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({"id": "q1"}, "must be a list"),
        ([], "No query has a judgement above 0."),
        ([{"id": "q1", "text": "a", "judgements": {"field/pruning.md": 0}}], "No query has a"),
        ([{"text": "a"}], "Query number 1 has no id."),
        ([7], "Query number 1 has no id."),
        ([{"id": "q1", "text": " "}], "Query 'q1' has no text."),
        ([{"id": "q1", "text": "a"}, {"id": "q1", "text": "b"}], "Query 'q1' is there twice."),
        ([{"id": "q1", "text": "a", "judgements": []}], "The judgements of query 'q1'"),
        ([{"id": "q1", "text": "a", "excluded": "x"}], "The excluded pages of query 'q1'"),
        ([{"id": "q1", "text": "a", "judgements": {"x": -1}}], "the grade of 'x' is -1"),
        ([{"id": "q1", "text": "a", "judgements": {"x": 0.5}}], "the grade of 'x' is 0.5"),
        ([{"id": "q1", "text": "a", "judgements": {"x": "1"}}], "the grade of 'x' is \"1\""),
        ([{"id": "q1", "text": "a", "judgements": {"x.md": 1}}], "has no page 'x.md', which query"),
    ],
)
def test_invalid_sets_are_refused_and_the_old_one_stays(connection, queries, message):
    with refused(connection, "PGR01", message):
        import_set(connection, queries)
    assert value(connection, "select count(*) from pgrag.evaluation_queries") == 3


def test_libraries_and_targets_are_checked(connection):
    with refused(connection, "PGR02", "winry"):
        import_set(connection, library="winry")
    with refused(connection, "PGR01", "has no document 'field/pruning.md#c99'", "KEY#cN"):
        import_set(connection,
                   [{"id": "q", "text": "a", "judgements": {"field/pruning.md#c99": 1}}],
                   unit="document")  # fmt: skip


def judge(connection, target, grade, query="leaking barrel", **arguments):
    given = {"evaluation_set": "questions", "library": "winery"} | arguments
    [row] = run(connection, "judge", query=query, target=target, grade=grade, **given)
    return row


def judged(connection, query=None, name="questions"):
    rows = run(connection, "evaluation_judgements", evaluation_set=name, query=query)
    return {(row["query_id"], row["target"]): row["grade"] for row in rows}


def test_a_result_is_graded_regraded_and_taken_back(connection):
    before = run(connection, "evaluation_sets")
    digest = "select digest from pgrag.evaluation_sets"
    original = value(connection, digest)
    row = judge(connection, " field/barrels.md ", 1, "  leaking barrel ")
    assert row == {
        "query_id": "q1", "judged_unit": "page", "query_count": 3, "judgement_count": 5,
    }  # fmt: skip
    expected = {("q1", "cellar/barrels.md"): 2, ("q1", "field/barrels.md"): 1}
    assert judged(connection, "leaking barrel") == expected
    assert value(connection, digest) != original
    judge(connection, "field/barrels.md", 0)
    assert judged(connection, "leaking barrel")["q1", "field/barrels.md"] == 0
    judge(connection, "field/barrels.md", None)
    assert run(connection, "evaluation_sets") == before
    assert value(connection, digest) == original
    judge(connection, "cellar/barrels.md", 1, "clean barrels")
    excluded = "select excluded from pgrag.evaluation_queries where query_id = 'q2'"
    assert value(connection, excluded) == [], "what is relevant counts"


def test_set_and_query_are_made_and_a_query_keeps_its_id(connection):
    made = {"evaluation_set": " Graded "}
    first = judge(connection, "cellar/bottles.md", 0, "rinse a bottle", **made)
    assert (first["query_count"], first["judgement_count"]) == (1, 1)
    # A query without a relevant result is kept, but cannot fail a run.
    with refused(connection, "PGR01", "No query of the set 'graded' has a judgement above 0"):
        evaluate(connection, evaluation_set="graded")
    judge(connection, "field/pruning.md", 1, "prune", **made)
    run_id = evaluate(connection, evaluation_set="graded")
    counted = "select query_count from pgrag.evaluation_runs where run_id = %s"
    assert value(connection, counted, run_id) == 1
    last = judge(connection, "cellar/bottles.md", None, "rinse a bottle", **made)
    assert last["query_count"] == 1
    again = judge(connection, "cellar/bottles.md", 2, "rinse a bottle", **made)
    assert again["query_id"] == first["query_id"]
    assert len(judged(connection, name="graded")) == 2


def test_targets_are_named_by_the_unit_of_the_set(connection):
    ingest(connection, "winery", [page("new.md", document("Corks.", anchor="corks"))], "2.0")
    for unit, target, wrong in [
        ("section", "cellar/barrels.md#leaks", "cellar/barrels.md#top"),
        ("document", "cellar/barrels.md#c1", "cellar/barrels.md"),
        ("page", "cellar/barrels.md", "cellar/barrels.md#c1"),
    ]:
        made = {"evaluation_set": unit, "unit": unit}
        with refused(connection, "PGR01", f"has no {unit} '{wrong}'"):
            judge(connection, wrong, 1, **made)
        assert unit not in {row["name"] for row in run(connection, "evaluation_sets")}
        assert judge(connection, target, 1, **made)["judged_unit"] == unit
        assert judge(connection, target, 2, evaluation_set=unit)["judged_unit"] == unit
    with refused(connection, "PGR01", "'section' judges each section, not each page"):
        judge(connection, "cellar/barrels.md", 1, evaluation_set="section", unit="page")
    judge(connection, "new.md", 1, version="2.0")
    with refused(connection, "PGR01", "Library 'winery@2.0' has no page 'cellar/yeast.md'"):
        judge(connection, "cellar/yeast.md", 1, version="2.0")
    run(connection, "remove_version", library="winery", version="2.0")
    assert judge(connection, "new.md", None)["judgement_count"] == 4, "its page is gone"


def test_what_cannot_be_graded_is_refused(connection):
    ingest(connection, "cave", [page("a.md", "Cheese.")])
    for words, arguments in [
        ("is about the library 'winery', not 'cave'", {"library": "cave", "target": "a.md"}),
        ("The query is empty", {"query": "  "}),
        ("The target is empty", {"target": None}),
        ("has no page 'x'", {"target": "x"}),
        ("is -1, not a whole number", {"grade": -1}),
        ("is 1000000, not a whole number", {"grade": 1_000_000}),
        ("cannot be called 'two words'", {"evaluation_set": "two words"}),
        ("unit must be page, section or document", {"unit": "word"}),
    ]:
        given = {"target": "cellar/yeast.md", "grade": 1} | arguments
        with refused(connection, "PGR01", words):
            judge(connection, **given)
    with refused(connection, "PGR02", "winry"):
        judge(connection, "cellar/yeast.md", 1, library="winry")
    with refused(connection, "PGR10", "nothing"):
        judged(connection, name="nothing")
    assert len(judged(connection)) == 4
