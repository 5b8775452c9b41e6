"""Whatever is written, changed and removed in whatever order: the statistics are the rows'."""

import math
import random

import pytest
from consistency import assert_consistent
from corpus import Author, pages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library import document, ingest, page, rebuild_statistics, refused, run, value

VERSIONS = ["", "1.0", "2.0"]
WORDS = [
    "server", "Server", "servers", "useEffect", "max_size", "the", "häuser", "Häuser", "42", "x.y",
]  # fmt: skip

SETTINGS = [
    {"k1": 0.9}, {"b": 0.2}, {"alpha": 0.5}, {"field_weights": {"path": 0}},
    {"field_weights": {"title": 0, "url": 0}},
]  # fmt: skip

documents = st.builds(
    document,
    st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join),
    level=st.sampled_from([0, 1, 2, 2, 2]),
    covers=st.sampled_from([0, 2, 4, 4, 6]),
    path=st.sampled_from([["Guide"], ["Guide", "Server"], []]),
)
written_pages = st.builds(
    lambda key, rows, **fields: page(f"{key}.md", *rows, **fields),
    st.sampled_from("abcd"),
    st.lists(documents, max_size=4),
    title=st.sampled_from(["Guide", "The server", "!"]),
    language=st.sampled_from(["en", "de"]),
    url=st.sampled_from(["https://example.org/guide", "server"]),
)
batches = st.lists(written_pages, max_size=3, unique_by=lambda p: p["key"])
versions = st.sampled_from(VERSIONS)
operations = st.one_of(
    st.tuples(st.just("ingest"), versions, batches),
    st.tuples(st.just("ingest"), versions, batches),
    st.tuples(st.just("remove_pages"), versions, st.lists(st.sampled_from("abcd"), max_size=2)),
    st.tuples(st.just("remove_version"), versions, st.none()),
    st.tuples(st.just("refresh"), st.none(), st.none()),
    st.tuples(st.just("configure"), st.sampled_from(SETTINGS), st.none()),
)


def apply(connection, operation):
    name, first, second = operation
    if name == "ingest":
        ingest(connection, "manual", second, first)
    elif name == "remove_pages":
        run(
            connection, "remove_pages",
            library="manual", keys=[f"{key}.md" for key in second], version=first,
        )  # fmt: skip
    elif name == "remove_version":
        run(connection, "remove_version", library="manual", version=first)
    elif name == "refresh":
        run(connection, "refresh_statistics", library="manual")
    else:
        run(connection, "configure_library", library="manual", settings=first)
    if name == "remove_version":
        ingest(connection, "manual", [], first)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(operations, min_size=1, max_size=7))
def test_statistics_are_those_of_the_rows(connection, steps):
    with connection.transaction(force_rollback=True):
        for version in VERSIONS:
            ingest(connection, "manual", [], version)
        for step in steps:
            apply(connection, step)
            assert_consistent(connection)


@pytest.fixture
def manual(connection):
    author = Author(random.Random(3))
    ingest(connection, "manual", pages(author, 40, languages=["english", "german"]), embed=False)
    return author


def statistics(connection):
    return connection.execute(
        "select language, lexeme, document_count, largest_impact from pgrag.lexeme_statistics"
        " where document_count > 0 order by language, lexeme"
    ).fetchall()


def test_library_of_real_size(connection, manual):
    for row in connection.execute("select * from pgrag.corpus_statistics").fetchall():
        for average, used in (
            (row["total_length"] / row["document_count"], row["average_length"]),
            (row["total_page_length"] / row["page_count"], row["average_page_length"]),
        ):
            assert used == pytest.approx(2 ** (round(3 * math.log2(average)) / 3))
            assert used == pytest.approx(average, rel=0.125)
    before = statistics(connection)
    ingest(connection, "other", pages(manual, 10), embed=False)
    run(connection, "remove_library", library="other")
    assert statistics(connection) == before
    assert value(connection, "select count(*) from pgrag.corpus_statistics") == 2
    assert_consistent(connection)
    changed = [manual.page(f"{number:04}.md") for number in range(0, 40, 3)]
    ingest(connection, "manual", changed, embed=False)
    assert_consistent(connection)
    rebuild_statistics(connection, "manual")
    assert_consistent(connection)


