"""Compares this checkout with another commit: the same work by turns, on one server.

    python -m benchmarks.turns --data PATH --against main~5

Both index the corpus in processes of their own code, into a database each. Then every query goes to
the other commit's database and to a copy of it that this checkout has upgraded: two HNSW graphs of
the same vectors differ by chance, and with them the times by a tenth. The side that comes first
changes from query to query, so that noise hits both alike. Printed are ratios after : before; above
1 this checkout is slower.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks.agents import environment, stdio_session
from benchmarks.corpora import Corpora
from benchmarks.figures import table
from pgrag.evaluation.labelled import read_labelled_set
from pgrag.ground.connections import register_vector_types
from pgrag.ground.embedded import EmbeddedServer

ROOT = Path(__file__).parents[1]
LIBRARY = "corpus"
CALLS = {
    name: f"select * from pgrag.{name}(%s, %s)".encode()
    for name in ("search", "keyword_search", "semantic_search", "context", "search_pages", "facets")
}

Times = dict[str, dict[str, list[float]]]
"""Milliseconds by what was done and by side."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a table of the ratios."""
    options = _parser().parse_args(arguments)
    times: Times = {}
    with tempfile.TemporaryDirectory(prefix="pgrag-turns-") as folder:
        scratch = Path(folder)
        scratch.chmod(0o711)  # a server that root starts runs as another user
        corpora = Corpora(options.data, scratch)
        pages = corpora.pages(f"{options.corpus}-en")
        labelled = read_labelled_set(corpora.folder(f"{options.corpus}-anchor"))
        queries = [query.text for query in labelled.queries][:: options.every]
        with _checkout(options.against, scratch / "before") as before, _server(scratch) as url:
            sides = {
                name: (tree, _database(url, name))
                for name, tree in {"before": before, "after": ROOT}.items()
            }
            _index(sides, pages, options.indexing, times)
            sides["after"] = (ROOT, _database(url, "upgraded", template="before"))
            _pgrag(sides["after"], "db", "upgrade")
            _search(sides, queries, times)
            asyncio.run(_ask(sides, queries, times))
    print(f"{options.corpus}, {len(queries)} queries, against {options.against}\n")
    print(_table(times))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.turns", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--against", required=True, metavar="COMMIT", help="what to compare with")
    parser.add_argument("--corpus", default="k8s", choices=["k8s", "mdn"])
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask every Nth query")
    parser.add_argument(
        "--indexing", type=int, default=3, metavar="N", help="index so often (default: 3)"
    )
    return parser


@contextmanager
def _checkout(commit: str, folder: Path) -> Iterator[Path]:
    """The files of another commit, as long as they are needed."""
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


@contextmanager
def _server(scratch: Path) -> Iterator[str]:
    server = EmbeddedServer(scratch / "server")
    try:
        yield server.start()
    finally:
        server.remove()


def _database(url: str, name: str, template: str = "template1") -> str:
    """Make a database, a copy of the template; return its URL."""
    names = map(sql.Identifier, (name, template))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("create database {} template {}").format(*names))
    return make_conninfo(**{**conninfo_to_dict(url), "dbname": name})


def _pgrag(side: tuple[Path, str], *words: str) -> None:
    """Run a command with the code of this side."""
    tree, url = side
    subprocess.run(
        [sys.executable, "-m", "pgrag", *words],
        env=environment(url, tree), check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip


def _index(sides: dict[str, tuple[Path, str]], pages: Path, count: int, times: Times) -> None:
    """Index the corpus from nothing, each time."""
    taken = times.setdefault("index everything", {name: [] for name in sides})
    for side in sides.values():
        _pgrag(side, "db", "upgrade")
    for turn in range(count):
        for name in sorted(sides, reverse=bool(turn % 2)):
            if turn:
                with psycopg.connect(sides[name][1], autocommit=True) as connection:
                    connection.execute("select pgrag.remove_library(%s)", [LIBRARY])
            started = perf_counter()
            _pgrag(sides[name], "index", LIBRARY, str(pages))
            taken[name].append(1000 * (perf_counter() - started))


def _search(sides: dict[str, tuple[Path, str]], queries: list[str], times: Times) -> None:
    """Every call twice; the first one warms up."""
    connections = {name: psycopg.connect(url, autocommit=True) for name, (_, url) in sides.items()}
    for connection in connections.values():
        register_vector_types(connection)
        connection.execute("vacuum (analyze)")
    for is_measured in (False, True):
        for call, statement in CALLS.items():
            taken = times.setdefault(f"pgrag.{call}", {name: [] for name in sides})
            for turn, query in enumerate(queries):
                for name in sorted(sides, reverse=bool(turn % 2)):
                    started = perf_counter()
                    connections[name].execute(statement, [query, LIBRARY]).fetchall()
                    if is_measured:
                        taken[name].append(1000 * (perf_counter() - started))
    for connection in connections.values():
        connection.close()


async def _ask(sides: dict[str, tuple[Path, str]], queries: list[str], times: Times) -> None:
    """The same queries by an agent, over stdio."""
    taken = times.setdefault("MCP search_docs, stdio", {name: [] for name in sides})
    async with AsyncExitStack() as stack:
        sessions: dict[str, Any] = {
            name: await stack.enter_async_context(stdio_session(environment(url, tree)))
            for name, (tree, url) in sides.items()
        }
        for turn, query in enumerate([*queries[:10], *queries]):
            for name in sorted(sides, reverse=bool(turn % 2)):
                started = perf_counter()
                await sessions[name].ask({"library": LIBRARY, "query": query})
                if turn >= 10:
                    taken[name].append(1000 * (perf_counter() - started))


def _table(times: Times) -> str:
    """Medians of both, the ratio of the medians, and the median of the ratios call by call."""
    rows = []
    for what, by_side in times.items():
        before, after = (np.array(by_side[name]) for name in ("before", "after"))
        rows.append(
            (
                what,
                f"{np.median(before):.2f} ms",
                f"{np.median(after):.2f} ms",
                f"{np.median(after) / np.median(before):.3f}",
                f"{np.median(after / before):.3f}",
                f"{after.min() / before.min():.3f}",
            )
        )
    head = ("what", "before", "after", "ratio of medians", "median of ratios", "ratio of fastest")
    return table(head, rows)


if __name__ == "__main__":
    main()
