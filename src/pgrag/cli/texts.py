"""Texts for a terminal are those of rich. Where nothing is styled, in a pipe or a file, plain ones
do the same without importing it, which would take half the time of a search.
"""

import os
from typing import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    from rich.text import Text


class PlainText:
    """What of rich's `Text` shows without a terminal: its characters."""

    __slots__ = ("plain",)

    def __init__(self, text: str = "", style: str = "") -> None:
        self.plain = text

    @classmethod
    def assemble(cls, *parts: "str | tuple[str, str] | Text | PlainText") -> Self:
        """Join texts, styled parts and strings."""
        made = cls()
        for part in parts:
            made.append(part[0] if isinstance(part, tuple) else getattr(part, "plain", part))
        return made

    @property
    def cell_len(self) -> int:
        """The columns that it takes."""
        return cell_len(self.plain)

    def append(self, text: Any, style: str = "") -> Self:
        """Add a string."""
        self.plain += text
        return self

    def append_text(self, text: "Text | PlainText") -> Self:
        """Add a text."""
        self.plain += text.plain
        return self

    def rstrip(self) -> None:
        """Remove blanks at the end."""
        self.plain = self.plain.rstrip()

    def split(self, separator: str) -> list[Self]:
        """Split at ends of lines; one at the end begins no line."""
        lines = self.plain.split(separator)
        if len(lines) > 1 and not lines[-1]:
            del lines[-1]
        return [type(self)(line) for line in lines]

    def wrap(self, _console: Any, _width: int) -> list[Self]:
        """The lines: without a terminal none is too long. Tabs become blanks."""
        return [type(self)(untabbed(line)) for line in self.plain.split("\n")]


def is_styled(stream: TextIO) -> bool:
    """Whether a stream is, or stands for, a terminal, as rich sees it."""
    forced = os.environ.get("FORCE_COLOR") or os.environ.get("TTY_COMPATIBLE") == "1"
    return bool(forced) or stream.isatty()


def cell_len(text: str) -> int:
    """The columns of a terminal that a text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def untabbed(line: str) -> str:
    """A line with blanks in place of tabs."""
    if "\t" not in line:
        return line
    if line.isascii():
        return line.expandtabs(8)
    from rich.text import Text

    text = Text(line)
    text.expand_tabs(8)
    return text.plain


__all__ = ["PlainText", "Text", "be_plain", "cell_len", "is_plain", "is_styled", "untabbed"]

#: Texts of this process; see `be_plain`.
is_plain = False


def be_plain() -> None:
    """Let the texts of this process have no styles: its output is no terminal."""
    global is_plain, Text
    is_plain, Text = True, PlainText  # type: ignore[misc, assignment]


def __getattr__(name: str) -> Any:
    if name == "Text":
        from rich.text import Text

        return Text
    raise AttributeError(name)
