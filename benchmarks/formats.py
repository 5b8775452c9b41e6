"""Measure what every format keeps of one handbook: `python -m benchmarks.formats`.

docs/sources.md sums it up. With the paths of PDF files it measures those instead.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from pypdf import PdfReader

from benchmarks.handbook import HANDBOOK, WRITERS
from pgrag.ingest.formats.formats import SUFFIXES, convert
from pgrag.ingest.formats.pdf.properties import read_properties
from pgrag.ingest.matter import front_matter
from pgrag.ingest.text import markdown

_TIMES = 5
_PDF_HEADING = re.compile(r"^(#{1,6}) .*\{#page=(\d+)\}$", re.MULTILINE)
_FENCE = re.compile(r"```+[^\n]*\n(.*?)\n```+", re.DOTALL)
_ROW = re.compile(r"\|(.+)\|")


class Parts(NamedTuple):
    """What a reader looks for: headings with their levels, tables of cells, code."""

    headings: list[tuple[int, str]]
    tables: list[list[tuple[str, ...]]]
    code: list[str]


def files() -> list[str]:
    """Return the names of the files whose formats are known."""
    return [name for name in WRITERS if f".{name.rpartition('.')[2]}" in SUFFIXES]


def parts_of(name: str, data: bytes) -> Parts:
    """Return what comes out of a file."""
    converted = convert(name, data)
    matter = front_matter.split(name, converted.markdown)
    sections, _ = markdown.read(matter.body, matter.first_line, "github")
    blocks = [block for section in sections for block in section.blocks]
    return Parts(
        [(section.level, section.heading) for section in sections if section.level],
        [_cells(block.text) for block in blocks if block.type == "table"],
        [_FENCE.sub(r"\1", block.text) for block in blocks if block.type == "code"],
    )


def _cells(table: str) -> list[tuple[str, ...]]:
    rows = [match[1] for match in map(_ROW.match, table.split("\n")) if match]
    cells = [tuple(cell.strip() for cell in row.split("|")) for row in rows]
    return [row for row in cells if not all(set(cell) <= set("-: ") for cell in row)]


def expected(name: str) -> Parts:
    """Return what must come out: slides and sheets know no levels, sheets nothing but tables."""
    parts = Parts(
        [(block.level, block.content) for block in HANDBOOK if block.kind == "heading"],
        [block.content for block in HANDBOOK if block.kind == "table"],
        [block.content for block in HANDBOOK if block.kind == "code"],
    )
    if name.endswith(".pptx"):
        return parts._replace(headings=[(min(level, 2), text) for level, text in parts.headings])
    if name.endswith(".xlsx"):
        return Parts([(2, "Listeners"), (2, "Codes")], parts.tables, [])
    return parts


def _share(found: Sequence[object], wanted: Sequence[object]) -> str:
    right = sum(each in found for each in wanted)
    extra = len(found) - right
    return f"{right}/{len(wanted)}" + (f", {extra} wrong" if extra > 0 else "")


def print_pdfs(paths: Sequence[str]) -> None:
    """Print how many bookmarks of real files became headings of their level on their page."""
    print("| file | pages | bookmarks | headings at their place | ms a page |")
    print("|---|---:|---:|---:|---:|")
    for path in map(Path, paths):
        data = path.read_bytes()
        reader = PdfReader(BytesIO(data))
        wanted = Counter((each.level, each.page) for each in read_properties(data).bookmarks)
        start = perf_counter()
        found = Counter(
            (len(match[1]), int(match[2]))
            for match in _PDF_HEADING.finditer(convert(path.name, data).markdown)
        )
        milliseconds = (perf_counter() - start) * 1000 / len(reader.pages)
        placed = (wanted & found).total()
        row = (path.name, len(reader.pages), wanted.total(), placed, f"{milliseconds:.1f}")
        print(f"| {' | '.join(map(str, row))} |")


def main() -> None:
    """Print the table of all formats, or of PDF files."""
    if len(sys.argv) > 1:
        print_pdfs(sys.argv[1:])
        return
    print("| file | headings and levels | tables | code | ms |")
    print("|---|---|---|---|---:|")
    for name in files():
        data = WRITERS[name]()
        times = []
        for _ in range(_TIMES):
            start = perf_counter()
            found = parts_of(name, data)
            times.append((perf_counter() - start) * 1000)
        wanted = expected(name)
        shares = " | ".join(_share(*pair) for pair in zip(found, wanted, strict=True))
        print(f"| {name} | {shares} | {median(times):.1f} |")


if __name__ == "__main__":
    main()
