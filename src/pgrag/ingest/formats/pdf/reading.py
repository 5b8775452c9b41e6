"""Read a PDF: its text becomes Markdown whose headings lead to pages, `#page=12`."""

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pypdf import PdfReader

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.escaping import heading
from pgrag.ingest.formats.loss import Words, count_words
from pgrag.ingest.formats.pdf.footnotes import attach_notes
from pgrag.ingest.formats.pdf.guarding import REMEDY, Guarded, guard
from pgrag.ingest.formats.pdf.headings import (
    Heading,
    PdfProperties,
    find_headings,
    read_properties,
    title_of,
)
from pgrag.ingest.formats.pdf.layout import lay_out
from pgrag.ingest.formats.pdf.lines import Line, Table, by_page, set_texts
from pgrag.ingest.formats.pdf.running import running_lines
from pgrag.ingest.formats.pdf.writing import compounds_of, write_page
from pgrag.ingest.values import Origin

#: The signature `%PDF-` may follow other bytes, as Adobe's implementation notes allow.
_HEADER_WITHIN = 1024


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a PDF with the title of its properties, else its largest text; scans are left out with a
    warning. Raises SourceError.
    """
    start = data.find(b"%PDF-", 0, _HEADER_WITHIN)
    if start < 0:
        raise SourceError(f"{key}: is not a PDF: it does not begin with %PDF-.")
    data = data[start:]
    guarded, properties, warnings = _examined(key, data)
    laid = lay_out(key, guarded.data)
    lines: list[Line] = []
    for element in laid.elements:
        lines += element.text_lines if isinstance(element, Table) else [element]
    set_texts(lines)
    running = running_lines(lines, laid.page_count)
    elements = [
        each
        for element in laid.elements
        for each in _without_code(element)
        if id(each) not in running
    ]
    if not elements and guarded.left_out:
        raise SourceError(f"{key}: draws far more than a file of its size holds.", hint=REMEDY)
    if not elements:
        raise SourceError(
            f"{key}: has no text, only pictures of it.",
            hint="Recognise its text first, for example by: ocrmypdf",
        )
    pictures = [number for number in laid.pictures if number not in guarded.left_out]
    if pictures:
        warnings.append(f"{key}: no text, as on a scan, left out: {_pages(pictures)}.")
    if laid.unreadable:
        warnings.append(
            f"{key}: a font does not say which letters it shows: {_pages(laid.unreadable)}. "
            "Recognise the text, for example by: ocrmypdf --force-ocr"
        )
    navigation = "\n".join(line.text for line in lines if id(line) in running)
    compounds = compounds_of(lines)
    elements = attach_notes(elements)
    lines = [element for element in elements if isinstance(element, Line)]
    headings = find_headings(lines, properties.bookmarks)
    fields = {
        "title": properties.title or title_of(lines),
        "description": properties.subject,
        "language": properties.language,
    }
    body = _body(elements, headings, compounds)
    words = _words(laid.shown, navigation, body)
    return Converted(with_front_matter(fields, body), tuple(warnings), words=words)


def _words(shown: str, navigation: str, body: str) -> Words:
    """Count what is kept of the text outside running heads and tables of contents."""
    words = count_words(shown, body)
    running = count_words(navigation, navigation).shown
    return Words(max(words.shown - running, words.kept), words.kept)


def _examined(key: str, data: bytes) -> tuple[Guarded, PdfProperties, list[str]]:
    """Return what is safe to lay out, and what the PDF says of itself."""
    warnings: list[str] = []
    guarded, properties = Guarded(data), PdfProperties()
    try:
        reader = PdfReader(io.BytesIO(data))
        guarded = guard(key, data, reader)
        if not guarded.has_bookmarks:
            warnings.append(f"{key}: its bookmarks go in a circle or too deep, left out.")
        properties = read_properties(reader, has_bookmarks=guarded.has_bookmarks)
    except SourceError:
        raise
    except Exception as error:  # the text is worth more than its bookmarks
        warnings.append(f"{key}: its bookmarks cannot be read: {error}.")
    if guarded.left_out:
        pages = _pages(guarded.left_out)
        warnings.append(f"{key}: draws far more than a file of its size holds, left out: {pages}.")
    return guarded, properties, warnings


def _without_code(element: Line | Table) -> Sequence[Line | Table]:
    """Return a table's lines if they are code: its columns are indents."""
    if isinstance(element, Line):
        return [element]
    code = sum(line.is_code for line in element.text_lines)
    is_code = code * 2 > len(element.text_lines) or len(element.rows[0]) < 2
    return element.text_lines if is_code else [element]


def _pages(numbers: Sequence[int]) -> str:
    """Say `page 3` or `pages 3-5, 9`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    word = "page" if len(numbers) == 1 else "pages"
    return f"{word} {', '.join('-'.join(map(str, each)) for each in ranges)}"


def _body(
    elements: Sequence[Line | Table], headings: Sequence[Heading], compounds: frozenset[str]
) -> str:
    """Write all pages; without headings every page is a section."""
    if not headings:
        return "\n\n".join(_sections_of_pages(elements, compounds))
    starts: dict[int, list[Heading]] = defaultdict(list)
    last: list[Heading] = []
    for each in headings:
        line = each.lines[0] if each.lines else each.before
        (starts[id(line)] if line else last).append(each)
    return _joined(write_page(elements, starts, last, compounds))


def _sections_of_pages(
    elements: Iterable[Line | Table], compounds: frozenset[str]
) -> Iterator[str]:
    for number, page in sorted(by_page(elements).items()):
        yield heading(2, f"Page {number}", f"page={number}")
        yield _joined(write_page(page, {}, [], compounds))


def _joined(blocks: Iterable[tuple[str, str]]) -> str:
    text = ""
    previous = ""
    for kind, block in blocks:
        separator = "\n" if kind == previous == "item" else "\n\n"
        text += (separator if text else "") + block
        previous = kind
    return text
