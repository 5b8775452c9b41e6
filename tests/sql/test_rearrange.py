"""What happens after the fusion, against the same steps done by hand on the fused list."""

import random
from collections import defaultdict
from typing import Any

import pytest
from library import Row, contents, document, ids, ingest, page, run, search, walk
from pgvector import HalfVector

QUERY = "restart the server of a user"
WORDS = [
    "server", "user", "file", "node", "role", "key", "log", "disk", "lock", "path", "port",
    "restart", "stop", "read", "write",
]  # fmt: skip
SECTIONS = ["Start", "Run", "Stop"]


@pytest.fixture(scope="module")
def manual(module_connection):
    """Few enough passages that every list of candidates is the whole library."""
    chosen = random.Random(11)
    rows = []
    for number in range(9):
        documents = [
            document("Server and user in short.", level=0, is_summary=True, position="intro")
        ]
        for section in SECTIONS[: 1 + number % 3]:
            headed: dict[str, Any] = {"heading": section, "root_section": section, "depth": 1}
            headed |= {"path": [section], "position": "intro" if section == "Start" else "middle"}
            documents.append(
                document(f"{section} the server.", level=1, is_summary=True, parent=0, **headed)
            )
            parent = len(documents) - 1
            documents += [
                document(" ".join(chosen.choices(WORDS, k=6)), parent=parent, **headed)
                for _ in range(1 + number % 4)
            ]
        rows.append(page(f"{number}.md", *documents, title=f"Part {number}"))
    ingest(module_connection, "manual", rows)
    return "manual"


@pytest.fixture
def fused(connection, manual):
    """The list before it is rearranged."""
    return listed(connection, "document")


def listed(connection, unit="document", **arguments):
    given = {"library": "manual", "levels": [0, 1, 2], "page_decay": 1, **arguments}
    return search(connection, QUERY, top_k=200, candidate_count=200, unit=unit, **given)


def pages_of(rows):
    """The hits of each page, in the order of the list."""
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["page_id"]].append(row)
    return found


VARIANTS: list[dict[str, Any]] = [
    {"unit": "page", "aggregate": "max"},
    {"unit": "page", "aggregate": "mean"},
    {"unit": "page", "aggregate": "rrf"},
    {"hierarchy": "depth"},
    {"hierarchy": "breadth"},
    {"hierarchy": "overview"},
    {"mmr_lambda": 0.5},
    {"mmr_lambda": 0},
    {"hierarchy": "depth", "max_per_page": 2},
    {"unit": "page", "hierarchy": "breadth", "mmr_lambda": 0.8},
    {"fusion": "rrf", "hierarchy": "breadth"},
    {"fusion": "rrf", "unit": "page", "aggregate": "mean", "mmr_lambda": 0.6},
]


@pytest.mark.parametrize("arguments", VARIANTS, ids=str)
class TestEveryWay:
    def test_gives_known_hits_in_order_and_keeps_the_fused_score(
        self, connection, fused, arguments, manual
    ):
        rows = listed(connection, **arguments)
        assert len(set(ids(rows))) == len(rows) > 0
        assert set(ids(rows)) <= set(ids(fused))
        assert all(0 <= row["score"] <= 1 for row in rows)
        fusion = {key: arguments[key] for key in arguments if key == "fusion"}
        before = {r["document_id"]: r["score"] for r in listed(connection, **fusion)}
        for row in listed(connection, **arguments):
            assert row["hybrid_score"] == pytest.approx(before[row["document_id"]])
        scores = [row["score"] for row in rows]
        if arguments.get("mmr_lambda") is None:
            assert scores == sorted(scores, reverse=True)
        assert listed(connection, **arguments) == listed(connection, **arguments)

    @pytest.mark.parametrize("size", [3, 10])
    def test_is_the_list_of_its_parts(self, connection, manual, arguments, size):
        given = {"library": "manual", "candidate_count": 200, "levels": [0, 1, 2], **arguments}
        given["page_decay"] = 1
        walked = walk(connection, "search", size, query=QUERY, **given)
        assert ids(walked) == ids(listed(connection, **arguments))


