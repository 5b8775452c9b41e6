"""The lines of a PDF's pages in reading order, with what their fonts and positions tell."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from liteparse.types import LayoutBlock, ParsedPage, StructureTreeElement, TextItem

_FIXED_PITCH_NAME = re.compile(
    r"mono|courier|consol|menlo|inconsolata|typewriter|teletype|fixed|code|cm(sl|it)?tt|lmtt|txtt",
    re.IGNORECASE,
)
_BOLD_NAME = re.compile(r"bold|black|heavy|semib|demi|cmbx|sfbx|-bd|\bbx", re.IGNORECASE)
_HEADING_TAG = re.compile(r"H([1-6])")


class Piece(NamedTuple):
    """A run of text as the PDF draws it, in points from the page's upper left corner."""

    text: str
    x: float
    width: float
    font: str


@dataclass(slots=True)
class Line:
    """One line of text. `size` is its largest font, `block` the part of the layout it is in."""

    page: int
    block: int
    x: float
    y: float
    right: float
    bottom: float
    size: float
    pieces: list[Piece]
    is_bold: bool
    is_list_item: bool
    tag: int = 0
    """The level of the heading that a tagged PDF says the line is; 0 for other lines."""
    text: str = ""
    is_code: bool = False
    notes: list[list["Line"]] = field(default_factory=list)
    """The footnotes to which the line refers."""


@dataclass(slots=True)
class Table:
    """A table that is drawn with rules or in columns; the first row is its head."""

    page: int
    block: int
    y: float
    bottom: float
    rows: list[list[str]]
    text_lines: list[Line] = field(default_factory=list)


_Placed = TypeVar("_Placed", bound=Line | Table)


def by_page(elements: Iterable[_Placed]) -> dict[int, list[_Placed]]:
    """Group lines or tables by the number of their page."""
    pages: dict[int, list[_Placed]] = {}
    for element in elements:
        pages.setdefault(element.page, []).append(element)
    return pages


def usual_size(lines: Iterable[Line]) -> float:
    """Return the size of most of the text, 0 if there is none but code."""
    sizes = Counter[float]()
    for line in lines:
        if not line.is_code:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def page_elements(page: ParsedPage) -> list[Line | Table]:
    """Return a page's lines and tables in reading order; pictures and rules hold no text."""
    blocks = page.blocks or []
    items: dict[int, list[TextItem]] = defaultdict(list)
    for item in page.text_items:
        if item.text.strip() and abs(item.rotation) < 1:
            items[_block_of(item, blocks)].append(item)
    tags = _heading_tags(page)
    elements: list[Line | Table] = []
    for number in sorted(items):
        block = blocks[number] if number < len(blocks) else None
        is_list = block is not None and block.kind == "list_item"
        lines = [
            _line(page.page_num, number, row, tags, is_list_item=is_list and index == 0)
            for index, row in enumerate(_rows(items[number]))
        ]
        if block is not None and block.kind == "table" and block.rows is not None:
            rows = [[cell.text for cell in row] for row in [block.header or [], *block.rows] if row]
            elements.append(Table(page.page_num, number, lines[0].y, lines[-1].bottom, rows, lines))
        else:
            elements += lines
    return elements


def _block_of(item: TextItem, blocks: Sequence[LayoutBlock]) -> int:
    """Return the number of the smallest block around the item; text of no block comes last."""
    x, y = item.x + item.width / 2, item.y + item.height / 2
    best, smallest = len(blocks), float("inf")
    for number, block in enumerate(blocks):
        box = block.bbox
        if box is None or block.kind in {"rule", "figure"}:
            continue
        if box.x - 1 <= x <= box.x + box.width + 1 and box.y - 1 <= y <= box.y + box.height + 1:
            area = box.width * box.height
            if area < smallest:
                best, smallest = number, area
    return best


