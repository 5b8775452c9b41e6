"""Searching with links over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import psycopg
import pytest
from api_client import ApiClient, serving
from psycopg.types.json import Jsonb

PAGES = [
    {"key": "can.md", "title": "Can", "body": "watering seedlings, watering seedlings", "edges": [
        {"target": "trays.md", "line": 3, "text": "trays", "sentence": "Fill the trays."},
    ]},
    {"key": "trays.md", "title": "Trays", "body": "watering of seedlings in rows"},
    {"key": "frost.md", "title": "Frost", "body": "no watering of seedlings in winter"},
]  # fmt: skip
ASKED = {"q": "watering seedlings", "library": "garden", "mode": "keyword", "top_k": 3}


@pytest.fixture(scope="module")
def garden(clone: Callable[[], AbstractContextManager[str]]) -> Iterator[ApiClient]:
    with clone() as url:
        with psycopg.connect(url) as connection:
            connection.execute("select pgrag.ingest_pages('garden', %s)", [Jsonb(PAGES)])
            connection.execute("select pgrag.finish_version('garden')")
        with serving(url) as client:
            yield client


def test_links_count_where_they_are_asked_for(garden):
    plain = garden.ok("/v1/search", **ASKED, explain=True)
    linked = garden.ok("/v1/search", **ASKED, explain=True, graph=True)
    before, after = (
        {hit["key"]: hit for hit in answer["hits"]} for answer in (plain, linked)
    )  # fmt: skip
    trays = after["trays.md"]
    assert trays["score"] > before["trays.md"]["score"] == trays["hybrid_score"]
    parts = trays["explanation"]["graph"]
    assert parts["semantic"] + parts["edge"] + parts["centrality"] == pytest.approx(trays["score"])
    [edge] = parts["edges_in"]
    assert (edge["title"], edge["sentence"], edge["line"]) == ("Can", "Fill the trays.", 3)
    assert "Linked by 1 of the 3 best pages: Can." in trays["explanation"]["reasons"]
    assert before["trays.md"]["explanation"]["graph"] is None
    assert before["trays.md"]["explanation"]["reasons"]


def test_every_address_takes_it(garden):
    asked = {"query": "watering seedlings", "library": "garden", "alpha": 0, "graph": True}
    hits = garden.post("/v1/search", asked).json()["hits"]
    scores = {hit["key"]: hit["score"] for hit in hits}
    pages = garden.post("/v1/search/pages", asked).json()["pages"]
    assert {page["key"]: page["score"] for page in pages} == scores
    [answer] = garden.post("/v1/search/batch", {"queries": [asked]}).json()["answers"]
    assert {hit["key"]: hit["score"] for hit in answer["hits"]} == scores
    assert garden.ok("/v1/context", q="watering seedlings", library="garden", graph=True)["blocks"]
