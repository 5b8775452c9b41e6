"""Generate a page of docs/ from the code, as a whole or between two marks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def between(current: str, begin: str, end: str, text: str) -> str:
    """Return the page with the text between its marks replaced."""
    before, begun, rest = current.partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"The page lacks the mark {begin.strip()} or its end.")
    return f"{before}{begun}\n{text}\n{ended}{after}"


def main(page: Path, made: Callable[[str], str], source: str) -> int:
    """Write the page, or with --check compare it; return the exit status.

    `made` returns the new page for the current page; `source` names its source in messages.
    """
    current = page.read_text("utf-8") if page.exists() else ""
    wanted = made(current)
    if "--check" not in sys.argv[1:]:
        page.write_text(wanted, "utf-8")
        return 0
    if current == wanted:
        return 0
    name = page.relative_to(ROOT)
    print(f"{name} is not what {source}: run `make docs`.", file=sys.stderr)
    return 1
