"""Quality by pages and times of all systems on one set."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from benchmarks.processor import used_by_all
from benchmarks.rivals.asked import Asked
from benchmarks.rivals.rival import Rival, Vector
from benchmarks.timing import by_turns, fastest, p50_p95
from pgrag.evaluation.labelled import LabelledQuery

METRICS = ("ndcg@10", "recall@10")
PAGES = 10
#: The number of passages whose pages, each once, are the ranking.
POOL = 50
LIMIT = 10

#: Half of a 95 % confidence interval, in standard errors.
ERRORS = 1.96
OURS = "pgrag"

Row = dict[str, Any]
Scores = dict[str, NDArray[np.float64]]
"""The values of a metric, query by query."""
Connection = psycopg.Connection[tuple[Any, ...]]


def measure(
    rivals: Mapping[str, Rival],
    asked: Asked,
    pages: Mapping[int, str],
    vectors: Mapping[str, Vector],
    connection: Connection,
) -> dict[str, Row]:
    """The metrics of each system, its milliseconds, and those of processor time: the program's and
    the server's.
    """
    scores = {
        name: quality(rival, asked.judged, pages, vectors, connection)
        for name, rival in rivals.items()
    }
    results = {name: _means(found, scores[OURS]) for name, found in scores.items()}
    searches = {name: partial(_search, rival, vectors) for name, rival in rivals.items()}
    for name, times in fastest(searches, asked.timed).items():
        middle, slow = p50_p95(times)
        results[name] |= {"p50": round(middle, 2), "p95": round(slow, 2)}
    spent = by_turns(searches, asked.timed, clock=partial(used_by_all, connection))
    for name, taken in spent.items():
        results[name]["processor"] = round(float(np.mean(taken)), 2)
    return results


def quality(
    rival: Rival,
    judged: Sequence[LabelledQuery],
    pages: Mapping[int, str],
    vectors: Mapping[str, Vector],
    connection: Connection,
) -> Scores:
    """The metrics of every query, by the functions that pgrag's evaluation uses."""
    values: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for query in judged:
        passages = rival.search(query.text, vectors[query.text], POOL)
        first = first_pages([pages[identity] for identity in passages], query.excluded)
        grades = [query.judgements.get(page, 0) for page in first]
        for metric in METRICS:
            row = connection.execute(
                b"select pgrag.ranking_metric(%s, %s::integer[], %s::integer[])",
                [metric, grades, list(query.judgements.values())],
            ).fetchone()
            assert row is not None
            values[metric].append(row[0])
    return {metric: np.asarray(each) for metric, each in values.items()}


def _means(found: Scores, ours: Scores) -> Row:
    """Means, and that of the first metric with its margin and with what it is behind ours, query by
    query, with its 95 % confidence interval.
    """
    first = METRICS[0]
    behind, by = ours[first] - found[first], float(np.mean(ours[first] - found[first]))
    margin = _margin(behind)
    return {metric: round(float(np.mean(each)), 3) for metric, each in found.items()} | {
        "margin": round(_margin(found[first]), 3),
        "behind": {
            "by": round(by, 3), "from": round(by - margin, 3), "to": round(by + margin, 3),
        },
    }  # fmt: skip


def _margin(values: NDArray[np.float64]) -> float:
    several = len(values)
    return float(ERRORS * np.std(values, ddof=1) / np.sqrt(several)) if several > 1 else 0.0


def first_pages(ranking: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """The pages of a ranking of passages, each at its best one, without those that are excluded."""
    return [page for page in dict.fromkeys(ranking) if page not in excluded][:PAGES]


def _search(rival: Rival, vectors: Mapping[str, Vector], query: str) -> list[int]:
    return rival.search(query, vectors[query], LIMIT)
