"""`/v1/search?rerank=true` with a reranker on loopback, well-behaved and not."""

import psycopg
import pytest
from api_client import problem, serving
from embedding_server import status
from scripted_server import serving as scripted

import pgrag

QUERY = "what does the harbour cost"
ASK = {"q": QUERY, "library": "harbour", "rerank": "true"}


def shortest_first(handler, payload):
    """Score texts by how short they are, in the shape of Cohere and Jina."""
    results = [
        {"index": index, "relevance_score": 1 / (1 + len(text))}
        for index, text in enumerate(payload["documents"])
    ]
    handler.reply(200, {"results": results})


def favourite(content):
    """Prefer one passage by far."""

    def prefer(handler, payload):
        results = [
            {"index": index, "relevance_score": 0.9 if text.endswith(content) else 0.1}
            for index, text in enumerate(payload["documents"])
        ]
        handler.reply(200, {"results": results})

    return prefer


@pytest.fixture
def server():
    with scripted(shortest_first) as server:
        yield server


@pytest.fixture
def client(harbour_url, server):
    with serving(
        harbour_url, reranker_url=server.url, reranker_model="tiny", reranker_retries=0
    ) as client:
        yield client


def test_the_reranker_decides_and_both_scores_are_kept(client, server, harbour_url):
    fused = {h["document_id"]: h["hybrid_score"] for h in client.ok(
        "/v1/search", q=QUERY, library="harbour", top_k=50
    )["hits"]}  # fmt: skip
    found = client.ok("/v1/search", top_k=4, **ASK)
    scores = [hit["score"] for hit in found["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert all(hit["hybrid_score"] == fused[hit["document_id"]] for hit in found["hits"])
    [(_, _, payload)] = server.requests
    assert payload["query"] == QUERY
    assert len(payload["documents"]) == min(50, len(fused))
    longest = sorted(payload["documents"], key=len)[:4]
    assert [round(1 / (1 + len(text)), 12) for text in longest] == [round(s, 12) for s in scores]
    assert found["next"] is None
    found = client.ok("/v1/search", top_k=3, **ASK)
    with psycopg.connect(harbour_url) as connection:
        rows = connection.execute(
            "select h.document_id, h.score, h.hybrid_score from pgrag.search_hits as h"
            " where h.search_id = %s order by h.rank",
            [found["search_id"]],
        ).fetchall()
    assert rows == [
        (hit["document_id"], hit["score"], hit["hybrid_score"]) for hit in found["hits"]
    ]
    client.ok("/v1/search", top_k=2, rerank_depth=3, **ASK)
    assert len(server.requests[-1][2]["documents"]) == 3
    client.ok("/v1/search", **{**ASK, "q": "tide type:guide"})
    assert server.requests[-1][2]["query"] == "tide"


def test_min_score_is_about_the_score_that_is_shown(client, server):
    scores = [h["score"] for h in client.ok("/v1/search", top_k=20, **ASK)["hits"]]
    above = client.ok("/v1/search", top_k=20, min_score=scores[2], **ASK)["hits"]
    assert [hit["score"] for hit in above] == [each for each in scores if each >= scores[2]]
    assert len(above) < len(scores)
    parameters = {"expansion_share": 0.5, "max_documents_to_expand": 1, "inject_types": "guide"}
    assert client.ok("/v1/context", **ASK, **parameters)["blocks"]


def test_a_failure_leaves_the_fused_order_and_the_context_and_says_so(client, server):
    server.script = [status(500)]
    found = client.ok("/v1/search", top_k=3, **ASK)
    plain = client.ok("/v1/search", q=QUERY, library="harbour", top_k=3)
    assert [h["document_id"] for h in found["hits"]] == [h["document_id"] for h in plain["hits"]]
    assert any("Not reranked" in notice for notice in found["notices"])
    server.script = [status(500)]
    made = client.ok("/v1/context", **ASK)
    plain = client.ok("/v1/context", q=QUERY, library="harbour")
    assert made["text"] == plain["text"]
    assert any("Not reranked" in notice for notice in made["notices"])


def test_differences_are_made_after_it(client):
    plain = client.ok("/v1/search", top_k=5, **ASK)
    diverse = client.ok("/v1/search", top_k=5, mmr_lambda=0.2, **ASK)
    assert diverse["hits"][0]["document_id"] == plain["hits"][0]["document_id"]
    assert {h["document_id"] for h in diverse["hits"]} != {h["document_id"] for h in plain["hits"]}


def test_it_decides_before_a_context_is_expanded(client, server):
    """Its best passage is the hit, and the page of that passage is expanded."""
    given = {"q": QUERY, "library": "harbour", "top_k": 1}
    fused = client.ok("/v1/search", q=QUERY, library="harbour", top_k=50)["hits"]
    pages = [hit["page_id"] for hit in fused]
    best = [hit for hit in fused[1:] if pages.count(hit["page_id"]) > 1][-1]
    server.script = [favourite(best["content"])]
    made = client.ok("/v1/context", rerank="true", **given)
    [hit] = [block for block in made["blocks"] if block["relation"] == "hit"]
    assert (hit["document_id"], hit["score"]) == (best["document_id"], 0.9)
    assert hit["hybrid_score"] == best["hybrid_score"]
    rest = [block for block in made["blocks"] if block["relation"] == "expansion"]
    assert {block["page_id"] for block in rest} == {best["page_id"]}
    record = client.ok(f"/v1/searches/{made['search_id']}")
    [kept] = record["hits"]
    assert (kept["score"], kept["hybrid_score"]) == (0.9, best["hybrid_score"])
    assert record["parameters"]["rerank"] is True
    assert "reranked" not in record["parameters"]


def test_injected_passages_take_no_place_of_a_hit(client, server):
    given = {"q": QUERY, "library": "harbour", "top_k": 2, "expand": "false", "score_share": 0}
    injected = given | {"inject_types": "guide,reference"}
    plain, made = (
        client.ok("/v1/context", **injected, **rerank)["blocks"]
        for rerank in ({}, {"rerank": "true", "rerank_depth": 2})
    )
    assert {block["relation"] for block in plain} == {"hit", "injected"}
    for relation in ("hit", "injected"):
        ids = [
            {block["document_id"] for block in blocks if block["relation"] == relation}
            for blocks in (plain, made)
        ]
        assert ids[0] == ids[1]
    assert len(server.requests[-1][2]["documents"]) == 2


def test_what_cannot_rerank_refuses_it(client, harbour_url):
    for address in ("/v1/search", "/v1/context"):
        for rerank in ({}, {"rerank": "false"}):
            refused = client.get(address, q=QUERY, rerank_depth=3, **rerank)
            assert "but rerank is off" in problem(refused, 422, "invalid-input")["detail"]
    problem(client.get("/v1/search", after="0.5:1:100:100", **ASK), 422, "invalid-request")
    with pgrag.connect(harbour_url) as db:
        for method in (db.search_pages, db.facets):
            with pytest.raises(pgrag.PgragError, match="rerank"):
                method("tides", rerank=True)


def test_explained_and_recorded_whole(client):
    found = client.ok("/v1/search", top_k=3, explain="true", graph="true", **ASK)
    record = client.ok(f"/v1/searches/{found['search_id']}")
    for hit, kept in zip(found["hits"], record["hits"], strict=True):
        explained = hit["explanation"]
        assert explained["rerank_score"] == hit["score"] == kept["score"]
        assert explained["reasons"][-1].startswith("The reranker gives it")
        assert kept["hybrid_score"] == hit["hybrid_score"]
        keyword, semantic = explained["keyword"], explained["semantic"]
        assert (kept["keyword_rank"], kept["semantic_rank"]) == (keyword["rank"], semantic["rank"])
        assert (kept["passage_score"], kept["page_score"]) == (
            keyword["passage_score"], keyword["page_score"],
        )  # fmt: skip
        for part in ("semantic", "edge", "centrality", "type_weight"):
            assert kept["graph"][part] == explained["graph"][part]
        assert explained["graph"]["score"] != hit["score"]
    assert record["parameters"]["rerank"] is True
    assert "reranked" not in record["parameters"]
