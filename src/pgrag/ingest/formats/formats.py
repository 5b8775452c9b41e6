"""The formats of pages: how each is recognised, and the converter that makes Markdown of it."""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Protocol

from pgrag.ground.errors import SourceError
from pgrag.ingest.child import bounded
from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.values import NOWHERE, Origin

#: The bytes at the front of a file that tell its format.
_SAMPLE = 2048
#: A packed file may have this many times the bytes of a text file.
PACKED_FACTOR = 20
#: Characters of Markdown that a page may have for each byte that a text file may have.
MARKDOWN_FACTOR = 4
#: A packed file may take this many times the processor time of a text file of its size.
PACKED_SECONDS = 5.0

log = logging.getLogger(__name__)


class Converter(Protocol):
    """Makes Markdown of the bytes of a page; `key` is its path below the source."""

    def __call__(self, key: str, data: bytes, origin: Origin) -> Converted:
        """Raise SourceError, which names the key, for bytes that cannot be read."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of pages. `recognises` looks at the first bytes; where they say nothing, the media
    type or the suffix decides. Increment `version` when the same file would give other Markdown:
    its pages are read again. `module` has the function `convert`; `package` is an optional
    dependency. A file that `is_published` is served under its own name. One that `is_packed` may be
    large for its text.
    """

    name: str
    suffixes: tuple[str, ...]
    media_types: tuple[str, ...]
    module: str
    version: int = 1
    recognises: Callable[[bytes], bool] = lambda _: False
    package: str = ""
    is_published: bool = False
    is_packed: bool = False


MARKDOWN = Format(
    "Markdown",
    (".md", ".markdown", ".mdx"),
    ("text/markdown", "text/x-markdown"),
    "pgrag.ingest.formats.markdown",
    version=2,
)
TEXT = Format(
    "text",
    (".txt", ".text"),
    ("text/plain",),
    "pgrag.ingest.formats.text",
    version=2,
    is_published=True,
)
RST = Format(
    "reStructuredText",
    (".rst", ".rest"),
    ("text/x-rst", "text/prs.fallenstein.rst"),
    "pgrag.ingest.formats.rst.reading",
    version=2,
)
NOTEBOOK = Format(
    "a Jupyter notebook",
    (".ipynb",),
    ("application/x-ipynb+json",),
    "pgrag.ingest.formats.notebook",
    version=2,
)
_IS_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*|<!--(?:(?!-->).)*-->\s*)*"
    rb"<(?:!doctype\s+html|html|head)\b",
    re.IGNORECASE | re.DOTALL,
)
HTML = Format(
    "HTML",
    (".html", ".htm", ".xhtml"),
    ("text/html", "application/xhtml+xml"),
    "pgrag.ingest.formats.html.page",
    version=2,
    recognises=lambda sample: _IS_HTML.match(sample) is not None,
    is_published=True,
)
PDF = Format(
    "PDF",
    (".pdf",),
    ("application/pdf", "application/x-pdf"),
    "pgrag.ingest.formats.pdf.reading",
    # Elsewhere in a file it is text about PDF; with the suffix, other bytes may precede it.
    recognises=lambda sample: sample.startswith(b"%PDF-"),
    is_published=True,
    is_packed=True,
    version=2,
)
DOCLING = Format(
    "PDF for Docling", (), (), "pgrag.ingest.formats.docling.reading", package="docling"
)


def _zip_kind(sample: bytes) -> bytes:
    """Return the media type that a zip archive states in its first member."""
    kind = sample[38:] if sample.startswith(b"PK\x03\x04") else b""
    return kind if sample[30:38] == b"mimetype" else b""


