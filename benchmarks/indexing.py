"""Indexing: a large library for the first time, again, after small changes; and in versions."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.bench import Bench, IndexRun, value
from benchmarks.figures import Figure

SEARCHABLE = """
select count(*) from pgrag.documents as d
join pgrag.libraries as l on l.library_id = d.library_id
where l.name = %s and d.covers > 0
"""
DISTINCT_TEXTS = """
select count(distinct d.text_hash) from pgrag.documents as d
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
    bench.settle()
    with bench.connect() as connection:
        searchable = value(connection, SEARCHABLE, "mdn")

    on = f"MDN, {first.pages:,} pages, {searchable:,} searchable documents"
    rate = searchable / first.seconds
    peak = first.peak / 1e9
    return [
        Figure(
            "index everything (HNSW included): searchable documents/s",
            on, f"{rate:,.0f} in {first.seconds:.1f} s", "≥ 1,200", rate >= 1200,
        ),
        Figure("— pages/s", on, f"{first.pages / first.seconds:,.0f}"),
        Figure("— peak resident memory of Python", on, f"{peak:.2f} GB", "≤ 1 GB", peak <= 1),
        _share("index again, unchanged: share of the first time",
               on, again.seconds, first.seconds, 0.01),
        _share(f"index again, {changed.written:,} pages changed: share of the first time",
               on, changed.seconds, first.seconds, 0.02),
        _share("— share of the documents embedded", on, changed.embedded, searchable, 0.02),
    ]  # fmt: skip


def versions(bench: Bench) -> list[Figure]:
    """Four versions of one documentation: equal texts share their vectors."""
    folders = bench.corpora.versions("jest-versions")
    runs = [bench.index("jest", label, folder) for label, folder in folders.items()]
    _require_new(runs, "jest")
    embedded = sum(run.embedded for run in runs)
    with bench.connect() as connection:
        distinct = value(connection, DISTINCT_TEXTS, "jest")
        searchable = value(connection, SEARCHABLE, "jest")
    return [
        Figure(
            "texts embedded for all versions",
            f"Jest, {len(runs)} versions, {searchable:,} searchable documents",
            f"{embedded:,}",
            f"≤ {distinct:,} distinct texts",
            embedded <= distinct,
        )
    ]


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
    share = part / whole
    return Figure(what, on, f"{share:.1%}", f"≤ {most:.0%}", share <= most)
