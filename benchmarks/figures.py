"""The figures that a measure returns, and their formatting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
