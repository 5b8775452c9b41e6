"""Vectors pooled from whole pages: pending as long as the page is another than they came from."""

import pytest
from consistency import assert_consistent
from library import document, ingest, page, refused, run, value

MODEL = "tiny+late"


@pytest.fixture
def tool(connection):
    """A library of two pages, one with a summary, and a model of two dimensions."""
    run(connection, "register_model", name=MODEL, dimensions=2, provider="local")
    ingest(connection, "tool", [node(), page("b.md", "Fill it.")], "1.0", embed=False)
    run(connection, "use_model", library="tool", model=MODEL)
    return connection


def node(*texts):
    summary = document("About nodes.", level=0, covers=1, is_summary=True)
    return page("a.md", summary, *(texts or ("Drain the node.", "It is empty.")))


def pending(connection, **arguments):
    return run(connection, "pending_pages", library="tool", **arguments)


def embed(connection):
    """Store [1, n] for the n-th text of each pending page; the number of documents."""
    stored = 0
    for row in pending(connection):
        [text] = run(connection, "page_texts", library="tool", page_ids=row["pages"][:1])
        assert text["page_hash"] == row["page_hash"]
        assert len(text["texts"]) == row["documents"]
        stored += value(
            connection,
            "select pgrag.store_page_embeddings('tool', %s, %s, %s, %s::halfvec[])",
            MODEL,
            row["page_hash"],
            row["pages"],
            [f"[1,{place}]" for place in range(row["documents"])],
        )
    return stored


def stored(connection, version="1.0"):
    rows = connection.execute(
        "select d.content, e.embedding::text as vector, v.label"
        " from pgrag.embeddings as e join pgrag.documents as d"
        " on d.library_id = e.library_id and d.document_id = e.document_id"
        " join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id"
        " where v.label = %s order by d.document_id",
        [version],
    ).fetchall()
    return {row["content"]: row["vector"] for row in rows}


def test_pages_are_read_whole_but_for_summaries(tool):
    first, second = pending(tool)
    assert (first["documents"], second["documents"]) == (2, 1)
    assert pending(tool, page_ids=second["pages"]) == [second]
    rows = run(tool, "page_texts", library="tool", page_ids=first["pages"] + second["pages"])
    assert [row["texts"] for row in rows] == [
        ["A\na.md\n\nDrain the node.", "A\na.md\n\nIt is empty."],
        ["B\nb.md\n\nFill it."],
    ]
    assert run(tool, "page_texts", library="tool", page_ids=None) == []
    for function, arguments in [("pending_pages", {}), ("page_texts", {"page_ids": []})]:
        with refused(tool, "PGR02"):
            run(tool, function, library="nope", **arguments)
    with refused(tool, "PGR09"):
        pending(tool, model="nope")


def test_stored_vectors_are_pending_again_when_the_page_changes(tool):
    assert embed(tool) == 3
    assert pending(tool) == []
    assert stored(tool)["Drain the node."] == "[1,0]"
    assert stored(tool)["It is empty."] == "[0.70703125,0.70703125]"
    left = run(tool, "pending_embeddings", library="tool")
    assert [row["text"] for row in left] == ["A\na.md\n\nAbout nodes."], "it stands on no page"
    for texts in [
        ("Drain the node.", "It is full."),
        ("It is full.", "Drain the node."),
        ("Drain the node.",),
    ]:
        ingest(tool, "tool", [node(*texts)], "1.0", embed=False)
        [row] = pending(tool)
        assert row["documents"] == len(texts)
        assert stored(tool)["Drain the node."], "until then the vector of before is searched"
        faults = run(tool, "check_library", library="tool", checks=["vectors"])
        before = {row["problem"]: row for row in faults}[
            "a vector pooled from its page as it was before"
        ]
        assert (before["repairable"], before["remedy"]) == (False, "pgrag embed tool")
        assert embed(tool) > 0
        assert pending(tool) == []
        assert list(stored(tool)) != []
    assert stored(tool)["Drain the node."] == "[1,0]"
    assert_consistent(tool)


def test_pages_of_equal_text_are_pooled_once(tool):
    ingest(tool, "tool", [node()], "2.0", embed=False)
    assert [len(row["pages"]) for row in pending(tool)] == [2, 1]
    assert embed(tool) == 5
    assert stored(tool, "2.0") == {k: v for k, v in stored(tool).items() if k != "Fill it."}
    ingest(tool, "tool", [node()], "3.0", embed=False)
    assert pending(tool) == [], "a new version takes the vectors over"
    ingest(tool, "tool", [node("Drain the node.", "It is full.")], "4.0", embed=False)
    assert [row["documents"] for row in pending(tool)] == [2], "but not those of another page"
    embed(tool)
    ingest(tool, "tool", [node("Drain the node.", "It is full.")], "5.0", embed=False)
    assert pending(tool) == [], "from the youngest that has the text"
    assert_consistent(tool)


def test_vectors_of_a_page_that_has_changed_are_left_out(tool):
    [row, _] = pending(tool)
    ingest(tool, "tool", [node("Drain the node.", "It is full.")], "1.0", embed=False)
    store = "select pgrag.store_page_embeddings('tool', %s, %s, %s, %s::halfvec[])"
    late = (MODEL, row["page_hash"], row["pages"], ["[1,0]", "[1,0]"])
    assert value(tool, store, *late) == 0
    [now, _] = pending(tool)
    none_for_one = (MODEL, now["page_hash"], now["pages"], ["[3,4]", None])
    assert value(tool, store, *none_for_one) == 1
    assert stored(tool) == {"Drain the node.": "[0.60009766,0.7998047]"}
    with refused(tool, "PGR01", "has 2 texts, got 1 vectors", "pgrag.page_texts"):
        tool.execute(store, (MODEL, now["page_hash"], now["pages"], ["[1,0]"]))
    with refused(tool, "PGR08", "has 2 dimensions, got a vector of 3"):
        tool.execute(store, (MODEL, now["page_hash"], now["pages"], ["[1,0,0]", "[1,0,0]"]))
