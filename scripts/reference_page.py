"""Write a file that is made from the code, as a whole or between two marks of a page.

With --check the file is only compared; the exit status is 1 if it is out of date.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_LARGEST = 1e12


def write_part(page: Path, what: str, lines: Iterable[str]) -> int:
    """Replace the text between the marks of a page; return the exit status."""
    current = page.read_text("utf-8")
    begin, end = f"<!-- {what}, made by `make docs` -->\n", f"<!-- end of {what} -->\n"
    before, begun, rest = current.partition(begin)
    _, ended, after = rest.partition(end)
    if not begun or not ended:
        raise SystemExit(f"The page lacks the mark {begin.strip()} or its end.")
    text = "\n".join(lines)
    return write(page, f"{before}{begun}\n{text}\n{ended}{after}", f"the {what} say")


def write(file: Path, wanted: str, source: str) -> int:
    """Write the file, or with --check compare it; return the exit status."""
    if "--check" not in sys.argv[1:]:
        file.write_text(wanted, "utf-8")
    elif not file.is_file() or file.read_text("utf-8") != wanted:
        print(f"{file.relative_to(ROOT)} is not what {source}: run `make docs`.", file=sys.stderr)
        return 1
    return 0


def bounds(schema: dict[str, Any]) -> list[str]:
    """The range of a number, where both ends mean something."""
    if "minimum" in schema and schema.get("maximum", _LARGEST) < _LARGEST:
        return [f"{schema['minimum']:,} to {schema['maximum']:,}"]
    return []
