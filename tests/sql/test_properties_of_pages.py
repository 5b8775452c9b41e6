"""What properties pages have, of what types, and where the types are mixed."""

from datetime import datetime, timedelta

import pytest
from library import ingest, page, refused, run

VALUES = [
    {"n": 1, "when": "2024-01-02", "who": "[[ada]]", "ok": True, "mixed": 1, "tags": ["a"]},
    {"n": 2.5, "when": "2024-01-02T10:00:00Z", "who": "Ada", "ok": False, "mixed": "one"},
    {"n": 1, "when": "", "site": {"a": 1}, "mixed": "2024-01-02", "tags": "a", "left": "3 days"},
    {"n": None, "part": [{"a": 1}], "empty": None, "left": "2 h"},
]


@pytest.fixture
def properties(connection):
    pages = [page(f"{n}.md", "Text", front_matter=values) for n, values in enumerate(VALUES)]
    ingest(connection, "docs", pages, language="simple", embed=False)
    return {row["name"]: row for row in run(connection, "properties", library="docs")}


def test_types_are_inferred_and_counted_with_examples(properties):
    assert {name: row["types"] for name, row in properties.items()} == {
        "n": ["number"],
        "when": ["date", "datetime"],
        "who": ["link", "text"],
        "ok": ["boolean"],
        "mixed": ["date", "number", "text"],
        "tags": ["list", "text"],
        "left": ["duration"],
        "site": ["object"],
        "part": ["list"],
        "empty": [],
    }
    assert [name for name, row in properties.items() if row["is_mixed"]] == ["mixed"]
    row = properties["n"]
    assert (row["pages"], row["share"], row["distinct_values"]) == (4, 1.0, 2)
    assert row["examples"] == [1, 2.5]
    assert row["type_counts"] == {"number": 3, "empty": 1}
    assert properties["when"]["type_counts"] == {"date": 1, "datetime": 1, "empty": 1}
    assert properties["empty"]["examples"] == []
    assert properties["empty"]["distinct_values"] == 0
    assert list(properties)[:2] == ["n", "mixed"]


def test_properties_of_one_page_and_of_a_version(connection, properties):
    pages = connection.execute("select page_id from pgrag.pages order by key").fetchall()
    typed = [
        {row["name"]: row for row in run(connection, "page_properties", page_id=page["page_id"])}
        for page in pages
    ]
    assert list(typed[2]) == ["left", "mixed", "n", "site", "tags", "when"]
    assert [row["type"] for row in typed[2].values()] == [
        "duration", "date", "number", "object", "text", "empty",
    ]  # fmt: skip
    assert typed[2]["n"]["as_number"] == 1
    assert typed[2]["site"]["value"] == {"a": 1}
    assert typed[0]["ok"]["as_boolean"] is True
    assert (typed[0]["who"]["type"], typed[0]["who"]["as_text"]) == ("link", "[[ada]]")
    assert typed[1]["when"]["as_moment"] == datetime(2024, 1, 2, 10)
    assert typed[2]["left"]["as_duration"] == timedelta(days=3)
    assert typed[2]["when"]["as_moment"] is None
    with refused(connection, "PGR04"):
        run(connection, "page_properties", page_id=0)
    rows = run(connection, "properties", library="docs", example_count=1)
    assert {len(row["examples"]) for row in rows} == {0, 1}
    with refused(connection, "PGR02"):
        run(connection, "properties", library="nowhere")
    ingest(connection, "versioned", [page("a.md", "Text")], "1.0.0", embed=False)
    assert run(connection, "properties", library="versioned", version="1") == []
    with refused(connection, "PGR03"):
        run(connection, "properties", library="versioned", version="stable")
