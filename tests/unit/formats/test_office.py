"""Office files become Markdown; what they are is told by what they contain."""

import io
import time
import zipfile
from datetime import datetime

import pytest
from docx import Document
from docx.oxml import parse_xml
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import OFFICE, convert, format_of
from pgrag.ingest.page import PageOptions, read_page

CODE = "listen:\n  - port: 8080\n    backlog: 128"
ROWS = [("Key", "Meaning"), ("port", "The *port* | address"), ("backlog", "Clients that wait")]
TABLE = """| Key | Meaning |
| --- | --- |
| port | The \\*port\\* \\| address |
| backlog | Clients that wait |"""
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def saved(file):
    stream = io.BytesIO()
    file.save(stream)
    return stream.getvalue()


def body(name, file):
    return convert(name, saved(file)).markdown.split("---\n\n", 1)[-1]


def document():
    file = Document()
    file.add_heading("The gateway", 1)
    file.add_paragraph("The gateway reads `one` file.")
    file.add_heading("Listeners", 2)
    table = file.add_table(rows=0, cols=2)
    for row in ROWS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    style = file.styles.add_style("Source Code", 1)
    for line in CODE.split("\n"):
        file.add_paragraph(line, style=style)
    for text in ("One", "Two"):
        file.add_paragraph(text, style="List Bullet")
    file.add_paragraph("Inner", style="List Bullet 2")
    file.add_heading("Order", 3)
    for text in ("First", "Second"):
        file.add_paragraph(text, style="List Number")
    return file


EXPECTED = f"""# The gateway

The gateway reads \\`one\\` file.

## Listeners

{TABLE}

```
{CODE}
```

- One
- Two
    - Inner

### Order

1. First
2. Second"""


def test_a_document_keeps_its_headings_tables_code_and_lists_and_has_no_anchors():
    assert body("a.docx", document()).split("---\n\n")[-1] == EXPECTED
    page = read_page("guide/a.docx", saved(document()), PageOptions(base_url="https://a.example"))
    assert (page.url, page.title) == ("https://a.example/guide/a.docx", "The gateway")
    assert {chunk.anchor for chunk in page.chunks} == {""}


def test_a_document_shows_what_is_inserted_and_linked_not_what_is_deleted():
    file = Document()
    paragraph = file.add_paragraph("Now ")
    link = file.part.relate_to("https://a.example/b", "hyperlink", is_external=True)
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    names = f'xmlns:w="{WORD}" xmlns:r="{relations}"'
    for xml in (
        f"<w:ins {names}><w:r><w:t>new</w:t></w:r></w:ins>",
        f"<w:del {names}><w:r><w:delText>old</w:delText><w:t>old</w:t></w:r></w:del>",
        f"<w:r {names}><w:t>, see </w:t></w:r>",
        f'<w:hyperlink {names} r:id="{link}"><w:r><w:t>the log</w:t></w:r></w:hyperlink>',
    ):
        paragraph._p.append(parse_xml(xml))
    paragraph.add_run(" of ")
    paragraph.add_run("gateway -v").font.name = "Consolas"
    assert body("a.docx", file) == "Now new, see [the log](<https://a.example/b>) of `gateway -v`"


def test_the_title_and_merged_cells_of_a_document_are_written_once():
    file = Document()
    file.add_heading("The handbook", 0)
    file.add_heading("Start", 1)
    assert body("a.docx", file) == "# The handbook\n\n## Start"
    file = Document()
    table = file.add_table(rows=3, cols=2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Both"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "a"
    table.cell(1, 1).text, table.cell(2, 1).text = "b", "c"
    assert body("a.docx", file) == "| Both |  |\n| --- | --- |\n| a | b |\n|  | c |"


def presentation():
    file = Presentation()
    slide = file.slides.add_slide(file.slide_layouts[0])
    slide.shapes.title.text, slide.placeholders[1].text = "The gateway", "How it runs"
    slide = file.slides.add_slide(file.slide_layouts[1])
    slide.shapes.title.text = "Listeners"
    frame = slide.placeholders[1].text_frame
    frame.text = "One"
    inner = frame.add_paragraph()
    inner.text, inner.level = "Inner", 1
    table = slide.shapes.add_table(3, 2, Inches(1), Inches(4), Inches(6), Inches(1)).table
    for number, row in enumerate(ROWS):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    box = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(6), Inches(1)).text_frame
    box.text = CODE
    for paragraph in box.paragraphs:
        for run in paragraph.runs:
            run.font.name = "Courier New"
    slide.notes_slide.notes_text_frame.text = "Say why."
    return file