class TestPages:
    def test_one_hit_a_page_by_the_best_or_the_mean_of_three(self, connection, fused):
        best = {page_id: rows[0]["document_id"] for page_id, rows in pages_of(fused).items()}
        for aggregate in ("max", "mean", "rrf"):
            rows = listed(connection, "page", aggregate=aggregate)
            assert {row["page_id"]: row["document_id"] for row in rows} == best
        expected = {p: rows[0]["score"] for p, rows in pages_of(fused).items()}
        assert {r["page_id"]: r["score"] for r in listed(connection, "page")} == expected
        expected = {
            p: sum(r["score"] for r in rows[:3]) / len(rows[:3])
            for p, rows in pages_of(fused).items()
        }
        rows = listed(connection, "page", aggregate="mean")
        assert {row["page_id"]: row["score"] for row in rows} == pytest.approx(expected)

    def test_rrf_is_the_share_of_the_ranks(self, connection, fused):
        for k in [60, 0]:
            shares: dict[int, float] = defaultdict(float)
            for rank, row in enumerate(fused, start=1):
                shares[row["page_id"]] += 1 / (k + rank)
            whole = sum(shares.values())
            rows = listed(connection, "page", aggregate="rrf", rrf_k=k)
            assert {row["page_id"]: row["score"] for row in rows} == pytest.approx(
                {page_id: share / whole for page_id, share in shares.items()}
            )
            assert sum(row["score"] for row in rows) == pytest.approx(1)


class TestHierarchy:
    def test_depth_lowers_what_is_far_from_the_best_hit(self, connection, fused):
        best = fused[0]
        assert best["level"] == 2, "or the sections below are others"
        rows = listed(connection, hierarchy="depth")
        assert rows[0]["document_id"] == best["document_id"]
        factors = {
            row["document_id"]: row["score"] / row["hybrid_score"]
            for row in rows
            if row["hybrid_score"] > 0
        }
        for row in fused:
            if row["document_id"] in factors:
                expected = self.factor(row, best)
                assert factors[row["document_id"]] == pytest.approx(expected)
        assert {0.85, 0.9, 1} == {self.factor(row, best) for row in fused}

    @staticmethod
    def factor(row, best):
        if row["page_id"] != best["page_id"]:
            return 0.85
        return 1 if row["heading"] == best["heading"] else 0.9

    def test_depth_knows_sections_below_the_same_root(self, connection):
        headings = {"Start": "Start", "By hand": "Start", "Stop": "Stop"}
        documents = []
        for heading, root in headings.items():
            headed = {"heading": heading, "root_section": root}
            documents.append(document(heading, level=1, is_summary=True, **headed))
            parent = len(documents) - 1
            documents.append(document("Restart the server.", parent=parent, **headed))
        ingest(connection, "roots", [page("a.md", *documents)])
        rows = search(connection, QUERY, library="roots", hierarchy="depth", levels=[2])
        factors = {row["heading"]: row["score"] / row["hybrid_score"] for row in rows}
        near, far = ("Start", "By hand") if rows[0]["heading"] == "Start" else ("By hand", "Start")
        assert factors == pytest.approx({near: 1, far: 0.95, "Stop": 0.9})

    def test_breadth_lowers_repeats_and_overview_goes_page_by_page(self, connection, fused):
        on_page: dict[Any, int] = defaultdict(int)
        below_root: dict[Any, int] = defaultdict(int)
        expected = {}
        for row in fused:
            root = (row["page_id"], row["heading"])
            repeats = on_page[row["page_id"]] + below_root[root]
            expected[row["document_id"]] = row["score"] * max(1 / (1 + 0.15 * repeats), 0.5)
            on_page[row["page_id"]] += 1
            below_root[root] += 1
        rows = listed(connection, hierarchy="breadth")
        assert {r["document_id"]: r["score"] for r in rows} == pytest.approx(expected)
        assert len(pages_of(rows[:5])) > len(pages_of(fused[:5]))
        rows = listed(connection, hierarchy="overview")
        blocks: list[int] = []
        for hits in pages_of(fused).values():
            overview = [h for h in hits if h["level"] < 2 or h["heading"] == "Start"][:3]
            details = [h for h in hits if h["level"] == 2 and h["heading"] != "Start"][:3]
            overview.sort(key=lambda h: (h["level"], h["sort_order"]))
            details.sort(key=lambda h: h["sort_order"])
            blocks += ids(overview + details)
        rest = [document_id for document_id in ids(fused) if document_id not in blocks]
        assert rest
        assert ids(rows) == blocks + rest
        assert [row["score"] for row in rows] == [row["score"] for row in fused]


