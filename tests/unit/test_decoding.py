"""Encodings, line ends, NUL and binary files."""

import os
import random
import zlib

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.decoding import decode


def test_wrong_bytes_and_nul_are_repaired_with_a_warning():
    text, warnings = decode("docs/a.md", "Größe für Köln".encode("latin-1"))
    assert text == "Größe für Köln"
    assert warnings == [
        "docs/a.md: not valid UTF-8 (byte 0xF6 at offset 2); such bytes are read as Windows-1252"
    ]
    text, warnings = decode("a.md", "Gr\u00f6\u00dfe: ".encode() + b"\x96 5 \x81 \xe9")
    assert text == "Größe: – 5 \x81 é"
    assert len(warnings) == 1
    warnings = ["a.md: 2 NUL characters removed"]
    assert decode("a.md", b"# A\0B\n\n\0text") == ("# AB\n\ntext", warnings)
    for encoding in ["utf-8", "utf-16-le", "utf-16-be"]:
        text, warnings = decode("a.md", "\ufeff# Привет\r\n\rÜber\r\n".encode(encoding))
        assert text == "# Привет\n\nÜber\n"
        assert warnings == ([] if encoding == "utf-8" else ["a.md: is UTF-16, not UTF-8"])
    for data in [b"", b"\n", b"\x1b[1mbold\x1b[0m", b"a\fb"]:
        assert decode("a.md", data) == (data.decode(), [])


@pytest.mark.parametrize(("data", "kind"), [
    (b"%PDF-1.7 text", "PDF"),
    (b"PK\x03\x04word/document.xml", "ZIP"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\x7fELF\x02\x01", "program"),
    (random.Random(1).randbytes(4000), "binary"),
    (zlib.compress(os.urandom(2000)), "binary"),
    ("# text".encode("utf-16-le") * 50, "binary"),
])  # fmt: skip
def test_a_binary_file_is_refused_by_name(data, kind):
    with pytest.raises(SourceError, match=rf"^docs/a\.md: .*{kind}"):
        decode("docs/a.md", data)
