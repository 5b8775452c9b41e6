"""Read an Office file: recognise its kind by its parts, and refuse what must not be opened."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from importlib import import_module
from typing import IO, Any

from openpyxl import load_workbook  # type: ignore[import-untyped]

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.package import Damaged
from pgrag.ingest.formats.office.text import Part, blocks, paragraph, table
from pgrag.ingest.values import Origin


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
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d" if value.time() == time() else "%Y-%m-%d %H:%M:%S")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()


_OLE = b"\xd0\xcf\x11\xe0"
"""The container of Office before 2007, and of encrypted files since."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_PARTS = {
    "word/document.xml": "pgrag.ingest.formats.office.word",
    "ppt/presentation.xml": "pgrag.ingest.formats.office.slides",
    "xl/workbook.xml": "pgrag.ingest.formats.office.reading",
}
_MAX_UNPACKED = 1_000_000_000
_MAX_FACTOR = 200
"""Text compresses to a tenth, repetitive tables to a fiftieth."""


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a document, a presentation or a workbook; its parts tell which. Raises SourceError."""
    reader = import_module(_PARTS[_main_part(key, data)])
    try:
        fields, blocks = reader.read(io.BytesIO(data))
    except (ImportError, MemoryError):
        raise
    except Damaged as error:
        raise SourceError(f"{key}: is damaged: {error}.") from error
    except Exception as error:  # of openpyxl, or of values that the reader does not expect
        raise SourceError(
            f"{key}: is damaged, or holds something that cannot be read.",
            hint="Open it in an Office program and save it again.",
        ) from error
    return Converted(with_front_matter(fields, "\n\n".join(blocks)))


def _main_part(key: str, data: bytes) -> str:
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            raise SourceError(f"{key}: needs a password.", hint="Save it without one.")
        raise SourceError(
            f"{key}: is an Office file of the kind before 2007.",
            hint="Save it as .docx, .pptx or .xlsx.",
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise SourceError(f"{key}: is not an Office file, or is cut off: {error}.") from error
    unpacked = sum(member.file_size for member in members)
    if unpacked > min(_MAX_UNPACKED, max(_MAX_FACTOR * len(data), 10_000_000)):
        raise SourceError(f"{key}: is refused: its {len(data):,} bytes unpack to {unpacked:,}.")
    names = {member.filename for member in members}
    if part := next((part for part in _PARTS if part in names), None):
        return part
    raise SourceError(f"{key}: is a zip archive, but no document, presentation or workbook.")
