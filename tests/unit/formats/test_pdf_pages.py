"""The order and the parts of a PDF's pages: footnotes, running heads, words cut, pages turned."""

import pytest
from fpdf.enums import XPos, YPos
from tests.unit.formats.pdfs import Writer

from pgrag.ingest.formats.formats import convert

WORDS = "The gateway reads its settings from one file, and reads it again when the file changes. "


def body(pdf: Writer) -> str:
    return convert("a.pdf", pdf.written()).markdown.split("---\n\n", 1)[-1]


def test_numbered_headings_beside_a_table_stay_headings_below_the_title():
    pdf = Writer(outline=False)
    pdf.heading(1, "The gateway")
    pdf.heading(2, "1. Settings")
    pdf.text_block(WORDS * 3)
    pdf.add_page()
    pdf.heading(2, "2. Codes")
    pdf.rows([("Code", "Text"), ("E01", "No power"), ("E02", "No water")])
    pdf.heading(2, "3. Removal")
    pdf.heading(3, "3.1. Tools")
    pdf.text_block("Take it out.")
    headings = [line for line in body(pdf).split("\n") if line.startswith("#")]
    assert headings == [
        "# The gateway {#page=1}",
        "## 1. Settings {#page=1}",
        "## 2. Codes {#page=2}",
        "## 3. Removal {#page=2}",
        "### 3.1. Tools {#page=2}",
    ]


def test_a_footnote_follows_the_paragraph_that_refers_to_it():
    pdf = Writer(outline=False)
    pdf.text_block(WORDS + "It needs a certificate1 for that.")
    pdf.text_block(WORDS + "This paragraph goes on")
    pdf.set_y(250)
    pdf.set_font("Times", size=8)
    pdf.multi_cell(0, 4, "1 Its file ends with pem.", new_x=XPos.LMARGIN, new_y=YPos.NEXT)
    pdf.add_page()
    pdf.text_block("on the next page. " + WORDS)
    text = body(pdf)
    assert "certificate1 for that.\n\n1 Its file ends with pem.\n\nThe gateway" in text
    assert "pem" not in text.split("This paragraph", 1)[1]


def test_a_compound_keeps_its_hyphen_at_the_end_of_a_line():
    pdf = Writer()
    pdf.text_block("A well-known port.")
    pdf.text_block("Each has its own well-\nknown port and its infrastruc-\nture.")
    assert "its own well-known port and its infrastructure." in body(pdf)


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_page_that_lies_on_its_side_is_read(angle):
    pdf = Writer()
    pdf.text_block(WORDS)
    pdf.add_page()
    with pdf.rotation(angle, 100, 150):
        pdf.text(50, 150, "This table lies on its side.")
        pdf.text(50, 156, "Its second line follows.")
    assert body(pdf).endswith("This table lies on its side. Its second line follows.")


def test_names_of_short_chapters_above_the_text_are_running_heads():
    pdf = Writer(outline=False)
    for number in range(8):
        if pdf.page_no() < number + 1:
            pdf.add_page()
        pdf.set_y(8)
        pdf.set_font("Helvetica", size=8)
        name = "Falcons" if number == 6 else "The birds"
        pdf.cell(0, 4, name, new_x=XPos.LMARGIN, new_y=YPos.NEXT)
        pdf.set_y(30)
        for place in ("north", "south", "west", "east"):
            pdf.text_block(f"On day {number} they flew {place}. {WORDS * (number + 1)}")
    text = body(pdf)
    assert "The birds" not in text
    assert "Falcons" not in text


def test_pages_that_are_all_alike_keep_their_text():
    pdf = Writer()
    for _ in range(4):
        pdf.text_block("Cut here.")
        pdf.add_page()
    assert body(pdf).count("Cut here.") == 4


def test_words_are_counted_without_running_heads():
    pdf = Writer(running="The handbook")
    for place in ("north", "south", "west"):
        pdf.text_block(f"They flew {place} in the infrastruc-\nture of {place} birds.")
        pdf.add_page()
    words = convert("a.pdf", pdf.written()).words
    assert words is not None
    assert words.kept == words.shown == 27


@pytest.mark.parametrize("title", [
    "Microsoft Word - draft", "PowerPoint Presentation", "Document1", "Slide 1", "untitled",
    "file:///home/a/draft", "guide.doc", "Contents",
])  # fmt: skip
def test_titles_that_programs_write_are_none(title):
    pdf = Writer(outline=False)
    pdf.heading(1, "The gateway")
    pdf.text_block(WORDS * 3)
    pdf.set_title(title)
    assert 'title: "The gateway"' in convert("a.pdf", pdf.written()).markdown
