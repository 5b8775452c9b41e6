"""Measure pgrag beside what users would pick otherwise; see docs/benchmarks.md.

The figures go to benchmarks/rivals.json and the tables into the page. A set that is not measured
keeps its figures. Unless sets are chosen, what indexing and a search cost comes first.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import history
from benchmarks.__main__ import measured
from benchmarks.bench import Bench, lent_app, machine
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.figures import figures_table, read_json, told, write_between, write_json
from benchmarks.rivals import asked, report
from benchmarks.rivals.measuring import measure
from benchmarks.rivals.rival import INSTALL, SYSTEMS, Rival, Setup, read_passages
from pgrag.models.embedding import BuiltinEmbedder

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURES = ROOT / "benchmarks" / "rivals.json"
#: What is measured of pgrag alone in the same run.
ALONE = ("indexing", "cost_of_search", "latency", "footprint")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sets, print the tables and write them into the page."""
    options = _parser().parse_args(arguments)
    names = options.only or [*asked.SETS]
    figures = read_json(options.figures)
    failed = False
    with tempfile.TemporaryDirectory(prefix="pgrag-rivals-") as folder:
        scratch = Path(folder)
        with lent_app(options.database_url, scratch) as app:
            bench = Bench(Corpora(options.data, scratch), app.url, scratch, options.quick)
            if not options.only:
                alone, failed = measured(bench, ALONE)
                print(figures_table(alone), "", sep="\n", flush=True)
                history.write(options.page, alone, history.commit_of(ROOT), history.today())
            for corpus in dict.fromkeys(asked.SETS[name] for name in names):
                sets = [name for name in names if asked.SETS[name] == corpus]
                try:
                    figures |= _compare(bench, corpus, sets)
                except CorpusMissing as missing:
                    print(f"{corpus}: not measured: {missing}", file=sys.stderr)
                    failed = True
                # In the order of the sets, whichever were measured last.
                figures = {name: figures[name] for name in asked.SETS if name in figures}
                write_json(options.figures, figures)
    text = report.tables(figures)
    print(text)
    write_between(options.page, report.MARKS, text)
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpora")
    parser.add_argument(
        "--only", nargs="+", choices=[*asked.SETS], metavar="SET", help=", ".join(asked.SETS)
    )
    parser.add_argument("--quick", action="store_true", help="ask a tenth of the queries")
    parser.add_argument("--page", type=Path, default=PAGE, help="where the tables go")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="where the figures go")
    parser.add_argument("--database-url", help="an empty database (default: a new embedded server)")
    return parser


def _compare(bench: Bench, corpus: str, names: Sequence[str]) -> dict[str, Any]:
    """The figures of the sets of one corpus."""
    sets = [asked.read(bench, name) for name in names]
    library = bench.require(corpus.removesuffix("-en"), bench.corpora.pages(corpus))
    embedder = BuiltinEmbedder()
    texts = {text for each in sets for text in each.timed}
    texts |= {query.text for each in sets for query in each.judged}
    vectors = {text: np.asarray(embedder.embed_query(text), np.float32) for text in texts}
    with bench.connect() as connection:
        passages = read_passages(connection, library)
        pages = {passage.id: passage.page for passage in passages}
        folder = bench.scratch / f"{corpus}-index"
        folder.mkdir()
        setup = Setup(bench.url, library, folder, embedder.dimensions, passages)
        with _made(setup) as (rivals, versions):
            figures = {}
            for each in sets:
                with told(each.name):
                    figures[each.name] = {
                        "judged": len(each.judged),
                        "timed": len(each.timed),
                        "passages": len(passages),
                        "machine": machine(bench.url),
                        "versions": versions,
                        "systems": measure(rivals, each, pages, vectors, connection),
                    }
    return figures


@contextmanager
def _made(setup: Setup) -> Iterator[tuple[dict[str, Rival], dict[str, Any]]]:
    """Every system that can run, and the versions of the packages of all: null if missing."""
    rivals: dict[str, Rival] = {}
    versions = {system.name: system.versions() for system in SYSTEMS}
    try:
        for system in SYSTEMS:
            if versions[system.name] is None:
                print(f"{system.name}: not run; to install it: {INSTALL}", file=sys.stderr)
                continue
            with told(system.name):
                rivals[system.name] = system.make(setup)
        yield rivals, versions
    finally:
        for rival in rivals.values():
            rival.close()


if __name__ == "__main__":
    sys.exit(main())