def _rows(items: Sequence[TextItem]) -> list[list[TextItem]]:
    rows: list[list[TextItem]] = []
    bottom = float("-inf")
    for item in sorted(items, key=lambda each: (each.y + each.height / 2, each.x)):
        middle = item.y + item.height / 2
        if rows and middle < bottom:
            rows[-1].append(item)
        else:
            rows.append([item])
            bottom = middle + item.height / 2
    return [sorted(row, key=lambda each: each.x) for row in rows]


def _line(
    page: int, block: int, row: Sequence[TextItem], tags: dict[int, int], *, is_list_item: bool
) -> Line:
    bold = sum(len(item.text) for item in row if _BOLD_NAME.search(item.font_name or ""))
    marks = (tags[item.mcid] for item in row if item.mcid in tags)
    return Line(
        page=page,
        block=block,
        x=row[0].x,
        y=min(item.y for item in row),
        right=max(item.x + item.width for item in row),
        bottom=max(item.y + item.height for item in row),
        size=round(max(item.font_size or item.height for item in row), 1),
        pieces=[Piece(item.text, item.x, item.width, item.font_name or "") for item in row],
        is_bold=bold * 10 > 9 * sum(len(item.text) for item in row),
        is_list_item=is_list_item,
        tag=next(marks, 0),
    )


def _heading_tags(page: ParsedPage) -> dict[int, int]:
    """Return the levels of a tagged PDF's headings by the marks of their text."""
    levels: dict[int, int] = {}

    def visit(element: StructureTreeElement, level: int) -> None:
        match = _HEADING_TAG.fullmatch(element.type)
        level = int(match[1]) if match else level
        if level:
            levels.update(dict.fromkeys(element.marked_content_ids, level))
        for child in element.children:
            visit(child, level)

    for root in page.structure_tree.roots if page.structure_tree else ():
        visit(root, 0)
    return levels


def set_texts(lines: Iterable[Line]) -> None:
    """Give every line its text, and tell the lines in fonts of one pitch, which are code."""
    lines = list(lines)
    advances = _advances(lines)
    for line in lines:
        pitches = [advances.get(piece.font, 0.0) for piece in line.pieces]
        # a piece has the font of its first letter only: its width tells about the others
        line.is_code = all(
            pitch and abs(piece.width / line.size / len(piece.text) - pitch) < 0.04 * pitch
            for piece, pitch in zip(line.pieces, pitches, strict=True)
        )
        line.text = _spaced(line, pitches[0] * line.size if line.is_code else 0.0)


def _advances(lines: Sequence[Line]) -> dict[str, float]:
    """Return the advance of each font of one pitch, in sizes of the font."""
    advances: dict[str, Counter[float]] = defaultdict(Counter)
    for line in lines:
        for piece in line.pieces:
            if len(piece.text) > 3:
                advances[piece.font][round(piece.width / line.size / len(piece.text), 2)] += 1
    fixed: dict[str, float] = {}
    for font, counts in advances.items():
        advance, _ = counts.most_common(1)[0]
        near = sum(count for each, count in counts.items() if abs(each - advance) <= 0.011)
        if _FIXED_PITCH_NAME.search(font) or (near > 7 and near > 0.8 * counts.total()):
            fixed[font] = advance
    return fixed


#: The letters that a font draws as one, by their numbers in Unicode.
_LIGATURES = {
    number: unicodedata.normalize("NFKC", chr(number)) for number in range(0xFB00, 0xFB07)
}


def _spaced(line: Line, advance: float) -> str:
    """Join the pieces; in code, gaps become as many spaces as they are wide."""
    text = ""
    end = line.x
    for piece in line.pieces:
        gap = piece.x - end
        if advance:
            text += " " * max(round(gap / advance), 0)
        elif text and gap > 0.12 * line.size and text[-1] != " ":
            text += " "
        text += piece.text.replace("\n", " ").translate(_LIGATURES)
        end = piece.x + piece.width
    return text.rstrip() if advance else " ".join(text.split())


_EDGE_LINES = 3
_NUMBER = re.compile(r"\d+")
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
    return _NUMBER.sub("#", " ".join(line.text for line in row)).casefold()


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
