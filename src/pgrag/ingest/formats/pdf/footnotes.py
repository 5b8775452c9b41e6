"""Take footnotes from the foot of the page to the line that refers to them."""

import re
from collections.abc import Iterator, Sequence

from pgrag.ingest.formats.pdf.lines import Line, Table, by_page, usual_size

_MARK = re.compile(r"(\d{1,3}|[*†‡§¶∗]{1,3})\s*(?=[^\s\d.)])")
#: Footnotes are set in smaller type than the text.
_SMALLER = 0.93


def attach_notes(elements: Sequence[Line | Table]) -> list[Line | Table]:
    """Return the elements without footnotes: each becomes a note of the line that refers to it, or
    of the last line above the notes if no line does.
    """
    lines = [element for element in elements if isinstance(element, Line)]
    usual = usual_size(lines)
    taken: set[int] = set()
    for page in by_page(lines).values():
        for start, end in _runs(page, _SMALLER * usual):
            if start == 0 or not _is_lowest(page, start, end):
                continue
            for note in _split(page[start:end]):
                _reference(page[:start], note).notes.append(note)
                taken.update(id(line) for line in note)
    return [element for element in elements if id(element) not in taken]


def _runs(page: Sequence[Line], limit: float) -> Iterator[tuple[int, int]]:
    """Yield the ranges of lines in small type, from the first that begins with a mark."""
    start: int | None = None
    for index, line in enumerate(page):
        is_small = line.size <= limit and not line.is_code and not line.tag
        if start is not None and not is_small:
            yield start, index
            start = None
        elif start is None and is_small and _MARK.match(line.text):
            start = index
    if start is not None:
        yield start, len(page)


def _is_lowest(page: Sequence[Line], start: int, end: int) -> bool:
    """Whether no other line stands below the lines, in their column."""
    run = page[start:end]
    left, right = min(line.x for line in run), max(line.right for line in run)
    return not any(
        line.y > run[0].y and line.x < right and line.right > left
        for line in (*page[:start], *page[end:])
    )


def _split(run: Sequence[Line]) -> list[list[Line]]:
    notes: list[list[Line]] = []
    for line in run:
        if not notes or _MARK.match(line.text):
            notes.append([])
        notes[-1].append(line)
    return notes


def _reference(above: Sequence[Line], note: Sequence[Line]) -> Line:
    """Return the last line in which a word ends with the mark."""
    match = _MARK.match(note[0].text)
    mark = re.escape(match[1]) if match else ""
    refers = re.compile(rf"[^\W\d_][.,;:!?)\"'”’]*\s?{mark}(?![\w*†‡§¶∗])")
    found = (line for line in reversed(above) if refers.search(line.text))
    return next(found, above[-1])
