"""Keyset cursors: the pages of a list, laid side by side, are the list."""

import random

import pytest
from corpus import Author, pages
from library import ingest, page, refused, run, search, walk

QUERY = "restart the server of a user"
WORDS = ["server", "user", "file", "node", "role", "key", "log", "disk", "lock", "path", "port"]


@pytest.fixture(scope="module")
def manual(module_connection):
    """Few enough passages that both retrievers read all."""
    ingest(module_connection, "manual", pages(Author(random.Random(5)), 12))
    return "manual"


@pytest.fixture(scope="module")
def large(module_connection):
    """More passages than the retrievers read at once, many with equal scores."""
    chosen = random.Random(6)
    rows = [
        page(f"{n}.md", *(" ".join(chosen.choices(WORDS, k=3)) for _ in range(40)), title="Part")
        for n in range(27)
    ]
    ingest(module_connection, "large", rows, language="simple")
    return "large"


def places(hits):
    return [(hit["document_id"], hit["score"]) for hit in hits]


@pytest.mark.parametrize("size", [1, 3, 10])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"fusion": "rrf"},
        {"fusion": "rrf", "rrf_weights": [900.0, 1.0], "rrf_k": 0},
        {"alpha": 0},
        {"alpha": 1},
        {"levels": [0, 1, 2]},
        {"max_per_page": 1},
        {"min_score": 0.1},
        {"filters": {"type": "guide"}},
    ],
    ids=str,
)
def test_pages_are_the_list(connection, manual, size, arguments):
    ask = {"query": QUERY, "library": manual, **arguments}
    whole = run(connection, "search", top_k=1000, **ask)
    assert places(walk(connection, "search", size, **ask)) == places(whole)
    assert len(whole) == len({hit["document_id"] for hit in whole})


def test_order_is_by_score_then_position_and_always_the_same(connection, large, manual):
    plain = {"levels": [2], "page_decay": 1}
    hits = search(connection, "server user", library=large, top_k=150, **plain)
    order = [(-hit["score"], hit["sort_order"]) for hit in hits]
    assert order == sorted(order)
    assert len({hit["score"] for hit in hits}) < len(hits), "some scores are equal"
    first = search(connection, "server user", library=large, top_k=50)
    for _ in range(3):
        assert search(connection, "server user", library=large, top_k=50) == first
    assert search(connection, QUERY, library=manual, after="0:999999999:100:100") == []
    for cursor in [
        "", "x", "0.5", "0.5:", ":1", "0.5:1:2", "0.5:x", "1e5:1", "0.5:99999999999999999999",
        "-1:1", "0.5:1:0:0", "0.5:1:100:500", "0.5:1:99999:100", "0.5:1; drop table x",
        "0.5:1 or true", "NaN:1", "0." + "1" * 400 + ":1", "1e-999:1",
    ]:  # fmt: skip
        with refused(connection, "PGR07", "was not made by a search"):
            search(connection, QUERY, library=manual, after=cursor)


@pytest.mark.parametrize("function", ["keyword_search", "semantic_search"])
def test_pages_of_one_retriever_reach_as_deep_as_wanted(connection, large, function):
    ask = {"query": "server user", "library": large, "page_decay": 1}
    if function == "keyword_search":
        ask["page_evidence"] = 0  # What pages add comes after the retriever, for those it found.
    whole = run(connection, function, top_k=150, **ask)
    assert len(whole) == 150
    assert places(walk(connection, function, 25, **ask)[:150]) == places(whole)


def test_pages_of_both_retrievers_lose_and_repeat_nothing(connection, large):
    """Deeper lists follow the first, each without the hits of those before."""
    for arguments in [{}, {"fusion": "rrf"}, {"max_per_page": 3}, {"min_score": 0.3}]:
        ask = {"query": "server user", "library": large, **arguments}
        walked = walk(connection, "search", 50, limit=5000, **ask)
        ids = [hit["document_id"] for hit in walked]
        assert len(set(ids)) == len(ids)
        whole = run(connection, "search", top_k=1000, **ask)
        if "max_per_page" in arguments:
            assert len(walked) == len(whole) == 27 * 3
        else:
            texts = [hit["content"] for hit in walked]
            assert {hit["content"] for hit in whole} <= set(texts)
            assert len(set(texts)) == len(texts)
        depth = [int(hit["cursor"].split(":")[2]) for hit in walked]
        order = [
            (deep, -hit["score"], hit["sort_order"])
            for deep, hit in zip(depth, walked, strict=True)
        ]
        assert order == sorted(order)
        assert len(set(depth)) > 1
