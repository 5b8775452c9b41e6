"""What documents, presentations and workbooks have in common: lists, code, tables."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pgrag.ingest.formats.escaping import escape, escape_start, fence, table_lines

_FIXED_PITCH = re.compile(
    r"mono|courier|consolas|menlo|inconsolata|typewriter|lucida console|fira code|source code",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page: `kind` is code, item or other; the text of code is not Markdown yet."""

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
    return Part("item", "    " * depth + f"{mark} " + " ".join(text.split()))


def table(rows: Iterable[Sequence[str]]) -> Part | None:
    """Return a table of plain texts; None for one without text."""
    cells = [[escape(" ".join(cell.split())) for cell in row] for row in rows]
    filled = [row for row in cells if any(row)]
    return Part("other", "\n".join(table_lines(filled))) if filled else None


def blocks(parts: Iterable[Part | None]) -> Iterator[str]:
    """Yield blocks of Markdown: the items of a list are one, and so are the lines of code."""
    run: list[str] = []
    kind = "other"
    for part in [*(part for part in parts if part), Part("other", "")]:
        if run and (part.kind != kind or kind == "other"):
            if kind == "code":
                code = "\n".join(run).strip("\n")
                run = ["\n".join(fence(code))] if code else []
            if run:
                yield "\n".join(run)
            run = []
        kind = part.kind
        if part.text or kind == "code":
            run.append(part.text)
