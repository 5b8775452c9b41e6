"""A file's format is told by its content, then its media type, then its name."""

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats import formats
from pgrag.ingest.formats.formats import MARKDOWN, TEXT, Format, convert, format_of
from pgrag.ingest.page import PageOptions, read_page, source_hash
from pgrag.ingest.values import Origin


def test_packages_that_miss_are_named_and_better_converters_read_again(monkeypatch):
    odd = Format("an odd document", (".odd",), (), "no_such_package.odd", package="oddly")
    monkeypatch.setitem(formats.SUFFIXES, ".odd", odd)
    with pytest.raises(SourceError, match=r"^a\.odd: is an odd document, .* no_such_package") as at:
        convert("a.odd", b"...")
    assert at.value.hint == "Run pip install oddly."
    options = PageOptions()
    before = [source_hash(key, "1", options) for key in ("a.txt", "a.md")]
    better = Format("text", (".txt",), (), TEXT.module, version=TEXT.version + 1)
    monkeypatch.setitem(formats.SUFFIXES, ".txt", better)
    after = [source_hash(key, "1", options) for key in ("a.txt", "a.md")]
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_content_then_media_type_then_name_tells_the_format():
    origin = Origin("text/markdown", "https://a.example/b")
    page = read_page("b/index.md", b"---\nurl: /c\n---\n# B", PageOptions(), origin=origin)
    assert page.url == "https://a.example/b"
    page = b"# How a PDF begins\n\nIts first bytes are `%PDF-1.7`.\n"
    assert format_of("pdf.md", page) is MARKDOWN
    assert format_of("guide.md", b"%PDF-1.7\n") is formats.PDF
    assert format_of("guide.pdf", b"\n\n%PDF-1.7\n") is formats.PDF
    for key, media_type, expected in [
        ("guide.md", None, MARKDOWN),
        ("guide.TXT", None, TEXT),
        ("guide", None, MARKDOWN),
        ("guide", "text/markdown; charset=utf-8", MARKDOWN),
        ("guide.md", "text/plain", MARKDOWN),
        ("guide", "text/plain", TEXT),
        ("v1.2/guide", "text/plain", TEXT),
        ("guide.txt", "text/markdown", MARKDOWN),
    ]:
        assert format_of(key, b"Some words.", Origin(media_type)) is expected


@pytest.mark.parametrize("fault", [
    KeyError("word/x"), IndexError("list index out of range"), RecursionError("maximum"),
    ValueError("not enough values to unpack"), AttributeError("'NoneType' object"),
])  # fmt: skip
def test_no_words_of_a_reader_reach_a_user(monkeypatch, fault):
    def fail(*_):
        raise fault

    monkeypatch.setattr("pgrag.ingest.formats.text.convert", fail)
    with pytest.raises(SourceError, match=r"^a\.txt: (is damaged|has parts that nest)") as error:
        formats.convert("a.txt", b"words")
    assert str(fault) not in str(error.value)
