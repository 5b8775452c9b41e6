"""Counts of the pages of a search by facet."""

from collections import defaultdict

import pytest
from library import ingest, page, run, search, value


@pytest.fixture(scope="module", autouse=True)
def libraries(module_connection):
    ingest(module_connection, "tool", [
        page("a.md", "Drain the node.", "Drain it again.", type="guide", tags=["node", "ops"]),
        page("b.md", "Fill the node.", type="guide", tags=["node", "node"], topic="filling"),
        page("c.md", "Bake a cake of apples.", type="recipe", tags=["cake"]),
        page("d.md", "Löse den Knoten.", type="guide", language="german"),
    ], "1.0")  # fmt: skip
    ingest(module_connection, "other", [page("e.md", "Drain a node.", tags=["ops"])])


def facets(connection, query=None, **arguments):
    found: dict[str, dict[str, int]] = defaultdict(dict)
    total, *rows = run(connection, "facets", query=query, **arguments)
    assert (total["facet"], total["value"]) == ("total", None)
    for row in rows:
        found[row["facet"]][row["value"]] = row["page_count"]
    return dict(found)


def test_counts_pages_of_the_best_hits_or_all(connection):
    found = facets(connection, "drain", alpha=0)
    assert found["library"] == {"tool": 1, "other": 1}
    assert found["version"] == {"1.0": 1, "": 1}
    assert found["type"] == {"guide": 1}
    assert found["tags"] == {"ops": 2, "node": 1}
    assert found["language"] == {"en": 2}
    assert "topic" not in found
    best = search(connection, "drain the node", top_k=1)[0]
    found = facets(connection, "drain the node", top_k=1)
    assert found["library"] == {best["library"]: 1}
    assert facets(connection, "zebra", alpha=0) == {}
    for query in [None, "", "  "]:
        found = facets(connection, query, library="tool")
        assert found == {
            "library": {"tool": 4},
            "version": {"1.0": 4},
            "topic": {"filling": 1},
            "type": {"guide": 3, "recipe": 1},
            "tags": {"node": 2, "cake": 1, "ops": 1},
            "language": {"en": 3, "de": 1},
        }


def test_content_tags_are_those_of_the_documents_found(connection):
    connection.execute(
        "update pgrag.documents set content_tags = case"
        " when content like 'Drain it%%' then '{procedural,example}'::text[]"
        " when content like 'Drain%%' then '{procedural}' else '{warning}' end"
    )
    found = facets(connection, "drain", alpha=0)
    assert found["content_tags"] == {"procedural": 2, "example": 1}
    found = facets(connection, filters={"content_tags": "procedural"})
    assert found["library"] == {"tool": 1, "other": 1}
    assert found["content_tags"] == {"procedural": 2, "example": 1, "warning": 3}


def test_every_value_is_the_filter_that_narrows_the_search_to_it(connection):
    query = {"query": "drain or fill the node", "alpha": 0}
    rows = run(connection, "facets", **query)[1:]
    assert {"library", "version", "topic", "type", "tags", "language"} == {
        row["facet"] for row in rows
    }
    for row in rows:
        if (row["facet"], row["value"]) == ("version", ""):
            continue
        filters = {row["facet"]: row["value"]}
        if row["facet"] == "version":
            filters["library"] = "tool"
        hits = search(connection, **query, filters=filters)
        assert len({hit["page_id"] for hit in hits}) == row["page_count"], row


def test_filters_hold_for_every_facet_and_frequent_values_come_first(connection):
    found = facets(connection, filters={"library": "tool", "tags": "node"})
    assert found["tags"] == {"node": 2, "ops": 1, "cake": 1}, "its own filter does not hold"
    assert found["type"] == {"guide": 2}
    found = facets(connection, "drain", alpha=0, filters={"type": "recipe"})
    assert found == {"type": {"guide": 1, "recipe": 0}}
    found = facets(connection, filters={"library": "tool", "heading": {"exists": True}})
    assert found["library"] == {"tool": 4}
    rows = run(connection, "facets", library="tool", value_count=2)[1:]
    tags = [(row["value"], row["page_count"]) for row in rows if row["facet"] == "tags"]
    assert tags == [("node", 2), ("cake", 1)]
    order = list(dict.fromkeys(row["facet"] for row in rows))
    assert order == ["library", "version", "topic", "type", "tags", "language"]
    # Counting raises no notice about missing vectors.
    assert value(connection, "select count(*) from pgrag.facets()") > 0
    twice = page("a.md", "One.", tags=["ops", "night", "ops"])
    ingest(connection, "tagged", [twice, page("b.md", "Two.", tags=["ops"])])
    assert facets(connection, library="tagged")["tags"] == {"ops": 2, "night": 1}
