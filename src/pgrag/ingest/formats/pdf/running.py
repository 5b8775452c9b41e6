"""Find the heads and feet that run through a PDF, its page numbers and its tables of contents."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from pgrag.ingest.formats.pdf.lines import NUMBER, Line, by_page

_EDGE_LINES = 3
_PAGE_OF_PAGES = re.compile(r"(?:page\s+)?(\d+)\s*(?:/|of)\s*(\d+)", re.IGNORECASE)
#: The date with which a browser heads its printouts.
_PRINTED = re.compile(r"\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}, \d{1,2}:\d{2}")
_ROMAN = re.compile(r"[ivxlc]{1,7}", re.IGNORECASE)
#: The dots between a heading and its page number in a table of contents.
_LEADERS = re.compile(r"(?:[.·…]\s?){4,}\s*(?:\d+|[ivxlc]+)?$", re.IGNORECASE)


def running_lines(lines: Sequence[Line], page_count: int) -> set[int]:
    """Return the `id()` of lines that are heads, feet, numbers or entries of contents."""
    running = {id(line) for line in lines if _LEADERS.search(line.text)}
    edges = [row for page in by_page(lines).values() for row in _edge_rows(page)]
    pages_of: dict[tuple[str, int], set[int]] = defaultdict(set)
    offsets: Counter[tuple[int, int]] = Counter()
    for row in edges:
        pages_of[_words(row), _height(row)].add(row[0].page)
        offsets.update({(offset, _height(row)) for offset in _offsets(row)})
    needed = 3 if page_count > 2 else 2
    for row in edges:
        heights = range(_height(row) - 1, _height(row) + 2)
        repeated = set().union(*(pages_of.get((_words(row), height), set()) for height in heights))
        counts = any(
            sum(offsets[offset, height] for height in heights) >= needed for offset in _offsets(row)
        )
        if len(repeated) >= needed or counts or _is_printed(row, page_count):
            running.update(id(line) for line in row)
    running |= _beside_running(lines, running)
    return running if any(id(line) not in running for line in lines) else set()


def _beside_running(lines: Sequence[Line], running: set[int]) -> set[int]:
    """Return the outermost rows at the height where most pages have a running one, such as the
    names of short chapters: they stand apart from the text.
    """
    outer: list[tuple[list[Line], float]] = []
    for page in by_page(lines).values():
        rows = _edge_rows(page)
        if len(rows) > 2:
            outer.append((rows[0], rows[1][0].y - rows[0][0].bottom))
            outer.append((rows[-1], rows[-1][0].y - rows[-2][0].bottom))
    heights = Counter(_height(row) for row, _ in outer if id(row[0]) in running)
    pages = len({line.page for line in lines})
    return {
        id(line)
        for row, gap in outer
        if gap > 0.8 * row[0].size and heights[_height(row)] * 2 > pages > 3
        for line in row
    }


def _edge_rows(page: Sequence[Line]) -> list[list[Line]]:
    """Return the first and the last rows of a page; a row is all text at one height."""
    rows: list[list[Line]] = []
    for line in sorted(page, key=lambda each: each.y):
        if rows and line.y < (rows[-1][0].y + rows[-1][0].bottom) / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    last = max(len(rows) - _EDGE_LINES, 2)
    return [*rows[:2], *rows[last:]]


def _words(row: Sequence[Line]) -> str:
    return NUMBER.sub("#", " ".join(line.text for line in row)).casefold()


def _height(row: Sequence[Line]) -> int:
    return round(row[0].y / 4)


def _offsets(row: Sequence[Line]) -> set[int]:
    """Return how far the numbers at the ends of the row are from the number of the page."""
    words = [word for line in row for word in line.text.split()]
    return {int(word) - row[0].page for word in {*words[:1], *words[-1:]} if word.isdecimal()}


def _is_printed(row: Sequence[Line], page_count: int) -> bool:
    """Whether the row ends with `3/12`, begins with a browser's date, or is a Roman number."""
    text = " ".join(line.text for line in row)
    match = _PAGE_OF_PAGES.search(text)
    if match and match.end() == len(text) and int(match[2]) == page_count:
        return int(match[1]) == row[0].page
    return bool(_ROMAN.fullmatch(text) or _PRINTED.match(text))
