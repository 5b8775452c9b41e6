"""Read a workbook: a section for each visible sheet, a table for each block of cells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.cells import Cells
from pgrag.ingest.formats.office.package import Damaged, Package, named, whole
from pgrag.ingest.formats.office.text import Part, blocks, is_sparse, lines, paragraph, table

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")
_MAX_COLUMN = 16_384
_UNSAFE = re.compile(r"[\s<>\\]")


@dataclass(slots=True)
class _Sheet:
    """The texts of the visible cells by row and column, what spans columns, and the links. A hidden
    row has no texts; an empty one, which ends a block, is missing.
    """

    rows: list[tuple[int, dict[int, str]]] = field(default_factory=list)
    spans: dict[tuple[int, int], int] = field(default_factory=dict)
    hidden: bytearray = field(default_factory=lambda: bytearray(_MAX_COLUMN + 1))
    links: dict[tuple[int, int], str] = field(default_factory=dict)
    formulas_without_value: int = 0


def read(package: Package, main: str) -> tuple[dict[str, Any], list[str], str]:
    """Return the properties of a workbook, its blocks of Markdown, and the text that is seen; a
    formula is its value.
    """
    cells = Cells(package, main)
    written: list[str] = []
    for name, part in visible_sheets(package, main):
        try:
            sheet = _sheet(package, part, cells)
        except Damaged as error:
            package.losses.append(str(error))
            continue
        if sheet.formulas_without_value:
            package.losses.append(
                f"{sheet.formulas_without_value:,} formulas of the sheet {name} have no stored"
                " value; a spreadsheet program that opens and saves the file stores them"
            )
        content = list(blocks([*_parts(sheet), *_shapes(package, part)]))
        if content:
            written += [heading(2, escape(name)), *content]
    return dict(package.properties()), written, "\n".join(cells.seen)


def visible_sheets(package: Package, main: str) -> Iterator[tuple[str, str]]:
    """Yield the names and the parts of the sheets that are not hidden."""
    relations = package.relations(main)
    for sheet in package.part(main).iterfind(named("s:sheets/s:sheet")):
        relation = relations.get(sheet.get(named("r:id"), ""))
        name = sheet.get("name", "")
        if relation is None:
            package.losses.append(f"its sheet {name} is missing")
        elif (
            relation.kind == "worksheet"
            and sheet.get("state", "visible") == "visible"
            and package.is_new(relation.part)
        ):
            yield name, relation.part


def _sheet(package: Package, part: str, cells: Cells) -> _Sheet:
    sheet = _Sheet()
    number = 0
    for name, element in package.stream(part, ("col", "row", "mergeCell", "hyperlink")):
        if name == "col" and element.get("hidden") in ("1", "true"):
            first, last = whole(element.get("min")), whole(element.get("max"), 0, _MAX_COLUMN)
            sheet.hidden[first : last + 1] = b"\1" * len(sheet.hidden[first : last + 1])
        elif name == "row":
            number = whole(element.get("r"), number + 1)
            if element.get("hidden") in ("1", "true"):
                sheet.rows.append((number, {}))
            else:
                _read_row(element, number, sheet, cells)
        elif name == "mergeCell":
            first_cell, _, last_cell = element.get("ref", "").partition(":")
            start, end = _place(first_cell), _place(last_cell)
            if start and end and end[1] > start[1]:
                sheet.spans[start] = end[1] - start[1] + 1
        elif name == "hyperlink":
            relation = package.relations(part).get(element.get(named("r:id"), ""))
            place = _place(element.get("ref", "").partition(":")[0])
            if relation and place:
                sheet.links[place] = _UNSAFE.sub(lambda m: f"%{ord(m[0]):02X}", relation.address)
    return sheet


def _read_row(row: Element, number: int, sheet: _Sheet, cells: Cells) -> None:
    texts: dict[int, str] = {}
    column = 0
    for cell in row:
        place = _place(cell.get("r", ""))
        column = place[1] if place else column + 1
        text, is_missing = cells.text(cell)
        sheet.formulas_without_value += is_missing
        if text and column <= _MAX_COLUMN and not sheet.hidden[column]:
            texts[column] = text
            cells.seen.append(text)
    if texts:
        sheet.rows.append((number, texts))


def _place(reference: str) -> tuple[int, int] | None:
    """Return row and column of a reference such as `B12`, counted from 1."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        return None
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(match[2]), column


