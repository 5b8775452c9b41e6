"""How times, disk and indexing grow with the number of passages, in one library and in many.

    python -m benchmarks.growth PATH --to 100000 --work FOLDER

PATH has Markdown; the pages of all sizes are made out of it (see made_pages). The servers
stay below FOLDER: another run with the same FOLDER goes on where the last one ended, also after a
crash, and with a greater `--to`. A million takes about 15 GB and hours.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.bench import Connection, settings
from benchmarks.figures import table, told, write_between
from benchmarks.made_pages import Maker
from benchmarks.timing import fastest, p50_p95
from pgrag.service.app import App

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
MARKS = ("<!-- growth: made by `python -m benchmarks.growth` -->", "<!-- end of the growth -->")
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
#: Each shape with its searches: the name of the row, and the library; None for all.
SHAPES: dict[str, dict[str, str | None]] = {
    "one library": {"one library": "growth"},
    "many libraries": {"all of many libraries": None, "one of many libraries": "library-0000"},
}
#: PATH itself as a library: in a database of its own, and beside the one library.
BESIDE = {"the pages alone": "alone", "the pages beside one library": "one"}
#: Passages of each of the many libraries.
LIBRARY_SIZE = 10_000
#: The maximum number of pages that are written and indexed at once.
BATCH = 10_000
QUERIES = 200
#: Disk that a passage takes while it is indexed, with its file and the write-ahead log.
ROOM = 15_000
#: Deliberately too high: the first batch is small, and shows the real number.
PASSAGES_A_PAGE = 40.0

COUNTS = rb"""
select
    (select count(*) from pgrag.documents as d where d.covers > 0),
    (select count(*) from pgrag.pages),
    -- After a crash numbers are missing between.
    (select max(substring(p.key from 'page-(\d+)')::integer) from pgrag.pages as p),
    (select sum(pg_total_relation_size(t.relid)) from pg_stat_user_tables as t)::bigint
"""
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the sizes that are missing, print the table and write it into the page."""
    options = _parser().parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    options.work.chmod(0o711)  # a server that root starts runs as another user
    maker = Maker.read(options.pages)
    state = options.work / "figures.json"
    rows: list[Row] = json.loads(state.read_text("utf-8")) if state.exists() else []
    for shape, searches in SHAPES.items():
        known = {row["size"] for row in rows if row["searched"] in searches}
        missing = [size for size in options.sizes if size <= options.to and size not in known]
        if missing:
            with _app(options.work / shape.split()[0]) as app:
                for size in missing:
                    with told(f"{shape}, {size:,} passages"):
                        rows += _grow_and_measure(app, maker, shape, size)
                    state.write_text(json.dumps(rows), "utf-8")
    if options.beside:
        for searched, home in BESIDE.items():
            with told(searched), _app(options.work / home) as app:
                row = _index_and_measure(app, maker, options.pages, searched)
            rows = [other for other in rows if other["searched"] != searched] + [row]
            state.write_text(json.dumps(rows), "utf-8")
    text = growth_table(rows)
    print(text)
    write_between(options.page, MARKS, text)
    return 0


def growth_table(rows: Sequence[Row]) -> str:
    """A row for each size and search."""
    return table(
        ("searched", "passages", "p50, ms", "p95, ms", "disk a passage, kB", "passages/s"),
        [
            (
                row["searched"], f"{row['passages']:,}", f"{row['p50']:.1f}", f"{row['p95']:.1f}",
                f"{row['disk'] / row['passages'] / 1000:.1f}",
                f"{row['rate']:,.0f}" if row["rate"] else "–",
            )
            for row in sorted(rows, key=lambda row: (row["searched"], row["size"]))
        ],
    )  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.growth", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("pages", type=Path, metavar="PATH", help="folder with Markdown")
    parser.add_argument("--work", type=Path, required=True, help="folder of the servers; it stays")
    parser.add_argument("--to", type=int, default=100_000, help="largest size (default: 100,000)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of passages")
    parser.add_argument(
        "--beside", action="store_true",
        help="index PATH itself, too: alone, and beside the one library as large as it is",
    )  # fmt: skip
    parser.add_argument("--page", type=Path, default=PAGE, help="where the table goes")
    return parser


