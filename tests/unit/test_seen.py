"""What an agent has been shown, as a text that it gives back."""

import random

import pytest

from pgrag.ground.errors import InvalidInput
from pgrag.mcp.seen import MOST, pack, unpack

LIBRARY = 1 << 33


@pytest.mark.parametrize("ids", [
    [], [0], [LIBRARY], [2**63 - 1], [LIBRARY, 2 * LIBRARY - 1], [*range(1000)],
    [*range(LIBRARY, LIBRARY + 999), 2**62], [3 * LIBRARY + 7, 5, 3 * LIBRARY + 7],
])  # fmt: skip
def test_ids_come_back_sorted_and_once(ids):
    assert unpack(pack(ids)) == sorted(set(ids))


@pytest.mark.parametrize(("count", "longest"), [(5, 20), (15, 40), (50, 100)])
def test_it_is_short_for_passages_of_one_library(count, longest):
    chance = random.Random(count)
    ids = [4 * LIBRARY + chance.randrange(20_000) for _ in range(count)]
    assert len(pack(ids)) <= longest


def test_as_many_are_kept_as_a_search_can_leave_out():
    assert unpack(pack(range(MOST + 5))) == [*range(5, MOST + 5)]


def test_nothing_else_is_taken_for_it():
    right = pack([LIBRARY + 5, LIBRARY + 900])
    chance = random.Random(7)
    letters = "abcXYZ019_-"
    wrong = ["", "x", "é", "====", "a b", "A" * 8000, "A" * 4, right[:-1], right + "A", right + "="]
    wrong += ["".join(chance.choices(letters, k=chance.randrange(1, 30))) for _ in range(500)]
    for text in wrong:
        with pytest.raises(InvalidInput, match="is not what a reply gave"):
            unpack(text)
