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


def test_one_row_a_page_with_its_best_passage(connection):
    hits = search(connection, "drain the node", library="tool", alpha=0)
    rows = pages(connection, "drain the node", alpha=0)
    assert sorted(keys(rows)) == ["a.md", "b.md"]
    for row in rows:
        best = next(hit for hit in hits if hit["page_id"] == row["page_id"])
        same = ("document_id", "library", "version", "url", "title", "key", "link", "content")
        same += ("score", "hybrid_score", "keyword_score", "semantic_score", "heading", "anchor")
        assert {name: row[name] for name in same} == {name: best[name] for name in same}
        assert row["aggregate"] == "max"


def test_path_is_that_of_the_page(connection):
    [row] = pages(connection, "wait", alpha=0)
    assert (row["path"], row["title"], row["link"]) == (
        ["Guide"],
        "Draining",
        "https://x.example/a",
    )


def test_counts_the_passages_that_have_a_word_of_the_query(connection):
    counts = {row["key"]: row["passage_count"] for row in pages(connection, "drain", alpha=0)}
    assert counts == {"a.md": 2, "b.md": 1}
    # The title is not a passage's own text.
    [row] = pages(connection, "draining tea", alpha=0, top_k=1)
    assert (row["key"], row["passage_count"]) == ("a.md", 3)


def test_whole_pages_are_the_text_that_was_indexed(connection):
    [best, *_] = pages(connection, "wait", alpha=0, whole=True)
    assert best["content"] == "\n\n".join(DRAIN)


def test_snippets_are_marked_and_can_be_left_out(connection):
    assert "**wait**" in pages(connection, "wait")[0]["snippet"]
    assert pages(connection, "wait", snippets=False)[0]["snippet"] is None


@pytest.mark.parametrize("aggregate", ["max", "mean", "rrf"])
def test_scores_are_those_of_the_search_by_page(connection, aggregate):
    rows = pages(connection, "drain the node", aggregate=aggregate)
    hits = search(connection, "drain the node", library="tool", unit="page", aggregate=aggregate)
    assert [(r["page_id"], r["score"]) for r in rows] == [(h["page_id"], h["score"]) for h in hits]
    assert {row["aggregate"] for row in rows} == {aggregate}


def test_the_cursor_goes_on(connection):
    whole = keys(pages(connection, "drain the node"))
    first = pages(connection, "drain the node", top_k=1)
    rest = pages(connection, "drain the node", after=first[-1]["cursor"])
    assert keys(first + rest) == whole
    assert len(whole) == 3


def test_order_can_be_changed_too(connection):
    rows = pages(connection, "drain the node", hierarchy="depth", mmr_lambda=0.5)
    assert sorted(keys(rows)) == ["a.md", "b.md", "c.md"]


def test_filters_and_thresholds_hold(connection):
    assert keys(pages(connection, "node", filters={"key": "b.md"})) == ["b.md"]
    assert pages(connection, "node", min_score=0.99) == []


def test_errors_are_those_of_the_search(connection):
    with refused(connection, "PGR01", "The query is empty."):
        pages(connection, " ")
    with refused(connection, "PGR07", "cursor"):
        pages(connection, "node", after="0.5:1:100:100")
