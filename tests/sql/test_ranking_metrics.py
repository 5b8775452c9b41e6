"""The measures of rankings, against trec_eval's own code and by hand."""

import random

import pytest
import pytrec_eval
from library import refused, value

DEPTHS = (1, 3, 5, 10, 20, 50)
MEASURES = {"ndcg": "ndcg_cut", "recall": "recall", "precision": "P", "hit_rate": "success"}


def measured(connection, metric, grades, judged):
    return value(connection, "select pgrag.ranking_metric(%s, %s::integer[], %s::integer[])",
                 metric, grades, judged)  # fmt: skip


def random_case(seed):
    """Judgements and scores, with ties, unjudged pages, and pages that were not returned."""
    chance = random.Random(seed)
    pages = [f"p{number:03}" for number in range(60)]
    judged = {page: chance.choice([0, 0, 0, 1, 1, 2, 3]) for page in chance.sample(pages, 15)}
    found = chance.sample(pages, chance.choice([0, 2, 7, 30, 60]))
    return judged, {page: chance.randint(0, 12) / 4 for page in found}


@pytest.mark.parametrize("seed", range(40))
def test_measures_are_those_of_trec_eval(module_connection, seed):
    judged, scores = random_case(seed)
    # Equal scores: trec_eval goes by the id, the last one first.
    ranking = sorted(scores, key=lambda page: (scores[page], page), reverse=True)
    grades = [judged.get(page, 0) for page in ranking]
    wanted = {f"{name}.{','.join(map(str, DEPTHS))}" for name in MEASURES.values()} | {"recip_rank"}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": judged}, wanted)
    # trec_eval says nothing about a query that got no result.
    expected = evaluator.evaluate({"q": scores}).get("q", {})
    for ours, theirs in MEASURES.items():
        for depth in DEPTHS:
            found = measured(module_connection, f"{ours}@{depth}", grades, [*judged.values()])
            assert found == pytest.approx(expected.get(f"{theirs}_{depth}", 0), abs=1e-6)
    found = measured(module_connection, "mrr", grades, [*judged.values()])
    assert found == pytest.approx(expected.get("recip_rank", 0), abs=1e-6)


def test_gains_depths_and_whole_lists_by_hand(module_connection):
    """(2^1 - 1)/log2(2) + (2^3 - 1)/log2(3) over 7/1 + 1/log2(3)."""
    found = measured(module_connection, "ndcg_exp@10", [1, 3], [3, 1, 0])
    assert found == pytest.approx((1 + 7 / 1.5849625) / (7 + 1 / 1.5849625), abs=1e-6)
    assert measured(module_connection, "mrr@10", [0] * 9 + [2], [2]) == pytest.approx(0.1)
    assert measured(module_connection, "mrr@9", [0] * 9 + [2], [2]) == 0
    grades = [0] * 30 + [1, 1]
    assert measured(module_connection, "recall", grades, [1, 1, 1, 1]) == 0.5
    assert measured(module_connection, "precision", grades, [1]) == 2 / 32
    assert measured(module_connection, "hit_rate", grades, [1]) == 1
    for metric in ["ndcg", "mrr@10", "recall@20", "precision@5", "hit_rate@1"]:
        assert measured(module_connection, metric, [], [1]) == 0
        assert measured(module_connection, metric, [0, 0], [0]) == 0
        assert measured(module_connection, metric, [], []) == 0
    for metric in ["ndgc@10", "ndcg@0", "ndcg@", "ndcg@-1", "ndcg@ten", "", None]:
        with refused(module_connection, "PGR01", "There is no metric", "such as ndcg@10"):
            measured(module_connection, metric, [1], [1])
