"""`pgrag pages` and `pgrag facets`."""

from __future__ import annotations

import psycopg
from command_line import CommandLine

QUERY = "restore a folder of yesterday"


def test_pages_as_json_have_the_columns_of_the_database(indexed: CommandLine) -> None:
    with psycopg.connect(indexed.variables["PGRAG_DATABASE_URL"]) as connection:
        cursor = connection.execute("select (null::pgrag.page_hit).*")
        assert cursor.description is not None
        columns = [column.name for column in cursor.description]
    rows = indexed.json("pages", QUERY, "-l", "kestrel", "-n", "2", "--aggregate", "mean")
    assert [list(row) for row in rows] == [columns] * 2
    assert rows[0]["key"] == "guide/restore.md"
    assert rows[0]["aggregate"] == "mean"
    assert rows[0]["page_id"] != rows[1]["page_id"]


def test_a_person_sees_pages_with_their_best_passage(indexed: CommandLine) -> None:
    shown = indexed.run("pages", QUERY, "-l", "kestrel@2.0", "-n", "1")
    lines = shown.out.splitlines()
    assert lines[0].endswith("Restore a folder")
    assert lines[1].strip().startswith("kestrel 2.0 › guide/restore.md (")
    assert lines[2].strip().startswith("https://kestrel.example/2.0/guide/restore")
    assert "--after=p1:" in shown.err
    after = shown.err.split("--after=")[1].split()[0]
    again = indexed.json("pages", QUERY, "-l", "kestrel@2.0", "--after", after)
    assert "guide/restore.md" not in [row["key"] for row in again]


def test_whole_pages_can_be_printed(indexed: CommandLine) -> None:
    [row] = indexed.json("pages", QUERY, "-l", "kestrel@2.0", "-n", "1", "--whole")
    shown = indexed.run("pages", QUERY, "-l", "kestrel@2.0", "-n", "1", "--whole")
    for line in row["content"].splitlines():
        assert line.strip() in shown.out


def test_pages_and_contexts_take_what_ranks_a_search(indexed: CommandLine) -> None:
    options = ("-l", "kestrel@2.0", "--fusion", "rrf", "--hierarchy", "breadth")
    options += ("--mmr-lambda", "0.5", "--intent", "off")
    rows = indexed.json("pages", QUERY, *options)
    assert rows[0]["hybrid_score"] < 0.04
    blocks = indexed.json(
        *("context", QUERY, *options), *("--query-expansion", "feedback", "--max-per-page", "1")
    )
    assert blocks


def test_facets_are_a_table_and_json(indexed: CommandLine) -> None:
    rows = indexed.json("facets", "-l", "kestrel@2.0")
    assert rows[0] == {"facet": "library", "value": "kestrel", "page_count": 4}
    shown = indexed.run("facets", "-l", "kestrel@2.0").out
    for row in rows:
        assert row["value"] in shown
    assert shown.splitlines()[0].split() == ["facet", "value", "pages"]
    [one] = indexed.json(
        *("facets", "restore", "-l", "kestrel@2.0", "--alpha", "0", "-n", "1", "--values", "1"),
        *("-f", "type=guide"),
    )[:1]
    assert one == {"facet": "library", "value": "kestrel", "page_count": 1}


def test_nothing_found_is_said(indexed: CommandLine) -> None:
    assert "No hit" in indexed.run("pages", "restore", "--min-score", "1.5").err
    assert "No hit" in indexed.run("facets", "restore", "--min-score", "1.5").err
