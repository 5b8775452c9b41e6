"""Lay out the pages of a PDF, also those that stand sideways."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from liteparse import LiteParse, ParseError
from liteparse.types import ParsedPage

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.pdf.lines import Line, Table, page_elements

_PAGES_AT_ONCE = 50
#: A word that is cut at the end of a line is one word.
_CUT = re.compile(r"(?<=[^\W\d_])[-\u00ad]\n(?=[^\W\d_])")
#: What a font gives that does not say which letters its signs are.
_MEANINGLESS = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")


@dataclass(slots=True)
class Laid:
    """All lines and tables in reading order, and the numbers of the pages that show something but
    no text, or text in signs without meaning. `shown` is the text as the PDF draws it.
    """

    page_count: int = 0
    elements: list[Line | Table] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    shown: str = ""


def lay_out(key: str, data: bytes) -> Laid:
    """Lay out all pages. Raises SourceError if the PDF needs a password or is damaged."""
    laid = Laid()
    texts: list[str] = []
    try:
        for page, count in _pages(data):
            laid.page_count = count
            if isinstance(page, int):
                laid.pictures.append(page)
                continue
            on_page = page_elements(page)
            laid.elements += on_page
            if not on_page and page.content_bounds:
                laid.pictures.append(page.page_num)
            text = "\n".join(item.text for item in page.text_items)
            if len(_MEANINGLESS.findall(text)) * 3 > len(text) > 0:
                laid.unreadable.append(page.page_num)
            texts.append(_CUT.sub("", text))
    except ParseError as error:
        if "password" in str(error):
            raise SourceError(
                f"{key}: is encrypted.",
                hint="Save it without a password, for example by: qpdf --decrypt",
            ) from error
        raise SourceError(f"{key}: is damaged or cut off: {error}.") from error
    laid.pictures.sort()
    laid.shown = "\n".join(texts)
    return laid


def _pages(data: bytes) -> Iterator[tuple[ParsedPage | int, int]]:
    """Yield each page, or the number of one that cannot be read, with the number of all pages."""
    for batch in _parser().parse_batches(data, _PAGES_AT_ONCE):
        angles = {page.page_num: angle for page in batch.result.pages if (angle := _angle(page))}
        upright = _upright(data, angles)
        for page in batch.result.pages:
            yield upright.get(page.page_num, page), batch.total_pages
        for error in batch.result.page_errors:
            yield error.page_num, batch.total_pages


def _angle(page: ParsedPage) -> int:
    """Return by how many degrees most of the page's text is turned: 0, 90, 180 or 270."""
    angles = Counter[int]()
    for item in page.text_items:
        angles[round(item.rotation / 90) % 4 * 90] += len(item.text)
    return max(angles, key=angles.__getitem__, default=0)


def _upright(data: bytes, angles: Mapping[int, int]) -> dict[int, ParsedPage]:
    if not angles:
        return {}
    parser = _parser(
        target_pages=",".join(map(str, angles)), page_orientation_corrections=list(angles.items())
    )
    return {page.page_num: page for page in parser.parse(data).pages}


def _parser(**options: Any) -> LiteParse:
    return LiteParse(
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
        **options,
    )
