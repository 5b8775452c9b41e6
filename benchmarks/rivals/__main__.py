"""Measure pgrag beside what users would pick otherwise; see docs/benchmarks.md.

The figures go to benchmarks/rivals.json, the tables into the page, and a picture of each set beside
the page. A set that is not measured keeps its figures.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from benchmarks.bench import Bench
from benchmarks.corpora import Corpora, CorpusMissing
from benchmarks.evaluation import lent_app
from benchmarks.figures import told, write_between
from benchmarks.rivals import asked, report
from benchmarks.rivals.measuring import measure
from benchmarks.rivals.rival import INSTALL, SYSTEMS, Place, Rival, read_passages
from pgrag.models.embedding import BuiltinEmbedder

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURES = ROOT / "benchmarks" / "rivals.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sets, print the tables and write them into the page."""
    options = _parser().parse_args(arguments)
    names = options.only or [*asked.SETS]
    figures = json.loads(options.figures.read_text("utf-8")) if options.figures.exists() else {}
    failed = False
    with tempfile.TemporaryDirectory(prefix="pgrag-rivals-") as folder:
        scratch = Path(folder)
        with lent_app(options.database_url, scratch) as app:
            bench = Bench(Corpora(options.data, scratch), app.url, scratch, options.quick)
            for corpus in dict.fromkeys(asked.SETS[name] for name in names):
                sets = [name for name in names if asked.SETS[name] == corpus]
                try:
                    figures |= _compare(bench, corpus, sets)
                except CorpusMissing as missing:
                    print(f"{corpus}: not measured: {missing}", file=sys.stderr)
                    failed = True
                # In the order of the sets, whichever were measured last.
                figures = {name: figures[name] for name in asked.SETS if name in figures}
                options.figures.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    text = report.tables(figures)
    print(text)
    if options.page:
        write_between(options.page, report.MARKS, text)
        for name, found in figures.items():
            picture = options.page.parent / report.PICTURE.format(name)
            picture.write_text(report.picture(name, found), "utf-8")
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
        place = Place(
            bench.url, library, bench.scratch / f"{corpus}-index", embedder.dimensions, passages
        )
        place.folder.mkdir()
        with _made(place) as (rivals, about):
            found = {}
            for each in sets:
                with told(each.name):
                    found[each.name] = {
                        "judged": len(each.judged),
                        "timed": len(each.timed),
                        "passages": len(passages),
                        "machine": _machine(connection),
                        "versions": about,
                        "systems": measure(rivals, each, pages, vectors, connection),
                    }
    return found


@contextmanager
def _made(place: Place) -> Iterator[tuple[dict[str, Rival], dict[str, Any]]]:
    """Every system that can run, and the versions of the packages of all: null if missing."""
    rivals: dict[str, Rival] = {}
    about: dict[str, Any] = {}
    try:
        for system in SYSTEMS:
            about[system.name] = system.versions()
            if about[system.name] is None:
                print(f"{system.name}: not run; to install it: {INSTALL}", file=sys.stderr)
                continue
            with told(system.name):
                rivals[system.name] = system.make(place)
        yield rivals, about
    finally:
        for rival in rivals.values():
            rival.close()


def _machine(connection: psycopg.Connection[Any]) -> str:
    """What the times hang on, besides the hardware."""
    row = connection.execute(
        "select e.extversion from pg_extension as e where e.extname = 'vector'"
    ).fetchone()
    server = connection.info.parameter_status("server_version")
    return (
        f"PostgreSQL {server}, pgvector {row[0] if row else '?'},"
        f" Python {platform.python_version()}"
    )


if __name__ == "__main__":
    sys.exit(main())
