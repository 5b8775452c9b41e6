"""The properties of a PDF, and the bookmarks of its outline."""

import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pypdf import PdfReader

#: Titles that programs write by default, such as the name of the file.
_NO_TITLE = re.compile(r"(?:microsoft word\s*-.*|untitled.*|.*\.\w{3,5}|\W*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A heading as the PDF's outline names it. `y` is its distance from the page's upper edge."""

    title: str
    level: int
    page: int
    y: float


@dataclass(frozen=True, slots=True)
class PdfProperties:
    """What a PDF says of itself; bookmarks are in the order of the pages."""

    title: str = ""
    subject: str = ""
    language: str = ""
    bookmarks: tuple[Bookmark, ...] = ()


def read_properties(data: bytes) -> PdfProperties:
    """Read the properties and the outline of a PDF."""
    reader = PdfReader(io.BytesIO(data))
    metadata = reader.metadata
    title = str((metadata and metadata.title) or "").strip()
    bookmarks = _bookmarks(reader, reader.outline, 1)
    return PdfProperties(
        title="" if _NO_TITLE.fullmatch(title) else title,
        subject=str((metadata and metadata.subject) or "").strip(),
        language=str(reader.root_object.get("/Lang", "")),
        bookmarks=tuple(sorted(bookmarks, key=lambda each: (each.page, each.y))),
    )


def _bookmarks(reader: PdfReader, entries: list[Any], level: int) -> Iterable[Bookmark]:
    for entry in entries:
        if isinstance(entry, list):
            yield from _bookmarks(reader, entry, level + 1)
            continue
        number = reader.get_destination_page_number(entry)
        title = " ".join((entry.title or "").split())
        if number is None or number < 0 or not title:
            continue
        box = reader.pages[number].cropbox
        y = float(box.top) - float(entry.top) if entry.top is not None else 0.0
        yield Bookmark(title, min(level, 6), number + 1, max(y, 0.0))
