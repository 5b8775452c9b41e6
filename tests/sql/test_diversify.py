"""Maximal marginal relevance for a list that was ranked elsewhere."""

import pytest
from library import ingest, page, refused, run

TEXTS = [
    "Restart the server with the red button.",
    "Restart the server with the red button.",
    "A cake of apples and cinnamon.",
    "Restart the server with the green button.",
]


@pytest.fixture(scope="module")
def documents(module_connection):
    """Two equal texts, one of another kind, and one much like the first two."""
    ingest(module_connection, "mixed", [page(f"{n}.md", text) for n, text in enumerate(TEXTS)])
    rows = module_connection.execute(
        "select document_id from pgrag.documents order by document_id"
    ).fetchall()
    return [row["document_id"] for row in rows]


def places(connection, documents, scores, **arguments):
    """The positions, in the given list, of the passages returned."""
    rows = run(connection, "diversify", document_ids=documents, scores=scores, **arguments)
    assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
    for row in rows:
        assert row["score"] == scores[documents.index(row["document_id"])]
    return [documents.index(row["document_id"]) for row in rows]


def test_lambda_weighs_score_against_difference(connection, documents):
    for scores, mmr_lambda, first in [
        ([0.9, 0.8, 0.6, 0.79], 0.5, [0, 2, 3, 1]),  # what repeats comes last
        ([0.1, 0.8, 0.6, 0.7], 1, [1, 3, 2, 0]),  # the order of the scores
        ([0.9, 0.8, 0.0, 0.7], 0, [0, 2]),  # difference alone
        ([0.5] * 4, 1, [0, 1, 2, 3]),  # equal scores keep the given order
    ]:
        assert places(connection, documents, scores, mmr_lambda=mmr_lambda)[: len(first)] == first


def test_the_scale_of_the_scores_means_nothing_also_below_zero(connection, documents):
    for scale in [1000, 1e-6]:
        scores = [0.9, 0.8, 0.6, 0.7]
        scaled = [scale * score for score in scores]
        for mmr_lambda in (0.2, 0.5, 0.9):
            assert places(connection, documents, scaled, mmr_lambda=mmr_lambda) == places(
                connection, documents, scores, mmr_lambda=mmr_lambda
            )
    logits = [4.0, 3.5, -6.0, 3.0]
    for mmr_lambda in (0.2, 0.5, 0.9):
        shifted = [logit + 6 for logit in logits]
        assert places(connection, documents, logits, mmr_lambda=mmr_lambda) == places(
            connection, documents, shifted, mmr_lambda=mmr_lambda
        )
    assert places(connection, documents, [-8.0, -7.0, -9.0, -7.5], mmr_lambda=1) == [1, 3, 0, 2]


def test_a_passage_counts_once_and_as_many_come_as_asked_for(connection, documents):
    scores = [0.9, 0.8, 0.6, 0.7]
    every = places(connection, documents, scores)
    assert sorted(every) == [0, 1, 2, 3]
    assert places(connection, documents, scores, top_k=2) == every[:2]
    rows = run(connection, "diversify", document_ids=[documents[0], documents[2], documents[0]],
               scores=[0.1, 0.5, 0.9])  # fmt: skip
    assert [(r["document_id"], r["score"]) for r in rows] == [
        (documents[0], 0.9),
        (documents[2], 0.5),
    ]
    assert run(connection, "diversify", document_ids=[], scores=[]) == []


def test_refuses_what_makes_no_sense_and_says_what_there_is_not(connection, documents):
    for arguments, message in [
        ({"scores": [0.5]}, "got 4 passages and 1 scores"),
        ({"scores": [0.5, None, 0.1, 0.1]}, "finite numbers"),
        ({"scores": [0.5, float("nan"), 0.1, 0.1]}, "finite numbers"),
        ({"scores": [0.5, float("inf"), 0.1, 0.1]}, "finite numbers"),
        ({"document_ids": [None], "scores": [1.0]}, "null"),
        ({"mmr_lambda": 1.5}, "mmr_lambda must be 0 to 1, got 1.5."),
        ({"top_k": 0}, "top_k must be 1 to 1000, got 0."),
    ]:
        given = {"document_ids": documents, "scores": [0.9, 0.8, 0.7, 0.6], **arguments}
        with refused(connection, "PGR01", message):
            run(connection, "diversify", **given)
    with refused(connection, "PGR05", "no passage 999999"):
        run(connection, "diversify", document_ids=[documents[0], 999999], scores=[0.5, 0.4])
    with refused(connection, "PGR09", "nonesuch"):
        run(connection, "diversify", document_ids=documents, scores=[0.5] * 4, model="nonesuch")
