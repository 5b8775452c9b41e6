"""Find the headings of a PDF: by its tags, else by its bookmarks, else by the sizes of its text."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader

from pgrag.ingest.formats.pdf.lines import Line, by_page, usual_size

#: Titles that programs write by default, such as the name of the file.
_NO_TITLE = re.compile(
    r"(?:microsoft \w+\s*-.*|untitled.*|powerpoint presentation|presentation|document|contents"
    r"|slide|(?:document|presentation|slide|book|doc)\s?\d+|(?:about:|file:|https?:).*"
    r"|.*\.\w{3,5}|\W*)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A heading as the PDF's outline names it. `y` is its distance from the page's upper edge."""

    title: str
    level: int
    page: int
    y: float


@dataclass(frozen=True, slots=True)
class PdfProperties:
    """What a PDF says of itself; bookmarks are in the order of the pages."""

    title: str = ""
    subject: str = ""
    language: str = ""
    bookmarks: tuple[Bookmark, ...] = ()


def read_properties(reader: PdfReader, *, has_bookmarks: bool = True) -> PdfProperties:
    """Read the properties and, if it has an end, the outline of a PDF."""
    metadata = reader.metadata
    title = str((metadata and metadata.title) or "").strip()
    bookmarks = _bookmarks(reader, reader.outline if has_bookmarks else [], 1)
    return PdfProperties(
        title="" if _NO_TITLE.fullmatch(title) else title,
        subject=str((metadata and metadata.subject) or "").strip(),
        language=str(reader.root_object.get("/Lang", "")),
        bookmarks=tuple(sorted(bookmarks, key=lambda each: (each.page, each.y))),
    )


def _bookmarks(reader: PdfReader, entries: list[Any], level: int) -> Iterable[Bookmark]:
    for entry in entries:
        if isinstance(entry, list):
            yield from _bookmarks(reader, entry, level + 1)
            continue
        number = reader.get_destination_page_number(entry)
        title = " ".join((entry.title or "").split())
        if number is None or number < 0 or not title:
            continue
        box = reader.pages[number].cropbox
        y = float(box.top) - float(entry.top) if entry.top is not None else 0.0
        yield Bookmark(title, min(level, 6), number + 1, max(y, 0.0))


_MAX_LENGTH = 150
_NUMBERED = re.compile(
    r"(?:chapter\s+|appendix\s+)?((?:\d+|[A-Z])(?:\.\d+)*)[.:]?\s+\S", re.IGNORECASE
)
_PREFIX = re.compile(r"(?:chapter|appendix|part|section)?(?:[a-z]?\d{0,6}|[ivx]{1,5})")
_SENTENCE_END = (".", ",", ";", ":")
_LINES_OF_A_TITLE = 3


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its lines; a bookmark without lines stands before the line `before`."""

    text: str
    level: int
    page: int
    lines: tuple[Line, ...]
    before: Line | None = None


def find_headings(lines: Sequence[Line], bookmarks: Sequence[Bookmark]) -> list[Heading]:
    """Return the headings among a document's lines, from the best source that it has."""
    if any(line.tag for line in lines):
        return _joined([(line, line.tag) for line in lines if line.tag])
    if len(bookmarks) > 1:
        return _bookmarked(lines, bookmarks)
    return _by_size(lines)


def title_of(lines: Sequence[Line]) -> str:
    """Return the text of the first page in its largest type, or "" if that is the usual type."""
    usual = usual_size(lines)
    page = [line for line in lines if line.page == lines[0].page and not line.is_code]
    largest = max((line.size for line in page), default=0.0)
    if not usual or largest < 1.25 * usual:
        return ""
    title = _joined([(line, 1) for line in page if line.size == largest])[0].text
    return title if 1 < len(title) <= _MAX_LENGTH else ""


def _joined(lines: Sequence[tuple[Line, int]]) -> list[Heading]:
    headings: list[Heading] = []
    for line, level in lines:
        last = headings[-1] if headings else None
        if last and level == last.level and _follows(last.lines[-1], line):
            text = f"{last.text} {line.text}"
            headings[-1] = Heading(text, level, last.page, (*last.lines, line))
        else:
            headings.append(Heading(line.text, level, line.page, (line,)))
    return headings


