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
NUMBER = re.compile(r"\d+")
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
    """Return the number of the smallest block around the item, else of the nearest one, such as the
    heading whose second line it is; text far from all blocks comes last.
    """
    x, y = item.x + item.width / 2, item.y + item.height / 2
    best, smallest = len(blocks), float("inf")
    nearest, distance = len(blocks), 1.5 * item.height
    for number, block in enumerate(blocks):
        box = block.bbox
        if box is None or block.kind in {"rule", "figure"}:
            continue
        if box.x - 1 <= x <= box.x + box.width + 1 and box.y - 1 <= y <= box.y + box.height + 1:
            area = box.width * box.height
            if area < smallest:
                best, smallest = number, area
        elif block.kind != "table" and box.x - 1 <= x <= box.x + box.width + 1:
            away = max(box.y - y, y - box.y - box.height)
            if away < distance:
                nearest, distance = number, away
    return best if best < len(blocks) else nearest


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
    seen: set[tuple[str, str]] = set()
    for line in lines:
        for piece in line.pieces:
            # "Release 1.2" and "Release 1.3" are as wide in any font
            shape = piece.font, NUMBER.sub("#", piece.text)
            if len(piece.text) > 3 and shape not in seen:
                seen.add(shape)
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
