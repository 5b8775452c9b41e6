"""Hits in the order of a reranker, and scores out of what models answer."""

import logging
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrag.models.reranking import rerank
from pgrag.models.reranking.order import Scale


class Scores:
    """A reranker that says what it is told, and keeps what it was asked."""

    name = "told"

    def __init__(self, *scores):
        self.scores = list(scores)
        self.asked = []

    def rerank(self, query, texts):
        self.asked.append((query, list(texts)))
        return self.scores


def row(number, score, **fields):
    return {"document_id": number, "score": score, "content": f"text {number}", **fields}


def test_score_of_the_reranker_becomes_the_score_and_the_fused_one_stays():
    rows = [row(1, 0.9), row(2, 0.8), row(3, 0.7)]
    found = rerank("q", rows, Scores(0.1, 0.3, 0.2), limit=2)
    scores = [(r["document_id"], r["score"], r["hybrid_score"]) for r in found.rows]
    assert scores == [(2, 0.3, 0.8), (3, 0.2, 0.7)]
    assert found.applied
    assert found.notices == []
    assert rows[0] == row(1, 0.9), "rows that were given stay as they are"
    [found] = rerank("q", [row(1, 0.2, hybrid_score=0.9, cursor="0.2:1")], Scores(0.5)).rows
    assert (found["score"], found["hybrid_score"]) == (0.5, 0.9)
    assert found["cursor"] is None, "it leads nowhere in the new order"
    [found] = rerank("q", [row(1, 0.2, hybrid_score=None)], Scores(0.5)).rows
    assert found["hybrid_score"] == 0.2
    rows = [row(n, 1 / n) for n in (5, 3, 4)]
    assert [r["document_id"] for r in rerank("q", rows, Scores(0.5, 0.5, 0.5)).rows] == [5, 3, 4]


def test_model_reads_where_a_text_stands_and_scores_are_logged(caplog):
    reranker = Scores(0.1, 0.2, 0.3)
    rows = [
        row(1, 0.9, title="Tides", path=["Harbour", "Tides", "Sill"]),
        row(2, 0.8, title="Fees", path=[]),
        row(3, 0.7, title="", path=[], content="x" * 9000),
    ]
    rerank("when", rows, reranker)
    [(query, texts)] = reranker.asked
    assert query == "when"
    assert texts == ["Harbour › Tides › Sill\ntext 1", "Fees\ntext 2", "x" * 8000]
    reranker = Scores()
    assert rerank("q", [], reranker).rows == []
    assert reranker.asked == []
    with caplog.at_level(logging.DEBUG, "pgrag.models.reranking"):
        rerank("q", [row(7, 0.25)], Scores(0.75))
    assert "document 7, score 0.750000 by told, hybrid_score 0.250000" in caplog.text


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_scores_keep_the_order_of_the_answers_within_0_and_1(answers):
    scores = Scale().scores(answers)
    assert all(0 <= score <= 1 for score in scores)
    order = sorted(range(len(answers)), key=lambda place: answers[place])
    ordered = [scores[place] for place in order]
    assert ordered == sorted(ordered)


def test_probabilities_stay_what_they_are_and_the_logit_of_0_is_a_half():
    assert Scale().scores([0.0, 0.25, 1.0, 1.0000002, -1e-7]) == [0.0, 0.25, 1.0, 1.0, 0.0]
    scale = Scale()
    assert scale.scores([0.0, -700.0, 700.0, 2.0]) == [
        0.5, pytest.approx(0), pytest.approx(1), pytest.approx(1 / (1 + math.exp(-2))),
    ]  # fmt: skip
    assert scale.scores([0.0]) == [0.5]
