"""What searches read must not grow unnoticed: a guard that does not depend on the clock."""

import pytest
from benchmarks import cost


def test_no_search_reads_more_than_was_accepted(capsys):
    assert cost.main([]) == 0, capsys.readouterr().err


@pytest.mark.parametrize(("now", "expected"), [
    ((105, 50), []),
    ((106, 50), ["search: blocks 100 -> 106"]),
    ((100, 60), ["search: vectors 50 -> 60"]),
])  # fmt: skip
def test_growth_is_named(now, expected):
    blocks, vectors = now
    costs = {"search": {"blocks": blocks, "vectors": vectors}}
    assert cost.grown(costs, {"search": {"blocks": 100, "vectors": 50}}) == expected
