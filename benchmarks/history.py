"""The figures of earlier states of pgrag: a row each, as a table and as a picture.

A state is known by the digest of its SQL functions. `make evaluation` adds the figures of the sets
that it measured to the row of the state; measuring a set again replaces its figures.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import drawing
from benchmarks.figures import table

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / "benchmarks" / "history.json"
#: The name of the picture, beside the page.
PICTURE = "evaluation-history.svg"
SEARCHES = ("hybrid", "keyword", "semantic")
METRIC = "ndcg@10"
Row = dict[str, Any]


def read(path: Path = HISTORY) -> list[Row]:
    """The rows, the oldest first."""
    found: list[Row] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return found


def add(rows: list[Row], name: str, found: Row) -> list[Row]:
    """The rows with the figures of a set in the row of their state; they replace earlier ones.

    A new row names today and the commit that is checked out.
    """
    scores = {search: found["systems"][search][METRIC] for search in SEARCHES}
    state = found["functions"]
    if not any(row["functions"] == state for row in rows):
        rows = [*rows, {**_here(), "functions": state, "sets": {}}]
    return [
        row | {"sets": row["sets"] | {name: scores}} if row["functions"] == state else row
        for row in rows
    ]


def write(rows: list[Row], path: Path = HISTORY) -> None:
    """Store the rows."""
    path.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def history_table(rows: list[Row]) -> str:
    """The rows as Markdown; a cell has the figures of SEARCHES."""
    names = _names(rows)
    return table(
        ("version", "commit", "date", "functions", *names),
        [
            [
                row["version"], row["commit"], row["date"], row["functions"][:8],
                *(_cell(row["sets"].get(name)) for name in names),
            ]
            for row in rows
        ],
    )  # fmt: skip


def picture(rows: list[Row]) -> str:
    """The hybrid search of each set as a line over the states."""
    scores = [figures["hybrid"] for row in rows for figures in row["sets"].values()]
    lowest = int(min(scores) * 10)
    return drawing.picture(
        "nDCG@10 of the hybrid search, by state",
        drawing.Axis(
            0,
            max(len(rows) - 1, 1),
            [(nth, (row["commit"], row["date"][5:])) for nth, row in enumerate(rows)],
        ),
        drawing.Axis(
            lowest / 10, 1.0, [(nth / 10, (f"{nth / 10:.1f}",)) for nth in range(lowest, 11)]
        ),
        [
            drawing.Series(
                name,
                [
                    (nth, row["sets"][name]["hybrid"])
                    for nth, row in enumerate(rows)
                    if name in row["sets"]
                ],
            )
            for name in _names(rows)
        ],
    )


def _names(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row["sets"]))


def _cell(figures: Mapping[str, float] | None) -> str:
    if figures is None:
        return "–"
    return " ".join(f"{figures[search]:.3f}" for search in SEARCHES)


def _here() -> Row:
    """The version, the commit that is checked out, if any, and today's date."""
    git = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"],
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "version": version("pgrag-search"),
        "commit": git.stdout.strip() or "–",
        "date": date.today().isoformat(),
    }
