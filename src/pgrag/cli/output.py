"""Results go to stdout, messages to stderr; colour only on terminals."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from pgrag.cli import texts
from pgrag.cli.texts import cell_len, is_styled
from pgrag.ground.printable import printable, printable_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

Row = dict[str, Any]

#: The width without a terminal: programs get whole lines.
_UNFOLDED = 1_000_000
#: Columns with longer values may be folded, down to this width.
_LEAST = 24


class _Plain:
    """The console of what is no terminal: lines of any length, without styles."""

    width = _UNFOLDED
    is_terminal = False

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def print(self, shown: Any = "", *, soft_wrap: bool = False) -> None:
        """Print a text as a line, and all else as rich does."""
        if not isinstance(shown, str | texts.PlainText):
            _console(file=self._stream, width=self.width).print(shown, soft_wrap=soft_wrap)
            return
        text = shown if isinstance(shown, str) else shown.plain
        lines = map(texts.untabbed, printable(text).split("\n"))
        self._stream.write("\n".join(lines) + "\n")


def _console(**settings: Any) -> Console:
    """A console of rich on which texts of others cannot hide or command anything."""
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class _Console(Console):
        def render(
            self, renderable: RenderableType, options: ConsoleOptions | None = None
        ) -> Iterator[Segment]:
            for piece in super().render(renderable, options):
                yield piece if piece.control else piece._replace(text=printable(piece.text))

    return _Console(highlight=False, markup=False, emoji=False, **settings)


def _width(stream: TextIO) -> int | None:
    return None if stream.isatty() else _UNFOLDED


@cache
def stdout() -> Console:
    """The console of results."""
    if texts.is_plain:
        return _Plain(sys.stdout)  # type: ignore[return-value]
    return _console(width=_width(sys.stdout))


@cache
def stderr() -> Console:
    """The console of all messages that are not results."""
    return _console(stderr=True, width=_width(sys.stderr))


def _tell(*parts: tuple[str, str] | str, is_whole: bool = False) -> None:
    if not is_styled(sys.stderr):
        _Plain(sys.stderr).print(texts.PlainText.assemble(*parts))
        return
    from rich.text import Text

    stderr().print(Text.assemble(*parts), soft_wrap=is_whole)


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
        _tell((printable(text), "dim"), is_whole=is_whole)


def warn(text: str) -> None:
    """Print a warning."""
    _tell(("warning: ", "yellow"), printable(text))


def complain(message: str, hint: str | None = None) -> None:
    """Print an error and, on another line, the remedy."""
    if _log is not None:
        _log.error("%s", " ".join(filter(None, [message, hint])))
        return
    _tell(("error: ", "bold red"), printable(message))
    if hint:
        _tell(printable(hint))


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a command: `value` with --json, else what `show` prints.

    `notices` and `errors` follow on stderr. The exit status is 1 if there are errors, or if the
    command has `failed`.
    """

    value: Any
    show: Callable[[], None]
    notices: Sequence[str] = ()
    errors: Sequence[str] = ()
    failed: bool = False

    def print(self, *, as_json: bool) -> bool:
        """Print it; return whether the command has succeeded."""
        if as_json:
            print_json(self.value)
        else:
            self.show()
        notice(*self.notices)
        for error in self.errors:
            complain(error)
        return not (self.errors or self.failed)


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
        console.print(texts.Text(" " * indent).append_text(line), soft_wrap=True)


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
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

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
    from rich.text import Text

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
