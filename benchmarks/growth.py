"""How times, disk and indexing grow with the number of documents, in one library and in many.

    python -m benchmarks.growth PATH --to 100000 --work FOLDER

PATH has Markdown; out of it as many pages are made as the sizes take (see made_pages). The servers
stay below FOLDER: another run with the same FOLDER goes on where the last one ended, also after a
crash, and with a greater `--to`. A million takes about 15 GB and hours. Figures go to
benchmarks/growth.json, the table into docs/benchmarks.md, the picture beside it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from benchmarks import drawing
from benchmarks.bench import Bench
from benchmarks.figures import Figure, table, told, write_between
from benchmarks.latency import fastest
from benchmarks.made_pages import Maker
from pgrag.ground.settings import Settings
from pgrag.service.app import App

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks.md"
FIGURES = ROOT / "benchmarks" / "growth.json"
PICTURE = "growth.svg"
MARKS = ("<!-- growth: made by `python -m benchmarks.growth` -->", "<!-- end of the growth -->")
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SHAPES = ("one library", "many libraries")
#: PATH itself as a library: in a database of its own, and beside the one library.
BESIDE = {"the pages alone": "alone", "the pages beside one library": "one"}
#: What a search may take at most, p50 and p95 in milliseconds.
TIMES = {"one library": (20, 60), "all of many libraries": (40, 120)}
#: Of each of the many libraries.
LIBRARY_DOCUMENTS = 10_000
#: Pages that are written and indexed at once, in one library.
BATCH = 10_000
QUERIES = 200
#: Disk that a document takes while it is indexed, with its file and the write-ahead log.
ROOM = 15_000
#: More than a page has: the first batch is small, and shows how many it does have.
DOCUMENTS_A_PAGE = 40.0

COUNTS = r"""
select
    (select count(*) from pgrag.documents as d where d.covers > 0),
    (select count(*) from pgrag.pages),
    -- After a crash numbers are missing between.
    (select max(substring(p.key from 'page-(\d+)')::integer) from pgrag.pages as p),
    (select count(*) from pgrag.libraries),
    (select sum(pg_total_relation_size(t.relid)) from pg_stat_user_tables as t)::bigint
"""
#: What is searched: the name of its row, and the library; null for all.
SEARCHES = {"one library": ("growth",), "many libraries": (None, "library-0000")}
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sizes that are missing, print the table and write it into the page."""
    options = _parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    options.work.chmod(0o711)  # a server that root starts runs as another user
    maker = Maker.read(options.pages)
    state = options.work / "figures.json"
    rows: list[Row] = json.loads(state.read_text("utf-8")) if state.exists() else []
    sizes = [size for size in options.sizes if size <= options.to]
    for shape in options.shapes:
        missing = [size for size in sizes if not _measured(rows, shape, size)]
        if not missing:
            continue
        with _app(options.work / shape.split()[0]) as app:
            for size in missing:
                with told(f"{shape}, {size:,} documents"):
                    rows += _grow_and_measure(app, maker, shape, size)
                state.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    if options.beside:
        grown = [row["documents"] for row in rows if row["searched"] == "one library"]
        if not grown:
            raise SystemExit("--beside needs the one library; let --shapes name it.")
        for searched, home in BESIDE.items():
            # Those beside a library that has grown since are measured again.
            least = 0 if home == "alone" else max(grown)
            if any(row["searched"] == searched and row["documents"] > least for row in rows):
                continue
            with told(searched), _app(options.work / home) as app:
                row = _index_and_measure(app, maker, options.pages, searched)
            rows = [other for other in rows if other["searched"] != searched] + [row]
            state.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    options.figures.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    text = growth_table(rows)
    print(text)
    write_between(options.page, MARKS, text)
    (options.page.parent / PICTURE).write_text(picture(rows), "utf-8")
    return 0


def figures(bench: Bench) -> list[Figure]:
    """What a million documents cost: in the bench's folder, else as stored by the last run."""
    if bench.million is None:
        stored = judged(json.loads(FIGURES.read_text("utf-8")))
        return [replace(figure, on=f"{figure.on}, stored", ok=None) for figure in stored]
    pages, work = str(bench.corpora.pages("mdn-en")), str(bench.million)
    try:
        main([pages, "--work", work, "--to", str(SIZES[-1]), "--beside"])
    except SystemExit as refused:
        return [Figure("growth", work, f"not measured: {refused}", "", False)]
    return judged(json.loads(FIGURES.read_text("utf-8")))


