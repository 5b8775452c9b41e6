"""The figures of earlier states of pgrag: a row each, as a table and as a picture.

A state is known by the digest of its SQL functions. `make evaluation` adds the figures of the sets
that it measured to the row of the state; measuring a set again replaces its figures.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from datetime import date
from html import escape
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.figures import table

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / "benchmarks" / "history.json"
#: The name of the picture, beside the page.
PICTURE = "evaluation-history.svg"
SEARCHES = ("hybrid", "keyword", "semantic")
METRIC = "ndcg@10"
Row = dict[str, Any]

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 880, 460, 48, 190, 50, 56
_COLOURS = (
    "#1f6fb4", "#d9741a", "#2e8b4f", "#b83232", "#7a52a8", "#87603f", "#cc5fa5", "#6b7680",
    "#9a9a1e", "#1aa3b0", "#24407a", "#a3521a", "#1d5c38",
)  # fmt: skip
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1c2733}.title{font-size:15px;font-weight:600}"
    ".grid{stroke:#dfe4e9}.line{fill:none;stroke-width:1.8}"
)


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
    names = _names(rows)
    scores = [figures["hybrid"] for row in rows for figures in row["sets"].values()]
    lowest, highest = int(min(scores) * 10) / 10, 1.0
    floor = _HEIGHT - _BOTTOM

    def across(nth: int) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * nth / max(len(rows) - 1, 1)

    def up(score: float) -> float:
        return floor - (floor - _TOP) * (score - lowest) / (highest - lowest)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>nDCG@10 of the hybrid search, by state</title><style>{_STYLE}</style>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text class="title" x="{_LEFT}" y="28">nDCG@10 of the hybrid search, by state</text>',
    ]
    for tenth in range(round(lowest * 10), 11):
        height = up(tenth / 10)
        parts += [
            f'<path class="grid" d="M{_LEFT} {height:.1f}H{_WIDTH - _RIGHT}"/>',
            f'<text x="{_LEFT - 30}" y="{height + 4:.1f}">{tenth / 10:.1f}</text>',
        ]
    for nth, row in enumerate(rows):
        parts += [
            f'<text x="{across(nth):.1f}" y="{floor + 20}" text-anchor="middle">{row["commit"]}'
            "</text>",
            f'<text x="{across(nth):.1f}" y="{floor + 36}" text-anchor="middle">{row["date"][5:]}'
            "</text>",
        ]
    for place, name in enumerate(names):
        colour = _COLOURS[place % len(_COLOURS)]
        points = [
            (across(nth), up(row["sets"][name]["hybrid"]))
            for nth, row in enumerate(rows)
            if name in row["sets"]
        ]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        height = _TOP + 20 * place
        parts += [
            f'<polyline class="line" stroke="{colour}" points="{line}"/>',
            *(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points),
            f'<rect x="{_WIDTH - _RIGHT + 24}" y="{height - 9}" width="10" height="10"'
            f' fill="{colour}"/>',
            f'<text x="{_WIDTH - _RIGHT + 40}" y="{height}">{escape(name)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


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
        "version": version("pgrag"),
        "commit": git.stdout.strip() or "–",
        "date": date.today().isoformat(),
    }
