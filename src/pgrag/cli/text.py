"""`pgrag grep`: exact text, as ripgrep prints it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from pgrag.cli import options
from pgrag.cli.arguments import parse_target
from pgrag.cli.output import notice, print_json, printable, stdout
from pgrag.cli.session import opened, say_version


def grep(
    pattern: Annotated[str, typer.Argument(help="What a line must hold.", show_default=False)],
    *,
    library: Annotated[
        str,
        typer.Option(
            "--library",
            "-l",
            metavar="LIBRARY[@VERSION]",
            help="Where to search.",
            show_default=False,
        ),
    ],
    regex: Annotated[
        bool,
        typer.Option("--regex/--fixed-strings", "-e/-F", help="A regular expression, or the text."),
    ] = False,
    word: Annotated[bool, typer.Option("--word", "-w", help="The text as whole words.")] = False,
    ignore_case: Annotated[
        bool, typer.Option("--ignore-case", "-i", help="Small and capital letters are one.")
    ] = False,
    smart_case: Annotated[
        bool,
        typer.Option("--smart-case", "-S", help="The same, unless the pattern has a capital."),
    ] = False,
    context: Annotated[
        int, typer.Option("--context", "-C", min=0, max=100, help="So many lines around each.")
    ] = 0,
    glob: Annotated[
        str | None,
        typer.Option("--glob", "-g", help="Only files like this: docs/*.md, guide/, **/a.md."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=100_000, help="Lines at most.")
    ] = 1000,
    timeout: Annotated[
        float, typer.Option(min=0.001, max=3600, help="Seconds after which it gives up.")
    ] = 10.0,
    as_json: options.Json = False,
) -> None:
    """List the lines of the sources that hold a text, with file and line.

    Exit status 1 means that there is none.
    """
    if word and regex:
        raise typer.BadParameter(
            r"--word is for plain text; write \b in the expression.", param_hint="--word"
        )
    target = parse_target(library)
    with opened() as app:
        say_version(app, target.library, target.version)
        rows = app.database.call_in_time(
            "search_text",
            timeout_ms=round(1000 * timeout),
            pattern=pattern,
            library=target.library,
            version=target.version,
            mode="word" if word else "regex" if regex else "literal",
            case_mode="ignore" if ignore_case else "smart" if smart_case else "sensitive",
            context=context,
            path=glob,
            match_count=limit,
        )
    if as_json:
        print_json(rows)
    else:
        _print(rows, is_apart=context > 0)
        if len(rows) == limit:
            notice(f"There may be more: --limit is {limit:,}.")
    if not rows:
        raise typer.Exit(1)


def _print(rows: list[dict[str, Any]], *, is_apart: bool) -> None:
    """Print each line once, context lines with `-`, and `--` where lines are left out."""
    matching = {(row["key"], row["line"]): _highlighted(row) for row in rows}
    before: tuple[str, int] | None = None
    for row in rows:
        first = row["line"] - len(row["lines_before"])
        for number, content in enumerate([*row["lines_before"], "", *row["lines_after"]], first):
            place = (row["key"], number)
            if before is not None and before[0] == row["key"] and number <= before[1]:
                continue
            if is_apart and before is not None and before != (row["key"], number - 1):
                stdout().print(Text("--", style="dim"))
            before = place
            sign = ":" if place in matching else "-"
            head = ((printable(row["key"]), "magenta"), sign, (str(number), "green"), sign)
            shown = matching.get(place) or Text(printable(content))
            stdout().print(Text.assemble(*head, shown), soft_wrap=True)


def _highlighted(row: dict[str, Any]) -> Text:
    shown = Text(printable(row["content"]))
    for match in row["matches"]:
        shown.stylize("bold red", match["start"] - 1, match["end"] - 1)
    return shown
