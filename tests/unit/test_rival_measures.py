"""The comparison with other systems: fusing, the ranking of pages, the queries, the report."""

import numpy as np
import pytest
from benchmarks.rivals import asked, report
from benchmarks.rivals.measuring import _means, first_pages
from benchmarks.rivals.rival import RRF_K, SYSTEMS, System, fuse

ROW = {
    "ndcg@10": 0.7, "recall@10": 0.8, "p50": 5.0, "p95": 9.0, "processor": 4.0, "margin": 0.02,
    "behind": {"by": 0, "from": 0, "to": 0},
}  # fmt: skip
FOUND = {
    "judged": 20, "timed": 10, "passages": 1234, "machine": "PostgreSQL 17",
    "versions": {"pgrag": {}, "usual recipe in SQL": {}, "tantivy": {"tantivy": "1.2"}, "x": None},
    "systems": {
        "pgrag": ROW,
        "usual recipe in SQL": ROW | {"processor": 40.0, "ndcg@10": 0.6},
        "tantivy": ROW | {
            "processor": 0.4, "behind": {"by": 0.15, "from": -0.01, "to": 0.31},
        },
    },
}  # fmt: skip


def test_rankings_are_fused_by_reciprocal_ranks_and_pages_ranked_by_their_best_passage():
    assert fuse([1, 2, 3], [2, 4]) == [2, 1, 4, 3]
    assert fuse([7], [3]) == [3, 7]
    assert fuse([], []) == []
    # Second in both lists is better than first in one: 2 / 62 > 1 / 61.
    assert RRF_K == 60
    assert fuse([1, 2], [3, 2])[0] == 2
    assert first_pages(["b", "a", "b", "c", "a"], ["c"]) == ["b", "a"]
    assert first_pages([str(n) for n in range(30)], ["0"]) == [str(n) for n in range(1, 11)]


def test_questions_for_the_clock_have_six_to_twelve_words():
    questions = asked.MORE["mdn-questions"].read_text("utf-8").splitlines()
    assert len(set(questions)) == len(questions) >= 150
    assert {len(question.split()) for question in questions} <= {*range(6, 13)}


def test_a_system_without_its_package_has_no_versions():
    assert System("x", "x", ("pytest", "no-such-package")).versions() is None
    assert System("x", "x", ("pytest",)).versions() == {"pytest": pytest.__version__}
    assert [system.packages for system in SYSTEMS][:2] == [(), ()]


def test_the_report_says_what_was_not_run_and_how_to_install_it():
    text = report.tables({"mdn-anchor": FOUND})
    rows = {
        cells[0]: cells[1:]
        for line in text.splitlines()
        if line.startswith("| ")
        for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
    }
    assert rows["pgrag"] == ["0.700 ± 0.020", "", "0.800", "5.0", "9.0", "4.0", "10.0"]
    assert rows["tantivy"][1] == "0.150 (-0.010 to +0.310)"
    assert (rows["tantivy"][-1], rows["x"]) == ("100.0", ["not run", *[""] * 6])
    assert "Not run: x. To install them: make bench RIVALS=1" in text
    assert "tantivy 1.2" in text


def test_a_system_is_behind_query_by_query():
    ours = {"ndcg@10": np.array([1.0, 0.8, 0.6, 0.4]), "recall@10": np.ones(4)}
    theirs = {"ndcg@10": ours["ndcg@10"] - 0.1, "recall@10": np.zeros(4)}
    row = _means(theirs, ours)
    # Equal differences leave no doubt, however much the queries differ.
    assert row["behind"] == {"by": 0.1, "from": 0.1, "to": 0.1}
    assert (row["ndcg@10"], row["recall@10"]) == (0.6, 0)
    assert row["margin"] == pytest.approx(1.96 * 0.2582 / 2, abs=0.001)
