"""Tables of Word: which only arrange their content, and where each cell of the others stands."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.office.package import inside, named, shown, whole
from pgrag.ingest.formats.office.styles import is_on, value
from pgrag.ingest.formats.office.text import Part, table

_MAX_COLUMNS = 63
"""More columns than Word allows are no columns: their spans count as one."""
_MAX_HEAD = 20
_LONG = 200
_WRAPPERS = frozenset(map(named, ("w:sdt", "w:sdtContent", "w:ins", "w:customXml", "w:moveTo")))

Reader = Callable[[Element], list[Part]]


@dataclass(frozen=True, slots=True)
class _Cell:
    parts: list[Part]
    column: int
    span: int
    merge: str

    @property
    def line(self) -> str:
        """The content on one line, as a cell of Markdown has it."""
        return " ".join(map(_on_one_line, self.parts))


@dataclass(frozen=True, slots=True)
class _Row:
    cells: list[_Cell]
    is_head: bool

    def texts(self, *, is_repeated: bool = False) -> list[str]:
        """Return the texts in the columns of the grid; those that span columns are repeated, or
        stand in the first.
        """
        texts: list[str] = []
        for cell in self.cells:
            texts += [""] * (cell.column - len(texts))
            line = cell.line
            beside = line if is_repeated and len(line) <= _LONG else ""
            texts += [line] + [beside] * (cell.span - 1)
        return texts


def table_parts(source: Element, read: Reader) -> Iterator[Part | None]:
    """Yield a table, or the content of one that only arranges it, cell by cell. `read` returns the
    parts of a cell.
    """
    rows = [row for each in _inside(source, "w:tr") if (row := _row(each, read)) is not None]
    if _is_layout(rows):
        for row in rows:
            for cell in row.cells:
                yield from cell.parts
        return
    if len(rows) > 1 and len(rows[0].cells) == 1 and rows[1].is_head:
        yield from rows[0].cells[0].parts  # the title of the table, over the heads of its columns
        rows = rows[1:]
    depth = _depth_of_head(rows)
    heads = [row.texts(is_repeated=depth > 1) for row in rows[:depth]]
    width = max(map(len, heads), default=0)
    columns = [
        " ".join(dict.fromkeys(head[at] for head in heads if at < len(head) and head[at]))
        for at in range(width)
    ]
    yield table([columns, *(row.texts() for row in rows[depth:])]) if rows else None


def _inside(parent: Element, name: str) -> Iterator[Element]:
    """Yield the rows of a table or the cells of a row, those in content controls included."""
    for child in shown(parent):
        if child.tag == named(name):
            yield child
        elif child.tag in _WRAPPERS:
            yield from _inside(child, name)


def _row(source: Element, read: Reader) -> _Row | None:
    """Return a row; None for a deleted one."""
    properties = inside(source, "w:trPr")
    if properties is not None and inside(properties, "w:del") is not None:
        return None
    column = _span(value(properties, "w:gridBefore"), 0, 0)
    cells: list[_Cell] = []
    for cell in _inside(source, "w:tc"):
        merged = inside(cell, "w:tcPr/w:vMerge")
        merge = "" if merged is None else merged.get(named("w:val"), "continue")
        span = _span(value(cell, "w:tcPr/w:gridSpan"), 1, column)
        cells.append(_Cell(read(cell), column, span, merge))
        column += span
    is_head = properties is not None and bool(is_on(inside(properties, "w:tblHeader")))
    return _Row(cells, is_head)


def _span(stated: str | None, least: int, column: int) -> int:
    return max(least, min(whole(stated, least), _MAX_COLUMNS - column))


def _is_layout(rows: list[_Row]) -> bool:
    """Whether a table only arranges its content: boxes, forms around tables, pages of templates."""
    cells = [cell for row in rows for cell in row.cells if cell.parts]
    if max((len(row.cells) for row in rows), default=0) < 2:
        return True
    kinds = {part.kind for cell in cells for part in cell.parts}
    if "heading" in kinds:
        return True
    if len(rows) == 1:
        is_long = any(len(cell.parts) > 1 or len(cell.line) > _LONG for cell in cells)
        return is_long or "table" in kinds
    if "table" not in kinds:
        return False
    simple = sum(len(cell.parts) == 1 and cell.parts[0].kind == "other" for cell in cells)
    is_headed = all(part.kind == "other" for cell in rows[0].cells for part in cell.parts)
    return not is_headed or 2 * simple <= len(cells)


def _depth_of_head(rows: list[_Row]) -> int:
    """Return how many rows are the head: those marked so, or as deep as its cells are merged."""
    marked = next((at for at, row in enumerate(rows) if not row.is_head), len(rows))
    if 1 < marked < min(len(rows), _MAX_HEAD):
        return marked
    first = rows[0].cells if rows else []
    if not any(cell.span > 1 for cell in first) or len(first) < 2:
        return min(1, len(rows))
    merged = [cell.column for cell in first if cell.merge == "restart"]
    if not merged and len(rows) > 2 and _is_over(first, rows[1]):
        return 2
    depth = 1
    while merged and depth < len(rows) - 1:
        going_on = {cell.column for cell in rows[depth].cells if cell.merge == "continue"}
        if not going_on.issuperset(merged):
            break
        depth += 1
    return depth


def _is_over(first: list[_Cell], second: _Row) -> bool:
    """Whether a row of heads, some over several columns, goes on in the second row: in each other
    column one of the two is empty.
    """
    below = dict(enumerate(second.texts()))
    single = [cell for cell in first if cell.span == 1]
    return all(cell.span == 1 for cell in second.cells) and not any(
        cell.line and below.get(cell.column) for cell in single
    )


def _on_one_line(part: Part) -> str:
    if part.kind == "code":
        text = " ".join(part.text.split())
        return f"`{text}`" if text and "`" not in text else text
    if part.kind == "item":
        text = part.text.strip()
        return f"• {text[2:]}" if text.startswith("- ") else text
    if part.kind != "table":
        return part.text
    head, _, *rows = (line.strip("| ") for line in part.text.split("\n"))
    return "; ".join(line.replace(" | ", ", ") for line in (head, *rows))
