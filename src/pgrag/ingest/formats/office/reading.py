"""Read an Office file: find out what it is by what it contains, and what must not be opened."""

import io
import zipfile
from importlib import import_module

from pgrag.ground.errors import SourceError, reason
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.values import Origin

_OLE = b"\xd0\xcf\x11\xe0"
"""The container of Office before 2007, which also holds what is encrypted since."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_PARTS = {
    "word/document.xml": "pgrag.ingest.formats.office.word",
    "ppt/presentation.xml": "pgrag.ingest.formats.office.slides",
    "xl/workbook.xml": "pgrag.ingest.formats.office.sheets",
}
_MAX_UNPACKED = 1_000_000_000
_MAX_FACTOR = 200
"""Text compresses to a tenth, repetitive tables to a fiftieth."""


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a document, a presentation or a workbook; which of them, its parts tell, not its name.

    Raises SourceError for a file that is another one, is damaged, needs a password, or unpacks to
    far more than it should.
    """
    reader = import_module(_PARTS[_main_part(key, data)])
    try:
        fields, blocks = reader.read(io.BytesIO(data))
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # what the packages raise depends on what is missing in the file
        detail = f": {reason(error)}" if isinstance(error, ValueError) else ", or a part is missing"
        raise SourceError(f"{key}: is damaged{detail}.") from error
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
    for part in _PARTS:
        if part in names:
            return part
    raise SourceError(f"{key}: is a zip archive, but no document, presentation or workbook.")
