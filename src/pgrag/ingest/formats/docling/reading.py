"""Read a PDF by Docling's models: layout, tables and formulas, also of scans (OCR)."""

import io
from collections.abc import Iterator
from typing import Any

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted, with_front_matter
from pgrag.ingest.formats.escaping import escape, heading
from pgrag.ingest.formats.office.text import Part, blocks, item, paragraph, table
from pgrag.ingest.values import Origin


def markdown_of(document: Any) -> str:
    """Return a `DoclingDocument` as Markdown with front matter; a title makes headings deeper."""
    items = [each for each, _ in document.iterate_items()]
    title = next((each.text for each in items if each.label.value == "title"), "")
    shift = 1 if title else 0
    parts = (part for each in items for part in _parts(document, each, shift))
    return with_front_matter({"title": title}, "\n\n".join(blocks(parts)))


def _parts(document: Any, each: Any, shift: int) -> Iterator[Part | None]:
    text = escape(getattr(each, "text", "") or "")
    match each.label.value:
        case "title":
            yield Part("other", heading(1, text, _page(each)))
        case "section_header":
            yield Part("other", heading(each.level + shift, text, _page(each)))
        case "list_item":
            yield item(text, _depth(document, each), each.marker if each.enumerated else "-")
        case "code":
            yield Part("code", each.text)
            yield Part("other", "")
        case "table" | "document_index":
            yield table([escape(cell.text) for cell in row] for row in each.data.grid)
        case "formula":
            yield Part("other", f"$$\n{each.text}\n$$") if each.text else None
        case _ if text:
            yield paragraph(text)


def _page(each: Any) -> str:
    return f"page={each.prov[0].page_no}" if each.prov else ""


def _depth(document: Any, each: Any) -> int:
    depth = -1
    while each.parent is not None:
        each = each.parent.resolve(document)
        depth += getattr(each.label, "value", "") in {"list", "ordered_list"}
    return max(depth, 0)


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a PDF by Docling, which downloads its models on first use. Raises SourceError."""
    from docling.datamodel.base_models import DocumentStream  # noqa: PLC0415 - not of pgrag
    from docling.document_converter import DocumentConverter  # noqa: PLC0415

    stream = DocumentStream(name=key.rpartition("/")[2], stream=io.BytesIO(data))
    try:
        document = DocumentConverter().convert(stream).document
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # of the file, of a model, of its download
        raise SourceError(f"{key}: Docling cannot convert it: {error}.") from error
    return Converted(markdown_of(document))
