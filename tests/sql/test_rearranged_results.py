"""Lists whose order is not that of the fused scores: the same on every page, and complete."""

import pytest
from library import ids, ingest, page, refused, run, search, walk
from psycopg.types.json import Jsonb

QUERY = "restart the server of a user"


@pytest.mark.parametrize(
    "arguments",
    [
        {"unit": "page"},
        {"unit": "page", "aggregate": "mean"},
        {"unit": "page", "aggregate": "rrf"},
        {"hierarchy": "depth"},
        {"hierarchy": "breadth", "max_per_page": 2},
        {"hierarchy": "overview", "levels": [0, 1, 2]},
        {"mmr_lambda": 0.5},
        {"unit": "page", "hierarchy": "breadth", "mmr_lambda": 0.7},
    ],
    ids=str,
)
@pytest.mark.parametrize("size", [3, 10])
def test_the_pages_of_a_rearranged_list_are_the_list(connection, manual, arguments, size):
    ask = {"library": manual, "candidate_count": 40, **arguments}
    walked = walk(connection, "search", size, query=QUERY, **ask)
    assert len(set(ids(walked))) == len(walked) > 20
    first = search(connection, QUERY, top_k=size, **ask)
    assert ids(walked)[: len(first)] == ids(first)
    assert walk(connection, "search", size, query=QUERY, **ask) == walked


def test_one_hit_a_page_reaches_every_page(connection, manual):
    """The list is read deeper until it has enough pages."""
    every = search(connection, QUERY, library=manual, top_k=1000)
    hits = walk(
        connection, "search", 4, query=QUERY, library=manual, unit="page", candidate_count=5
    )
    assert sorted({h["page_id"] for h in hits}) == sorted({h["page_id"] for h in every})
    assert len(hits) == len({h["page_id"] for h in hits})


def test_what_is_off_changes_nothing_and_cursors_fit_one_list(connection, manual):
    assert all(h["hybrid_score"] == h["score"] for h in search(connection, QUERY, page_decay=1))
    plain = search(connection, QUERY, library=manual, explain=True)
    off = search(connection, QUERY, library=manual, explain=True, intent="off", unit="document",
                 aggregate="max", hierarchy="none", mmr_lambda=1,
                 query_expansion="none")  # fmt: skip
    assert off == plain
    for made_by, given_to in [({}, {"unit": "page"}), ({"unit": "page"}, {})]:
        cursor = search(connection, QUERY, library=manual, top_k=3, **made_by)[-1]["cursor"]
        with refused(connection, "PGR07", "was not made by a search like this", "same arguments"):
            search(connection, QUERY, library=manual, after=cursor, **given_to)


class TestIntent:
    def explanation(self, connection, query, **arguments):
        hits = search(connection, query, library="manual", explain=True, **arguments)
        return hits[0]["explanation"]

    def test_is_chosen_if_asked_for_and_what_is_said_wins(self, connection, manual):
        assert self.explanation(connection, QUERY)["intent"] is None
        [found] = run(connection, "detect_intent", query="list all server roles")
        explained = self.explanation(connection, "list all server roles", intent="auto")
        assert explained["intent"]["query_type"] == found["query_type"] == "aggregative"
        assert explained["intent"]["rule"] == found["rule"]
        assert explained["intent"]["levels"] == [0, 1, 2]
        explained = self.explanation(
            connection, "list all server roles", intent="auto", unit="document",
            hierarchy="none", alpha=0.9,
        )  # fmt: skip
        assert (explained["unit"], explained["hierarchy"], explained["alpha"]) == (
            "document", "none", 0.9,
        )  # fmt: skip
        [strategy] = connection.execute("select * from pgrag.strategy('KNOWN_ITEM')").fetchall()
        assert self.explanation(connection, QUERY, intent="KNOWN_ITEM")["unit"] == strategy["unit"]

    def test_contexts_have_the_same_hits_and_intents_their_own_share(self, connection, manual):
        ask = {"query": "list all server roles", "library": manual, "intent": "auto"}
        hits = run(connection, "search", top_k=5, **ask)
        blocks = run(
            connection, "context", top_k=5, expand=False, score_share=0, token_budget=100000, **ask
        )
        assert {b["document_id"] for b in blocks} == set(ids(hits))
        plain = run(connection, "context", top_k=5, expand=False, **{**ask, "intent": "off"})
        assert {b["document_id"] for b in plain} != set(ids(hits))
        assert self.explanation(connection, QUERY, intent="KNOWN_ITEM")["alpha"] == 0.1
        assert self.explanation(connection, QUERY, intent="relational")["alpha"] == 0.4
        run(connection, "configure_library", library=manual, settings={"alpha": 0.95})
        assert self.explanation(connection, QUERY, intent="relational")["alpha"] == 1
        assert self.explanation(connection, QUERY, intent="KNOWN_ITEM")["alpha"] == 0.1

    def test_a_library_may_want_one_and_others_do_not(self, connection, manual):
        ingest(connection, "second", [page("a.md", "Roles of the server.")])
        settings = {"intent": "auto", "query_expansion": "both"}
        run(connection, "configure_library", library="second", settings=settings)
        for library, wanted in ((None, False), ("second", True)):
            [hit, *_] = search(connection, "server roles", library=library, explain=True)
            assert (hit["explanation"]["intent"] is not None) is wanted
            assert (hit["explanation"]["query_expansion"] == "both") is wanted
        run(connection, "configure_library", library=manual, settings={"intent": "auto"})
        assert self.explanation(connection, QUERY)["intent"] is not None
        assert self.explanation(connection, QUERY, intent="off")["intent"] is None
        with refused(connection, "PGR01", "GUESSING"):
            run(connection, "configure_library", library=manual, settings={"intent": "GUESSING"})


