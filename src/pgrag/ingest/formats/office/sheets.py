"""Read a workbook: each sheet is a section, each block of rows a table."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from typing import IO, Any

from openpyxl import load_workbook  # type: ignore[import-untyped]

from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.text import Part, blocks, paragraph, table


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of a workbook and its blocks of Markdown; a formula is its value."""
    workbook = load_workbook(stream, read_only=True, data_only=True)
    fields = {
        "title": workbook.properties.title,
        "description": workbook.properties.subject,
        "language": workbook.properties.language,
    }
    written: list[str] = []
    for sheet in workbook.worksheets:
        if sheet.sheet_state != "visible":
            continue
        sheet.reset_dimensions()  # a cell far away would fill up every row
        content = list(blocks(_parts(sheet.iter_rows(values_only=True))))
        if content:
            written += [heading(2, escape(sheet.title)), *content]
    return fields, written


def _parts(rows: Iterable[tuple[Any, ...]]) -> Iterator[Part | None]:
    """Yield a table for each run of rows; a line of one cell is a paragraph."""
    run: list[list[str]] = []
    for row in rows:
        texts = [_text(value) for value in row]
        if any(texts):
            run.append(texts)
        else:
            yield from _table(run)
            run = []
    yield from _table(run)


def _table(rows: list[list[str]]) -> Iterator[Part | None]:
    while rows and sum(map(bool, rows[0])) == 1 and (len(rows) == 1 or sum(map(bool, rows[1])) > 1):
        yield paragraph(escape(next(filter(None, rows[0]))))
        rows = rows[1:]
    used = sorted({column for row in rows for column, value in enumerate(row) if value})
    yield table([[row[column] if column < len(row) else "" for column in used] for row in rows])


def _text(value: Any) -> str:
    """Return a value as a reader of the sheet would write it."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d" if value.time() == time() else "%Y-%m-%d %H:%M:%S")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()
