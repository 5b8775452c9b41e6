"""Decode a file to text: encodings, byte order marks, line ends, NUL, binary files."""

import codecs

from pgrag.ground.errors import SourceError

_SAMPLE = 8192
_MAGIC = {
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive or an office document",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x1f\x8b": "a gzip archive",
    b"\x7fELF": "a program",
    b"SQLite format 3\x00": "an SQLite database",
}
_CONTROL = bytes(code for code in (*range(32), 127) if code not in b"\t\n\v\f\r\x1b")
_MOJIBAKE = "pgrag.windows-1252"


def _as_windows_1252(error: UnicodeError) -> tuple[str, int]:
    """Decode only the invalid bytes as Windows-1252; the rest of the file stays UTF-8."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    text = "".join(bytes((byte,)).decode("cp1252", errors="ignore") or chr(byte) for byte in wrong)
    return text, error.end


codecs.register_error(_MOJIBAKE, _as_windows_1252)


def decode(key: str, data: bytes) -> tuple[str, list[str]]:
    """Return a file as text with line feeds, and warnings: UTF-8, UTF-16, invalid bytes as
    Windows-1252. Raises SourceError for a binary file.
    """
    warnings: list[str] = []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
        warnings.append(f"{key}: is UTF-16, not UTF-8")
    else:
        data = data.removeprefix(codecs.BOM_UTF8)
        try:
            text = data.decode()
            _refuse_binary(key, data, tolerated=0.30)
        except UnicodeDecodeError as error:
            _refuse_binary(key, data, tolerated=0.05)
            text = data.decode(errors=_MOJIBAKE)
            warnings.append(
                f"{key}: not valid UTF-8 (byte 0x{data[error.start]:02X} at offset {error.start});"
                " such bytes are read as Windows-1252"
            )
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        warnings.append(f"{key}: {text.count(chr(0))} NUL characters removed")
        text = text.replace("\0", "")
    return text, warnings


def _refuse_binary(key: str, data: bytes, *, tolerated: float) -> None:
    """Raise SourceError for a known binary format or too large a share of control characters."""
    for magic, name in _MAGIC.items():
        if data.startswith(magic):
            raise SourceError(f"{key}: is {name}, not Markdown.")
    sample = data[:_SAMPLE]
    controls = len(sample) - len(sample.translate(None, _CONTROL))
    if controls > tolerated * len(sample):
        share = controls / len(sample)
        raise SourceError(f"{key}: is binary ({share:.0%} control characters), not Markdown.")