def _follows(line: Line, following: Line) -> bool:
    return (
        line.page == following.page
        and line.size == following.size
        and 0 < following.y - line.y < 1.7 * line.size
    )


def _squeezed(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _bookmarked(lines: Sequence[Line], bookmarks: Sequence[Bookmark]) -> list[Heading]:
    """Find the lines to which the bookmarks lead; a title that is not shown becomes a heading."""
    pages = by_page(lines)
    headings: list[Heading] = []
    taken: set[int] = set()
    for bookmark in bookmarks:
        page = [line for line in pages.get(bookmark.page, ()) if id(line) not in taken]
        matches = _title_lines(page, _squeezed(bookmark.title))
        if matches:
            heading = min(matches, key=lambda each: abs(each[0].y - bookmark.y))
            taken.update(id(line) for line in heading)
            text = " ".join(line.text for line in heading)
            headings.append(Heading(text, bookmark.level, bookmark.page, tuple(heading)))
        else:
            below = (line for line in page if line.y + line.size > bookmark.y)
            before = min(below, key=lambda each: each.y, default=None)
            headings.append(Heading(bookmark.title, bookmark.level, bookmark.page, (), before))
    return headings


def _title_lines(page: Sequence[Line], title: str) -> list[list[Line]]:
    """Return each run of lines that reads as the title, with or without a number before it."""
    matches: list[list[Line]] = []
    texts = [_squeezed(line.text) for line in page]
    for first in range(len(page)):
        joined = ""
        for last in range(first, min(first + _LINES_OF_A_TITLE, len(page))):
            joined += texts[last]
            if not joined or len(joined) > len(title) + 14:
                break
            is_title = joined.endswith(title) and _PREFIX.fullmatch(joined[: -len(title)])
            is_rest = title.endswith(joined) and _PREFIX.fullmatch(title[: -len(joined)])
            if joined == title or is_title or is_rest:
                matches.append(list(page[first : last + 1]))
                break
    return matches


def _by_size(lines: Sequence[Line]) -> list[Heading]:
    """Take short lines in larger type, or in bold with room above, as headings."""
    body = usual_size(lines)
    if not body:
        return []
    around = zip([None, *lines], lines, [*lines[1:], None], strict=False)
    found = [line for above, line, below in around if _is_heading(above, line, below, body)]
    levels = _levels(found, body)
    return _joined([(line, min(levels[_style(line, body)], 6)) for line in found])


def _levels(found: Sequence[Line], body: float) -> dict[float, int]:
    """Return the level of each size: by the numbers of its headings, such as 2.1, where they have
    some; below one in larger type that has none, the title; else by the rank of the size.
    """
    sizes = sorted({_style(line, body) for line in found}, reverse=True)
    depths: dict[float, Counter[int]] = {size: Counter() for size in sizes}
    for line in found:
        number = _NUMBERED.match(line.text)
        depths[_style(line, body)][number[1].count(".") + 1 if number else 0] += 1
    usual = {size: max(depths[size], key=depths[size].__getitem__) for size in sizes}
    numbered = sum(depths[size][depth] for size, depth in usual.items() if depth)
    if numbered < 3 or numbered * 4 < len(found):
        return {size: rank for rank, size in enumerate(sizes, start=1)}
    has_title = next(iter(usual.values())) == 0
    levels: dict[float, int] = {}
    deepest = 0
    for size, depth in usual.items():
        levels[size] = depth + has_title if depth else deepest + 1
        deepest = max(deepest, levels[size]) if depth else deepest
    return levels


def _style(line: Line, body: float) -> float:
    return line.size if line.size > 1.08 * body else body


def _is_heading(previous: Line | None, line: Line, following: Line | None, body: float) -> bool:
    if len(line.text) > _MAX_LENGTH or line.is_code:
        return False
    if line.is_list_item and not (line.is_bold and _NUMBERED.match(line.text)):
        return False
    if sum(character.isalpha() for character in line.text) < 2:
        return False
    if line.size > 1.08 * body:
        return not line.text.endswith((",", ";"))
    if not line.is_bold or line.size < body or line.text.endswith(_SENTENCE_END):
        return False
    room_above = (
        previous is None or previous.page != line.page or line.y - previous.bottom > 0.6 * body
    )
    alone = following is None or following.page != line.page or not following.is_bold
    return room_above and alone and len(line.text) < 80
