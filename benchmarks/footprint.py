"""What a searched library takes: disk, processors with many clients, and a command's process."""

import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from time import perf_counter

import numpy as np

from benchmarks.bench import Bench, environment
from benchmarks.figures import Figure, judged
from benchmarks.timing import shown

CLIENTS = 8
SECONDS = 10
QUERIES = 200
RUNS = 7
SEARCH = b"select * from pgrag.search(%s, %s)"

# Tables of libraries, with their indexes and TOAST; models and records do not grow with passages.
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
    search = ["search", "fetch a resource", "--library", library]
    return [
        _disk(bench),
        *_throughput(bench, library, queries),
        _command(bench, search, "MDN, without PostgreSQL", 0.12),
        _command(bench, ["--version"], "—", 0.06),
    ]


def _disk(bench: Bench) -> Figure:
    with bench.connect() as connection:
        sizes = {name: size / 1000 for name, size in connection.execute(DISK.encode()).fetchall()}
    largest = ", ".join(f"{name} {size:.1f}" for name, size in list(sizes.items())[:4])
    on = f"all libraries of this run ({largest})"
    return judged("disk of a searchable passage, with indexes", on, sum(sizes.values()), 5.8, "kB")


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
                    break
                connection.execute(SEARCH, (query, library)).fetchall()
                times.append(1000 * (perf_counter() - started))
        return times

    with ThreadPoolExecutor(CLIENTS) as pool:
        taken = np.concatenate([*pool.map(ask, [queries[n::CLIENTS] for n in range(CLIENTS)])])
    return [
        judged("pgrag.search by eight clients at once: searches a second", "MDN",
               len(taken) / seconds, 400, "", digits=0, is_least=True),
        Figure("— p50, p95", "MDN", shown(taken)),
    ]  # fmt: skip


def _command(bench: Bench, words: list[str], on: str, most: float) -> Figure:
    """Processor time of whole processes; the first one warms up."""
    command = [sys.executable, "-m", "pgrag", *words]
    # A user's Python keeps what it has compiled.
    kept = environment(bench.url)
    for name in ("PYTHONDONTWRITEBYTECODE", "PGRAG_LOG_LEVEL"):
        kept.pop(name, None)
    taken = []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=kept, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    what = f"`pgrag {words[0]}`, whole process: processor time"
    return judged(what, on, float(np.median(taken[1:])), most, "s", digits=3)