class TestDiversity:
    def test_is_maximal_marginal_relevance_whose_scores_stay(self, connection, fused):
        assert ids(listed(connection, mmr_lambda=1)) == ids(fused)
        before = {row["document_id"]: row["score"] for row in fused}
        after = {r["document_id"]: r["score"] for r in listed(connection, mmr_lambda=0.3)}
        assert after == before
        for mmr_lambda in [0, 0.3, 0.7, 0.95]:
            vectors = vectors_of(connection, ids(fused))
            scores = {row["document_id"]: row["score"] for row in fused}
            expected = chosen_by_hand(scores, vectors, mmr_lambda)
            assert ids(listed(connection, mmr_lambda=mmr_lambda)) == expected
            assert ids(fused) != expected

    def test_equal_texts_are_parted_and_without_vectors_the_order_stays(self, connection):
        text = "Restart the server of a user with the red button."
        other = "The key restarts it if a user is in a hurry."
        rows = [page("a.md", text), page("b.md", text), page("c.md", other)]
        ingest(connection, "twins", rows)
        plain, diverse = (
            contents(search(connection, QUERY, library="twins", levels=[2], **arguments))
            for arguments in ({}, {"mmr_lambda": 0.5})
        )
        assert plain[:2] == [text, text]
        assert diverse == [text, other, text]
        rows = [page(f"{n}.md", f"Restart the server {n} of a user.") for n in range(4)]
        ingest(connection, "unembedded", rows, embed=False)
        plain = search(connection, QUERY, library="unembedded", alpha=0)
        assert len(plain) == 4
        diverse = search(connection, QUERY, library="unembedded", alpha=0, mmr_lambda=0.1)
        assert ids(diverse) == ids(plain)

    def test_works_over_libraries_with_other_models(self, connection, manual):
        run(connection, "register_model", name="tiny", dimensions=3)
        pages = [page(f"{n}.md", f"Restart the server {n}.") for n in range(3)]
        ingest(connection, "small", pages, embed=False)
        run(connection, "use_model", library="small", model="tiny")
        pending = run(connection, "pending_embeddings", library="small")
        run(connection, "store_embeddings", library="small", model="tiny",
            text_hashes=[row["text_hash"] for row in pending],
            vectors=[HalfVector(v) for v in ([1, 0, 0], [1, 0, 0], [0, 1, 0])])  # fmt: skip
        rows = search(connection, QUERY, mmr_lambda=0.5, top_k=100)
        assert {"manual", "small"} == {row["library"] for row in rows}


class TestLimitByPage:
    @pytest.mark.parametrize("most", [1, 2])
    @pytest.mark.parametrize("arguments", [{"hierarchy": "depth"}, {"mmr_lambda": 0.4}], ids=str)
    def test_keeps_the_first_of_each_page(self, connection, manual, most, arguments):
        full = listed(connection, **arguments)
        expected = [row for row in full if pages_of(full)[row["page_id"]].index(row) < most]
        assert ids(listed(connection, max_per_page=most, **arguments)) == ids(expected)


def vectors_of(connection, document_ids):
    rows = connection.execute(
        "select document_id, embedding::public.vector::real[] as vector from pgrag.embeddings"
        " where document_id = any (%s)",
        [document_ids],
    )
    return {row["document_id"]: row["vector"] for row in rows}


def chosen_by_hand(scores, vectors, mmr_lambda):
    """The formula of Carbonell and Goldstein; of equals, the first."""
    highest = max(scores.values())
    chosen: list[int] = []

    def value(candidate):
        alike = max((dot(vectors[candidate], vectors[c]) for c in chosen), default=0)
        return mmr_lambda * scores[candidate] / highest - (1 - mmr_lambda) * max(alike, 0)

    while len(chosen) < len(scores):
        left = [candidate for candidate in scores if candidate not in chosen]
        # Halves are rounded: what differs by less than that is equal here.
        chosen.append(max(left, key=lambda c: (round(value(c), 9), -left.index(c))))
    return chosen


def dot(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))
