"""The part of a long page that is rendered at once."""

import re
from dataclasses import dataclass

from pgrag.ingest.text.fences import fence_after

#: Characters of Markdown that are rendered at once: a tenth of a second of prose, some seconds of
#: what costs most, as a table of thousands of columns. A longer line is cut.
MOST = 100_000
_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\]\n]{1,200}\]:[ \t]*\S")
_MOST_DEFINITIONS = 2_000


@dataclass(frozen=True, slots=True)
class Window:
    """Lines `first` to `last` of a source, from 1, and their `text`. `added` lines above them are
    not of the page: code that began before goes on.
    """

    text: str
    first: int
    last: int
    added: int = 0


def window(body: str, first_line: int, *, wanted: int | None, is_start: bool) -> Window:
    """Return what to render of a body that begins on `first_line`: all of it, unless it is long.
    `wanted` is a line to show; the part begins with it if it `is_start`, else somewhat before. A
    part begins and ends between two blocks, where that is possible.
    """
    lines = body.split("\n")
    if len(body) > MOST:
        lines = [line if len(line) <= MOST else f"{line[:MOST]} …" for line in lines]
    last_line = first_line + len(lines) - 1
    start = min(max((wanted or first_line) - first_line, 0), len(lines) - 1)
    if len(body) <= MOST and not (is_start and start):
        return Window(body, first_line, last_line)
    fences = _fences(lines)
    gaps = [
        number
        for number in range(len(lines))
        if not number or (not lines[number - 1].strip() and not fences[number])
    ]
    if not is_start:
        start = _before(gaps, lines, start, MOST // 4)
    end, size = start, 0
    while end < len(lines) and (end == start or size + len(lines[end]) < MOST):
        size += len(lines[end]) + 1
        end += 1
    if end < len(lines):
        end = max((gap for gap in gaps if start < gap <= end), default=end)
    shown = [fences[start]] if fences[start] else []
    is_in_code = end < len(lines) and fences[end]
    others = () if is_in_code else (*lines[:start], *lines[end:])
    definitions = [line for line in others if _DEFINITION.match(line)]
    text = [*shown, *lines[start:end], *([""] if definitions else [])]
    return Window(
        "\n".join((*text, *definitions[:_MOST_DEFINITIONS])),
        first_line + start,
        first_line + end - 1,
        len(shown),
    )


def _fences(lines: list[str]) -> list[str]:
    """The fence of the code that is open before each line; empty outside of code."""
    fences, fence = [], ""
    for line in lines:
        fences.append(fence)
        fence = fence_after(line, fence)
    return fences


def _before(gaps: list[int], lines: list[str], wanted: int, room: int) -> int:
    """The first gap from which the wanted line is within the room; else the line itself."""
    start, size = wanted, 0
    while start and size + len(lines[start - 1]) < room:
        start -= 1
        size += len(lines[start]) + 1
    return next((gap for gap in gaps if start <= gap <= wanted), wanted)
