"""Decode a file to text: encodings, byte order marks, line ends, NUL, binary files."""

import codecs
import re

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.encodings import FAULTY, codec_of, detect, evident, is_other, name_of
from pgrag.ingest.values import NOWHERE, Origin

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
_WIDE = ("utf-16", "utf-32")
#: Byte order marks, of which the longer ones are tried first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Where a file declares its encoding: bytes of a page, else one of the first five lines.
_HEAD = 4096
_META = re.compile(rb"<meta\s([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"([\w-]+)\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+)")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml\s[^>]*?encoding\s*=\s*[\"']([^\"'>]+)")
_CODING = re.compile(rb"coding[:=][ \t]*([\w.-]+)")
#: Characters of valid UTF-8 that text in another encoding does not form by chance.
_PROOF = 5
_SINGLE_BYTES = ("cp125", "cp874", "cp866", "iso8859", "koi8", "mac")
_LIKELY = "the likely encoding: where characters are wrong, declare it, or save the file as UTF-8"


def decode(key: str, data: bytes, origin: Origin = NOWHERE) -> tuple[str, list[str]]:
    """Return a file as text with line feeds, and warnings of what was assumed. As in browsers, the
    encoding is that of the byte order mark, else of the server's header, else of the declaration in
    the file, else the likely one. Raises SourceError for a binary file.
    """
    codec, warnings = _codec(key, data, origin)
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        text = data.decode(codec, errors="replace" if codec.startswith(_WIDE) else FAULTY)
        if codec == "utf-8" or "\ufffd" in text:
            shown = "read as Windows-1252" if codec == "utf-8" else "shown as \ufffd"
            warnings.append(
                f"{key}: not valid {name_of(codec).upper()} (byte 0x{data[error.start]:02X} at"
                f" offset {error.start}); such bytes are {shown}"
            )
    text = text.removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        warnings.append(f"{key}: {text.count(chr(0))} NUL characters removed")
        text = text.replace("\0", "")
    return text, warnings


def _codec(key: str, data: bytes, origin: Origin) -> tuple[str, list[str]]:
    """Return the codec of a file, and a warning if that is not declared, or contradicts."""
    if (
        marked := next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    ) is not None:
        return marked, []
    if (likely := evident(data)) is not None:
        return likely, [f"{key}: read as {name_of(likely)}, {_LIKELY}"]
    known, faults = _utf_8(data)
    _refuse_binary(key, data, tolerated=0.05 if faults else 0.30)
    charset = _CHARSET.search(origin.media_type or "")
    by_server, by_itself = codec_of(charset[1]) if charset else None, _declared(data)
    is_utf_8 = 2 * known >= faults and (known >= 4 * faults or not is_other(data))
    declared = by_itself if by_server == "utf-8" and not is_utf_8 else by_server or by_itself
    if declared in (None, "utf-8"):
        if is_utf_8:
            return "utf-8", []
        likely = detect(data)
        return likely, [f"{key}: is not UTF-8; read as {name_of(likely)}, {_LIKELY}"]
    proof = 1 if declared.startswith(_SINGLE_BYTES) else _PROOF
    if faults or known < proof:
        return declared, []
    where = "its server" if by_server else "it"
    return "utf-8", [f"{key}: is UTF-8, though {where} declares {name_of(declared)}"]


def _utf_8(data: bytes) -> tuple[int, int]:
    """Count characters outside ASCII in UTF-8, and bytes that do not belong to UTF-8."""
    if data.isascii():
        return 0, 0
    text = data.decode(errors="ignore")
    size = len(text.encode())
    # UTF-8 has two to four bytes for each: every byte beyond the first of a character counts.
    return size - len(text), len(data) - size


def _declared(data: bytes) -> str | None:
    """Return the codec that a file declares: a page, or another text in its first lines."""
    head = data[:_HEAD]
    if not head.lstrip().startswith(b"<"):
        found = _CODING.search(b"\n".join(head.split(b"\n", 5)[:5]))
        return codec_of(found[1].decode()) if found else None
    xml = _XML.match(head)
    labels = [xml[1].decode(errors="replace")] if xml else []
    for meta in _META.finditer(head):
        fields = {
            name.lower(): value.decode(errors="replace").strip("\"'")
            for name, value in _ATTRIBUTE.findall(meta[1])
        }
        labels.append(fields.get(b"charset", ""))
        if fields.get(b"http-equiv", "").lower() == "content-type":
            labels += _CHARSET.findall(fields.get(b"content", ""))
    codecs_of = (codec_of(label) for label in labels)
    codec = next(filter(None, codecs_of), None)
    # A declaration that can be read is no UTF-16.
    return "utf-8" if codec and codec.startswith("utf-16") else codec


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
