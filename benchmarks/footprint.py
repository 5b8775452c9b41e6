"""What a searched library takes: disk, processors with many clients, and a command's process."""

from __future__ import annotations

import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from time import perf_counter

import numpy as np

from benchmarks.agents import environment
from benchmarks.bench import Bench
from benchmarks.figures import Figure

CLIENTS = 8
SECONDS = 10
QUERIES = 200
RUNS = 7
SEARCH = b"select * from pgrag.search(%s, %s)"

# Tables of libraries, with their indexes and TOAST; models and records do not grow with documents.
DISK = """
select
    c.relname,
    pg_total_relation_size(c.oid)::double precision
        / (select count(*) from pgrag.impacts) as bytes
from pg_class as c
where c.relnamespace = 'pgrag'::regnamespace
    and c.relkind = 'r'
    and c.relname not in ('searches', 'search_hits', 'audit')
    and exists (
        select
        from pg_attribute as a
        where a.attrelid = c.oid and a.attname = 'library_id' and not a.attisdropped
    )
order by bytes desc
"""


def of_search(bench: Bench) -> list[Figure]:
    """Disk by table, searches a second of clients that are always waiting, `pgrag search`."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    return [*_disk(bench), *_throughput(bench, library, queries), *_command(bench, library)]


def _disk(bench: Bench) -> list[Figure]:
    with bench.connect() as connection:
        sizes = {name: size / 1000 for name, size in connection.execute(DISK.encode()).fetchall()}
    total = sum(sizes.values())
    largest = ", ".join(f"{name} {size:.1f}" for name, size in list(sizes.items())[:4])
    return [
        Figure("disk of a searchable document, indexes included", "all libraries of this run",
               f"{total:.1f} kB ({largest})", "≤ 4 kB", total <= 4)
    ]  # fmt: skip


def _throughput(bench: Bench, library: str, queries: list[str]) -> list[Figure]:
    seconds = SECONDS / 10 if bench.quick else SECONDS

    def ask(own: list[str]) -> list[float]:
        times = []
        with bench.connect() as connection:
            for query in own:
                connection.execute(SEARCH, (query, library)).fetchall()
            end = perf_counter() + seconds
            for query in cycle(own):
                started = perf_counter()
                if started >= end:
                    return times
                connection.execute(SEARCH, (query, library)).fetchall()
                times.append(1000 * (perf_counter() - started))
        return times

    with ThreadPoolExecutor(CLIENTS) as pool:
        taken = [time for own in pool.map(ask, [queries[n::CLIENTS] for n in range(CLIENTS)])
                 for time in own]  # fmt: skip
    rate = len(taken) / seconds
    middle, slow = np.percentile(taken, [50, 95])
    return [
        Figure("pgrag.search by eight clients at once: searches a second", "MDN",
               f"{rate:.0f}", "≥ 300", rate >= 300),
        Figure("— p50, p95", "MDN", f"{middle:.0f} ms, {slow:.0f} ms"),
    ]  # fmt: skip


def _command(bench: Bench, library: str) -> list[Figure]:
    """Processor time of whole processes; the first one warms up."""
    command = [sys.executable, "-m", "pgrag", "search", "fetch a resource", "--library", library]
    # A user's Python keeps what it has compiled.
    kept = environment(bench.url)
    kept.pop("PYTHONDONTWRITEBYTECODE", None)
    taken = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=kept, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    middle = float(np.median(taken[1:]))
    return [
        Figure("`pgrag search`, whole process: processor time", "MDN, without PostgreSQL",
               f"{middle:.2f} s", "≤ 0.2 s", middle <= 0.2)
    ]  # fmt: skip
