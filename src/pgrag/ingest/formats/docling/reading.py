"""Read a PDF by Docling's models: layout, tables and formulas, also of scans (OCR)."""

import io

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.converted import Converted
from pgrag.ingest.formats.docling.writing import markdown_of
from pgrag.ingest.values import Origin


def convert(key: str, data: bytes, origin: Origin) -> Converted:
    """Read a PDF as Docling's standard pipeline does; its headings lead to their pages. Docling
    downloads its models on first use, unless `DOCLING_ARTIFACTS_PATH` names their folder. Raises
    SourceError for a file that it cannot convert.
    """
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
