"""Measure speed and exactness of pgrag, and print them as Markdown; see docs/benchmarks.md."""

import argparse
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import (
    access,
    announcements,
    exactness,
    expansion,
    footprint,
    graph,
    indexing,
    intents,
    latency,
    links,
    processor,
    repetition,
    steps,
    units,
)
from benchmarks.bench import Bench, lent_app, machine
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.figures import Figure, figures_table, told

#: In execution order: the first one indexes the libraries that the others search; `recall` marks
#: pages, so it runs after the measures of time.
MEASURES: dict[str, Callable[[Bench], list[Figure]]] = {
    "indexing": indexing.first_and_again,
    "cost_of_search": processor.cost_of_search,
    "latency": latency.calls,
    "filters": latency.filters,
    "footprint": footprint.of_search,
    "access": access.restricted,
    "steps": steps.around_a_search,
    "intents": intents.rules,
    "units": units.in_ten_rows,
    "answers": latency.answers,
    "graph": graph.in_search,
    "page_types": announcements.in_search,
    "exactness": exactness.keyword_arm,
    "recall": exactness.vector_arm,
    "versions": indexing.versions,
    "expansion": expansion.contexts,
    "repetition": repetition.of_lists,
    "links": links.follow,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the selected measures; return 1 if one fails, or if `--strict` and a figure is missed."""
    options = _parser().parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="pgrag-benchmarks-") as folder:
        scratch = Path(folder)
        with lent_app(options.database_url, scratch) as app:
            bench = Bench(Corpora(options.data, scratch), app.url, scratch, options.quick)
            load = os.getloadavg()[0]
            print(f"{machine(app.url)}, {os.cpu_count()} cores, load {load:.1f}\n", flush=True)
            figures, failed = measured(bench, options.only or [*MEASURES])
            print(figures_table(figures), flush=True)
    return int(failed or (options.strict and any(figure.ok is False for figure in figures)))


def measured(bench: Bench, names: Sequence[str]) -> tuple[list[Figure], bool]:
    """The figures of these measures, and whether one has failed."""
    figures: list[Figure] = []
    failed = False
    for name in (name for name in MEASURES if name in names):
        with told(name):
            try:
                figures += MEASURES[name](bench)
            except CorpusMissing as missing:
                figures.append(Figure(name, "—", f"not measured: {missing}", "", False))
            except Exception as error:  # the figures of the others took long
                traceback.print_exc()
                failed = True
                figures.append(Figure(name, "—", f"failed: {error!r}", "", False))
    return figures, failed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=Path(),
        help="folder of the corpora (default: here); expansion and intents need none",
    )  # fmt: skip
    parser.add_argument(
        "--only", nargs="+", choices=[*MEASURES], metavar="NAME",
        help=f"measure only: {', '.join(MEASURES)}",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="ask a tenth of the queries")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a figure is missed")
    parser.add_argument(
        "--database-url",
        help="a database to use, empty or of an earlier run (default: a new embedded server)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
