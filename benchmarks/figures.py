"""The figures that a measure returns, and their form as Markdown and JSON."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

MARKS = {True: "yes", False: "**no**", None: ""}


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table. `ok` is None for a row without a target, for comparison only."""

    what: str
    on: str
    reached: str
    wanted: str = ""
    ok: bool | None = None


def judged(
    what: str, on: str, value: float, limit: float, unit: str = "ms", *, digits: int = 1,
    is_least: bool = False,
) -> Figure:  # fmt: skip
    """A figure with its upper limit, or with a lower one."""
    sign = "≥" if is_least else "≤"
    ok = value >= limit if is_least else value <= limit
    reached, wanted = f"{value:,.{digits}f} {unit}", f"{sign} {limit:,g} {unit}"
    return Figure(what, on, reached.strip(), wanted.strip(), bool(ok))


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
    head, begun, rest = page.read_text("utf-8").partition(beginning)
    _, ended, tail = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"{page}: lacks the lines {beginning} and {end}.")
    page.write_text(f"{head}{beginning}\n\n{text}\n\n{end}{tail}", "utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """The results of earlier runs, by set."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def write_json(path: Path, results: Mapping[str, Any]) -> None:
    """Store results, a mapping of plain values on one line."""
    path.write_text(f"{_lines(results, '')}\n", "utf-8")


def _lines(value: Any, indent: str) -> str:
    if not isinstance(value, Mapping) or not any(isinstance(v, Mapping) for v in value.values()):
        return json.dumps(value, ensure_ascii=False)
    parts = (f"{indent} {json.dumps(k)}: {_lines(v, f'{indent} ')}" for k, v in value.items())
    return "{\n" + ",\n".join(parts) + f"\n{indent}}}"


@contextmanager
def told(name: str) -> Iterator[None]:
    """Report on stderr what is measured, how long it takes, and the load of the machine."""
    print(f"{name} …", end=" ", file=sys.stderr, flush=True)
    started = perf_counter()
    yield
    seconds, load = perf_counter() - started, os.getloadavg()[0]
    print(f"{seconds:.0f} s, load {load:.1f}", file=sys.stderr, flush=True)
