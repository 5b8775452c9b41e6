"""The cost of row-level security: the same searches by roles with and without it.

All have the same privileges on tables and functions, which a superuser would not be asked for.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import psycopg

from benchmarks.bench import Bench
from benchmarks.figures import Figure
from benchmarks.latency import fastest

QUERIES = 200
WANTED = 1.05
SEARCH = b"select * from pgrag.search(%s, %s)"
READER = "pgrag_benchmark_reader"
UNRESTRICTED = "pgrag_benchmark_unrestricted"

Row = tuple[Any, ...]
Connection = psycopg.Connection[Row]


def restricted(bench: Bench) -> list[Figure]:
    """Run every query as all callers, by turns; the same hits must come."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with bench.connect() as free, bench.connect() as service, bench.connect() as reader:
        _become(free, UNRESTRICTED, "bypassrls")
        _become_service(service, library)
        _become(reader, READER)
        with bench.connect() as owner:
            owner.execute("select pgrag.grant_libraries(%s, array[%s])", [READER, library])
        callers = {
            name: partial(_hits, connection, library)
            for name, connection in (("free", free), ("service", service), ("reader", reader))
        }
        differing = sum(
            len({repr(hits(query)) for hits in callers.values()}) > 1 for query in queries
        )
        times = fastest(callers, queries)
        for connection, role in ((free, UNRESTRICTED), (reader, READER)):
            connection.execute("reset session authorization")
            connection.execute(f"drop role {role}".encode())
    on = f"MDN, {len(queries)} queries"
    figures = [
        Figure("row-level security: searches with other hits than without it", on,
               f"{differing}", "0", differing == 0)
    ]  # fmt: skip
    for name, what in (("service", "a key's role"), ("reader", "a role that logs in")):
        ratio = float(np.median(times[name]) / np.median(times["free"]))
        figures.append(
            Figure(f"— pgrag.search as {what}, against a role without it: ratio of p50", on,
                   f"{ratio:.3f}", f"≤ {WANTED}", ratio <= WANTED)
        )  # fmt: skip
    return figures


def _become_service(connection: Connection, library: str) -> None:
    """Change to the role of a reading key, as a service does."""
    connection.execute(
        "select set_config('pgrag.library_ids', array[l.library_id]::text, false)"
        " from pgrag.libraries as l where l.name = %s",
        [library],
    )
    connection.execute("set role pgrag_reader")


def _become(connection: Connection, role: str, options: str = "") -> None:
    connection.execute(f"create role {role} {options} in role pgrag_reader".encode())
    connection.execute(f"set session authorization {role}".encode())


def _hits(connection: Connection, library: str, query: str) -> list[Row]:
    return connection.execute(SEARCH, (query, library)).fetchall()
