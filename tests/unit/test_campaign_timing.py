"""Times of two services that are compared in turns."""

from random import Random

import pytest
from campaign.timing import Pace, measured


def noisy(random, seconds):
    """Times of a loaded machine: some answers take ten times as long."""
    return [seconds * random.choice([1, 1, 1, 1.3, 2, 10]) for _ in range(21)]


@pytest.mark.parametrize("seconds", [0.0005, 0.005, 0.1])
def test_times_of_the_same_length_differ_by_no_chance(seconds):
    random = Random(1)
    paces = [Pace(noisy(random, seconds), noisy(random, seconds)) for _ in range(1000)]
    assert not any(pace.differs(len(paces)) for pace in paces)


def test_a_wait_is_found_among_noise_and_a_difference_without_weight_is_not():
    random = Random(2)
    fast = noisy(random, 0.003)
    slow = [seconds + 0.03 for seconds in noisy(random, 0.003)]
    assert Pace(fast, slow).differs(200)
    assert Pace(slow, fast).differs(200)
    assert not Pace(fast[:7], slow[:7]).differs(200), "too few to tell"
    assert not Pace([0.003] * 21, [0.0031] * 21).differs(200), "too small to matter"
    assert not Pace([1.0] * 21, [1.1] * 21).differs(200), "too small beside what it takes"


def test_each_service_begins_every_other_round():
    asked = []

    def asking(name, seconds):
        def ask():
            asked.append(name)
            return seconds

        return ask

    pace = measured([asking("a", 1.0), asking("b", 2.0)], 3)
    assert asked == ["b", "a", "a", "b", "b", "a"]
    assert pace.medians == (1.0, 2.0)
    assert pace.chance == pytest.approx(0.25)
