"""`pgrag searches`, `pgrag metrics` and `pgrag feedback`."""

import json
import re
import uuid

import psycopg
import pytest

RECORD = """
select pgrag.record_search(
    %(query)s,
    (
        select coalesce(jsonb_agg(to_jsonb(h)), '[]')
        from pgrag.search(%(query)s, 'kestrel', top_k => 3) as h
        where %(found)s
    ),
    client => 'cli', library => 'kestrel', version => '2.0', parameters => '{"top_k": 3}',
    timings => '{"keyword": 1.25}', duration_ms => %(ms)s
)
"""


@pytest.fixture
def searched(indexed):
    """Two searches, the second of which found nothing; they are gone after the test."""
    with psycopg.connect(indexed.variables["PGRAG_DATABASE_URL"], autocommit=True) as connection:
        connection.execute("select pgrag.forget_searches('0')")
        made = []
        for query, found, ms in [("install kestrel", True, 4.5), ("prüfstand", False, 2.0)]:
            row = connection.execute(RECORD, {"query": query, "found": found, "ms": ms}).fetchone()
            made.append(str(row[0]))
        yield made
        connection.execute("select pgrag.forget_searches('0')")


def test_searches_are_listed_shown_and_rated(indexed, searched):
    rows = indexed.json("searches", "list", "--library", "kestrel")
    assert [row["search_id"] for row in rows] == searched[::-1]
    document = indexed.json("searches", "show", searched[0])["hits"][0]["document_id"]
    said = indexed.run("feedback", searched[0], 5, "--document", document, "--comment", "just so")
    assert said.out == "Thank you.\n"
    assert indexed.json("feedback", searched[0], 3)["feedback_id"] > 0
    listed, shown = indexed.run_all(("searches", "list"), ("searches", "show", searched[0]))
    assert "kestrel 2.0" in listed.out
    assert "keyword 1.25" in listed.out
    assert "install kestrel" in shown.out
    assert f"5 of 5, passage {document}" in shown.out
    assert "just so" in shown.out
    assert "3 of 5, whole answer" in shown.out


def test_gaps_metrics_and_errors_are_told(indexed, searched):
    [row] = indexed.json("gaps", "--library", "kestrel")
    assert (row["topic"], row["found_nothing"]) == ("prüfstand", 1)
    listed, all_of_them = indexed.run_all(
        ("gaps",), ("gaps", "--weak-confidence", "1", "--top-k", "5")
    )
    assert "prüfstand" in listed.out
    assert "install kestrel" not in listed.out
    assert "install kestrel" in all_of_them.out
    [row] = indexed.json("metrics", "searches", "--days", 7)
    assert (row["searches"], row["max_ms"], row["empty_share"]) == (2, 4.5, 0.5)
    assert [row["query"] for row in indexed.json("metrics", "empty")] == ["prüfstand"]
    assert len(indexed.json("metrics", "popular", "--top-k", 1)) == 1
    assert [row["duration_ms"] for row in indexed.json("metrics", "slow")] == [4.5, 2.0]
    assert indexed.json("metrics", "answers") == []
    tables = indexed.run_all(
        *(("metrics", name) for name in ("searches", "popular", "empty", "slow"))
    )
    assert "p95 ms" in tables[0].out
    assert all("kestrel" in ended.out for ended in tables)
    assert "No search is recorded" in indexed.run("metrics", "slow", "--library", "spravka").err
    nowhere = str(uuid.uuid4())
    unknown, other, rating, odd, days = (
        indexed.run("feedback", nowhere, 3, code=1),
        indexed.run("feedback", searched[1], 3, "--document", 1, code=1),
        indexed.run("feedback", searched[0], 6, code=2),
        indexed.run("feedback", "seven", 3, code=2),
        indexed.run("searches", "retention", "long", code=2),
    )
    assert f"There is no recorded search {nowhere}" in unknown.err
    assert "Passage 1 is not a hit" in other.err
    # As typer says it with pydantic, and before.
    assert re.search(r"less than or equal to 5|<=5", rating.err)
    assert "seven" in odd.err
    assert "forever" in days.err
    assert "1 to 36500 days" in indexed.run("searches", "retention", 0, code=1).err
    unknown = indexed.run("metrics", "searches", "--library", "kestle", code=1)
    assert "There is no library 'kestle'" in unknown.err


def test_searches_are_exported_and_forgotten(indexed, searched):
    indexed.run("feedback", searched[0], 4)
    ended = indexed.run("searches", "export", "--library", "kestrel")
    records = [json.loads(line) for line in ended.out.splitlines()]
    assert [record["search_id"] for record in records] == searched
    assert [len(record["hits"]) for record in records] == [3, 0]
    assert [len(record["feedback"]) for record in records] == [1, 0]
    assert records[1]["query"] == "prüfstand"
    assert ended.err == "Exported: 2.\n"
    assert indexed.run("searches", "export", "--until", "2020-01-01").out == ""
    assert len(indexed.run("searches", "export", "--since", "2020-01-01").out.splitlines()) == 2
    try:
        assert indexed.run("searches", "retention").out == "Searches are kept for 90 days.\n"
        assert indexed.json("searches", "retention", 30) == {"days": 30}
        assert indexed.run("searches", "forget").out == "Forgotten: 0.\n"
        forever = indexed.run("searches", "retention", "forever")
        assert forever.out == "Searches are kept for ever.\n"
        assert indexed.json("searches", "forget", "--older-than", 0) == {"forgotten": 2}
    finally:
        indexed.run("searches", "retention", 90)
