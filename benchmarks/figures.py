"""The figures that a measure returns, and their formatting."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

MARKS = {True: "yes", False: "**no**", None: ""}


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. `ok` is None for a row without a target, for comparison only."""

    what: str
    on: str
    reached: str
    wanted: str = ""
    ok: bool | None = None


def figures_table(figures: Sequence[Figure]) -> str:
    """The figures as Markdown."""
    return table(
        ("what", "on", "reached", "wanted", "ok"),
        [(f.what, f.on, f.reached, f.wanted, MARKS[f.ok]) for f in figures],
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_between(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace what a page has between two lines. Raises SystemExit if the page lacks them."""
    beginning, end = marks
    head, found, rest = page.read_text("utf-8").partition(beginning)
    _, ended, tail = rest.partition(end)
    if not found or not ended:
        raise SystemExit(f"{page}: lacks the lines {beginning} and {end}.")
    page.write_text(f"{head}{beginning}\n\n{text}\n\n{end}{tail}", "utf-8")


@contextmanager
def told(name: str) -> Iterator[None]:
    """Report on stderr what is done and how long it takes."""
    print(f"{name} …", end=" ", file=sys.stderr, flush=True)
    started = perf_counter()
    yield
    print(f"{perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
