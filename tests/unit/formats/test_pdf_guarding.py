"""A PDF that goes in a circle or draws without end is refused, or read as far as it can be."""

import pytest
from tests.unit.formats.raw_pdfs import (
    FONT,
    TEXT,
    nested_forms,
    page,
    raw_pdf,
    stream,
    two_pages,
)

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import convert

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
FORM = b"/XObject << /X 20 0 R >>"
HEAVY = "a.pdf: draws far more than a file of its size holds, left out: page 1."


def kids(references: bytes, count: int, objects: dict[int, bytes]) -> bytes:
    tree = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (references, count)
    return raw_pdf({1: CATALOG, 2: tree, 3: FONT, 4: page(6), 6: stream(TEXT)} | objects)


@pytest.mark.parametrize("pdf", [
    kids(b"4 0 R " * 5_000, 5_000, {}),
    kids(b"4 0 R " * 120_000, 120_000, {}),
    kids(b"8 0 R " * 10, 10_000, {
        8: b"<< /Type /Pages /Kids [%s] /Count 1000 >>" % (b"9 0 R " * 10),
        9: b"<< /Type /Pages /Kids [%s] /Count 100 >>" % (b"4 0 R " * 100),
    }),
    kids(b"4 0 R 8 0 R", 3, {8: b"<< /Type /Pages /Kids [2 0 R 4 0 R] /Count 2 >>"}),
], ids=["again and again", "a very long list", "in each branch", "in a circle"])  # fmt: skip
def test_a_list_of_pages_without_end_is_refused(pdf):
    with pytest.raises(SourceError, match=r"^a\.pdf: (its list of pages|has lists)") as at:
        convert("a.pdf", pdf)
    assert "Print it to a new PDF" in str(at.value.hint)


@pytest.mark.parametrize("objects", [
    {4: page(6, FORM), 6: stream(b"/X Do"), **nested_forms(8, 10)},
    {4: page(6, FORM), 6: stream(b"/X Do"), **nested_forms(24, 2)},
    {4: page(6, FORM), 6: stream(b"/X Do"), 20: stream(
        TEXT + b"/X Do /X Do", b"/Type /XObject /Subtype /Form /Resources << %s >>" % FORM
    )},
    {6: stream(b" " * 5_000_000 + TEXT)},
    {6: stream(b"BT /F1 1 Tf 10 700 Td " + b"(a) Tj 1 0 Td\n" * 200_000 + b"ET")},
    {6: stream(b"q " * 1_000_000 + TEXT)},
    {6: stream(b"/P <</MCID 1>> BDC " * 6_000 + TEXT + b"EMC " * 6_000)},
], ids=[
    "forms", "deep forms", "a form in itself", "spaces", "letters", "states", "marks"
])  # fmt: skip
def test_a_page_that_draws_without_end_is_left_out_and_the_others_stay(objects):
    converted = convert("a.pdf", two_pages(objects))
    assert converted.warnings == (HEAVY,)
    assert converted.markdown == "## Page 2 {#page=2}\n\nWords on a page."


def test_a_pdf_of_nothing_but_such_pages_is_refused():
    pdf = kids(b"4 0 R", 1, {6: stream(b"q " * 1_000_000 + TEXT)})
    with pytest.raises(SourceError, match=r"^a\.pdf: draws far more than a file of its size"):
        convert("a.pdf", pdf)


def test_a_drawing_of_thousands_of_paths_keeps_its_text():
    curves = b"".join(b"%d 9 m 1 2 3 4 %d 7 c f\n" % (n % 600, n * 7 % 600) for n in range(9_000))
    converted = convert("a.pdf", two_pages({6: stream(curves + TEXT)}))
    assert converted.warnings == ()
    assert converted.markdown.count("Words on a page.") == 2


@pytest.mark.parametrize(("catalog", "objects"), [
    (b"/Outlines 10 0 R", {
        10: b"<< /Type /Outlines /First 11 0 R /Last 12 0 R >>",
        11: b"<< /Title (A) /Next 12 0 R /Dest [4 0 R /Fit] /First 11 0 R >>",
        12: b"<< /Title (B) /Next 11 0 R /Dest [4 0 R /Fit] >>",
    }),
    (b"/Outlines 10 0 R", {10: b"<< /First 11 0 R >>"} | {
        number: b"<< /Title (A) /First %d 0 R >>" % (number + 1) for number in range(11, 600)
    }),
], ids=["a circle", "a chain"])  # fmt: skip
def test_bookmarks_without_end_are_left_and_the_text_is_read(catalog, objects):
    converted = convert("a.pdf", two_pages(objects, catalog))
    assert converted.warnings == ("a.pdf: its bookmarks go in a circle or too deep, left out.",)
    assert converted.markdown.count("Words on a page.") == 2


def test_tags_that_repeat_each_other_and_a_wrong_count_of_pages_do_not_matter():
    tags = {
        number: b"<< /S /H1 /P %d 0 R /Pg 4 0 R /K [%s] >>"
        % (number - 1, b"%d 0 R " % (number + 1) * 10)
        for number in range(11, 20)
    }
    root = b"<< /Type /StructTreeRoot /K 11 0 R /ParentTree << /Nums [0 [19 0 R]] >> >>"
    last = b"<< /S /H1 /P 19 0 R /Pg 4 0 R /K 0 >>"
    marked = stream(b"/P << /MCID 0 >> BDC " + TEXT + b" EMC")
    objects = {4: page(6, entries=b"/StructParents 0"), 6: marked, 10: root, 20: last} | tags
    pdf = two_pages(objects, b"/MarkInfo << /Marked true >> /StructTreeRoot 10 0 R", 900_000)
    assert convert("a.pdf", pdf).markdown.count("Words on a page.") == 2
