"""Tables: rows of cells, spans filled in, as Markdown."""

from collections.abc import Callable
from itertools import zip_longest

from pgrag.ingest.formats.escaping import table_lines
from pgrag.ingest.formats.html.dom import Node, elements, has_class, tag_of

_MAX_SPAN = 100
_MAX_HEAD = 20
#: Characters that spans may add to a table, besides ten times those of its cells.
_ROOM = 2_000
#: What a cell of data does not hold, unless the columns have heads.
_ARRANGED = "pre, ul, ol, dl, blockquote, form, p + p, details"
_PARTS = frozenset(("thead", "tbody", "tfoot"))


def is_layout(node: Node) -> bool:
    """Whether a table only arranges its content: other tables, code in lines, lists and paragraphs
    without heads of columns, a single cell.
    """
    if node.attributes.get("role") in ("presentation", "none"):
        return True
    # a node is not a descendant of itself, but `css_first` finds it
    inner = node.css("table, td.code pre, td.lntd pre, td.rouge-code pre")
    if any(each.mem_id != node.mem_id for each in inner[:2]):
        return True
    if len(node.css("td, th")) == 1 or any(map(_has_lines, node.css("pre, div.fragment"))):
        return True
    return node.css_first("th, caption") is None and node.css_first(_ARRANGED) is not None


def _has_lines(code: Node) -> bool:
    return "\n" in code.text(deep=True).strip() or len(code.css("div.line")) > 1


def rows_of(node: Node) -> list[Node]:
    """Return the rows of a table in the order in which they are shown."""
    rows: dict[str, list[Node]] = {"thead": [], "tbody": [], "tfoot": []}
    for part in elements(node):
        if tag_of(part) == "tr":
            rows["tbody"].append(part)
        elif tag_of(part) in _PARTS:
            rows[tag_of(part)] += [row for row in elements(part) if tag_of(row) == "tr"]
    return rows["thead"] + rows["tbody"] + rows["tfoot"]


def table(node: Node, inline: Callable[[Node], str]) -> list[str]:
    """Return the lines of a table. Cells are repeated in the rows that they span, unless that
    multiplies the size of the table.
    """
    rows = rows_of(node)
    grid, room = _grid(rows, inline)
    if not any(any(row) for row in grid):
        return []
    head = 0
    while head < len(rows) and _is_head(rows[head]):
        head += 1
    if head == len(rows):  # a table of row headings
        head = 1 if len(rows) > 1 else 0
    head = min(head, _MAX_HEAD)
    width = max(map(len, grid))
    if _filling("", sum(width - len(row) for row in grid)) <= room:
        grid = [row + [""] * (width - len(row)) for row in grid]
    columns = list(zip_longest(*grid[:head], fillvalue=""))
    header = [" ".join(dict.fromkeys(filter(None, column))) for column in columns]
    header += [""] * (width - len(columns))
    return table_lines([header, *grid[head:]], is_filled=False)


def grid_table(node: Node, inline: Callable[[Node], str]) -> list[str]:
    """Return the lines of a table that Javadoc lays out with `<div>`, a cell each."""
    names = {"two-column-summary": 2, "three-column-summary": 3, "four-column-summary": 4}
    width = next((columns for name, columns in names.items() if has_class(node, name)), 0)
    cells = [inline(cell) for cell in elements(node)]
    if not width or len(cells) < 2 * width:
        return []
    rows = [cells[at : at + width] for at in range(0, len(cells), width)]
    return table_lines(rows, is_filled=False)


def _grid(rows: list[Node], inline: Callable[[Node], str]) -> tuple[list[list[str]], int]:
    """Return the rows with what spans fill, and how many characters may still be added."""
    written = [
        [(inline(cell), cell) for cell in elements(row) if tag_of(cell) in ("td", "th")]
        for row in rows
    ]
    room = _ROOM + 10 * sum(_filling(text) for row in written for text, _ in row)
    grid: list[list[str]] = []
    spanning: dict[int, tuple[int, str]] = {}
    for below, row in zip(reversed(range(len(rows))), written, strict=True):
        line: list[str] = []
        cells = iter(row)
        following = next(cells, None)
        while following is not None or len(line) in spanning:
            if len(line) in spanning:
                left, text = spanning.pop(len(line))
                if left > 1:
                    spanning[len(line)] = (left - 1, text)
                line.append(text)
                continue
            assert following is not None
            text, cell = following
            across = _span(cell, "colspan")
            down = min(_span(cell, "rowspan"), below + 1)
            added = _filling("", (across - 1) * down) + _filling(text, down - 1)
            if added > room:
                across = down = 1
            else:
                room -= added
            for extra in range(across):
                if down > 1:
                    spanning[len(line)] = (down - 1, "" if extra else text)
                line.append("" if extra else text)
            following = next(cells, None)
        grid.append(line)
    return grid, room


def _filling(text: str, times: int = 1) -> int:
    """Return how many characters cells with a text take, with what separates them."""
    return (len(text) + 3) * times


def _span(cell: Node, name: str) -> int:
    written = cell.attributes.get(name) or ""
    return min(max(int(written), 1), _MAX_SPAN) if written.isdecimal() else 1


def _is_head(row: Node) -> bool:
    parent = row.parent
    if parent is not None and tag_of(parent) == "thead":
        return True
    cells = list(elements(row))
    return bool(cells) and all(tag_of(cell) == "th" for cell in cells)