_OFFICE_MEDIA_TYPE = "application/vnd.openxmlformats-officedocument."
_OFFICE_MEMBERS = (b"[Content_Types].xml", b"_rels/", b"docProps/", b"word/", b"ppt/", b"xl/")
OFFICE = Format(
    "an Office file",
    (
        *(".docx", ".docm", ".dotx", ".dotm", ".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
        *(".xlsx", ".xlsm", ".xltx", ".xltm"),
        *(".doc", ".ppt", ".xls", ".xlsb"),  # not read, but named with what to do
    ),
    (
        f"{_OFFICE_MEDIA_TYPE}wordprocessingml.document",
        f"{_OFFICE_MEDIA_TYPE}presentationml.presentation",
        f"{_OFFICE_MEDIA_TYPE}spreadsheetml.sheet",
    ),
    "pgrag.ingest.formats.office.reading",
    version=2,
    recognises=lambda sample: (
        sample.startswith(b"\xd0\xcf\x11\xe0")
        or (sample.startswith(b"PK\x03\x04") and sample[30:].startswith(_OFFICE_MEMBERS))
    ),
    is_published=True,
    is_packed=True,
)
EPUB = Format(
    "a book in EPUB",
    (".epub",),
    ("application/epub+zip",),
    "pgrag.ingest.formats.epub",
    recognises=lambda sample: _zip_kind(sample).startswith(b"application/epub+zip"),
    is_published=True,
    is_packed=True,
)
_OASIS = "application/vnd.oasis.opendocument."
OPENDOCUMENT = Format(
    "an OpenDocument file",
    (".odt", ".odp", ".ods"),
    (f"{_OASIS}text", f"{_OASIS}presentation", f"{_OASIS}spreadsheet"),
    "pgrag.ingest.formats.opendocument",
    recognises=lambda sample: _zip_kind(sample).startswith(_OASIS.encode()),
    is_published=True,
    is_packed=True,
)
MANUAL = Format(
    "a manual page",
    tuple(f".{section}{packed}" for section in range(1, 10) for packed in ("", ".gz")),
    ("text/troff", "application/x-troff-man"),
    "pgrag.ingest.formats.man",
    recognises=lambda sample: (
        re.match(rb"[.'\\]", sample) is not None
        and re.search(rb"^\.(?:TH|Dd|SH|so)\s", sample, re.MULTILINE) is not None
    ),
)
ASCIIDOC = Format(
    "AsciiDoc",
    (".adoc", ".asciidoc", ".asc"),
    ("text/asciidoc", "text/x-asciidoc"),
    "pgrag.ingest.formats.asciidoc.reading",
)
QUARTO = Format(
    "Quarto or R Markdown", (".qmd", ".rmd"), ("text/x-r-markdown",), "pgrag.ingest.formats.quarto"
)
FORMATS = (
    MARKDOWN, HTML, RST, NOTEBOOK, PDF, OFFICE, EPUB, OPENDOCUMENT, MANUAL, ASCIIDOC, QUARTO, TEXT,
)  # fmt: skip
"""In the order in which their `recognises` is called."""

SUFFIXES = {suffix: each for each in FORMATS for suffix in each.suffixes}
_MEDIA_TYPES = {media_type: each for each in FORMATS for media_type in each.media_types}
_SUFFIX = re.compile(r"(?<=[^/])(?:\.[1-9]\.gz|\.[^./]+)$", re.IGNORECASE)
#: Media types of servers that do not know the format.
_VAGUE = frozenset({"text/plain", "application/octet-stream", "binary/octet-stream"})


def format_of(key: str, data: bytes, origin: Origin = NOWHERE) -> Format:
    """Return the format of a file: by its content, else as `named_format` does."""
    sample = data[:_SAMPLE]
    recognised = (each for each in FORMATS if each.recognises(sample))
    found = next(recognised, None) or named_format(key, origin) or MARKDOWN
    is_number = found is MANUAL and not key.lower().endswith(".gz") and not found.recognises(sample)
    return MARKDOWN if is_number else found  # "release-7.1" names no section of a manual


def suffix_of(name: str) -> str:
    """Return the suffix of a file in small letters; of a packed manual page that inside, too."""
    suffix = _SUFFIX.search(name)
    return suffix[0].lower() if suffix else ""


def named_format(key: str, origin: Origin = NOWHERE) -> Format | None:
    """Return the format that a media type, unless it is vague, or the suffix of a key names."""
    media_type = (origin.media_type or "").partition(";")[0].strip().lower()
    by_suffix = SUFFIXES.get(suffix_of(key))
    by_type = _MEDIA_TYPES.get(media_type)
    return (by_suffix or by_type) if media_type in _VAGUE else (by_type or by_suffix)


def size_limit(key: str, origin: Origin, limit: int | None) -> int | None:
    """Return how many bytes a file may have, if a page of text may have `limit` bytes."""
    named = named_format(key, origin)
    return limit * PACKED_FACTOR if limit and named and named.is_packed else limit


def fingerprint(key: str, origin: Origin, converter: str | None) -> str:
    """Return what a file's Markdown depends on beside its bytes, as far as its name tells."""
    named = named_format(key, origin)
    if named is PDF and converter:
        return f"{converter} {DOCLING.version}"
    return f"{named.name} {named.version}" if named else ""


def _read(chosen: Format, key: str, data: bytes, origin: Origin) -> Converted:
    """Read a file in a time that its size allows. Raises SourceError whatever is wrong with it."""
    try:
        reads: Converter = import_module(chosen.module).convert
        if chosen is DOCLING:
            return reads(key, data, origin)
        with bounded(len(data), PACKED_SECONDS if chosen.is_packed else 1.0):
            return reads(key, data, origin)
    except (SourceError, MemoryError):
        raise
    except ModuleNotFoundError as error:
        if not chosen.package:
            raise
        raise SourceError(
            f"{key}: is {chosen.name}, which needs the package {error.name}.",
            hint=f"Run pip install {chosen.package}.",
        ) from error
    except RecursionError as error:
        raise SourceError(f"{key}: has parts that nest too deep in each other.") from error
    except Exception as error:
        log.info("%s: not read", key, exc_info=True)
        hint = "Open it in the program that wrote it, and save it again."
        raise SourceError(
            f"{key}: is damaged, or uses a feature that cannot be read.",
            hint=hint if chosen.is_packed else "Convert it to Markdown, or to HTML.",
        ) from error


def convert(
    key: str,
    data: bytes,
    origin: Origin = NOWHERE,
    converter: str | None = None,
    limit: int | None = None,
) -> Converted:
    """Return a file as Markdown, by the `converter` docling or the usual one. Raises SourceError if
    it cannot be read, or becomes too much Markdown for `limit`.
    """
    chosen = format_of(key, data, origin)
    if chosen is PDF and converter:
        chosen = DOCLING
    is_empty = not data or data.isspace()
    if is_empty and (chosen.is_packed or chosen is NOTEBOOK):
        raise SourceError(f"{key}: is empty.")
    converted = _read(chosen, key, data, origin)
    if "\r" in converted.markdown:  # written as a number, which no decoder has seen
        markdown = converted.markdown.replace("\r\n", "\n").replace("\r", "\n")
        converted = replace(converted, markdown=markdown)
    most = limit and limit * MARKDOWN_FACTOR
    if most and len(converted.markdown) > most:
        raise SourceError(
            f"{key}: has {len(data):,} bytes, but becomes {len(converted.markdown):,} characters"
            f" of Markdown; a page may have {most:,}.",
            hint="Split it.",
        )
    if is_empty:
        return replace(converted, warnings=(f"{key}: is empty",))
    if converted.words is None or not converted.words.are_lost:
        return converted
    lost = (
        f"{key}: {converted.words} are read; look with `pgrag read` what is missing, and index the"
        " page in another form, such as Markdown, if you need it"
    )
    return replace(converted, warnings=(lost, *converted.warnings))
