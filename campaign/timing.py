"""Whether two services need the same time for the same request, on a machine that does other work.

The services answer in turns, so that whatever else the machine does slows both. The sign test asks
only which of each two answers took longer: it needs no assumption about how times are spread.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

#: The chance of a false fault among all that is compared.
CHANCE = 0.01
#: Smaller differences of medians are no fault: seconds, and of the median of the first.
LEAST, LEAST_SHARE = 0.005, 0.25


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of the same request to two services, in turns."""

    first: Sequence[float]
    second: Sequence[float]

    @property
    def medians(self) -> tuple[float, float]:
        """Of the first and of the second service."""
        return median(self.first), median(self.second)

    @property
    def chance(self) -> float:
        """The probability of so uneven signs if both services are alike (two-sided sign test)."""
        signs = [other > one for one, other in zip(self.first, self.second, strict=True)]
        rarer = min(sum(signs), len(signs) - sum(signs))
        tail = sum(comb(len(signs), count) for count in range(rarer + 1))
        return float(min(1.0, 2 * tail / 2 ** len(signs)))

    def differs(self, comparisons: int) -> bool:
        """Whether the medians differ by much, and by no chance among so many comparisons."""
        first, second = self.medians
        is_large = abs(second - first) > max(LEAST, LEAST_SHARE * first)
        return is_large and self.chance * comparisons < CHANCE


def measured(asking: Sequence[Callable[[], float]], rounds: int) -> Pace:
    """Ask both services in turns; each begins every other round."""
    first, second = asking
    pairs = [
        (first(), second()) if number % 2 else (second(), first())[::-1] for number in range(rounds)
    ]
    return Pace(*zip(*pairs, strict=True))
