"""Books in EPUB and OpenDocument files."""

import io
import zipfile

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import EPUB, OPENDOCUMENT, convert, format_of
from pgrag.ingest.page import PageOptions, read_page

CONTAINER = '<container><rootfiles><rootfile full-path="o/b.opf"/></rootfiles></container>'
BOOK = """\
<package xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata><dc:title>Kilns</dc:title>
<dc:language>en</dc:language></metadata><manifest>
<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>
<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/>
<item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/></manifest>
<spine><itemref idref="n"/><itemref idref="b"/><itemref idref="a"/></spine></package>"""
NAV = '<html><body><nav><a href="a.xhtml">Cooling</a></nav></body></html>'
ONE = """\
<html><body><h1 id="heat">Heat</h1><p>Burn it, then <a href="a.xhtml">cool</a>.</p></body></html>"""
TWO = '<html><body><p>See <a href="b.xhtml#heat">heat</a>.</p></body></html>'


def packed(kind, **parts):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", kind)
        for name, content in parts.items():
            archive.writestr(name.replace("__", "/").replace("_x", "."), content)
    return stream.getvalue()


def book(**more):
    stream = io.BytesIO()
    parts = {"META-INF/container.xml": CONTAINER, "o/b.opf": BOOK, "o/nav.xhtml": NAV}
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        for name, content in (parts | {"o/b.xhtml": ONE, "o/a.xhtml": TWO} | more).items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_a_book_is_one_page_with_its_chapters_in_order():
    assert format_of("upload", book()) is EPUB
    page = read_page("kilns.epub", book(), PageOptions())
    assert (page.title, page.language) == ("Kilns", "en")
    assert [c.heading for c in page.chunks if c.level == 1] == ["Heat", "Cooling"]
    assert "Burn it, then [cool](#o/a.xhtml)." in page.body
    assert "See [heat](#o/b.xhtml%23heat)." in page.body
    assert "# Heat {#o/b.xhtml%23heat}" in page.body


def test_a_protected_and_a_damaged_book_say_why():
    locked = '<e><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/></e>'
    with pytest.raises(SourceError, match=r"^k\.epub: is protected against copying"):
        convert("k.epub", book(**{"META-INF/encryption.xml": locked}))
    with pytest.raises(SourceError, match=r"^k\.epub: is damaged: its part o/b\.opf"):
        convert("k.epub", book(**{"o/b.opf": "<package>"}))
    with pytest.raises(SourceError, match=r"^k\.epub: is not a book"):
        convert("k.epub", b"PK\x03\x04 cut off")


TEXT = """\
<d xmlns:o="urn:o" xmlns:text="urn:t" xmlns:table="urn:b" xmlns:style="urn:s" xmlns:fo="urn:f"
 xmlns:draw="urn:d"><automatic-styles>
<style:style style:name="P9"><style:text-properties text:display="none"/></style:style>
<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="P2" style:parent-style-name="Preformatted_20_Text"/>
</automatic-styles><body><text><tracked-changes><text:p>deleted</text:p></tracked-changes>
<text:h text:outline-level="2">Heat</text:h>
<text:p>Burn<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>slowly
</text:p></text:note-body></text:note> it<text:s text:c="2"/>now.</text:p>
<text:p text:style-name="P9">unseen</text:p><text:p text:style-name="P2">run()</text:p>
<text:list><text:list-item><text:p>clay</text:p><text:list><text:list-item><text:p>red</text:p>
</text:list-item></text:list></text:list-item></text:list>
<table:table><table:table-row>
<table:table-cell table:number-columns-spanned="2"><text:p>all</text:p>
</table:table-cell><table:covered-table-cell/></table:table-row><table:table-row>
<table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p>
</table:table-cell></table:table-row></table:table>
<text:p><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>
</text></body></d>"""


def test_a_text_keeps_what_is_shown():
    data = packed("application/vnd.oasis.opendocument.text", content_xxml=TEXT)
    assert format_of("upload", data) is OPENDOCUMENT
    converted = convert("kiln.odt", data)
    body = converted.markdown
    assert body.startswith(
        "## Heat\n\nBurn[1] it now.\n\n[1] slowly\n\n```\nrun()\n```\n\n- clay\n  - red\n"
    )
    assert "| all |  |\n| --- | --- |\n| a | b |" in body
    assert body.endswith("boxed\n")
    assert "deleted" not in body
    assert "unseen" not in body
    assert converted.words is not None
    assert converted.words.kept >= converted.words.shown - 1


def test_sheets_have_their_names_and_entities_are_refused():
    sheet = (
        '<d xmlns:table="urn:b" xmlns:text="urn:t"><body><spreadsheet>'
        '<table:table table:name="Heat">'
        "<table:table-row><table:table-cell><text:p>clay</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
        "</table:table></spreadsheet></body></d>"
    )
    data = packed("application/vnd.oasis.opendocument.spreadsheet", content_xxml=sheet)
    assert convert("kiln.ods", data).markdown.startswith("## Heat\n\n")
    bomb = '<!DOCTYPE d [<!ENTITY a "b">]><d>&a;</d>'
    with pytest.raises(SourceError, match=r"^kiln\.odt: is damaged: its part content\.xml"):
        convert("kiln.odt", packed("application/vnd.oasis.opendocument.text", content_xxml=bomb))
