"""Results go to stdout, messages to stderr; colour only on terminals."""

import json
import logging
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from pgrag.ground.printable import printable, printable_json

#: The width without a terminal: programs get whole lines.
_UNFOLDED = 1_000_000
#: Columns with longer values may be folded, down to this width.
_LEAST = 24


class _Console(Console):
    """A console on which texts of others cannot hide or command anything."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Yield the pieces of what is printed."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else piece._replace(text=printable(piece.text))


@cache
def stdout() -> Console:
    """The console of results."""
    width = None if sys.stdout.isatty() else _UNFOLDED
    return _Console(highlight=False, markup=False, emoji=False, width=width)


@cache
def stderr() -> Console:
    """The console of all messages that are not results."""
    width = None if sys.stderr.isatty() else _UNFOLDED
    return _Console(stderr=True, highlight=False, markup=False, emoji=False, width=width)


def print_json(value: Any) -> None:
    """Write a value as JSON, and nothing else, to stdout; dates as ISO 8601."""
    written = json.dumps(value, indent=2, ensure_ascii=_is_ascii(), default=_jsonable)
    print(printable_json(written))


def json_line(value: Any) -> str:
    """Return a value as one line of JSON Lines."""
    return printable_json(json.dumps(value, ensure_ascii=_is_ascii(), default=_jsonable)) + "\n"


def _is_ascii() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"


def _jsonable(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


_log: logging.Logger | None = None


def log_messages() -> None:
    """Let messages be lines of the log from now on, for programs that read it."""
    global _log  # noqa: PLW0603 - of the process, as stdout and stderr are
    _log = logging.getLogger("pgrag")


def notice(*texts: str, is_whole: bool = False) -> None:
    """Print remarks about the result; `is_whole`: unwrapped, so that they can be copied."""
    for text in texts:
        if _log is not None:
            _log.info("%s", text)
            continue
        stderr().print(Text(printable(text), style="dim"), soft_wrap=is_whole)


def warn(text: str) -> None:
    """Print a warning."""
    stderr().print(Text.assemble(("warning: ", "yellow"), printable(text)))


def complain(message: str, hint: str | None = None) -> None:
    """Print an error and, on another line, the remedy."""
    if _log is not None:
        _log.error("%s", " ".join(filter(None, [message, hint])))
        return
    stderr().print(Text.assemble(("error: ", "bold red"), printable(message)))
    if hint:
        stderr().print(Text(printable(hint)))


def print_indented(text: Text, *, indent: int = 4) -> None:
    """Print a text with every line indented, wrapped at the width of a terminal."""
    console = stdout()
    lines = (
        text.wrap(console, max(20, console.width - indent))
        if console.is_terminal
        else text.split("\n")
    )
    for line in lines:
        line.rstrip()
        console.print(Text(" " * indent).append_text(line), soft_wrap=True)


def print_text(*texts: str) -> None:
    """Print texts verbatim, tabs included, for reading or piping."""
    for text in texts:
        print(printable(text))


def print_facts(facts: Iterable[tuple[str, Any]], *, width: int = 14) -> None:
    """Print names with their values, one per line; names without a value are left out."""
    for name, value in facts:
        if value is not None:
            print_text(f"{name:<{width}}{value}")


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows below headings: numbers right-aligned, missing values empty.

    In a terminal that is too narrow for the columns each row is a list of its values.
    """
    rows = [list(row) for row in rows]
    cells = [[_shown(value) for value in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(columns, *cells, strict=True)]
    short = [width for width in widths if width <= _LEAST]
    room = stdout().width - sum(short) - 3 * (len(widths) - 1)
    if room < min(_LEAST * (len(widths) - len(short)), sum(widths) - sum(short)):
        _print_records(columns, cells)
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for index, (column, width) in enumerate(zip(columns, widths, strict=True)):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        table.add_column(
            column,
            justify="right" if numeric else "left",
            overflow="fold",
            min_width=width if width <= _LEAST else None,
        )
    for row in cells:
        table.add_row(*map(Text, row))
    stdout().print(table)


def _print_records(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    width = max(map(cell_len, columns)) + 2
    for number, row in enumerate(rows):
        if number:
            stdout().print()
        for name, value in zip(columns, row, strict=True):
            if value:
                lines = Text(value).wrap(stdout(), max(_LEAST, stdout().width - width))
                for first, line in enumerate(lines):
                    head = Text("" if first else name, style="bold")
                    head.append(" " * (width - head.cell_len))
                    stdout().print(head.append_text(line), soft_wrap=True)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, datetime):
        return f"{value.astimezone():%Y-%m-%d %H:%M}"
    return printable(str(value))