def test_expansion_shows_its_words(connection, manual):
    ingest(connection, "aliases", [page("a.md", "Start the kernel again."), page("b.md", "Else.")])
    run(connection, "set_synonyms", library="aliases", synonyms={"reboot": ["kernel"]})
    ask = {"library": "aliases", "alpha": 0}
    assert search(connection, "reboot", **ask) == []
    [hit] = search(connection, "reboot", query_expansion="synonyms", explain=True, **ask)
    assert hit["key"] == "a.md"
    assert hit["explanation"]["query_expansion"] == "synonyms"
    assert "kernel" in {w["lexeme"] for w in hit["explanation"]["keyword"]["lexemes"]}


class TestReranked:
    def test_scores_of_a_reranker_order_the_hits_then_diversity(self, connection, manual):
        fused = {hit["document_id"]: hit for hit in search(connection, QUERY, top_k=30)}
        scores = {str(id_): n / 100 for n, id_ in enumerate(fused)}
        hits = search(connection, QUERY, top_k=5, reranked=scores)
        assert ids(hits) == list(fused)[:-6:-1]
        for hit in hits:
            assert hit["score"] == scores[str(hit["document_id"])]
            before = fused[hit["document_id"]]
            for part in ("hybrid_score", "keyword_score", "semantic_score"):
                assert hit[part] == before[part]
            assert hit["cursor"] is None
        [last] = search(connection, QUERY, top_k=5, reranked={ids(hits)[-1]: 0.1, 999999: 0.9})
        assert last["document_id"] == hits[-1]["document_id"]
        fused = search(connection, QUERY, top_k=30)
        scores = {str(hit["document_id"]): 0.5 for hit in fused}
        hits = search(connection, QUERY, top_k=5, reranked=scores, mmr_lambda=0.1)
        assert ids(hits)[0] == ids(fused)[0]
        assert ids(hits) != ids(fused)[:5]
        with refused(connection, "PGR01", "one page of results", "Raise top_k"):
            search(connection, QUERY, reranked={"1": 0.5}, after="0.5:1:100:100")
        for reranked in [[1], {"x": 1}, {"1": 2}, {"1": "1"}, 0.5]:
            with refused(connection, "PGR01", "reranked must be scores from 0 to 1 by document_id"):
                search(connection, QUERY, reranked=Jsonb(reranked))

    def test_a_context_and_an_answer_begin_with_them(self, connection, manual):
        fused = search(connection, QUERY, top_k=30)
        scores = {str(hit["document_id"]): n / 100 for n, hit in enumerate(fused, start=1)}
        given = {"top_k": 3, "expand": False, "score_share": 0, "reranked": scores}
        blocks = run(connection, "context", query=QUERY, **given)
        [material] = run(connection, "answer_context", question=QUERY, intent="off", **given)
        last = {hit["document_id"]: hit["hybrid_score"] for hit in fused[-3:]}
        for rows in (blocks, material["sources"]):
            assert {row["document_id"]: row["hybrid_score"] for row in rows} == last
            assert {row["score"] for row in rows} == {0.28, 0.29, 0.3}
