"""Wherever the id of a page or a passage is asked, its name does."""

import uuid

import pytest
from library import ids, ingest, page, refused, run, search, value

TEXTS = ["The valve opens at four bar.", "The valve closes at two bar.", "The pump stops."]


@pytest.fixture
def guide(connection):
    """A library `plant` with a page of sections, and `yard` with a page of the same name."""
    ingest(connection, "plant", [
        {
            **page("guide/Valve.md", *TEXTS), "uuid": "AAAA-1", "aliases": ["Tap"],
            "url": "https://plant.example/valve", "front_matter": {"id": "kvalve"},
        },
        page("pump.md", "Pumps are round.", "See the valve."),
        page("index.md", "All of it."),
    ])  # fmt: skip
    ingest(connection, "yard", [page("index.md", "The crane turns.")])
    return value(connection, "select page_id from pgrag.find_page('plant', 'guide/Valve.md')")


@pytest.mark.parametrize("name", [
    "guide/Valve.md", "guide/Valve", "valve", "TAP", "kvalve", "aaaa-1", "{AAAA-1}",
    "https://plant.example/valve", "https://plant.example/valve/#top", "plant:valve",
    "plant@latest:Tap",
])  # fmt: skip
def test_a_page_by_any_of_its_names(connection, guide, name):
    assert value(connection, "select pgrag.page_id(%s)", name) == guide
    assert value(connection, "select pgrag.passage_id(%s)", f"{name}#c1") == ids(
        run(connection, "document", document_id="guide/Valve.md#c1")
    )[0]  # fmt: skip


def test_every_function_takes_the_key_of_a_passage(connection, guide):
    [first, second, third] = [f"guide/Valve.md#c{n}" for n in range(3)]
    [row] = run(connection, "document", document_id=second)
    assert (row["content"], row["page_id"]) == (TEXTS[1], guide)
    for function in ("document", "parent", "children", "siblings", "ancestors", "section_history"):
        by_id = run(connection, function, document_id=row["document_id"])
        assert run(connection, function, document_id=second) == by_id
        assert run(connection, function, document_id=str(row["document_id"])) == by_id
        # A literal and a column, as in psql.
        rows = connection.execute(f"select * from pgrag.{function}('{second}')").fetchall()
        assert rows == by_id
        rows = connection.execute(
            f"select f.* from pgrag.documents as d cross join pgrag.{function}(d.document_id) as f"
            " where d.document_id = %s", [row["document_id"]],
        ).fetchall()  # fmt: skip
        assert rows == by_id
    expanded = run(connection, "expand_documents", document_ids=[second], scores=[1.0])
    assert {each["relation"] for each in expanded} == {"hit", "expansion"}
    assert expanded == run(
        connection, "expand_documents", document_ids=[row["document_id"]], scores=[1.0]
    )
    assert (
        expanded
        == connection.execute(
            f"select * from pgrag.expand_documents('{{{second}}}', '{{1}}')"
        ).fetchall()
    )
    sources = run(connection, "quoted_sources", document_ids=[third, first])
    assert [each["source"]["content"] for each in sources] == [TEXTS[2], TEXTS[0]]
    assert run(connection, "related_sections", document_ids=[second]) == run(
        connection, "related_sections", document_ids=[row["document_id"]]
    )


def test_every_function_takes_the_name_of_a_page(connection, guide):
    for function in ("page", "outline", "page_properties", "backlinks", "related_pages",
                     "neighbourhood", "adjacent_pages", "page_versions",
                     "link_targets"):  # fmt: skip
        assert run(connection, function, page_id="tap") == run(connection, function, page_id=guide)
    assert run(connection, "edges", library="plant", page_id="tap") == []
    [step] = run(connection, "shortest_path", from_page="tap", to_page="valve")
    assert step["page_id"] == guide


def test_a_name_that_is_not_one_page_lists_those_that_are_near(connection, guide):
    with refused(connection, "PGR01", "2 pages named 'index'", "plant:index.md, yard:index.md"):
        run(connection, "outline", page_id="index")
    [row] = run(connection, "page", page_id="yard:index")
    assert row["library"] == "yard"
    with refused(connection, "PGR04", "No library has a page 'valvee'", "plant:guide/Valve.md"):
        run(connection, "parent", document_id="valvee#c1")
    with refused(connection, "PGR05", "'guide/Valve.md' has no passage c9"):
        run(connection, "document", document_id="valve#c9")
    with refused(connection, "PGR05", "no passage null"):
        run(connection, "document", document_id=None)
    with refused(connection, "PGR02", "no library 'shed'"):
        value(connection, "select pgrag.page_id('valve', 'shed')")


def test_exclude_takes_names_and_says_what_is_not_there(connection, guide, notices):
    rows = search(connection, "valve", library="plant", levels=[2])
    assert "guide/Valve.md" in {row["key"] for row in rows}
    for item in ("page:valve", "tap", "page:kvalve"):
        rows = search(connection, "valve", library="plant", levels=[2], exclude=[item])
        assert "guide/Valve.md" not in {row["key"] for row in rows}
    rows = search(connection, "valve", library="plant", levels=[2], exclude=["valve#c0"])
    assert "guide/Valve.md#c0" not in {row["chunk_key"] for row in rows}
    assert notices == []
    search(connection, "valve", library="plant", exclude=["42", "page:7", "valve#c77", "tap"])
    assert notices == [
        "exclude leaves out nothing for 42, page:7, valve#c77: there is no such passage or page."
    ]


def test_a_passage_is_rated_by_its_key(connection, guide):
    search_id = uuid.uuid4()
    [hit, *_] = run(
        connection,
        "recorded_search",
        query="valve",
        library="plant",
        search_id=search_id,
        top_k=1,
    )
    run(connection, "give_feedback", search_id=search_id, rating=5, document_id=hit["chunk_key"])
    rated = value(connection, "select document_id from pgrag.feedback")
    assert rated == hit["document_id"]
    run(connection, "give_feedback", search_id=search_id, rating=1)
    with refused(connection, "PGR05", "not a hit of search"):
        run(
            connection, "give_feedback", search_id=search_id, rating=5,
            document_id="index.md#c0",
        )  # fmt: skip
