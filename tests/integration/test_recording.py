"""A search whose order was made outside the database is written down in that order."""

import logging

import pytest
from psycopg.conninfo import make_conninfo

from pgrag.ground.connections import Database
from pgrag.models.reranking import rerank
from pgrag.search.recording import record
from pgrag.search.search import Search

ROWS = [
    {
        "library": "guide", "version": "1.0", "key": f"{name}.md", "page_id": place,
        "document_id": 10 + place, "title": name, "path": [], "content": text, "score": score,
        "keyword_score": score, "semantic_score": None, "hybrid_score": score, "cursor": "x",
    }
    for place, (name, text, score) in enumerate(
        [("long", "a long text", 0.9), ("short", "text", 0.5)], start=1
    )
]  # fmt: skip


class ShortestFirst:
    name = "shortest-first"

    def rerank(self, query, texts):
        return [1 / len(text) for text in texts]


def kept(database: Database, found: object) -> dict:
    [row] = database.call("search_record", search_id=found)
    return row["search_record"]


def test_order_and_scores_are_those_of_the_reranker(database):
    reranked = rerank("text", ROWS, ShortestFirst())
    found = record(
        database, "cli", "text", reranked.rows,
        {"library": "guide", "rerank": True, "alpha": None},
        timings={"rerank": 12.5}, duration_ms=20.0,
    )  # fmt: skip
    search = kept(database, found)
    assert (search["client"], search["library"], search["version"]) == ("cli", "guide", "1.0")
    assert search["parameters"] == {"rerank": True}
    assert (search["timings"], search["duration_ms"]) == ({"rerank": 12.5}, 20.0)
    assert [hit["page_key"] for hit in search["hits"]] == ["short.md", "long.md"]
    assert [hit["hybrid_score"] for hit in search["hits"]] == [0.5, 0.9]
    assert search["hits"][0]["score"] == search["top_score"] == reranked.rows[0]["score"]


def test_nothing_found_is_recorded(database):
    search = kept(database, record(database, "rest", "nothing", [], {}))
    assert (search["hit_count"], search["library"], search["hits"]) == (0, None, [])


@pytest.mark.parametrize("read_only", [False, True])
def test_only_a_search_that_is_written_down_has_an_id(database, read_only):
    """Also one that found nothing, of which no row could tell."""
    options = f"-c default_transaction_read_only={'on' if read_only else 'off'}"
    with Database(make_conninfo(database.url, options=options)) as asked:
        found = Search(asked, None, client="rest").keyword_search("xylophone")
    assert found.rows == []
    if read_only:
        assert found.search_id is None
    else:
        assert kept(database, found.search_id)["query"] == "xylophone"


def test_database_that_is_gone_costs_no_search(caplog):
    with (
        Database("postgresql://nobody@127.0.0.1:1/none", timeout=1) as database,
        caplog.at_level(logging.WARNING),
    ):
        assert record(database, "rest", "q", ROWS, {}) is None
    assert "search not recorded" in caplog.text


@pytest.mark.parametrize("odd", [{"weight": float("nan")}, {"text": "a\x00b"}])
def test_odd_parameters_cost_no_search(database, odd):
    assert record(database, "rest", "q", ROWS, odd) is None


def test_a_context_is_recorded_with_ranks_scores_and_the_arguments_in_force(database):
    pages = [
        {
            "key": f"{name}.md", "title": name, "body": text, "source_hash": text,
            "documents": [{"content": text}],
        }
        for name, text in (("valve", "The valve opens at four bar."), ("pump", "A pump stops."))
    ]  # fmt: skip
    database.call("ingest_pages", library="plant", pages=pages)
    database.call("embed_pending", library="plant")
    database.call("finish_version", library="plant", version="")
    found = Search(database, None, client="rest").context(
        "when does the valve open", library="plant", top_k=7, intent="auto"
    )
    search = kept(database, found.search_id)
    [hit] = [each for each in search["hits"] if each["page_key"] == "valve.md"]
    assert (hit["keyword_rank"], hit["semantic_rank"]) == (1, 1)
    assert hit["keyword_score"] > 0
    assert hit["semantic_score"] > 0
    parameters = search["parameters"]
    assert (parameters["function"], parameters["top_k"]) == ("context", 7)
    assert (parameters["token_budget"], parameters["expand"]) == (4000, True)
    assert parameters["fusion"] == "absolute"