def test_each_slide_is_a_section_with_its_shapes_from_top_to_bottom_and_its_notes():
    page = read_page("a.pptx", saved(presentation()), PageOptions())
    assert page.title == "The gateway"
    assert (
        page.body.strip()
        == f"""# The gateway

How it runs

## Listeners

- One
    - Inner

{TABLE}

```
{CODE}
```

Notes: Say why."""
    )
    file = Presentation()
    slide = file.slides.add_slide(file.slide_layouts[5])
    slide.shapes.add_textbox(Inches(1), Inches(6), Inches(6), Inches(1)).text_frame.text = "Last"
    group = slide.shapes.add_group_shape()
    for place, text in ((4, "Third"), (3, "Second"), (2, "First")):
        box = group.shapes.add_textbox(Inches(1), Inches(place), Inches(6), Inches(1))
        box.text_frame.text = text
    assert body("a.pptx", file) == "## First\n\nSecond\n\nThird\n\nLast"


def test_each_sheet_of_a_workbook_is_a_section_with_its_tables():
    file = Workbook()
    sheet = file.active
    sheet.title = "Listeners"
    sheet.append(["What listens"])
    for row in ROWS:
        sheet.append(row)
    sheet.append([])
    sheet.append([None, "Since", "Share"])
    sheet.append([None, datetime(2026, 1, 31), 0.1 + 0.2])
    file.create_sheet("Empty")
    hidden = file.create_sheet("Hidden")
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    assert (
        body("a.xlsx", file)
        == f"""## Listeners

What listens

{TABLE}

| Since | Share |
| --- | --- |
| 2026-01-31 | 0.3 |"""
    )
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    for place, value in {"A1": "Pump", "B1": "Hours", "A2": "3", "XFD200000": "end"}.items():
        sheet[place] = value
    data = saved(workbook)
    started = time.process_time()
    text = convert("a.xlsx", data).markdown
    assert time.process_time() - started < 10, "3 billion empty cells"
    assert text.endswith("## Sheet\n\n| Pump | Hours |\n| --- | --- |\n| 3 |  |\n\nend")


def test_an_office_file_is_told_by_what_it_contains():
    data = saved(presentation())
    assert format_of("download", data) is OFFICE
    assert convert("wrong.docx", data) == convert("right.pptx", data)


def archive(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(("data", "reason"), [
    (b"", "is empty"),
    (saved(document())[:5000], "is not an Office file, or is cut off"),
    (archive({"notes.txt": b"a"}), "is a zip archive, but no document"),
    (archive({"word/document.xml": b"<w"}), "is damaged"),
    (archive({"word/document.xml": b" " * 30_000_000}), "is refused: .* unpack to 30,000,000"),
    (b"\xd0\xcf\x11\xe0" + "EncryptedPackage".encode("utf-16-le"), "needs a password"),
    (b"\xd0\xcf\x11\xe0" + b"\0" * 100, "is an Office file of the kind before 2007"),
], ids=["empty", "cut off", "an archive", "damaged", "a bomb", "encrypted", "old"])  # fmt: skip
def test_what_cannot_be_read_has_a_reason(data, reason):
    with pytest.raises(SourceError, match=rf"^a\.docx: {reason}"):
        convert("a.docx", data)


def test_a_document_that_defines_entities_is_refused():
    parts = members(saved(document()))
    bomb = b'<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    text = parts["word/document.xml"][parts["word/document.xml"].index(b"<w:document") :]
    parts["word/document.xml"] = bomb + text.replace(b"The gateway reads", b"&b; reads")
    with pytest.raises(SourceError, match=r"^a\.docx: is damaged: .* has a document type"):
        convert("a.docx", archive(parts))


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}
