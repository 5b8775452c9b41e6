"""`/v1/context`: rows, and the text they make."""

from __future__ import annotations

from typing import Any

QUERY = "depth over the sill"


def relations(answer: dict[str, Any]) -> set[str]:
    return {block["relation"] for block in answer["blocks"]}


def test_the_text_is_its_blocks(harbour):
    made = harbour.ok("/v1/context", q=QUERY, library="harbour")
    assert made["text"] == "\n\n".join(block["block"] for block in made["blocks"])
    assert made["tokens"] == sum(block["tokens"] for block in made["blocks"])
    assert "predicted height minus 1.8 metres" in made["text"]
    assert made["resolved"][0]["version"] == "2.1"
    assert made["notices"] == []


def test_get_and_post_take_the_same_arguments(harbour):
    shared = {
        "library": "harbour",
        "version": "2.1",
        "top_k": 2,
        "token_budget": 900,
        "format": "simple",
        "expand": True,
        "expansion_threshold": 0.1,
        "max_documents_to_expand": 1,
        "max_chunks_per_document": 5,
        "parents": True,
        "siblings": 1,
        "overlap": True,
        "alpha": 0.4,
        "min_score": 0.01,
        "model": "static-en-de-ru-256",
    }
    by_get = harbour.ok("/v1/context", q=QUERY, filters='{"type":"guide"}', levels="2", **shared)
    by_post = harbour.post(
        "/v1/context", {"query": QUERY, "filters": {"type": "guide"}, "levels": [2], **shared}
    )
    assert {**by_post.json(), "search_id": None} == {**by_get, "search_id": None}
    assert {block["title"] for block in by_get["blocks"]} == {"Reading the tide table"}
    assert "relevance" in by_get["text"]


def test_expansion_can_be_turned_off_for_a_request(harbour):
    arguments = {"q": QUERY, "library": "harbour", "top_k": 1}
    assert relations(harbour.ok("/v1/context", **arguments)) == {"hit", "expansion"}
    assert relations(harbour.ok("/v1/context", expand=False, **arguments)) == {"hit"}
    around = harbour.ok("/v1/context", expand=False, siblings=1, parents=True, **arguments)
    assert "hit" in relations(around)
    assert relations(around) & {"parent", "sibling"}


def test_the_budget_holds(harbour):
    everything = harbour.ok("/v1/context", q="harbour", score_share=0)
    small = harbour.ok("/v1/context", q="harbour", score_share=0, token_budget=200)
    assert 0 < small["tokens"] < everything["tokens"]
    assert small["tokens"] <= 200


def test_nothing_found_is_an_empty_text(harbour):
    made = harbour.ok("/v1/context", q=QUERY, min_score=2)
    assert (made["text"], made["tokens"], made["blocks"]) == ("", 0, [])
