"""Pages instead of passages."""

import pytest
from library import document, ingest, keys, page, refused, run, search

DRAIN = ["Drain the node.", "Drain it again, and wait.", "Then drink a tea."]


@pytest.fixture(scope="module", autouse=True)
def library(module_connection):
    ingest(module_connection, "tool", [
        page("a.md", *DRAIN, title="Draining", link="https://x.example/a", path=["Guide"]),
        page("b.md", document("Fill the node, then drain it.", heading="Both", anchor="both")),
        page("c.md", "Bake a cake."),
    ], "1.0")  # fmt: skip


def pages(connection, query, **arguments):
    return run(connection, "search_pages", query=query, library="tool", **arguments)


def test_one_row_a_page_with_its_best_passage_and_counts(connection):
    hits = search(connection, "drain the node", library="tool", alpha=0)
    rows = pages(connection, "drain the node", alpha=0)
    assert sorted(keys(rows)) == ["a.md", "b.md"]
    for row in rows:
        best = next(hit for hit in hits if hit["page_id"] == row["page_id"])
        same = ("document_id", "library", "version", "url", "title", "key", "link", "content")
        same += ("score", "hybrid_score", "keyword_score", "semantic_score", "heading", "anchor")
        assert {name: row[name] for name in same} == {name: best[name] for name in same}
        assert row["aggregate"] == "max"
    [row] = pages(connection, "wait", alpha=0)
    assert (row["path"], row["title"], row["link"]) == (
        ["Guide"],
        "Draining",
        "https://x.example/a",
    )
    counts = {row["key"]: row["passage_count"] for row in pages(connection, "drain", alpha=0)}
    assert counts == {"a.md": 2, "b.md": 1}
    # The title is not a passage's own text.
    [row] = pages(connection, "draining tea", alpha=0, top_k=1)
    assert (row["key"], row["passage_count"]) == ("a.md", 3)


def test_scores_are_those_of_the_search_by_page(connection):
    for aggregate in ["max", "mean", "rrf"]:
        rows = pages(connection, "drain the node", aggregate=aggregate)
        hits = search(
            connection, "drain the node", library="tool", unit="page", aggregate=aggregate
        )
        assert [(r["page_id"], r["score"]) for r in rows] == [
            (h["page_id"], h["score"]) for h in hits
        ]
        assert {row["aggregate"] for row in rows} == {aggregate}
    [best, *_] = pages(connection, "wait", alpha=0, whole=True)
    assert best["content"] == "\n\n".join(DRAIN)
    assert "**wait**" in pages(connection, "wait")[0]["snippet"]
    assert pages(connection, "wait", snippets=False)[0]["snippet"] is None


def test_cursors_orders_filters_and_errors_are_those_of_a_search(connection):
    whole = keys(pages(connection, "drain the node"))
    first = pages(connection, "drain the node", top_k=1)
    rest = pages(connection, "drain the node", after=first[-1]["cursor"])
    assert keys(first + rest) == whole
    assert len(whole) == 3
    rows = pages(connection, "drain the node", hierarchy="depth", mmr_lambda=0.5)
    assert sorted(keys(rows)) == ["a.md", "b.md", "c.md"]
    assert keys(pages(connection, "node", filters={"key": "b.md"})) == ["b.md"]
    assert pages(connection, "node", min_score=0.99) == []
    with refused(connection, "PGR01", "The query is empty."):
        pages(connection, " ")
    with refused(connection, "PGR07", "cursor"):
        pages(connection, "node", after="0.5:1:100:100")
