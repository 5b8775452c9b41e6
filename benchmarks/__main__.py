"""Measure speed and exactness of pgrag, and print them as Markdown; see docs/benchmarks.md."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import psycopg
from pydantic import SecretStr

from benchmarks import (
    access,
    agents,
    announcements,
    answers,
    changes,
    enrichment,
    exactness,
    expansion,
    filters,
    footprint,
    graph,
    growth,
    hostile,
    indexing,
    intents,
    latency,
    links,
    load,
    page_queries,
    recall,
    recording,
    sections,
    steps,
    text,
    units,
)
from benchmarks.bench import Bench
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.figures import Figure, figures_table
from pgrag.ground.settings import Settings
from pgrag.service.app import App

#: In execution order: the first one indexes the libraries that the others search; `recall` marks
#: pages, so it runs after the measures of time.
MEASURES: dict[str, Callable[[Bench], list[Figure]]] = {
    "indexing": indexing.first_and_again,
    "latency": latency.calls,
    "filters": filters.of_pages,
    "footprint": footprint.of_search,
    "access": access.restricted,
    "load": load.serve,
    "recording": recording.record,
    "steps": steps.around_a_search,
    "intents": intents.rules,
    "units": units.in_ten_rows,
    "answers": answers.contexts,
    "mcp": agents.serve,
    "enrichment": enrichment.in_flight,
    "graph": graph.in_search,
    "page_types": announcements.in_search,
    "exactness": exactness.keyword_arm,
    "recall": recall.vector_arm,
    "versions": indexing.versions,
    "changes": changes.as_git,
    "expansion": expansion.contexts,
    "sections": sections.unnamed,
    "text": text.lines_as_ripgrep,
    "links": links.follow,
    "page_queries": page_queries.ask,
    "hostile": hostile.pages,
    "growth": growth.figures,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the selected measures; return 1 if one fails, or if `--strict` and a figure is missed."""
    options = _parser().parse_args(arguments)
    wanted = options.only or [*MEASURES]
    figures: list[Figure] = []
    failed = False
    with tempfile.TemporaryDirectory(prefix="pgrag-benchmarks-") as folder:
        scratch = Path(folder)
        with _database(options.database_url, scratch) as url:
            corpora = Corpora(options.data, scratch)
            bench = Bench(corpora, url, scratch, options.quick, options.million)
            print(_circumstances(url), flush=True)
            for name in (name for name in MEASURES if name in wanted):
                with _told(name):
                    try:
                        figures += _measured(name, bench)
                    except Exception as error:  # the figures of the others took long
                        traceback.print_exc()
                        failed = True
                        figures.append(Figure(name, "—", f"failed: {error!r}", "", False))
            if figures:
                print(figures_table(figures), flush=True)
    return int(failed or (options.strict and any(figure.ok is False for figure in figures)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(),
        help="folder of the corpora (default: here); expansion, enrichment, intents and hostile"
        " need none",
    )
    parser.add_argument(
        "--only", nargs="+", choices=[*MEASURES], metavar="NAME",
        help=f"measure only: {', '.join(MEASURES)}",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="ask a tenth of the queries")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a figure is missed")
    parser.add_argument(
        "--million", type=Path, metavar="FOLDER",
        help="let libraries in FOLDER grow to a million documents (hours, 15 GB; it goes on where"
        " it ended); else growth tells what was measured last",
    )  # fmt: skip
    parser.add_argument(
        "--database-url", help="an empty database to use (default: a new embedded server)"
    )
    return parser


def _measured(name: str, bench: Bench) -> list[Figure]:
    try:
        return MEASURES[name](bench)
    except CorpusMissing as missing:
        return [Figure(name, "—", f"not measured: {missing}", "", False)]


@contextmanager
def _database(given: str | None, scratch: Path) -> Iterator[str]:
    """Lend a migrated database; without a URL, of a temporary embedded server."""
    # Root's server runs as another user, who must be able to traverse the folder.
    scratch.chmod(0o711)
    with App(
        Settings(
            database_url=None if given is None else SecretStr(given),
            home=scratch / "home",
            embedding_url=None,
        )
    ) as app:
        try:
            app.upgrade()
            yield app.url
        finally:
            app.close()
            if given is None:
                app.server.remove()


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Report on stderr what is measured, how long it takes, and the load of the machine."""
    print(f"{name} …", end=" ", file=sys.stderr, flush=True)
    started = perf_counter()
    yield
    load = os.getloadavg()[0]
    print(f"{perf_counter() - started:.0f} s, load {load:.1f}", file=sys.stderr, flush=True)


def _circumstances(url: str) -> str:
    with psycopg.connect(url) as connection:
        server = connection.info.parameter_status("server_version")
        found = connection.execute(
            "select e.extversion from pg_extension as e where e.extname = 'vector'"
        ).fetchone()
    return (
        f"PostgreSQL {server}, pgvector {found[0] if found else '?'}, Python"
        f" {platform.python_version()}, {os.cpu_count()} cores, load at the start"
        f" {os.getloadavg()[0]:.1f}\n"
    )


if __name__ == "__main__":
    sys.exit(main())
