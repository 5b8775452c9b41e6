"""Processor time of the server's process for a search, as a share of an exact scan of vectors.

Clocks of machines differ by a factor of two, and other work slows them; the ratios stay.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from pgvector import HalfVector

from benchmarks.access import become_service
from benchmarks.bench import Bench, Connection, value
from benchmarks.figures import Figure, judged
from benchmarks.rivals import asked
from benchmarks.timing import Call, by_turns
from pgrag.models.embedding import BuiltinEmbedder

QUERIES = 100
SESSIONS = 9
CALLS = {
    "search": b"select * from pgrag.search(%s, %s)",
    "graph": b"select * from pgrag.search(%s, %s, graph => true)",
    "context": b"select * from pgrag.context(%s, %s)",
    "answer_context": b"select a.sources from pgrag.answer_context(%s, %s) as a",
}
#: Vectors of a library alone, without an index; so many, in whose scans the targets are given.
SCANNED = 83_000
VECTORS = f"""
create temporary table vectors as
select e.document_id, e.embedding::halfvec({{dimensions}}) as embedding
from pgrag.embeddings as e
join pgrag.libraries as l on l.library_id = e.library_id
where l.name = '{{library}}'
limit {SCANNED};
analyze vectors
"""
SCAN = b"select v.document_id from vectors as v order by v.embedding <=> %s limit 10"
SESSIONS_NOW = b"""
select a.pid from pg_stat_activity as a
where a.datname = current_database() and a.backend_type = 'client backend'
"""
_PROCESSES = Path("/proc")
#: Fields of a process: its parent, and the time of its ended children, as users and as system.
_PARENT, _ENDED = 1, (13, 14)
#: What a search may take by kind of query, of a scan; with links; and what is built on it, more.
MOST = {"link texts": 0.21, "questions": 0.26}
MOST_GRAPH, MOST_MORE = 0.30, 0.06
#: The first search of a session, in milliseconds.
MOST_FIRST = 30


def used(connection: Connection) -> float | None:
    """Milliseconds of processor time of a connection's process; None if this is no Linux machine,
    or the server runs on another one.
    """
    return _of_process(value(connection, "select pg_backend_pid()"))


def used_by_all(connection: Connection) -> float:
    """Milliseconds of processor time of this program, and of the server's sessions and the workers
    that they have ended, as far as they run on this machine.
    """
    sessions = connection.execute(SESSIONS_NOW).fetchall()
    own = sum(_of_process(pid) or 0 for (pid,) in sessions)
    return process_time() * 1000 + own + _of_ended(value(connection, "select pg_backend_pid()"))


def _of_process(pid: int) -> float | None:
    try:
        if b"postgres" not in (_PROCESSES / str(pid) / "cmdline").read_bytes():
            return None
        return int((_PROCESSES / str(pid) / "schedstat").read_text("ascii").split()[0]) / 1e6
    except OSError:
        return None


def _of_ended(session: int) -> float:
    """What the ended children of a session's server have used: for parallel queries, its workers.
    It counts in ticks of 10 ms, which is enough for a mean.
    """
    if _of_process(session) is None:
        return 0.0
    parent = int(_stat(session)[_PARENT])
    ticks = sum(int(_stat(parent)[field]) for field in _ENDED)
    return 1000 * ticks / os.sysconf("SC_CLK_TCK")


def _stat(pid: int) -> list[str]:
    """What the system counts for a process, after its name; see proc_pid_stat(5)."""
    return (_PROCESSES / str(pid) / "stat").read_text("ascii").rpartition(")")[2].split()


@contextmanager
def processor(connections: Mapping[str, Connection]) -> Iterator[dict[str, float]]:
    """Lend a mapping that gets the milliseconds that each process has used within the block; it
    stays empty if they cannot be known.
    """
    spent: dict[str, float] = {}
    before = {name: used(connection) for name, connection in connections.items()}
    yield spent
    for name, connection in connections.items():
        first, last = before[name], used(connection)
        if first is not None and last is not None:
            spent[name] = last - first


def cost_of_search(bench: Bench) -> list[Figure]:
    """Searches and what is built on them, each in a session of its own, by turns with the scan."""
    library = bench.mdn()
    kinds = {
        "link texts": bench.mdn_queries(QUERIES),
        "questions": bench.sample(asked.read(bench, "mdn-questions").timed, QUERIES),
    }
    figures = [
        figure
        for kind, queries in kinds.items()
        for figure in _of_kind(bench, library, kind, queries)
    ]
    return [*figures, *_first(bench, library, kinds["link texts"])]


def _of_kind(bench: Bench, library: str, kind: str, queries: Sequence[str]) -> list[Figure]:
    embedder = BuiltinEmbedder()
    embedded = {query: HalfVector(np.asarray(embedder.embed_query(query))) for query in queries}
    with ExitStack() as stack:
        connections = {name: stack.enter_context(bench.connect()) for name in ("scan", *CALLS)}
        scanning = connections["scan"]
        # The processor time of a parallel scan's workers would be missing.
        scanning.execute("set max_parallel_workers_per_gather = 0")
        given = {"library": library, "dimensions": embedder.dimensions}
        scanning.execute(VECTORS.format(**given).encode())
        systems: dict[str, Call] = {
            "scan": lambda query: scanning.execute(SCAN, [embedded[query]]).fetchall(),
            **{
                name: partial(_ask, connections[name], statement, library)
                for name, statement in CALLS.items()
            },
        }
        by_turns(systems, queries)
        with processor(connections) as spent:
            by_turns(systems, queries)
        vectors = value(scanning, "select count(*) from vectors")
    on = f"MDN, {len(queries)} {kind}"
    if not spent:
        return [Figure("processor time of a search", on, "not measured: the server is elsewhere")]
    means = {name: milliseconds / len(queries) for name, milliseconds in spent.items()}
    scan, search = means["scan"], means["search"]

    def of_scan(what: str, name: str, milliseconds: float, most: float) -> Figure:
        what = f"— {what} ({means[name]:.2f} ms): of a scan"
        return judged(what, on, milliseconds / scan, most, "", digits=3)

    return [
        Figure(f"processor time, exact scan of {vectors:,} vectors", on, f"{scan:.2f} ms"),
        of_scan("pgrag.search", "search", search, MOST[kind]),
        of_scan("with links", "graph", means["graph"], MOST_GRAPH),
        *(
            of_scan(f"pgrag.{name}, on top of search", name, means[name] - search, MOST_MORE)
            for name in ("context", "answer_context")
        ),
    ]


def _ask(connection: Connection, statement: bytes, library: str, query: str) -> None:
    connection.execute(statement, (query, library)).fetchall()


def _first(bench: Bench, library: str, queries: Sequence[str]) -> list[Figure]:
    taken: dict[str, list[float]] = {"a superuser": [], "a key's role": []}
    for query in queries[:SESSIONS]:
        for caller, times in taken.items():
            with bench.connect() as connection:
                if caller == "a key's role":
                    become_service(connection, library)
                with processor({caller: connection}) as spent:
                    _ask(connection, CALLS["search"], library, query)
                times.extend(spent.values())
    return [
        judged(f"processor time, first search of a session: {caller}",
               f"MDN, {SESSIONS} sessions, median", float(np.median(times)), MOST_FIRST)
        for caller, times in taken.items()
        if times
    ]  # fmt: skip
