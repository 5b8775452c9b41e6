"""Importing labelled sets: whole or not at all."""

import pytest
from labelled import QUERIES, evaluate, import_set, labelled_library, metrics
from library import refused, run, value


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
