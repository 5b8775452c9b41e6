"""Office files that are damaged, or made to cost much: what cannot be read has a reason."""

import os
import re

import pytest
from tests.unit.formats.office_files import (
    NAMES,
    archive,
    body,
    docx,
    p,
    pptx,
    relations,
    tbl,
    tr,
    xlsx,
)

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import OFFICE, convert, named_format

CELL = f"<w:tc><w:tcPr><w:gridSpan w:val='2000000000'/></w:tcPr>{p('x')}</w:tc>"
BEFORE = "<w:trPr><w:gridBefore w:val='2000000000'/></w:trPr>"
NESTED = "<w:sdt><w:sdtContent>" * 10_000 + p("x") + "</w:sdtContent></w:sdt>" * 10_000
LONG = "".join("<c t='s'><v>0</v></c>" for _ in range(1_000))
BINARY = relations(m="officeDocument xl/workbook.bin")
SHAPE = "<p:sp><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p></p:txBody></p:sp>"


def test_spans_are_bounded_by_what_word_allows():
    text = body(docx(tbl(f"<w:tr>{BEFORE}{CELL}</w:tr>" * 50, tr("a", "b"))))
    assert text.endswith("- x\n- a · b")
    assert len(text) < 20_000


@pytest.mark.parametrize(("data", "reason"), [
    (docx(NESTED), "nests tables, boxes or controls too deep"),
    (docx("<w:p/>" * 500_000), "is damaged: its part word/document.xml has more elements than"),
    (docx("<w:p>"), "is damaged: its part word/document.xml is not XML"),
    (archive({"word/document.xml": "<a/>"}), "is a zip archive, but no document"),
    (xlsx(f"<sheetData><row>{LONG}</row></sheetData>", texts=f"<si><t>{'long ' * 1_000}</t></si>"),
     "is damaged: its cells repeat a long text without end"),
    (archive({"ppt/presentation.xml": f"<p:presentation {NAMES}><p:sldIdLst><p:sldId r:id='s'/>"
              "</p:sldIdLst></p:presentation>"}), "is damaged: its part of slide 1 is missing"),
    (archive({"xl/workbook.bin": b"", "_rels/.rels": BINARY}), "is a binary workbook"),
], ids=["nested", "elements", "not XML", "other XML", "texts", "no slide", "binary"])  # fmt: skip
def test_what_cannot_be_read_has_a_reason_in_the_words_of_its_user(data, reason):
    with pytest.raises(SourceError, match=rf"^a\.docx: {reason}") as caught:
        convert("a.docx", data)
    assert caught.value.hint or "no document" in reason
    assert not re.search(r"\w(?:Error|Exception)\b", str(caught.value))


def test_a_part_that_fails_costs_only_itself():
    related = {"s": "styles styles.xml", "n": "numbering numbering.xml"}
    converted = convert("a.docx", docx(p("Kept"), related, styles="<w", numbering="<w:n"))
    assert converted.markdown == "Kept"
    assert [re.sub(" is not XML.*", "", each) for each in converted.warnings] == [
        "a.docx: its part word/styles.xml",
        "a.docx: its part word/numbering.xml",
    ]
    converted = convert("a.pptx", pptx(SHAPE, "<p:sld"))
    assert converted.markdown.endswith("## x")
    assert len(converted.warnings) == 1


def test_what_a_file_names_a_thousand_times_is_read_once():
    notes = f'<w:footnotes {NAMES}><w:footnote w:id="1">{p("note " * 9)}</w:footnote></w:footnotes>'
    marks = '<w:r><w:footnoteReference w:id="1"/></w:r>' * 1_000
    data = docx(p(marks), {"f": "footnotes footnotes.xml"}, footnotes=notes)
    assert body(data).count("[^1]:") == 1
    slides = "".join('<p:sldId r:id="s0"/>' for _ in range(1_000))
    presentation = f"<p:presentation {NAMES}><p:sldIdLst>{slides}</p:sldIdLst></p:presentation>"
    many = archive(
        {
            "ppt/presentation.xml": presentation,
            "ppt/_rels/presentation.xml.rels": relations(s0="slide s.xml"),
            "ppt/s.xml": f"<p:sld {NAMES}><p:cSld><p:spTree>{SHAPE}</p:spTree></p:cSld></p:sld>",
        }
    )
    assert body(many, "a.pptx") == "## x"


def test_values_out_of_range_are_read_as_if_they_were_missing():
    cells = (
        '<c t="s"><v>99999</v></c><c s="77"><v>5</v></c><c r="ZZZZ9"><v>1e999</v></c>'
        "<c><v>6</v></c>"
    )
    sheet = (
        '<dimension ref="A1:XFD1048576"/><cols><col min="-5" max="99999999999" hidden="0"/></cols>'
        f'<sheetData><row r="x">{cells}</row></sheetData>'
        '<mergeCells><mergeCell ref="A1:XFD1048576"/><mergeCell ref="?"/></mergeCells>'
    )
    assert body(xlsx(sheet), "a.xlsx").endswith("| 5 | 1e999 | 6 |\n| --- | --- | --- |")
    data = docx(
        p("a", properties='<w:outlineLvl w:val="x"/><w:numPr><w:numId w:val="x"/></w:numPr>')
    )
    assert body(data) == "- a"


def test_a_large_file_of_real_size_is_read_whole():
    # bytes that do not compress stand for pictures: the bounds follow the size of the file
    content = f"<w:body>{p('word') * 15_000}</w:body>"
    data = archive(
        {
            "word/document.xml": f"<w:document {NAMES}>{content}</w:document>",
            "word/media/image.png": os.urandom(100_000),
        }
    )
    assert body(data).count("word") == 15_000


def test_files_that_are_only_named_are_known_by_their_suffix():
    assert {
        named_format(f"a{suffix}") for suffix in (".doc", ".xls", ".ppt", ".xlsb", ".dotx")
    } == {OFFICE}
