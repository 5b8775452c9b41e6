"""Docling is a converter of PDF that is asked for, and needs its package."""

import importlib.util

import pytest
from docling_core.types import doc as core
from tests.unit.formats.pdfs import Writer

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.docling import reading
from pgrag.ingest.formats.formats import convert
from pgrag.ingest.page import PageOptions, source_hash


def pdf() -> bytes:
    file = Writer()
    file.heading(1, "The gateway")
    return file.written()


@pytest.mark.skipif(importlib.util.find_spec("docling") is not None, reason="Docling is installed")
def test_without_docling_the_error_says_what_to_install():
    with pytest.raises(SourceError, match=r"^a\.pdf: is PDF for Docling, which needs") as at:
        convert("a.pdf", pdf(), converter="docling")
    assert at.value.hint == "Run pip install docling."


def test_another_converter_reads_pdf_files_again_and_no_others():
    assert convert("a.md", b"# A", converter="docling").markdown == "# A"
    usual, docling = PageOptions(), PageOptions(converter="docling")
    assert source_hash("a.pdf", "1", usual) != source_hash("a.pdf", "1", docling)
    assert source_hash("a.md", "1", usual) == source_hash("a.md", "1", docling)


def test_a_document_of_docling_becomes_markdown_whose_headings_lead_to_pages():
    box = core.BoundingBox(l=0, t=0, r=1, b=1)
    document = core.DoclingDocument(name="a")

    def on(page: int) -> object:
        return core.ProvenanceItem(page_no=page, bbox=box, charspan=(0, 1))

    document.add_title("The gateway", prov=on(1))
    document.add_text(core.DocItemLabel.TEXT, "It reads *one* file.", prov=on(1))
    document.add_heading("Limits", level=1, prov=on(2))
    items = document.add_list_group()
    document.add_list_item("Size", parent=items)
    document.add_list_item("Inner", parent=document.add_list_group(parent=items))
    document.add_code("a:\n  b", prov=on(2))
    cells = [
        core.TableCell(
            text=text, start_row_offset_idx=row, end_row_offset_idx=row + 1,
            start_col_offset_idx=column, end_col_offset_idx=column + 1,
        )
        for row, texts in enumerate([("Key", "Meaning"), ("port", "The port")])
        for column, text in enumerate(texts)
    ]  # fmt: skip
    document.add_table(core.TableData(table_cells=cells, num_rows=2, num_cols=2), prov=on(2))
    markdown = reading.markdown_of(document).split("---\n\n", 1)[1]
    expected = """# The gateway {#page=1}

It reads \\*one\\* file.

## Limits {#page=2}

- Size
    - Inner

```
a:
  b
```

| Key | Meaning |
| --- | --- |
| port | The port |"""
    assert markdown == expected
