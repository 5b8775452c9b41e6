"""The growth curve: its table and picture, and the disk that it asks for first."""

from xml.etree import ElementTree

import pytest
from benchmarks import growth
from benchmarks.bench import Bench


def row(searched, size, **figures):
    shape = "one library" if searched == "one library" else "many libraries"
    return {
        "shape": shape, "searched": searched, "size": size, "documents": size, "pages": size // 9,
        "libraries": 1, "disk": 6000 * size, "rate": 800.0, "p50": 4.0, "p95": 8.0,
    } | figures  # fmt: skip


ROWS = [
    row("one library", 30_000, p95=16.0, disk=9000 * 30_000, rate=None),
    row("one library", 10_000),
    row("all of many libraries", 10_000),
]


def test_the_table_is_in_order_and_a_size_without_indexing_has_no_rate():
    lines = growth.growth_table(ROWS).splitlines()[2:]
    assert lines == [
        "| all of many libraries | 10,000 | 4.0 | 8.0 | 6.0 | 800 |",
        "| one library | 10,000 | 4.0 | 8.0 | 6.0 | 800 |",
        "| one library | 30,000 | 4.0 | 16.0 | 9.0 | – |",
    ]


def test_the_picture_shows_multiples_of_the_smallest_size():
    drawn = ElementTree.fromstring(growth.picture(ROWS))
    lines = {
        name.text: [tuple(map(float, p.split(","))) for p in line.get("points").split()]
        for name, line in zip(
            [t for t in drawn.iter() if t.text and ", " in t.text and t.get("x")][1:],
            drawn.iter("{http://www.w3.org/2000/svg}polyline"),
            strict=True,
        )
    }
    (_, flat), (_, same) = lines["p50, one library"]
    assert flat == same
    (_, low), (_, doubled) = lines["p95, one library"]
    (_, one), (_, half_more) = lines["disk a document, one library"]
    assert low == one == flat
    assert doubled < half_more < flat, "upwards is less in SVG"
    assert len(lines["indexing a document, one library"]) == 1


def test_a_size_that_has_no_room_on_the_disk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(growth.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10**9}))
    growth._require_room(tmp_path, 50_000)
    with pytest.raises(SystemExit, match="take about 15 GB, and 1 GB are free"):
        growth._require_room(tmp_path, 1_000_000)


def test_the_largest_sizes_are_judged():
    rows = [
        *ROWS,
        row("one library", 1_000_000, p50=21.0, p95=50.0),
        row("all of many libraries", 1_000_000, p50=40.0, p95=120.0),
        row("one of many libraries", 10_000, p50=5.0),
        row("one of many libraries", 300_000, p50=50.0),
        row("one of many libraries", 1_000_000, p50=5.5),
        row("the pages alone", 90_000, rate=900.0),
        row("the pages beside one library", 1_090_000, rate=600.0, p50=6.0),
    ]
    assert [(f.on, f.reached, f.ok) for f in growth.judged(rows)] == [
        ("1,000,000 documents", "21.0, 50.0 ms", False),
        ("1,000,000 documents", "40.0, 120.0 ms", True),
        ("1,000,000 documents", "1.10 ×", True),
        ("1,090,000 documents", "1.50 ×", False),
        ("1,090,000 documents", "1.50 ×", False),
    ]


def test_what_is_stored_is_told_without_measuring():
    told = growth.figures(Bench(None, "", None))
    assert len(told) == 5
    assert all(figure.ok is None and figure.on.endswith(" documents, stored") for figure in told)


def test_a_disk_without_room_does_not_end_the_other_measures(tmp_path, monkeypatch):
    def main(arguments):
        raise SystemExit(f"{arguments[2]}: no room")

    monkeypatch.setattr(growth, "main", main)
    corpora = type("Corpora", (), {"pages": lambda self, name: tmp_path / name})()
    [figure] = growth.figures(Bench(corpora, "", None, million=tmp_path / "work"))
    assert figure.ok is False
    assert figure.reached == f"not measured: {tmp_path / 'work'}: no room"
