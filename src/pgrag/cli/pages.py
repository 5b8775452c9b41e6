"""`pgrag grep`, `query` and `properties`: pages by exact text and by their properties."""

import json
import re
from typing import Annotated, Any

from rich.text import Text
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, command, listed
from pgrag.cli.notations import counted, misuse
from pgrag.cli.output import Output, Row, notice, print_table, print_text, stdout
from pgrag.cli.session import page_id, resolved, told
from pgrag.ground.printable import printable

_LINK = re.compile(r"\[\[([^][|]*)(?:\|([^][]*))?\]\]")


@command
def grep(
    app: App,
    target: options.LibraryVersion,
    pattern: Annotated[str, Argument(metavar="PATTERN", help="Text that a line contains.")],
    *,
    regex: Annotated[
        bool, Option("--regex/--fixed-strings", "-e/-F", help="A regular expression, or the text.")
    ] = False,
    word: Annotated[bool, Option("--word", "-w", help="Match whole words only.")] = False,
    ignore_case: Annotated[bool, Option("--ignore-case", "-i", help="Ignore case.")] = False,
    smart_case: Annotated[
        bool, Option("--smart-case", "-S", help="Ignore case unless the pattern has a capital.")
    ] = False,
    context: Annotated[
        int, Option("--context", "-C", min=0, max=100, help="Lines to print around each match.")
    ] = 0,
    glob: Annotated[
        str | None, Option("--glob", "-g", help="Only these files: docs/*.md, guide/, **/a.md.")
    ] = None,
    top_k: Annotated[
        int, Option(*options.LIMIT, min=1, max=100_000, help="The maximum number of lines.")
    ] = 1000,
    timeout: Annotated[float, Option(min=0.001, max=3600, help="Time limit in seconds.")] = 10.0,
) -> Output:
    """List the lines of the sources that contain a text; exit status 1 means that none does."""
    if word and regex:
        raise misuse("--word", r"is for plain text; use \b instead.")
    library = resolved(app, target)
    mode = "word" if word else "regex" if regex else "literal"
    case_mode = "ignore" if ignore_case else "smart" if smart_case else "sensitive"
    rows = app.database.call_in_time(
        "search_text", timeout_ms=round(1000 * timeout), pattern=pattern, **library.scope,
        mode=mode, case_mode=case_mode, context=context, path=glob, top_k=top_k,
    )  # fmt: skip

    def show() -> None:
        _print(rows, is_apart=context > 0)
        if len(rows) == top_k:
            notice(f"There may be more: --top-k is {top_k:,}.")

    return Output(rows, show, failed=not rows)


def _print(rows: list[Row], *, is_apart: bool) -> None:
    """Print each line once, context lines with `-`, and `--` where lines are left out."""
    matching = {(row["key"], row["line"]): _highlighted(row) for row in rows}
    before: tuple[str, int] | None = None
    for row in rows:
        first = row["line"] - len(row["lines_before"])
        for number, content in enumerate([*row["lines_before"], "", *row["lines_after"]], first):
            line = (row["key"], number)
            if before is not None and before[0] == row["key"] and number <= before[1]:
                continue
            if is_apart and before is not None and before != (row["key"], number - 1):
                stdout().print(Text("--", style="dim"))
            before = line
            sign = ":" if line in matching else "-"
            head = ((printable(row["key"]), "magenta"), sign, (str(number), "green"), sign)
            content_shown = matching.get(line) or Text(printable(content))
            stdout().print(Text.assemble(*head, content_shown), soft_wrap=True)


def _highlighted(row: Row) -> Text:
    line = Text(printable(row["content"]))
    for match in row["matches"]:
        line.stylize("bold red", match["start"] - 1, match["end"] - 1)
    return line


@command
def query(
    app: App,
    target: options.LibraryVersion,
    text: Annotated[
        str,
        Argument(
            metavar="QUERY",
            help="TABLE a, b FROM #tag WHERE a > 3 SORT b DESC; LIST …; TASK …, as in Dataview.",
        ),
    ],
    *,
    top_k: Annotated[
        int | None, Option(*options.LIMIT, min=0, help="The maximum number of rows; default: all.")
    ] = None,
    timeout: Annotated[float, Option(min=0.001, max=3600, help="Time limit in seconds.")] = 30.0,
    as_json: options.Json = False,
    as_csv: Annotated[bool, Option("--csv", help="Print CSV with a line of names.")] = False,
) -> Output:
    """Ask for pages or tasks by the properties of their front matter."""
    if as_json and as_csv:
        raise misuse("--csv", "cannot be combined with --json.")
    rows = told(app, "query_pages", timeout, query=text, **resolved(app, target).scope, top_k=top_k)
    columns = [*_location(rows[0]), *rows[0]["columns"]] if rows else []
    values = [[*_location(row).values(), *map(_value, row["values"])] for row in rows]

    def show() -> None:
        if as_csv:
            _print_csv(columns, values)
        elif not rows:
            notice("No page or task matches.")
        else:
            print_table(columns, values)
            notice(f"{counted(len(rows), 'row')}.")

    return Output(rows, show)


@command
def properties(
    app: App,
    target: options.LibraryVersion,
    *,
    page: options.Page = None,
    examples: Annotated[int, Option(min=0, help="Examples of values.")] = 3,
) -> Output:
    """List the properties of pages with the types of their values."""
    library = resolved(app, target)
    if page is not None:
        own = app.database.call("page_properties", page_id=page_id(app, library, page))
        return listed(
            [{name: row[name] for name in ("name", "type", "value")} for row in own],
            {"property": "name", "type": "type", "value": lambda row: _value(row["value"])},
        )
    rows = app.database.call("properties", **library.scope, example_count=examples)
    mixed = sum(row["is_mixed"] for row in rows)
    noun = "property has" if mixed == 1 else "properties have"
    total = f"{mixed} {noun} values of different types; the counts are of pages."
    return listed(
        rows,
        {
            "property": "name", "type": _types, "pages": "pages",
            "share": lambda row: f"{row['share']:.0%}", "values": "distinct_values",
            "examples": lambda row: "; ".join(_short(_value(value)) for value in row["examples"]),
        },
        total=total if mixed else None,
    )  # fmt: skip


def _location(row: Row) -> dict[str, str]:
    """The location of a task; a page has a column with its name."""
    return {} if row["line"] is None else {"Where": f"{row['key']}:{row['line']}"}


def _value(value: Any) -> str:
    """Return a value as queries write it: false is not a missing value."""
    if isinstance(value, list):
        return ", ".join(map(_value, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and (link := _LINK.fullmatch(value)):
        return link[2] or link[1]
    # Years and line numbers are not amounts: no thousands separators.
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _types(row: Row) -> str:
    if not row["is_mixed"]:
        return ", ".join(row["types"])
    return "mixed: " + ", ".join(f"{type_} {row['type_counts'][type_]}" for type_ in row["types"])


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 40 else words[:39] + "…"


def _print_csv(columns: list[str], values: list[list[str]]) -> None:
    import csv
    import io

    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([columns, *values])
    if values:
        print_text(lines.getvalue().removesuffix("\n"))