def test_impacts_are_rewritten_only_when_the_rounded_average_changes(connection, manual):
    def places():
        return connection.execute(
            "select i.document_id, i.ctid from pgrag.impacts as i"
            " join pgrag.pages as p on p.library_id = i.library_id and p.page_id = i.page_id"
            " where p.key <> 'new.md' order by i.document_id"
        ).fetchall()

    before = places()
    assert value(connection, "select pgrag.refresh_statistics('manual')") is False
    ingest(connection, "manual", [page("new.md", manual.sentence(9))], embed=False)
    assert places() == before
    long = page("new.md", *(manual.sentence(400) for _ in range(60)))
    ingest(connection, "manual", [long], embed=False, ready=False)
    assert places() == before
    assert value(connection, "select pgrag.refresh_statistics('manual')") is True
    assert places() != before
    assert value(connection, "select pgrag.refresh_statistics('manual')") is False
    assert_consistent(connection)


@pytest.mark.parametrize("writer", ["finish_version", "remove_pages", "remove_version"])
def test_whatever_moves_the_average_rewrites_the_impacts(connection, manual, writer):
    long = page("long.md", *(manual.sentence(400) for _ in range(60)))
    if writer == "finish_version":
        ingest(connection, "manual", [long], embed=False)
    elif writer == "remove_pages":
        ingest(connection, "manual", [long], embed=False)
        run(connection, writer, library="manual", keys=["long.md"])
    else:
        ingest(connection, "manual", [long], "2.0", embed=False)
        run(connection, writer, library="manual", version="2.0")
    assert value(connection, "select pgrag.refresh_statistics('manual')") is False
    assert_consistent(connection)


def test_order_of_writing_does_not_matter(connection, manual):
    expected = statistics(connection)
    stored = connection.execute("select key from pgrag.pages order by key").fetchall()
    author = Author(random.Random(3))
    again = pages(author, 40, languages=["english", "german"])
    run(connection, "remove_pages", library="manual", keys=[row["key"] for row in stored])
    assert statistics(connection) == []
    for page_ in reversed(again):
        ingest(connection, "manual", [page_], embed=False)
    assert statistics(connection) == expected


def test_page_without_a_hash_of_its_source_is_compared_by_its_content(connection):
    first = {"key": "a.md", "body": "one text"}
    other = {"key": "a.md", "body": "one text", "documents": [{"content": "another"}]}
    for written, status in [
        (first, "written"), (first, "unchanged"), (other, "written"), (other, "unchanged"),
    ]:  # fmt: skip
        [row] = run(connection, "ingest_page", library="notes", page=written)
        assert row["status"] == status
        assert_consistent(connection)
    assert value(connection, "select content from pgrag.documents") == "another"


def test_page_that_loses_its_documents_is_not_found_any_more(connection):
    ingest(connection, "notes", [page("a.md", "Drain the node."), page("b.md", "Fill the node.")])
    ingest(connection, "notes", [page("a.md")])
    assert_consistent(connection)
    found = run(connection, "search", query="drain the node", library="notes")
    assert [hit["key"] for hit in found] == ["b.md"]
    stored = connection.execute(
        "select document_count, weights from pgrag.pages where key = 'a.md'"
    )
    assert stored.fetchone() == {"document_count": 0, "weights": None}


def test_page_sent_twice_in_one_call_is_refused(connection):
    with refused(connection, "PGR01", "Two of the pages have the key a.md."):
        ingest(connection, "notes", [page("a.md", "one"), page("b.md", "x"), page("a.md", "two")])


def test_removed_library_leaves_nothing(connection, manual):
    run(connection, "embed_pending", library="manual")
    assert value(connection, "select pgrag.remove_library('manual')") == 40
    for table in [
        "libraries", "versions", "pages", "documents", "embeddings", "corpus_statistics",
        "lexeme_statistics",
    ]:  # fmt: skip
        assert value(connection, f"select count(*) from pgrag.{table}") == 0, table
    with refused(connection, "PGR02"):
        run(connection, "refresh_statistics", library="manual")
