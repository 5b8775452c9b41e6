"""What documents, presentations and workbooks have in common: lists, code, tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pgrag.ingest.formats.escaping import escape, escape_start, fence, table_lines

_FIXED_PITCH = re.compile(
    r"mono|courier|consolas|menlo|inconsolata|typewriter|lucida console|fira code|source code",
    re.IGNORECASE,
)
_MOST_FILLING = 20
"""Cells that completing the rows of a table may add, for each cell with text."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: `kind` is code, item, heading, table or other; the text of code is not
    Markdown yet.
    """

    kind: str
    text: str


def is_fixed_pitch(font: str | None) -> bool:
    """Whether a font is one for code."""
    return bool(font and _FIXED_PITCH.search(font))


def paragraph(text: str) -> Part:
    """Return a paragraph of inline Markdown."""
    return Part("other", "\n".join(escape_start(line.strip()) for line in text.split("\n")))


def item(text: str, depth: int, mark: str = "-") -> Part:
    """Return an item of a list; an ordered one has its number as mark."""
    return Part("item", "    " * min(depth, 8) + f"{mark} " + " ".join(text.split()))


def table(rows: Iterable[Sequence[str]]) -> Part | None:
    """Return a table of cells of inline Markdown, the first row as its head; None without text. A
    table that is nearly empty, such as a diagonal, is a line for each row: filled up, its size
    would be the square of its text's.
    """
    cells = [[" ".join(cell.split()) for cell in row] for row in rows]
    filled = [row for row in cells if any(row)]
    if not filled:
        return None
    texts = sum(bool(cell) for row in filled for cell in row)
    if is_sparse(len(filled), max(map(len, filled)), texts):
        return lines(filled)
    return Part("table", "\n".join(table_lines(filled)))


def is_sparse(rows: int, columns: int, texts: int) -> bool:
    """Whether a table has so few texts that it is better written line by line."""
    return rows * columns > 1_000 + _MOST_FILLING * texts


def lines(rows: Iterable[Sequence[str]]) -> Part:
    """Return the cells with text of each row as a line."""
    return Part("other", "\n".join(f"- {' · '.join(filter(None, row))}" for row in rows))


def picture(description: str | None) -> str:
    """Return a picture by its alternative text; "" if it has none but the name of its file."""
    words = " ".join((description or "").split())
    is_name = re.fullmatch(r"\S+\.(?:png|jpe?g|gif|[ew]mf|bmp|tiff?|svg)", words, re.IGNORECASE)
    return "" if not words or is_name else f"![{escape(words)}]()"


def blocks(parts: Iterable[Part | None]) -> Iterator[str]:
    """Yield blocks of Markdown: the items of a list are one, and so are the lines of code."""
    run: list[str] = []
    kind = "other"
    for part in [*(part for part in parts if part), Part("other", "")]:
        if run and (part.kind != kind or kind not in ("code", "item")):
            if kind == "code":
                code = "\n".join(run).strip("\n")
                run = ["\n".join(fence(code))] if code else []
            elif kind == "item":
                run = _nested(run)
            if run:
                yield "\n".join(run)
            run = []
        kind = part.kind
        if part.text or kind == "code":
            run.append(part.text)


def _nested(items: list[str]) -> list[str]:
    """Indent the items of a list by one step more than those above them: text that is indented
    further, as of a list that goes on after a paragraph, would be code.
    """
    above: list[int] = []
    nested = []
    for line in items:
        text = line.lstrip(" ")
        depth = len(line) - len(text)
        while above and above[-1] >= depth:
            above.pop()
        nested.append("    " * len(above) + text)
        above.append(depth)
    return nested
