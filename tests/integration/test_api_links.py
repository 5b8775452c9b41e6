"""Links over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import psycopg
import pytest
from api_client import ApiClient, serving
from psycopg.types.json import Jsonb

PAGES = [
    {"key": "b.md", "body": "x"},
    {"key": "c.md", "body": "x"},
    {"key": "a.md", "body": "x", "edges": [
        {"target": "b.md", "fragment": "gone", "line": 3, "text": "words"},
        {"target": "nowhere", "line": 4, "kind": "needs", "rule": "inline:rel", "confidence": 0.95},
        {"target": "https://example.org", "line": 5},
    ]},
]  # fmt: skip


@pytest.fixture(scope="module")
def vault(clone: Callable[[], AbstractContextManager[str]]) -> Iterator[ApiClient]:
    with clone() as url:
        with psycopg.connect(url) as connection:
            connection.execute("select pgrag.ingest_pages('team/vault', %s, '1.0')", [Jsonb(PAGES)])
            connection.execute("select pgrag.finish_version('team/vault', '1.0')")
            connection.execute(
                "select pgrag.ingest_pages('team/vault', %s, '0.9', resolve => false)",
                [Jsonb(PAGES)],
            )
        with serving(url) as client:
            yield client


def test_links(vault):
    answer = vault.ok("/v1/libraries/team/vault/links")
    assert (answer["library"], answer["version"], answer["next"]) == ("team/vault", "1.0", None)
    first, second, third = answer["links"]
    assert {key: first[key] for key in first if not key.endswith("_id")} == {
        "source_page": "a.md", "line": 3, "target": "b.md", "fragment": "gone",
        "fragment_found": False, "target_page": "b.md", "rule": "explicit:link",
        "kind": "references", "confidence": 1.0, "state": "resolved", "how": "path",
        "link_text": "words", "candidates": None,
    }  # fmt: skip
    assert (second["state"], second["target_page"], second["kind"]) == ("unresolved", None, "needs")
    assert third["state"] == "external"


def test_a_version_whose_links_are_not_all_known_says_so(vault):
    finished = vault.ok("/v1/libraries/team/vault/links", version="1.0")
    begun = vault.ok("/v1/libraries/team/vault/links", version="0.9")
    assert (finished["is_finished"], begun["is_finished"]) == (True, False)


def test_some_links(vault):
    def lines(**parameters: object) -> list[int]:
        answer = vault.ok("/v1/libraries/team/vault/links", **parameters)
        return [row["line"] for row in answer["links"]]

    assert lines(state="broken", version="^1.0") == [3, 4]
    assert lines(kind="needs") == [4]
    assert lines(page="b") == []
    orphans = vault.ok("/v1/libraries/team/vault/links", state="orphan", top_k=1)
    assert [row["target_page"] for row in orphans["links"]] == ["a.md"]
    rest = vault.ok("/v1/libraries/team/vault/links", state="orphan", after=orphans["next"])
    assert [row["target_page"] for row in rest["links"]] == ["c.md"]


def test_links_part_by_part(vault):
    address = "/v1/libraries/team/vault/links"
    first = vault.ok(address, top_k=2)
    rest = vault.ok(address, top_k=2, after=first["next"])
    assert [row["line"] for row in first["links"] + rest["links"]] == [3, 4, 5]
    assert rest["next"] is None