def _parts(sheet: _Sheet) -> Iterator[Part | None]:
    """Yield the blocks of cells, which empty rows separate."""
    run: list[tuple[int, dict[int, str]]] = []
    last = 0
    for number, texts in sheet.rows:
        if run and number > last + 1:
            yield from _block(run, sheet)
            run = []
        if texts:
            run.append((number, texts))
        last = number
    yield from _block(run, sheet)


def _block(rows: list[tuple[int, dict[int, str]]], sheet: _Sheet) -> Iterator[Part | None]:
    """Yield the tables of a block, those beside each other apart; a line of one cell above them is
    a paragraph.
    """
    while rows and len(rows[0][1]) == 1 and (len(rows) == 1 or len(rows[1][1]) > 1):
        (column, text) = next(iter(rows[0][1].items()))
        yield paragraph(_linked(sheet, rows[0][0], column, text))
        rows = rows[1:]
    for columns in _groups(rows, sheet):
        yield _table(rows, columns, sheet)


def _groups(rows: list[tuple[int, dict[int, str]]], sheet: _Sheet) -> list[list[int]]:
    """Return the used columns, apart where an empty one stands between two tables."""
    used = sorted({column for _, texts in rows for column in texts})
    groups: list[list[int]] = []
    for column in used:
        between = range(groups[-1][-1] + 1, column) if groups else ()
        if groups and all(sheet.hidden[each] for each in between):
            groups[-1].append(column)
        else:
            groups.append([column])
    is_apart = len(rows) > 1 and all(len(group) > 1 for group in groups)
    spanned = any((number, column) in sheet.spans for number, texts in rows[:1] for column in texts)
    return groups if is_apart and not spanned else [used] if used else []


def _table(
    rows: list[tuple[int, dict[int, str]]], columns: list[int], sheet: _Sheet
) -> Part | None:
    if is_sparse(len(rows), len(columns), sum(len(texts) for _, texts in rows)):
        return lines(
            [_linked(sheet, number, column, text) for column, text in sorted(texts.items())]
            for number, texts in rows
        )
    written = [
        [_linked(sheet, number, column, texts.get(column, "")) for column in columns]
        for number, texts in rows
    ]
    spans = {
        column: sheet.spans[rows[0][0], column]
        for column in columns
        if (rows[0][0], column) in sheet.spans
    }
    # the heads go on in the second row, if in each column without such a span one is empty
    is_over = len(rows) > 2 and not any(
        column in rows[0][1] and column in rows[1][1] for column in columns if column not in spans
    )
    if is_over and spans and max(spans.values()) < len(columns):
        heads = [_over(written[0], columns, spans), written[1]]
        written[:2] = [
            [" ".join(dict.fromkeys(filter(None, each))) for each in zip(*heads, strict=True)]
        ]
    return table(written)


def _over(head: list[str], columns: list[int], spans: dict[int, int]) -> list[str]:
    """Return a row of heads, of which some stand over several columns, with each in all of them."""
    texts = []
    end, above = 0, ""
    for column, text in zip(columns, head, strict=True):
        if text:
            end, above = column + spans.get(column, 1), text
        texts.append(above if column < end else "")
    return texts


def _linked(sheet: _Sheet, row: int, column: int, text: str) -> str:
    words = escape(" ".join(text.split()))
    link = sheet.links.get((row, column))
    return f"[{words}](<{link}>)" if link and words else words


def _shapes(package: Package, part: str) -> Iterator[Part | None]:
    """Yield the texts of boxes that lie on a sheet."""
    root = package.optional(package.related(part, "drawing"))
    for line in () if root is None else root.iter(named("a:p")):
        if words := "".join(each.text or "" for each in line.iter(named("a:t"))).strip():
            yield paragraph(escape(words))