@contextmanager
def _app(home: Path) -> Iterator[App]:
    """An app with a server that stays on disk and is stopped at the end."""
    with App(settings(None, home=home)) as app:
        try:
            app.upgrade()
            # A run that was interrupted while it measured PATH itself leaves the library.
            app.database.query(
                "select pgrag.remove_library(name) from pgrag.libraries where name = 'pages'"
            )
            yield app
        finally:
            app.close()
            app.server.stop()


def _grow_and_measure(app: App, maker: Maker, shape: str, size: int) -> list[Row]:
    """Add pages up to a number of passages, then search; a row for each search."""
    with psycopg.connect(app.url, autocommit=True) as connection:
        before = _counts(connection)[0]
        seconds = 0.0
        while (counts := _counts(connection))[0] < size:
            _require_room(app.settings.home, size - counts[0])
            seconds += _add(app, maker, shape, size, counts)
        connection.execute(b"vacuum (analyze)")
        rate = (counts[0] - before) / seconds if seconds else None
        return [
            _row(connection, maker, searched, size, library, rate)
            for searched, library in SHAPES[shape].items()
        ]


def _index_and_measure(app: App, maker: Maker, folder: Path, searched: str) -> Row:
    """Index the folder as a library, search in it, and remove it again."""
    with psycopg.connect(app.url, autocommit=True) as connection:
        before = _counts(connection)[0]
        report = app.index("pages", "", str(folder))
        connection.execute(b"vacuum (analyze)")
        passages = _counts(connection)[0]
        rate = (passages - before) / report.seconds
        row = _row(connection, maker, searched, passages, "pages", rate)
        connection.execute(b"select pgrag.remove_library('pages')")  # the one library may grow on
        return row


def _row(
    connection: Connection, maker: Maker, searched: str, size: int, library: str | None,
    rate: float | None,
) -> Row:  # fmt: skip
    def search(query: str) -> list[Any]:
        statement = b"select * from pgrag.search(%s, %s)"
        return connection.execute(statement, [query, library]).fetchall()

    middle, slow = p50_p95(fastest({"search": search}, maker.queries(QUERIES))["search"])
    passages, _, _, disk = _counts(connection)
    return {
        "searched": searched, "size": size, "passages": passages, "disk": disk, "rate": rate,
        "p50": middle, "p95": slow,
    }  # fmt: skip


def _add(app: App, maker: Maker, shape: str, size: int, counts: Sequence[Any]) -> float:
    """Index one more folder of new pages; return the seconds of indexing."""
    passages, pages, last, _ = counts
    library, full = "growth", size
    if shape == "many libraries":
        nth = passages // LIBRARY_SIZE
        library, full = f"library-{nth:04d}", min(size, (nth + 1) * LIBRARY_SIZE)
    each = passages / pages if pages else PASSAGES_A_PAGE
    number = min(max(round(0.9 * (full - passages) / each), 1), BATCH)
    first = 0 if last is None else last + 1
    with tempfile.TemporaryDirectory(prefix="pgrag-growth-") as folder:
        maker.write(Path(folder), range(first, first + number))
        report = app.index(library, "", folder, adds=True)
    if report.failed:
        raise SystemExit(f"not indexed: {report.failed}")
    return report.seconds


def _counts(connection: Connection) -> Sequence[Any]:
    [counts] = connection.execute(COUNTS).fetchall()
    return counts


def _require_room(folder: Path, passages: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < passages * ROOM:
        raise SystemExit(
            f"{folder}: {passages:,} more passages take about {passages * ROOM / 1e9:.0f} GB,"
            f" and {free / 1e9:.0f} GB are free. Ask for less with --to."
        )


if __name__ == "__main__":
    sys.exit(main())
