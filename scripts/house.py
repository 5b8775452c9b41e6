"""Measure the source: lines, long files, SQL functions, and occurrences of search arguments.

Only reads the repository; needs no database. `python scripts/house.py alpha` counts the occurrences
of one argument by file; without a name, of every argument of `pgrag.search`.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONG_FILE = 250
"""A file with more lines counts as long."""

_FUNCTION = re.compile(
    r"^create (?:or replace )?(?:function|procedure|aggregate) (_?pgrag)\.(\w+)\s*\(", re.MULTILINE
)
_SEARCH = re.compile(r"^create (?:or replace )?function pgrag\.search\s*\(", re.MULTILINE)
_ARGUMENT = re.compile(r"^ +(\w+) ")


def read_sources(root: Path) -> dict[str, str]:
    """Map each Python file below src/ and SQL file below sql/ to its text."""
    files = [*root.glob("src/**/*.py"), *root.glob("sql/**/*.sql")]
    return {file.relative_to(root).as_posix(): file.read_text("utf-8") for file in sorted(files)}


def functions(sources: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """Return the names of the public and the private SQL functions.

    A function is private in schema `_pgrag`, or if its name begins with "_".
    """
    names = {match for text in sources.values() for match in _FUNCTION.findall(text)}
    private = {(schema, name) for schema, name in names if "_" in (schema[0], name[0])}
    return {name for _, name in names - private}, {".".join(name) for name in private}


def search_arguments(sources: Mapping[str, str]) -> list[str]:
    """Return the arguments in the signature of `pgrag.search`."""
    for text in sources.values():
        if match := _SEARCH.search(text):
            signature = text[match.end() :].partition("\n)")[0]
            return [name[1] for line in signature.split("\n") if (name := _ARGUMENT.match(line))]
    raise SystemExit("No file below sql/ creates the function pgrag.search.")


def places(sources: Mapping[str, str], argument: str) -> dict[str, int]:
    """Map each file to the number of occurrences of an argument as a whole word, if any."""
    word = re.compile(rf"\b{re.escape(argument)}\b")
    counts = {file: len(word.findall(text)) for file, text in sources.items()}
    return {file: count for file, count in counts.items() if count}


def report(sources: Mapping[str, str], argument: str | None = None) -> str:
    """Return the counts, one per line; then the files of `argument`, or all arguments."""
    lengths = {file: text.count("\n") for file, text in sources.items()}
    totals: Counter[str] = Counter()
    for file, length in lengths.items():
        totals[file.partition("/")[0]] += length
    public, private = functions(sources)
    rows = [
        ("lines in src/", totals["src"]),
        ("lines in sql/", totals["sql"]),
        ("lines in both", totals.total()),
        (f"files over {LONG_FILE} lines", sum(n > LONG_FILE for n in lengths.values())),
        ("public SQL functions", len(public)),
        ("private SQL functions", len(private)),
    ]
    lines = [f"{name:<24}{count:>8,}" for name, count in rows]
    if argument:
        by_file = places(sources, argument)
        lines += ["", f"{argument}: {sum(by_file.values())} places in {len(by_file)} files"]
        lines += [f"{count:>6}  {file}" for file, count in by_file.items()]
    else:
        lines += ["", f"{'argument of search':<24}{'files':>8}{'places':>8}"]
        for name in search_arguments(sources):
            by_file = places(sources, name)
            lines.append(f"{name:<24}{len(by_file):>8,}{sum(by_file.values()):>8,}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the report of this repository."""
    print(report(read_sources(ROOT), next(iter(arguments), None)))
    return 0


if __name__ == "__main__":
    sys.exit(main([argument for argument in sys.argv[1:] if argument]))
