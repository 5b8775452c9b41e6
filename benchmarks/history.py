"""The history in docs/benchmarks.md: a row for each commit that was measured beside the others."""

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.figures import Figure, table, write_between

MARKS = ("<!-- history: a row by each `make bench RIVALS=1` -->", "<!-- end of the history -->")
#: The columns, and how the names of their figures begin and what they are on.
COLUMNS = {
    "search, of a scan": ("— pgrag.search (", "link texts"),
    "questions": ("— pgrag.search (", "questions"),
    "with links": ("— with links (", "link texts"),
    "first search": ("processor time, first search of a session: a key", ""),
    "less than the usual recipe": ("— pgrag.search takes less processor time", "queries"),
    "`pgrag search`": ("`pgrag search`", ""),
    "indexing": ("index everything", ""),
    "disk a passage": ("disk of a searchable passage", ""),
}


def write(page: Path, figures: Sequence[Figure], commit: str, day: str) -> None:
    """Add the row of a commit to the page, or replace it."""
    rest = page.read_text("utf-8").partition(MARKS[0])[2]
    kept = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in rest.partition(MARKS[1])[0].splitlines()
        if line.startswith("| ") and not line.startswith(("| date", "| ---"))
    ]
    rows = [row for row in kept if row[1] != commit] + [[day, commit, *_cells(figures)]]
    write_between(page, MARKS, table(("date", "commit", *COLUMNS), rows))


def _cells(figures: Sequence[Figure]) -> list[str]:
    return [
        next((f.reached for f in figures if f.what.startswith(what) and on in f.on), "—")
        for what, on in COLUMNS.values()
    ]


def today() -> str:
    """The date, as the table shows it."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def commit_of(checkout: Path) -> str:
    """The commit of a checkout, with a "+" if there are changes; "—" outside of git."""
    asked = ["git", "-C", str(checkout), "describe", "--always", "--dirty=+", "--exclude=*"]
    told = subprocess.run(asked, capture_output=True, encoding="utf-8", check=False)
    return told.stdout.strip() or "—"
