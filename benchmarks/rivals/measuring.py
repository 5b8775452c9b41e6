"""Quality by pages and times of all systems on one set."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

import psycopg

from benchmarks.rivals.asked import Asked
from benchmarks.rivals.rival import Rival, Vector
from benchmarks.timing import fastest, p50_p95
from pgrag.evaluation.labelled import LabelledQuery

METRICS = ("ndcg@10", "recall@10")
PAGES = 10
#: The number of passages whose pages, each once, are the ranking.
POOL = 50
LIMIT = 10

Row = dict[str, float]
Connection = psycopg.Connection[tuple[Any, ...]]


def measure(
    rivals: Mapping[str, Rival],
    asked: Asked,
    pages: Mapping[int, str],
    vectors: Mapping[str, Vector],
    connection: Connection,
) -> dict[str, Row]:
    """The metrics and the milliseconds of each system."""
    results = {
        name: quality(rival, asked.judged, pages, vectors, connection)
        for name, rival in rivals.items()
    }
    searches = {name: partial(_search, rival, vectors) for name, rival in rivals.items()}
    for name, times in fastest(searches, asked.timed).items():
        middle, slow = p50_p95(times)
        results[name] |= {"p50": round(middle, 2), "p95": round(slow, 2)}
    return results


def quality(
    rival: Rival,
    judged: Sequence[LabelledQuery],
    pages: Mapping[int, str],
    vectors: Mapping[str, Vector],
    connection: Connection,
) -> Row:
    """The means of the metrics, by the functions that pgrag's evaluation uses."""
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
    return {metric: round(fmean(each), 3) for metric, each in values.items()}


def first_pages(ranking: Sequence[str], excluded: Sequence[str]) -> list[str]:
    """The pages of a ranking of passages, each at its best one, without those that are excluded."""
    return [page for page in dict.fromkeys(ranking) if page not in excluded][:PAGES]


def _search(rival: Rival, vectors: Mapping[str, Vector], query: str) -> list[int]:
    return rival.search(query, vectors[query], LIMIT)
