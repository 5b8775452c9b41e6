"""Times of calls by turns, so that noise affects all systems equally."""

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

Call = Callable[[str], Any]
Times = dict[str, list[float]]
"""Milliseconds of every query, by system."""


def milliseconds() -> float:
    """A clock."""
    return perf_counter() * 1000


def by_turns(
    systems: Mapping[str, Call],
    queries: Sequence[str],
    *,
    warm_up: int = 0,
    clock: Callable[[], float] = milliseconds,
) -> Times:
    """Time every call by a clock of milliseconds; the order of the systems rotates. The first
    queries warm up unmeasured.
    """
    times: Times = {name: [] for name in systems}
    names = list(systems)
    for turn, query in enumerate([*queries[:warm_up], *queries], start=-len(queries[:warm_up])):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            started = clock()
            systems[name](query)
            if turn >= 0:
                times[name].append(clock() - started)
    return times


def fastest(systems: Mapping[str, Call], queries: Sequence[str], passes: int = 3) -> Times:
    """The fastest run of each query after a warm-up, so that other work disturbs little."""
    by_turns(systems, queries)
    runs = [by_turns(systems, queries) for _ in range(passes)]
    return {
        name: [min(times) for times in zip(*(run[name] for run in runs), strict=True)]
        for name in systems
    }


def p50_p95(times: Sequence[float]) -> tuple[float, float]:
    """The median and the 95th percentile."""
    middle, slow = np.percentile(times, [50, 95])
    return float(middle), float(slow)


def shown(times: Sequence[float]) -> str:
    """The median and the 95th percentile of milliseconds, as a cell of the table."""
    middle, slow = p50_p95(times)
    return f"{middle:.1f} ms, {slow:.1f} ms"
