"""Read an Office file: recognise its kind by its parts, and refuse what must not be opened."""

import io
import zipfile
from collections.abc import Callable
from typing import Any
from unicodedata import normalize

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.loss import Words, count_words
from pgrag.ingest.formats.office import sheets, slides, word
from pgrag.ingest.formats.office.package import Damaged, Package
from pgrag.ingest.values import Origin

_OLE = b"\xd0\xcf\x11\xe0"
"""The container of Office before 2007, and of encrypted files since."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_REPAIR = "Open it in an Office program and save it again."
_Reader = Callable[[Package, str], tuple[dict[str, Any], list[str], str]]
_KINDS: dict[str, _Reader] = {
    "document": word.read,
    "presentation": slides.read,
    "workbook": sheets.read,
}
"""Readers by the name of the root of the part with which reading begins."""
_USUAL = ("word/document.xml", "ppt/presentation.xml", "xl/workbook.xml")
_MAX_UNPACKED = 1_000_000_000
_MAX_FACTOR = 200
"""Text compresses to a tenth, repetitive tables to a fiftieth."""


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a document, a presentation or a workbook; its parts tell which. Raises SourceError."""
    _require_readable(key, data)
    try:
        package = Package(io.BytesIO(data))
        markdown, words = _read(key, package)
    except (ImportError, MemoryError, SourceError):
        raise
    except Damaged as error:
        raise SourceError(f"{key}: is damaged: {error}.", hint=_REPAIR) from error
    except RecursionError as error:
        raise SourceError(
            f"{key}: nests tables, boxes or controls too deep to be read.",
            hint="Simplify it in an Office program.",
        ) from error
    except Exception as error:  # of values that the reader does not expect
        raise SourceError(
            f"{key}: is damaged, or holds something that cannot be read.", hint=_REPAIR
        ) from error
    warnings = tuple(f"{key}: {loss}" for loss in dict.fromkeys(package.losses))
    return Converted(markdown, warnings, words=words)


def _read(key: str, package: Package) -> tuple[str, Words]:
    """Return the Markdown of a file, with how many of its words are kept. Raises Damaged if
    nothing of it can be read.
    """
    main = _main_part(key, package)
    kind = package.part(main).tag.rpartition("}")[2]
    if kind not in _KINDS:
        raise _no_office_file(key)
    fields, blocks, seen = _KINDS[kind](package, main)
    if not blocks and package.losses:
        raise Damaged(package.losses[0])
    body = "\n\n".join(blocks)
    # 2³¹ is shown, and stored as 2 and a raised 31
    words = count_words(*(normalize("NFKC", text) for text in (seen, body)))
    return with_front_matter(fields, body), words


def _require_readable(key: str, data: bytes) -> None:
    """Raise SourceError for what is no zip archive, or unpacks to far more than its size."""
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


def _main_part(key: str, package: Package) -> str:
    stated = package.main()
    if stated is not None and stated.endswith(".bin"):
        raise SourceError(f"{key}: is a binary workbook.", hint="Save it as .xlsx.")
    if stated is not None:
        return stated
    if usual := next((name for name in _USUAL if name in package.names), None):
        return usual
    raise _no_office_file(key)


def _no_office_file(key: str) -> SourceError:
    return SourceError(f"{key}: is a zip archive, but no document, presentation or workbook.")
