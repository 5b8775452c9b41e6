"""Measure the source: lines, long files and functions, SQL functions, arguments of search.

Only reads the repository; needs no database. `python scripts/house.py alpha` counts the occurrences
of one argument by file; without a name, of every argument of `pgrag.search`.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "sql", "alembic", "tests", "benchmarks", "campaign", "scripts")
"""Every text file below them counts, whatever its kind: code, fixtures, recorded results."""
LONG_FILE = 250
LONG_FUNCTION = 150
"""A file, or the body of a function, with more lines counts as long."""

_FUNCTION = re.compile(
    r"^create (?:or replace )?(?:function|procedure|aggregate) (_?pgrag)\.(\w+)\s*\(", re.MULTILINE
)
_BODY = re.compile(r"^as \$\$\n(.*?)^\$\$", re.MULTILINE | re.DOTALL)
_SEARCH = re.compile(r"^create (?:or replace )?function pgrag\.search\s*\(", re.MULTILINE)
_ARGUMENT = re.compile(r"^ +(\w+) ")


def read_sources(root: Path) -> dict[str, str]:
    """Map each text file below the folders to its text."""
    files = sorted(file for name in FOLDERS for file in (root / name).rglob("*"))
    sources = {}
    for file in files:
        if file.is_file() and "__pycache__" not in file.parts:
            data = file.read_bytes()
            if b"\0" not in data:
                sources[file.relative_to(root).as_posix()] = data.decode("utf-8")
    return sources


def code(sources: Mapping[str, str]) -> dict[str, str]:
    """The Python of src/ and the SQL of sql/."""
    kinds = {"src": ".py", "sql": ".sql"}
    return {
        file: text
        for file, text in sources.items()
        if file.endswith(kinds.get(file.partition("/")[0], "\0"))
    }


def long_functions(sources: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """Yield the lines and the name of each function whose body is long."""
    for file, text in sources.items():
        bodies: list[tuple[str, int]] = []
        if file.endswith(".sql"):
            bodies += (
                (".".join(name.groups()), body[1].count("\n"))
                for name in _FUNCTION.finditer(text)
                if (body := _BODY.search(text, name.end()))
            )
        elif file.endswith(".py"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    first = node.body[0].lineno
                    bodies.append((node.name, (node.end_lineno or first) - first + 1))
        yield from ((lines, f"{file}: {name}") for name, lines in bodies if lines > LONG_FUNCTION)


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
    totals = Counter({file: text.count("\n") for file, text in sources.items()})
    of_folder = {
        name: sum(lines for file, lines in totals.items() if file.startswith(f"{name}/"))
        for name in FOLDERS
    }
    ours = code(sources)
    public, private = functions(ours)
    rows = [
        *((f"lines in {name}/", lines) for name, lines in of_folder.items()),
        ("lines in src/ and sql/", of_folder["src"] + of_folder["sql"]),
        (
            "lines in benchmarks/, campaign/ and scripts/",
            sum(of_folder[name] for name in ("benchmarks", "campaign", "scripts")),
        ),
        (f"files over {LONG_FILE} lines", sum(totals[file] > LONG_FILE for file in ours)),
        ("public SQL functions", len(public)),
        ("private SQL functions", len(private)),
    ]
    lines = [f"{name:<45}{count:>8,}" for name, count in rows]
    lines += ["", f"functions over {LONG_FUNCTION} lines"]
    lines += [f"{length:>6}  {name}" for length, name in sorted(long_functions(sources))[::-1]]
    if argument:
        by_file = places(ours, argument)
        lines += ["", f"{argument}: {sum(by_file.values())} places in {len(by_file)} files"]
        lines += [f"{count:>6}  {file}" for file, count in by_file.items()]
    else:
        lines += ["", f"{'argument of search':<24}{'files':>8}{'places':>8}"]
        for name in search_arguments(ours):
            by_file = places(ours, name)
            lines.append(f"{name:<24}{len(by_file):>8,}{sum(by_file.values()):>8,}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Print the report of this repository."""
    print(report(read_sources(ROOT), next(iter(arguments), None)))
    return 0


if __name__ == "__main__":
    sys.exit(main([argument for argument in sys.argv[1:] if argument]))
