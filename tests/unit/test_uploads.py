"""Uploaded files become one source, and what cannot be one is refused with a reason."""

import io
import zipfile

import pytest

from pgrag.ground.errors import InvalidInput, SourceError
from pgrag.ingest.source import uploads
from pgrag.ingest.source.uploads import is_known_upload, received, sent_page, unnamed


def upload(folder, *files):
    pieces = [
        {"file": file, "name": name, "piece": 0, "media_type": "", "data": data}
        for file, (name, data) in enumerate(files)
    ]
    return received("upload 7", pieces, folder)


def opened(folder, *files):
    with upload(folder, *files) as source:
        assert source.location == "upload 7"
        return {file.key: file.read() for file in source.files()}


def packed(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def test_an_archive_is_opened_wherever_it_lies(tmp_path):
    data = packed({"docs/a.md": "# A\n", "docs/b.md": "# B\n"})
    assert opened(tmp_path, ("exports/docs.zip", data)) == {"a.md": b"# A\n", "b.md": b"# B\n"}


@pytest.mark.parametrize(("names", "told"), [
    (("a.md", "b.md", "a.md"), "2 files of the upload are called 'a.md'"),
    (("docs.zip", "a.md"), "docs.zip is an archive"),
    (("a.md", "pages.ndjson"), "pages.ndjson is an archive or lines of JSON"),
])  # fmt: skip
def test_files_that_cannot_be_one_upload_are_refused(tmp_path, names, told):
    with pytest.raises(InvalidInput, match=told):
        opened(tmp_path, *((name, b"# A\n") for name in names))


@pytest.mark.parametrize(("names", "told"), [
    (("a.md", "a.md/b.md"), "a.md/b.md: cannot be unpacked: "),
    (("x" * 300 + ".md",), ".md: cannot be unpacked: File name too long"),
    (("docs.zip",), r"^docs\.zip: is not an archive"),
])  # fmt: skip
def test_a_reason_names_the_file_and_no_folder_of_the_worker(tmp_path, names, told):
    with pytest.raises(SourceError, match=told) as caught:
        opened(tmp_path, *((name, b"# A\n") for name in names))
    assert str(tmp_path) not in str(caught.value)


def test_bad_lines_are_told_or_counted_and_the_others_are_pages(tmp_path, monkeypatch):
    lines = [
        b'\xef\xbb\xbf{"key": "a.md", "content": "# A"}',
        b'{"key": "b.md", "content": ' + b"[" * 100_000,
        b'{"key": "c\\ud800.md", "content": "# C"}',
        b'{"key": "d.md", "content": "# D", "media_type": ["text/html"]}',
        b'{"key": "f.md", "content": "# F", "content": "# G"}',
        b'{"key": "e.html", "content": "<p>E", "media_type": "text/html"}',
    ]
    with upload(tmp_path, ("pages.ndjson", b"\n".join(lines))) as source:
        read = {file.key: file.read() for file in source.files()}
        assert read == {"a.md": b"# A", "e.html": b"<p>E"}
        said = [warning.partition(":")[0] for warning in source.warnings]
    assert said == ["line 2", "line 3", "line 4", "line 5"]
    good = b'{"key": "a.md", "content": "# A"}\n'
    for name in ("many", "long"):
        (tmp_path / name).mkdir()
    with upload(tmp_path / "many", ("pages.ndjson", b"bad\n" * 1500 + good)) as source:
        assert len(source.warnings) == 1001
        assert source.warnings[-1] == "500 more lines are not pages"
    monkeypatch.setattr(uploads, "LONGEST_LINE", 1000)
    with pytest.raises(InvalidInput, match="Line 2 is longer than 1,000 bytes"):
        opened(tmp_path / "long", ("pages.ndjson", good + b" " * 2000))
    for media_type in [5, ["text/html"], {"a": 1}]:
        with pytest.raises(InvalidInput, match="media_type is a text"):
            sent_page({"key": "a.md", "content": "# A", "media_type": media_type})


@pytest.mark.parametrize(
    ("media_type", "content", "suffix"),
    [
        ("", packed({"a.md": "# A"}), ".zip"),
        ("application/zip", packed({"a.md": "# A"}), ".zip"),
        ("", packed({"[Content_Types].xml": "<Types/>", "word/document.xml": "<x/>"}), ".docx"),
        ("", b"\x1f\x8b\x08\x00", ".zip"),
        ("", b"a.md".ljust(257, b"\x00") + b"ustar", ".zip"),
        ("", b"%PDF-1.7\n", ".pdf"),
        ("application/x-www-form-urlencoded", b"<!doctype html><p>A", ".html"),
        ("text/markdown", b"# A", ".md"),
        ("application/x-ndjson", b"{}", ".ndjson"),
    ],
)
def test_an_upload_is_named_by_its_content(media_type, content, suffix):
    name = unnamed(media_type, content)
    assert name.endswith(suffix)
    assert is_known_upload(name)
    assert unnamed(media_type, content) == name
    assert unnamed(media_type, content + b" ") != name


@pytest.mark.parametrize("content", [b"", b"# A", b"MZ\x00", b"\xd0\xcf\x11\xe0"])
def test_a_content_that_tells_no_format_needs_a_name(content):
    with pytest.raises(InvalidInput, match="does not tell its format"):
        unnamed("application/octet-stream", content)
