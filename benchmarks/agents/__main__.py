"""Measure what scripted agents gather with pgrag and otherwise; see docs/benchmarks.md.

The table goes into the page. `check` only compares the tasks with the pages.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import psycopg

from benchmarks.agents import ours, report, rivals, tasks
from benchmarks.agents.report import Row
from benchmarks.agents.transcript import Agent, attempt
from benchmarks.bench import lent_app
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.figures import told, write_between
from benchmarks.rivals.rival import INSTALL, SYSTEMS
from pgrag.ground.connections import register_vector_types
from pgrag.mcp.replies import count_tokens
from pgrag.service.app import App

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
SQLITE = next(system for system in SYSTEMS if system.module == "sqlite")


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the tasks, let every agent do them, print the tables and write them into the page."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="pgrag-agents-") as folder:
        scratch = Path(folder)
        corpora = Corpora(options.data, scratch)
        asked = tasks.read()
        try:
            faults = [*tasks.faults(asked, corpora)]
        except CorpusMissing as missing:
            faults = [f"{missing}: docs/benchmarks.md says how to get it"]
        if faults:
            print("\n".join(faults), file=sys.stderr)
            return 1
        if options.check:
            print("Every fact is in the pages, and nothing that should be absent.")
            return 0
        with lent_app(options.database_url, scratch) as app:
            index(app, corpora)
            rows = measure(app, corpora, scratch, asked)
        text = report.tables(rows, asked, date.today())
        print(text)
        if options.page:
            write_between(options.page, report.MARKS, text)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument("--check", action="store_true", help="only compare tasks with pages")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the tables go")
    parser.add_argument("--database-url", help="a database (default: a new embedded server)")
    return parser


def index(app: App, corpora: Corpora) -> None:
    """Index every version of every library."""
    for library, (_, _, versions) in tasks.LIBRARIES.items():
        for version in versions:
            with told(f"{library} {version}"):
                app.index(library, version, str(tasks.folder(corpora, library, version)))


def measure(app: App, corpora: Corpora, scratch: Path, asked: Sequence[tasks.Task]) -> list[Row]:
    """Every agent at every budget."""
    rows = []
    with agents(app, corpora, scratch) as (known, prompts):
        for name, agent in known.items():
            with told(name):
                outcomes = {
                    budget: [attempt(agent, task, budget) for task in asked]
                    for budget in report.BUDGETS
                }
            rows.append(Row(name, prompts.get(name, 0), outcomes))
    return rows


@contextmanager
def agents(
    app: App, corpora: Corpora, scratch: Path
) -> Iterator[tuple[dict[str, Agent], dict[str, int]]]:
    """The agents, and the tokens that some cost before the first question."""
    with ours.desk(app) as desk, psycopg.connect(app.url, autocommit=True) as connection:
        register_vector_types(connection)
        shelf = rivals.Shelf(connection)
        known = {f"pgrag: {name}": make(desk) for name, make in ours.TEMPERAMENTS.items()}
        prompts = dict.fromkeys(known, desk.prompt_tokens)
        if SQLITE.versions() is None:
            print(f"{report.SQLITE}: not run; to install it: {INSTALL}", file=sys.stderr)
        else:
            known[report.SQLITE] = rivals.assembled(shelf, SQLITE.make, scratch)
        known[report.SNIPPETS] = rivals.snippets(shelf)
        if shutil.which("rg") is None:
            print(f"{report.GREP}: not run: there is no ripgrep (rg)", file=sys.stderr)
        else:
            known[report.GREP] = rivals.grep(corpora)
        known[report.LLMS] = rivals.llms_txt(corpora)
        known[report.BEST] = rivals.best_pages(corpora)
        prompts |= dict.fromkeys([report.LLMS, report.BEST], _index_tokens(corpora))
        yield known, prompts


def _index_tokens(corpora: Corpora) -> int:
    """The mean llms.txt of a version."""
    sizes = [
        count_tokens(rivals.index(tasks.pages(tasks.folder(corpora, library, version))))
        for library, (_, _, versions) in tasks.LIBRARIES.items()
        for version in versions
    ]
    return round(sum(sizes) / len(sizes))


if __name__ == "__main__":
    sys.exit(main())
