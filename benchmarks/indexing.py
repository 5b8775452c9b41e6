"""Indexing: a large library for the first time, again, after small changes; and in versions."""

import shutil
from pathlib import Path

from benchmarks.bench import Bench, IndexRun, settle
from benchmarks.figures import Figure, judged

SEARCHABLE = """
select count(*), count(distinct d.text_hash) from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
where l.name = %s and d.covers > 0
"""
#: One page in this many is changed.
STRIDE = 100
SENTENCE = "\n\nThis sentence was added to see what an edit costs.\n"


def first_and_again(bench: Bench) -> list[Figure]:
    """Index MDN from scratch, with all indexes; then unchanged; then with 1 % of pages changed."""
    source = bench.corpora.pages("mdn-en")
    first = bench.index("mdn", "", source)
    _require_new([first], "mdn")
    again = bench.index("mdn", "", source)
    changed = bench.index("mdn", "", _edited(source, bench.scratch / "mdn-edited"))
    settle(bench.url)
    searchable, _ = _texts(bench, "mdn")

    on = f"MDN, {first.pages:,} pages, {searchable:,} searchable passages"
    rate = searchable / first.seconds
    peak = first.peak / 1e9
    return [
        judged("index everything (HNSW included): searchable passages/s", on, rate, 1400, "",
               digits=0, is_least=True),
        Figure("— pages/s, seconds", on,
               f"{first.pages / first.seconds:,.0f}, {first.seconds:.1f}"),
        judged("— peak resident memory of Python", on, peak, 1, "GB", digits=2),
        _share("index again, unchanged: share of the first time",
               on, again.seconds, first.seconds, 0.007),
        _share(f"index again, {changed.written:,} pages changed: share of the first time",
               on, changed.seconds, first.seconds, 0.015),
        _share("— share of the passages embedded", on, changed.embedded, searchable, 0.02),
    ]  # fmt: skip


def versions(bench: Bench) -> list[Figure]:
    """Four versions of one documentation: equal texts share their vectors."""
    folders = bench.corpora.versions("jest-versions")
    runs = [bench.index("jest", label, folder) for label, folder in folders.items()]
    _require_new(runs, "jest")
    embedded = sum(run.embedded for run in runs)
    searchable, distinct = _texts(bench, "jest")
    on = f"Jest, {len(runs)} versions, {searchable:,} searchable passages"
    return [
        judged("texts embedded for all versions", on, embedded, distinct, "distinct texts",
               digits=0)
    ]  # fmt: skip


def _texts(bench: Bench, library: str) -> tuple[int, int]:
    """The number of searchable passages, and of distinct texts among them."""
    with bench.connect() as connection:
        [(searchable, distinct)] = connection.execute(SEARCHABLE.encode(), [library]).fetchall()
    return searchable, distinct


def _require_new(runs: list[IndexRun], library: str) -> None:
    """Refuse a library that is indexed already: its run would not be the first."""
    if any(run.written < run.pages for run in runs):
        raise RuntimeError(f"the library {library} is in this database already; use a new one")


def _edited(source: Path, copy: Path) -> Path:
    shutil.copytree(source, copy)
    for page in sorted(path for path in copy.rglob("*.md"))[::STRIDE]:
        with page.open("a", encoding="utf-8") as text:
            text.write(SENTENCE)
    return copy


def _share(what: str, on: str, part: float, whole: float, most: float) -> Figure:
    return judged(what, on, 100 * part / whole, 100 * most, "%")
