"""Keyset cursors: the pages of a list, laid side by side, are the list."""

import random
from itertools import groupby
from operator import itemgetter

import pytest
from corpus import Author, pages
from library import ids, ingest, page, refused, run, search, walk

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


def cursor(connection, score, document_id, start=100):
    """The cursor of a hit."""
    statement = "select _pgrag.cursor_of(%s, %s, %s, 0) as made"
    return connection.execute(statement, [score, document_id, start]).fetchone()["made"]


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
        # In a single list, because there are more passages than are read at once.
        {"levels": [0, 1, 2], "candidate_count": 100},
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
    assert search(connection, QUERY, library=manual, after=cursor(connection, 0, 1 << 52)) == []
    made = cursor(connection, 0.5, 1)
    other = made[:5] + ("A" if made[5] != "A" else "B") + made[6:]
    for wrong in [
        "", "x", "0.5", "0.5:1:100:100", "p1:80", made[:-1], made + "A", made + "=", f" {made}",
        other, made.swapcase(), made[::-1], "A" * 22, "_" * 22, "A" * 25, "_" * 28, "A" * 400,
        f"{made}; drop table x", cursor(connection, float("nan"), 1), cursor(connection, -0.5, 1),
        cursor(connection, float("inf"), 1), cursor(connection, 1e9, 1),
        cursor(connection, 0.5, -1), cursor(connection, 0.5, 1, start=0),
        cursor(connection, 0.5, 1, start=20001),
    ]:  # fmt: skip
        with refused(connection, "PGR07", "was not made by a search"):
            search(connection, QUERY, library=manual, after=wrong)


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
            assert {hit["document_id"] for hit in whole} <= set(ids)
        read = "select (_pgrag.read_cursor(%s)).depth"
        depth = [connection.execute(read, [hit["cursor"]]).fetchone()["depth"] for hit in walked]
        order = [
            (deep, -hit["score"], hit["sort_order"])
            for deep, hit in zip(depth, walked, strict=True)
        ]
        assert order == sorted(order)
        assert len(set(depth)) > 1


def test_cursors_are_short_and_hold_the_score_to_the_last_bit(connection):
    chosen = random.Random(7)
    scores = [chosen.random() ** power for power in range(1, 30) for _ in range(20)]
    scores += [0.0, 1.0, 5e-300, 1 / 3, 0.1 + 0.2, 60000.0]
    for score in scores:
        document_id, start = (
            chosen.randrange(1, 1 << chosen.randrange(1, 54)),
            chosen.choice((1, 80)),
        )
        times = chosen.randrange(8)
        statement = (
            "select c, r.* from _pgrag.cursor_of(%s, %s, %s, %s) as c, _pgrag.read_cursor(c) as r"
        )
        row = connection.execute(statement, [score, document_id, start, times]).fetchone()
        depth = min(start * 5**times, 20000)
        assert [*row.values()][1:] == [score, document_id, depth, start]
        assert len(row["c"]) <= 26
        assert row["c"][0].isalnum(), "it is no option on the command line"


@pytest.mark.parametrize(
    "arguments", [{"candidate_count": 1500}, {}, {"fusion": "rrf"}, {"graph": True}], ids=str
)
def test_page_by_page_the_limit_counts_pages_and_cursors_miss_none(connection, large, arguments):
    ask = {"query": "server user", "library": large, "page_hits": 3, **arguments}
    whole = run(connection, "search", top_k=100, **ask)
    pages = [list(rows) for _, rows in groupby(whole, itemgetter("page_id"))]
    assert len(pages) == len({hit["page_id"] for hit in whole}) == 27
    assert {len(rows) for rows in pages} <= {1, 2, 3}
    assert max(len(rows) for rows in pages) == 3
    best = [rows[0]["score"] for rows in pages]
    assert best == sorted(best, reverse=True)
    assert all(rows == sorted(rows, key=lambda hit: -hit["score"]) for rows in pages)
    walked, after = [], None
    while part := run(connection, "search", top_k=10, after=after, **ask):
        assert len({hit["page_id"] for hit in part}) <= 10
        walked += part
        after = part[-1]["cursor"]
    if "candidate_count" in arguments:
        assert ids(walked) == ids(whole)
    assert len({hit["page_id"] for hit in walked}) == 27
    assert len(set(ids(walked))) == len(walked)
