"""What searches read must not grow unnoticed: a guard that does not depend on the clock."""

from __future__ import annotations

import pytest
from benchmarks import cost
from benchmarks.cost import Cost


def test_no_search_reads_more_than_was_accepted(capsys):
    assert cost.main([]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (Cost(105, 50), []),
        (Cost(80, 20), []),
        (Cost(106, 50), ["search: blocks 100 -> 106"]),
        (Cost(100, 60), ["search: scored 50 -> 60"]),
    ],
)
def test_growth_is_named(now, expected):
    assert cost.grown({"search": now}, {"search": Cost(100, 50)}) == expected


def test_every_search_that_is_measured_has_an_accepted_cost():
    assert {*cost.read_baseline()} == {*cost.SEARCHES, *cost.BY_HNSW}
