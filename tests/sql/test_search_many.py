"""Many searches in one call."""

import pytest
from library import ingest, page, refused, run, search
from psycopg.types.json import Jsonb


@pytest.fixture(scope="module", autouse=True)
def libraries(module_connection):
    pages = [page("a.md", "Drain the node.", "Fill it."), page("b.md", "Bake a cake.")]
    ingest(module_connection, "tool", pages, "1.0")
    ingest(module_connection, "other", [page("c.md", "Drain the lake.")])


def many(connection, queries, arguments=None, **shared):
    """The rows of each query."""
    if arguments is not None:
        shared["options"] = Jsonb(arguments)
    rows = run(connection, "search_many", queries=queries, **shared)
    numbers = [row["query_number"] for row in rows]
    assert numbers == sorted(numbers)
    for row in rows:
        assert row["query"] == queries[row["query_number"] - 1]
    return [
        [row for row in rows if row["query_number"] == number]
        for number in range(1, len(queries) + 1)
    ]


def hits(rows):
    """The rows without the columns of a batch; none is an error."""
    added = ("query_number", "query", "error_code", "error", "error_hint")
    assert all(row["error"] is None and row["error_code"] is None for row in rows)
    return [{name: row[name] for name in row if name not in added} for row in rows]


def test_each_query_has_the_hits_it_would_have_alone(connection):
    queries = ["drain the node", "cake", "drain the node"]
    found = many(connection, queries, library="tool", top_k=2)
    for query, rows in zip(queries, found, strict=True):
        assert hits(rows) == search(connection, query, library="tool", top_k=2)
        assert rows
    arguments = {"alpha": 0, "levels": [2], "snippets": True, "candidate_count": 90}
    found = many(connection, ["drain", "cake"], arguments, library="tool")
    for query, rows in zip(["drain", "cake"], found, strict=True):
        assert hits(rows) == search(connection, query, library="tool", **arguments)
        assert rows[0]["snippet"]
    own = [None, {"library": "other"}, {"top_k": 1, "filters": {"key": "b.md"}}]
    plain, other, single = many(connection, ["drain", "drain", "drain"], own, library="tool")
    assert {row["library"] for row in plain} == {"tool"}
    assert {row["library"] for row in other} == {"other"}
    assert [row["key"] for row in single] == ["b.md"]
    nothing, something = many(connection, ["zebra", "cake"], {"alpha": 0})
    assert nothing == []
    assert len(something) == 1
    assert many(connection, []) == []


def test_a_query_that_fails_says_why_and_others_are_answered(connection):
    for query, own, code, message, hint in [
        ("", None, "PGR01", "The query is empty.", None),
        (None, None, "PGR01", "The query is empty.", None),
        ("drain", {"library": "nonesuch"}, "PGR02", "nonesuch", "tool"),
        ("drain", {"version": "0.1", "library": "tool"}, "PGR03", "0.1", "1.0"),
        ("drain", {"filters": {"colour": "red"}}, "PGR06", "colour", "Use key"),
        ("drain", {"alphas": 0.3}, "PGR01", "There is no argument alphas.", "alpha"),
        ("drain", {"top_k": "many"}, "PGR01", "top_k must be 1 to 1000, got 'many'.", "default"),
        ("drain", {"query": "fill"}, "PGR01", "There is no argument query.", "query_expansion"),
        ("drain", [1], "PGR01", "must be an object", "example"),
    ]:
        first, failed, last = many(connection, ["drain", query, "cake"], [None, own, {}])
        assert hits(first)
        assert hits(last)
        [row] = failed
        assert row["error_code"] == code
        assert message in row["error"]
        assert (hint in row["error_hint"]) if hint else row["error_hint"] is None
        assert row["document_id"] is row["score"] is None


def test_a_batch_of_another_shape_or_too_slow_is_refused(connection):
    with refused(connection, "PGR01", "There are 2 queries and options for 1.", "for each"):
        many(connection, ["drain", "cake"], [{}])
    with refused(connection, "PGR01", "must be an object or a list"):
        many(connection, ["drain"], "alpha")
    with refused(connection, "PGR01", "At most 1000 queries", "parts"):
        many(connection, ["drain"] * 1001)
    # A search that was cancelled must not look like a bad query.
    with refused(connection, "57014"):
        connection.execute("set local statement_timeout = 20")
        many(connection, ["drain the node and bake a cake"] * 1000)


def test_arguments_as_data_are_taken_as_they_are_and_checked(connection):
    given = {
        "levels": [2],
        "alpha": 0,
        "filters": {"title": "it's \\ $1 %L"},
        "candidate_count": 90,
    }
    assert run(connection, "recorded_search", query="drain", **given) == []
    given = {"levels": [2], "alpha": 0.5, "top_k": 1, "filters": {"key": "c.md"}}
    recorded = run(connection, "recorded_search", query="drain", **given)
    plain = search(connection, "drain", **given)
    assert [(r["key"], r["score"]) for r in recorded] == [(r["key"], r["score"]) for r in plain]
    assert recorded
    for arguments, message, hint in [
        ({"colour": 1}, "There is no argument colour.", "alpha"),
        ([1], "options must be an object", "levels"),
    ]:
        with refused(connection, "PGR01", message, hint):
            run(connection, "recorded_search", query="drain", options=Jsonb(arguments))
