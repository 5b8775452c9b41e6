"""The graph over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import psycopg
import pytest
from api_client import ApiClient, serving
from psycopg.types.json import Jsonb

#: tides → moorings → fees, and back from fees to tides.
PAGES = [
    {"key": "tides.md", "title": "Tides", "body": "x", "tags": ["water"], "edges": [
        {"target": "moorings.md", "line": 3, "sentence": "Then go to the moorings."},
        {"target": "fees.md", "line": 5, "kind": "depends_on", "rule": "inline:rel",
         "confidence": 0.95, "sentence": "The times depend on the fees."},
        {"target": "nowhere.md", "line": 6},
    ]},
    {"key": "moorings.md", "title": "Moorings", "body": "x", "tags": ["water"], "edges": [
        {"target": "fees.md", "line": 4, "sentence": "What it costs is listed there."},
    ]},
    {"key": "fees.md", "title": "Fees", "body": "x", "edges": [
        {"target": "tides.md", "line": 9, "sentence": "Come at high water."},
    ]},
]  # fmt: skip


@pytest.fixture(scope="module")
def harbour_vault(
    clone: Callable[[], AbstractContextManager[str]],
) -> Iterator[tuple[ApiClient, dict[str, int]]]:
    with clone() as url:
        with psycopg.connect(url) as connection:
            rows = connection.execute(
                "select key, page_id from pgrag.ingest_pages('vault', %s)", [Jsonb(PAGES)]
            ).fetchall()
            connection.execute("select pgrag.finish_version('vault')")
        with serving(url) as client:
            yield client, {key.removesuffix(".md"): page_id for key, page_id in rows}


def test_around_a_page(harbour_vault):
    vault, ids = harbour_vault
    tides = f"/v1/pages/{ids['tides']}"
    fees = f"/v1/pages/{ids['fees']}"
    [moorings, strong] = vault.ok(f"{fees}/backlinks")["backlinks"]
    assert (moorings["key"], moorings["line"]) == ("moorings.md", 4)
    assert (strong["kind"], strong["sentence"]) == ("depends_on", "The times depend on the fees.")
    only = vault.ok(f"{fees}/backlinks", kinds="depends_on, similar_to", top_k=5)["backlinks"]
    assert [row["key"] for row in only] == ["tides.md"]

    related = vault.ok(f"{tides}/related", top_k=1)["related"]
    assert len(related) == 1
    assert related[0]["reason"]

    around = vault.ok(f"{tides}/neighbourhood", depth=2, direction="out", kinds="references")
    assert [(row["key"], row["depth"]) for row in around["neighbourhood"]] == [
        ("moorings.md", 1),
        ("fees.md", 2),
    ]
    assert around["neighbourhood"][1]["path"] == [ids["tides"], ids["moorings"], ids["fees"]]

    edges = vault.ok(f"{tides}/edges", direction="out", top_k=2)
    assert [row["line"] for row in edges["edges"]] == [3, 5]
    rest = vault.ok(f"{tides}/edges", direction="out", top_k=2, after=edges["next"])
    assert ([row["state"] for row in rest["edges"]], rest["next"]) == (["unresolved"], None)


def test_ways_and_searches(harbour_vault):
    vault, ids = harbour_vault
    ends = {"from": ids["moorings"], "to": ids["tides"]}
    steps = vault.ok("/v1/path", **ends)["path"]
    assert [row["key"] for row in steps] == ["moorings.md", "fees.md", "tides.md"]
    assert steps[2]["sentence"] == "Come at high water."
    assert vault.ok("/v1/path", **ends, kinds="depends_on")["path"] == []

    with psycopg.connect(vault.app.url) as connection:
        connection.execute("select pgrag.embed_pending('vault', 'edge')")
    found = vault.ok("/v1/edges/search", q="what does it cost", library="vault", top_k=2)
    assert (found["edges"][0]["source_page"], found["notices"]) == ("moorings.md", [])
    assert found["edges"][0]["matched_by"] == "meaning"
