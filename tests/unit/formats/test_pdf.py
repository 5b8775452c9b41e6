"""A PDF becomes Markdown: what its type, positions and bookmarks say stays, page numbers do not."""

import pytest
from fpdf.enums import AccessPermission
from PIL import Image
from tests.unit.formats.pdfs import Writer

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import PACKED_FACTOR, PDF, convert, format_of, size_limit
from pgrag.ingest.formats.pdf.reading import convert as convert_pdf
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.values import NOWHERE, Origin

CODE = "listen:\n  - port: 8080\n    backlog: 128\n\n  - port: 8443"
ROWS = [("Key", "Meaning"), ("port", "The port that is bound"), ("backlog", "Waiting *clients*")]
WORDS = "The gateway reads its settings from one file, and reads it again when the file changes. "


def body(data: bytes) -> str:
    return convert("a.pdf", data).markdown.split("---\n\n", 1)[-1]


def gateway(*, outline: bool = True, running: str = "") -> Writer:
    pdf = Writer(outline=outline, running=running)
    pdf.heading(1, "The gateway")
    pdf.text_block(WORDS * 3)
    pdf.text_block("A second paragraph.")
    pdf.heading(2, "Listeners")
    pdf.rows(ROWS)
    pdf.heading(3, "Two ports")
    pdf.code(CODE)
    pdf.add_page()
    pdf.heading(2, "Limits")
    pdf.items(["Large requests are refused.", "Many, too."])
    pdf.items(["The size.", "The number."], is_ordered=True)
    return pdf


EXPECTED = f"""# The gateway {{#page=1}}

{(WORDS * 3).strip()}

A second paragraph.

## Listeners {{#page=1}}

| Key | Meaning |
| --- | --- |
| port | The port that is bound |
| backlog | Waiting \\*clients\\* |

### Two ports {{#page=1}}

```
{CODE}
```

## Limits {{#page=2}}

- Large requests are refused.
- Many, too.
1. The size.
2. The number."""


@pytest.mark.parametrize("outline", [True, False], ids=["by bookmarks", "by size"])
def test_headings_paragraphs_tables_code_and_lists_come_out(outline):
    assert body(gateway(outline=outline).written()) == EXPECTED


def test_a_hit_leads_to_the_page_of_its_heading():
    pdf = gateway().written()
    page = read_page("guide/gateway.pdf", pdf, PageOptions(base_url="https://a.example/docs"))
    assert page.url == "https://a.example/docs/guide/gateway.pdf"
    sections = {chunk.heading: chunk.anchor for chunk in page.chunks if chunk.heading}
    first = dict.fromkeys(["The gateway", "Listeners", "Two ports"], "page=1")
    assert sections == first | {"Limits": "page=2"}


def test_running_heads_page_numbers_and_tables_of_contents_are_gone():
    pdf = gateway(running="The handbook of the gateway")
    pdf.add_page()
    pdf.text_block("The end.")
    markdown = body(pdf.written())
    assert "handbook" not in markdown
    assert markdown == f"{EXPECTED}\n\nThe end."
    pdf = Writer()
    pdf.text_block("1 Introduction " + ". " * 40 + "3")
    pdf.text_block("Words.")
    assert body(pdf.written()) == "## Page 1 {#page=1}\n\nWords."


def test_pages_and_bookmarks_are_headings_where_no_text_is():
    pdf = Writer()
    pdf.text_block("First.")
    pdf.add_page()
    pdf.text_block("Second.")
    assert body(pdf.written()) == "## Page 1 {#page=1}\n\nFirst.\n\n## Page 2 {#page=2}\n\nSecond."
    pdf = Writer()
    pdf.heading(1, "One")
    pdf.text_block("Before.")
    pdf.start_section("A chart", 1)
    pdf.text_block("After.")
    assert body(pdf.written()) == ("# One {#page=1}\n\nBefore.\n\n## A chart {#page=1}\n\nAfter.")


def test_cut_words_are_made_whole_and_signs_escaped():
    pdf = Writer()
    pdf.text_block("Each listener has its own infrastruc-\nture and limits.")
    assert "its own infrastructure and limits." in body(pdf.written())
    pdf = Writer(outline=False)
    pdf.heading(1, "A {b} #")
    pdf.text_block("# not a heading, 5 * 3, *x*, <b>, `c`")
    assert body(pdf.written()) == (
        "# A \\{b} \\# {#page=1}\n\n\\# not a heading, 5 * 3, \\*x\\*, \\<b>, \\`c\\`"
    )


def test_the_title_is_that_of_the_properties_else_the_largest_words_of_the_first_page():
    pdf = gateway(outline=False)
    assert read_page("a.pdf", pdf.written(), PageOptions()).title == "The gateway"
    pdf = gateway()
    pdf.set_title("The gateway's handbook")
    pdf.set_subject("How to run it")
    pdf.set_lang("en-GB")
    page = read_page("a.pdf", pdf.written(), PageOptions())
    assert (page.title, page.language) == ("The gateway's handbook", "en-GB")
    assert page.front_matter["description"] == "How to run it"
    pdf = Writer()
    pdf.set_title("Microsoft Word - draft.docx")
    pdf.text_block("Words.")
    assert read_page("old/the_draft.pdf", pdf.written(), PageOptions()).title == "The draft"


def scan() -> Image.Image:
    return Image.new("L", (60, 80), 200)


def test_scanned_pages_are_left_and_named_and_a_scan_says_what_to_do():
    pdf = gateway()
    for _ in range(2):
        pdf.add_page()
        pdf.image(scan(), w=100)
    pdf.add_page()  # an empty page is not a scan
    converted = convert("a.pdf", pdf.written())
    assert converted.warnings == ("a.pdf: no text, as on a scan, left out: pages 3-4.",)
    pdf = Writer()
    pdf.image(scan(), w=100)
    with pytest.raises(SourceError, match=r"^a\.pdf: has no text, only pictures") as at:
        convert("a.pdf", pdf.written())
    assert "ocrmypdf" in str(at.value.hint)


def test_a_pdf_that_needs_a_password_says_so_and_one_that_needs_none_is_read():
    pdf = gateway()
    pdf.set_encryption("owner", "user")
    with pytest.raises(SourceError, match=r"^a\.pdf: is encrypted"):
        convert("a.pdf", pdf.written())
    pdf = gateway()
    pdf.set_encryption("owner", "", permissions=AccessPermission.none())
    assert body(pdf.written()) == EXPECTED


@pytest.mark.parametrize(("data", "reason"), [
    (b"", "is not a PDF"),
    (b"<html>Not found</html>", "is not a PDF"),
    (b"%PDF-1.7\n" + b"x" * 1000, "is damaged"),
    (gateway().written()[:1500], "is damaged"),
], ids=["empty", "another format", "garbage", "cut off"])  # fmt: skip
def test_what_is_no_pdf_is_refused(data, reason):
    with pytest.raises(SourceError, match=rf"^a\.pdf: {reason}"):
        convert_pdf("a.pdf", data, NOWHERE)


def test_a_pdf_is_told_by_its_bytes_and_may_be_large():
    assert format_of("download", gateway().written()) is PDF
    assert size_limit("a.pdf", NOWHERE, 100) == 100 * PACKED_FACTOR
    assert size_limit("a", Origin("application/pdf"), 100) == 100 * PACKED_FACTOR
    assert size_limit("a.md", NOWHERE, 100) == 100
