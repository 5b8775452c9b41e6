"""The cost of row-level security: the same searches by roles with and without it.

All have the same privileges on tables and functions, which a superuser would not be asked for.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.bench import Bench, Connection, settle
from benchmarks.figures import Figure, judged
from benchmarks.timing import fastest

QUERIES = 200
ROUNDS = 24
"""Each opens new connections: equal ones differ by some percent, by their layout in memory."""
WANTED = 1.05
SEARCH = b"select * from pgrag.search(%s, %s, version => %s)"
HEADINGS = """
select min(d.heading)
from pgrag.documents as d
join pgrag.versions as v using (library_id, version_id)
join pgrag.libraries as l using (library_id)
where l.name = %s and v.label = %s and d.level = 1 and d.heading ~ '^[[:alpha:]]'
    and d.heading !~ '"| -'
group by lower(d.heading)
order by 1
"""
READER = "pgrag_benchmark_reader"
UNRESTRICTED = "pgrag_benchmark_unrestricted"


@dataclass(frozen=True, slots=True)
class _Searches:
    """Queries in a library, or in one of its versions."""

    on: str
    library: str
    version: str | None
    queries: list[str]


def restricted(bench: Bench) -> list[Figure]:
    """Run every query as all callers by turns; all must get the same hits."""
    kinds = [
        _Searches("MDN", bench.mdn(), None, bench.mdn_queries(QUERIES)),
        _of_one_version(bench),
    ]
    with bench.connect() as owner:
        owner.execute(f"create role {UNRESTRICTED} bypassrls in role pgrag_reader".encode())
        owner.execute(f"create role {READER} in role pgrag_reader".encode())
        owner.execute(
            "select pgrag.grant_libraries(%s, %s)", [READER, [kind.library for kind in kinds]]
        )
        try:
            return [figure for kind in kinds for figure in _compare(bench, kind)]
        finally:
            for role in (READER, UNRESTRICTED):
                owner.execute(f"drop role {role}".encode())


def _of_one_version(bench: Bench) -> _Searches:
    """Searches of one version, which also look for words that only other versions have."""
    folders = bench.corpora.versions("jest-versions")
    for label, folder in folders.items():
        bench.index("jest-access", label, folder)
    settle(bench.url)
    label = min(folders)
    with bench.connect() as connection:
        headings = connection.execute(HEADINGS.encode(), ["jest-access", label]).fetchall()
    queries = bench.sample([heading for (heading,) in headings], QUERIES)
    return _Searches(f"Jest {label} of {len(folders)} versions", "jest-access", label, queries)


def _compare(bench: Bench, kind: _Searches) -> list[Figure]:
    count = ROUNDS // 8 if bench.quick else ROUNDS
    rounds = [_round(bench, kind, nth) for nth in range(count)]
    differing = sum(several for _, several in rounds)
    on = f"{kind.on}, {len(kind.queries)} queries, {count} times new connections"
    figures = [
        Figure("row-level security: searches with other hits than without it", on,
               f"{differing}", "0", differing == 0)
    ]  # fmt: skip
    for name, caller in (("service", "a key's role"), ("reader", "a role that logs in")):
        ratio = float(np.mean([ratios[name] for ratios, _ in rounds]))
        what = f"— pgrag.search as {caller}, against a role without it: ratio of the times"
        figures.append(judged(what, on, ratio, WANTED, "", digits=3))
    return figures


def _round(bench: Bench, kind: _Searches, nth: int) -> tuple[dict[str, float], int]:
    """The times of all callers by that of the unrestricted one; queries with differing hits.

    Each caller connects first as often as the others, in case the order changes its speed.
    """
    names = [*BECOME][nth % len(BECOME) :] + [*BECOME][: nth % len(BECOME)]
    with ExitStack() as stack:
        connections = {name: stack.enter_context(bench.connect()) for name in names}
        for name, connection in connections.items():
            BECOME[name](connection, kind.library)
        callers = {
            name: partial(_hits, connection, kind) for name, connection in connections.items()
        }
        several = min(ROUNDS, len(kind.queries))
        asked = kind.queries[nth % several :: several]
        differing = sum(
            len({repr(hits(query)) for hits in callers.values()}) > 1 for query in asked
        )
        times = {name: np.sum(taken) for name, taken in fastest(callers, asked).items()}
        return {name: float(taken / times["free"]) for name, taken in times.items()}, differing


def _log_in(role: str, connection: Connection, library: str) -> None:
    connection.execute(f"set session authorization {role}".encode())


def become_service(connection: Connection, library: str) -> None:
    """Change to the role of a reading key, as a service does."""
    connection.execute(
        "select set_config('pgrag.library_ids', array[l.library_id]::text, false)"
        " from pgrag.libraries as l where l.name = %s",
        [library],
    )
    connection.execute("set role pgrag_reader")


BECOME = {
    "free": partial(_log_in, UNRESTRICTED), "service": become_service,
    "reader": partial(_log_in, READER),
}  # fmt: skip


def _hits(connection: Connection, kind: _Searches, query: str) -> list[tuple[Any, ...]]:
    return connection.execute(SEARCH, (query, kind.library, kind.version)).fetchall()
