"""R14 in figures: what answers a question is in its context, and little that answers nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def test_what_is_relevant_is_in_the_context_and_little_of_other_pages(
    empty_database_url: str,
) -> None:
    finished = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks", "--only", "expansion", "--strict"),
            *("--database-url", empty_database_url),
        ],
        cwd=CHECKOUT,
        capture_output=True,
        encoding="utf-8",
        timeout=1200,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr + finished.stdout
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in finished.stdout.splitlines()
        if line.startswith(("| context: ", "| sources of an answer: "))
    ]
    reached = {what: float(share.rstrip(" %")) for what, _, share, *_ in rows}
    for what in ("context", "sources of an answer"):
        assert reached[f"{what}: relevant passages returned"] >= 95
        assert reached[f"{what}: passages of pages that do not answer"] <= 15