def judged(rows: Sequence[Row]) -> list[Figure]:
    """Times of the largest sizes, and what a library loses beside others, with their targets."""
    of: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["size"]):
        of.setdefault(row["searched"], []).append(row)
    found = []
    for searched, (middle, slow) in TIMES.items():
        row = of[searched][-1]
        found.append(
            Figure(f"search of {searched}: p50, p95", f"{row['documents']:,} documents",
                   f"{row['p50']:.1f}, {row['p95']:.1f} ms", f"≤ {middle}, ≤ {slow} ms",
                   row["p50"] <= middle and row["p95"] <= slow)
        )  # fmt: skip
    first, many = of["one of many libraries"][0], of["one of many libraries"][-1]
    alone, beside = (of[searched][-1] for searched in BESIDE)
    for what, row, other, name, most in (
        ("p50 of one of many libraries, to that of the first alone", many, first, "p50", 1.1),
        ("p50 of MDN beside one library, to that alone", beside, alone, "p50", 1.3),
        ("time of indexing MDN beside one library, to that alone", beside, alone, "rate", 1.1),
    ):
        ratio = row[name] / other[name] if name == "p50" else other[name] / row[name]
        on = f"{row['documents']:,} documents"
        found.append(Figure(what, on, f"{ratio:.2f} ×", f"≤ {most} ×", ratio <= most))
    return found


def growth_table(rows: Sequence[Row]) -> str:
    """A row for each size and search."""
    return table(
        ("searched", "documents", "p50, ms", "p95, ms", "disk a document, kB", "documents/s"),
        [
            (
                row["searched"], f"{row['documents']:,}", f"{row['p50']:.1f}", f"{row['p95']:.1f}",
                f"{_a_document(row) / 1000:.1f}", f"{row['rate']:,.0f}" if row["rate"] else "–",
            )
            for row in sorted(rows, key=lambda row: (row["searched"], row["size"]))
        ],
    )  # fmt: skip


