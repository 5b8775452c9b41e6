"""`/v1/context`, `/v1/search/pages`, `/v1/search/batch` and `/v1/facets`."""

import json

import pytest
from api_client import problem

QUERY = "depth over the sill"


def plain(hits: list[dict]) -> list[dict]:
    """Hits without the name of the recorded search that they came from."""
    return [{name: hit[name] for name in hit if name != "search_id"} for hit in hits]


def test_pages_have_their_best_passage(harbour):
    found = harbour.ok("/v1/search/pages", q=QUERY, library="harbour", top_k=2)
    first = found["pages"][0]
    assert first["key"] == "navigation/tides.md"
    assert first["heading"] == "Depth over the sill"
    assert "**sill**" in first["snippet"]
    assert first["passage_count"] >= 1
    assert len({page["page_id"] for page in found["pages"]}) == 2
    rest = harbour.ok("/v1/search/pages", q=QUERY, library="harbour", after=found["next"])
    assert not {p["page_id"] for p in rest["pages"]} & {p["page_id"] for p in found["pages"]}
    assert rest["next"] is None


def test_every_argument_of_pages_reaches_the_database(harbour):
    body = {
        "query": QUERY, "library": "harbour", "version": "2.1", "top_k": 3, "alpha": 0.2,
        "min_score": 0.01, "model": "static-en-de-ru-256", "filters": {"type": "guide"},
        "levels": [1, 2], "fusion": "absolute", "aggregate": "mean", "hierarchy": "breadth",
        "mmr_lambda": 0.8, "whole": True, "snippets": False, "graph": True,
    }  # fmt: skip
    [page] = harbour.post("/v1/search/pages", body).json()["pages"]
    assert page["aggregate"] == "mean"
    assert page["snippet"] is None
    assert "## Spring tides" in page["content"]
    address = {k: v for k, v in body.items() if k != "query"} | {
        "q": QUERY, "levels": "1,2", "filters": json.dumps(body["filters"]),
        "whole": "true", "snippets": "false", "graph": "true",
    }  # fmt: skip
    assert harbour.ok("/v1/search/pages", **address)["pages"] == [page]


def test_a_batch_answers_each_query(harbour):
    queries = [
        {"query": QUERY, "library": "harbour", "top_k": 1},
        {"query": "fees", "library": "harbor"},
        {"query": "Gebühren", "mode": "keyword", "top_k": 5, "snippets": True},
        {"query": "fees", "mode": "semantic", "library": "harbour", "top_k": 2},
        {"query": "xyzzy", "mode": "keyword"},
    ]
    found = harbour.post("/v1/search/batch", {"queries": queries}).json()
    answers = found["answers"]
    assert [answer["query"] for answer in answers] == [query["query"] for query in queries]
    for place in (0, 2, 3, 4):
        alone = harbour.post("/v1/search", queries[place]).json()
        assert answers[place]["error"] is None
        assert plain(answers[place]["hits"]) == plain(alone["hits"])
        assert (answers[place]["next"] is None) == (alone["next"] is None)
    failed = answers[1]
    assert failed["hits"] == []
    assert failed["error"]["code"] == "PGR02"
    assert "harbor" in failed["error"]["detail"]
    assert "harbour" in failed["error"]["hint"]
    assert answers[4]["hits"] == []
    assert found["notices"] == []


def test_a_query_of_a_batch_may_bring_its_vector(harbour):
    query = {"query": "fees", "library": "harbour", "query_embedding": [1.0] * 256}
    [answer] = harbour.post("/v1/search/batch", {"queries": [query]}).json()["answers"]
    assert plain(answer["hits"]) == plain(harbour.post("/v1/search", query).json()["hits"])
    short = {**query, "query_embedding": [1.0, 2.0]}
    [answer] = harbour.post("/v1/search/batch", {"queries": [short]}).json()["answers"]
    assert answer["error"]["code"] == "PGR08"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"queries": []},
        {"queries": [{"query": "fees"}] * 101},
        {"queries": [{"query": "fees", "colour": "red"}]},
        {"queries": [{"library": "harbour"}]},
        {"queries": [{"query": "fees", "rerank": True}]},
    ],
)
def test_a_batch_that_is_none_is_refused(harbour, body):
    problem(harbour.post("/v1/search/batch", body), 422, "invalid-request")


def counts(found):
    return {
        name: {row["value"]: row["page_count"] for row in rows}
        for name, rows in found["facets"].items()
    }


def test_facets_count_pages(harbour):
    found = harbour.ok("/v1/facets", library="harbour")
    assert found["total"] == {"pages": 4, "passages": 4, "exact": True}
    assert counts(found)["library"] == {"harbour": 4}
    assert counts(found)["type"] == {"guide": 1, "reference": 1}
    assert counts(found)["path"] == {"/navigation": 2, "/services": 1}
    assert {row["value"] for row in found["facets"]["tags"]} == {"tides", "safety", "fees"}
    assert found["notices"] == []


def test_facets_follow_query_and_filters(harbour):
    body = {"query": "pontoon", "library": "harbour", "alpha": 0, "value_count": 1}
    by_body = harbour.post("/v1/facets", body).json()["facets"]
    by_address = harbour.ok("/v1/facets", q="pontoon", library="harbour", alpha=0, value_count=1)
    assert by_body == by_address["facets"]
    assert counts(by_address)["library"] == {"harbour": 2}
    assert by_address["total"]["pages"] == 2
    assert by_address["total"]["passages"] >= 2
    filters = {"tags": "tides"}
    found = harbour.ok("/v1/facets", library="harbour", filters=json.dumps(filters))
    assert counts(found)["tags"] == {"fees": 1, "safety": 1, "tides": 1}
    assert [row["value"] for row in found["facets"]["tags"] if row["is_chosen"]] == ["tides"]
    assert found["total"]["pages"] == 1


def test_the_text_is_its_blocks(harbour):
    made = harbour.ok("/v1/context", q=QUERY, library="harbour")
    assert made["text"] == "\n\n".join(block["block"] for block in made["blocks"])
    assert made["tokens"] == sum(block["tokens"] for block in made["blocks"])
    assert "predicted height minus 1.8 metres" in made["text"]
    assert made["resolved"][0]["version"] == "2.1"
    assert made["notices"] == []


def test_nothing_found_is_an_empty_text(harbour):
    made = harbour.ok("/v1/context", q=QUERY, min_score=2)
    assert (made["text"], made["tokens"], made["blocks"]) == ("", 0, [])
