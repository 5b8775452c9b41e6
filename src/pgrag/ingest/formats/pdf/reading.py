"""Read a PDF: its text becomes Markdown whose headings lead to pages, `#page=12`."""

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from liteparse import LiteParse, ParseError
from pypdf import PdfReader

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.escaping import heading
from pgrag.ingest.formats.pdf.guarding import REMEDY, Guarded, guard
from pgrag.ingest.formats.pdf.headings import (
    Heading,
    PdfProperties,
    find_headings,
    read_properties,
    title_of,
)
from pgrag.ingest.formats.pdf.lines import (
    Line,
    Table,
    by_page,
    page_elements,
    running_lines,
    set_texts,
)
from pgrag.ingest.formats.pdf.writing import write_page
from pgrag.ingest.values import Origin

_PAGES_AT_ONCE = 50
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
    elements, pictures, page_count = _elements(key, guarded.data)
    pictures = [number for number in pictures if number not in guarded.left_out]
    lines: list[Line] = []
    for element in elements:
        lines += element.text_lines if isinstance(element, Table) else [element]
    set_texts(lines)
    running = running_lines(lines, page_count)
    elements = [
        each for element in elements for each in _without_code(element) if id(each) not in running
    ]
    if not elements and guarded.left_out:
        raise SourceError(f"{key}: draws far more than a file of its size holds.", hint=REMEDY)
    if not elements:
        raise SourceError(
            f"{key}: has no text, only pictures of it.",
            hint="Recognise its text first, for example by: ocrmypdf",
        )
    if pictures:
        warnings.append(f"{key}: no text, as on a scan, left out: {_pages(pictures)}.")
    lines = [element for element in elements if isinstance(element, Line)]
    headings = find_headings(lines, properties.bookmarks)
    fields = {
        "title": properties.title or title_of(lines),
        "description": properties.subject,
        "language": properties.language,
    }
    return Converted(with_front_matter(fields, _body(elements, headings)), tuple(warnings))


def _elements(key: str, data: bytes) -> tuple[list[Line | Table], list[int], int]:
    """Return all lines and tables, the pages that show something but no text, and their count."""
    parser = LiteParse(
        ocr_enabled=False,
        keep_headers_footers=True,
        extract_blocks=True,
        extract_structure_tree=True,
        extract_content_bounds=True,
        image_mode="off",
        continue_on_page_error=True,
        max_pages=1_000_000,
        num_workers=1,
        quiet=True,
    )
    elements: list[Line | Table] = []
    pictures: list[int] = []
    count = 0
    try:
        for batch in parser.parse_batches(data, _PAGES_AT_ONCE):
            count = batch.total_pages
            for page in batch.result.pages:
                on_page = page_elements(page)
                elements += on_page
                if not on_page and page.content_bounds:
                    pictures.append(page.page_num)
            pictures += [error.page_num for error in batch.result.page_errors]
    except ParseError as error:
        if "password" in str(error):
            raise SourceError(
                f"{key}: is encrypted.",
                hint="Save it without a password, for example by: qpdf --decrypt",
            ) from error
        raise SourceError(f"{key}: is damaged or cut off: {error}.") from error
    return elements, sorted(pictures), count


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


def _body(elements: Iterable[Line | Table], headings: Sequence[Heading]) -> str:
    """Write all pages; without headings every page is a section."""
    if not headings:
        return "\n\n".join(_sections_of_pages(elements))
    starts: dict[int, list[Heading]] = defaultdict(list)
    last: list[Heading] = []
    for each in headings:
        line = each.lines[0] if each.lines else each.before
        (starts[id(line)] if line else last).append(each)
    return _joined(write_page(list(elements), starts, last))


def _sections_of_pages(elements: Iterable[Line | Table]) -> Iterator[str]:
    for number, page in sorted(by_page(elements).items()):
        yield heading(2, f"Page {number}", f"page={number}")
        yield _joined(write_page(page, {}, []))


def _joined(blocks: Iterable[tuple[str, str]]) -> str:
    text = ""
    previous = ""
    for kind, block in blocks:
        separator = "\n" if kind == previous == "item" else "\n\n"
        text += (separator if text else "") + block
        previous = kind
    return text