def picture(rows: Sequence[Row]) -> str:
    """Each figure as a multiple of the one of its smallest size."""
    series = []
    rows = [row for row in rows if row["shape"] in SHAPES]
    for searched in dict.fromkeys(row["searched"] for row in rows):
        of = sorted((r for r in rows if r["searched"] == searched), key=lambda row: row["size"])
        for name in ("p50", "p95"):
            points = [(row["size"], row[name] / of[0][name]) for row in of]
            series.append(drawing.Series(f"{name}, {searched}", points))
    for shape in dict.fromkeys(row["shape"] for row in rows):
        of = sorted((r for r in rows if r["shape"] == shape), key=lambda row: row["size"])
        disk = [(r["size"], _a_document(r) / _a_document(of[0])) for r in of]
        timed = [row for row in of if row["rate"]]
        slower = [(r["size"], timed[0]["rate"] / r["rate"]) for r in timed]
        series.append(drawing.Series(f"disk a document, {shape}", disk))
        series.append(drawing.Series(f"indexing a document, {shape}", slower))
    points = [point for each in series for point in each.points]
    return drawing.picture(
        "Growth with the number of documents, as a multiple of the smallest size",
        drawing.Axis.by_size([size for size, _ in points]),
        drawing.Axis.by_size([factor for _, factor in points]),
        series,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("pages", type=Path, metavar="PATH", help="folder with Markdown")
    parser.add_argument("--work", type=Path, required=True, help="folder of the servers; it stays")
    parser.add_argument("--to", type=int, default=100_000, help="largest size (default: 100,000)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of documents")
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES, help="what grows")
    parser.add_argument(
        "--beside", action="store_true",
        help="index PATH itself, too: alone, and beside the one library as large as it is",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table goes")
    parser.add_argument("--figures", type=Path, default=FIGURES, help="where the figures go")
    return parser


def _measured(rows: Sequence[Row], shape: str, size: int) -> bool:
    return any(row["shape"] == shape and row["size"] == size for row in rows)


@contextmanager
def _app(home: Path) -> Iterator[App]:
    """An app with a server that stays on disk and is stopped at the end."""
    with App(Settings(database_url=None, home=home, embedding_url=None)) as app:
        try:
            app.upgrade()
            _remove_pages(app)
            yield app
        finally:
            app.close()
            app.server.stop()


def _remove_pages(app: App) -> None:
    """Remove what a run has left that was cut while it measured PATH itself."""
    with psycopg.connect(app.url, autocommit=True) as connection:
        removed = connection.execute(
            b"select pgrag.remove_library(name) from pgrag.libraries where name = 'pages'"
        )
        if removed.rowcount:
            connection.execute(b"vacuum (analyze)")


def _grow_and_measure(app: App, maker: Maker, shape: str, size: int) -> list[Row]:
    """Add documents until there are as many, then search. A row for each search of the shape."""
    with psycopg.connect(app.url, autocommit=True) as connection:
        before = _counts(connection)[0]
        seconds = 0.0
        while (counts := _counts(connection))[0] < size:
            _require_room(app.settings.home, size - counts[0])
            seconds += _add(app, maker, shape, size, counts)
        connection.execute(b"vacuum (analyze)")
        documents, pages, _, libraries, disk = _counts(connection)
        return [
            {
                "shape": shape,
                "searched": _searched(shape, library),
                "size": size,
                "documents": documents,
                "pages": pages,
                "libraries": libraries,
                "disk": disk,
                "rate": round((documents - before) / seconds, 1) if seconds else None,
                **_times(connection, library, maker.queries(QUERIES)),
            }
            for library in SEARCHES[shape]
        ]


def _index_and_measure(app: App, maker: Maker, folder: Path, searched: str) -> Row:
    """Index the folder as a library, search in it, and remove it again."""
    with psycopg.connect(app.url, autocommit=True) as connection:
        before = _counts(connection)[0]
        report = app.index("pages", "", str(folder))
        connection.execute(b"vacuum (analyze)")
        documents, pages, _, libraries, disk = _counts(connection)
        times = _times(connection, "pages", maker.queries(QUERIES))
        connection.execute(b"select pgrag.remove_library('pages')")  # the one library may grow on
        return {
            "shape": "beside",
            "searched": searched,
            "size": documents,
            "documents": documents,
            "pages": pages,
            "libraries": libraries,
            "disk": disk,
            "rate": round((documents - before) / report.seconds, 1),
            **times,
        }


def _add(app: App, maker: Maker, shape: str, size: int, counts: Sequence[Any]) -> float:
    """Index one more folder of new pages; return the seconds of indexing."""
    documents, pages, last = counts[:3]
    if shape == "many libraries":
        nth = documents // LIBRARY_DOCUMENTS
        library, full = f"library-{nth:04d}", min(size, (nth + 1) * LIBRARY_DOCUMENTS)
    else:
        library, full = "growth", size
    each = documents / pages if pages else DOCUMENTS_A_PAGE
    number = min(max(round(0.9 * (full - documents) / each), 1), BATCH)
    first = 0 if last is None else last + 1
    with tempfile.TemporaryDirectory(prefix="pgrag-growth-") as folder:
        maker.write(Path(folder), range(first, first + number))
        report = app.index(library, "", folder, adds=True)
    if report.failed:
        raise SystemExit(f"not indexed: {report.failed}")
    return report.seconds


def _times(
    connection: psycopg.Connection[Any], library: str | None, queries: Sequence[str]
) -> dict[str, float]:
    def search(query: str) -> list[Any]:
        statement = b"select * from pgrag.search(%s, %s)"
        return connection.execute(statement, [query, library]).fetchall()

    middle, slow = np.percentile(fastest({"search": search}, queries)["search"], [50, 95])
    return {"p50": round(float(middle), 2), "p95": round(float(slow), 2)}


def _searched(shape: str, library: str | None) -> str:
    if shape == "one library":
        return shape
    return "all of many libraries" if library is None else "one of many libraries"


def _counts(connection: psycopg.Connection[Any]) -> Sequence[Any]:
    row = connection.execute(COUNTS.encode()).fetchone()
    assert row is not None
    return row


def _a_document(row: Row) -> float:
    return float(row["disk"] / row["documents"])


def _require_room(folder: Path, documents: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < documents * ROOM:
        raise SystemExit(
            f"{folder}: {documents:,} more documents take about {documents * ROOM / 1e9:.0f} GB,"
            f" and {free / 1e9:.0f} GB are free. Ask for less with --to."
        )


if __name__ == "__main__":
    sys.exit(main())
