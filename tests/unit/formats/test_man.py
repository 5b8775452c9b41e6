"""Sources of manual pages, read by mandoc or groff."""

import gzip
import shutil
import sys

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats import man
from pgrag.ingest.formats.formats import convert
from pgrag.ingest.page import PageOptions, read_page

PAGE = b"""\
.TH KILN 1 2024-05-01 Clay "User Commands"
.SH NAME
kiln \\- burn clay
.SH OPTIONS
.TP
.BR \\-q ", " \\-\\-quiet
Say nothing.
.so /etc/hostname
"""
PROGRAMS = [name for name in ("mandoc", "groff") if shutil.which(name)]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_page_has_its_sections_and_options(program, monkeypatch):
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: found(name) if name == program else None)
    page = read_page("kiln.1.gz", gzip.compress(PAGE), PageOptions())
    headings = [c.heading for c in page.chunks if c.level == 1]
    assert headings[:3] == ["KILN(1)", "NAME", "OPTIONS"]
    assert "--quiet" in page.body
    assert "Say nothing." in page.body
    assert "User Commands" not in page.body


def test_what_is_no_page_and_a_missing_program_are_named(monkeypatch):
    with pytest.raises(SourceError, match=r"^a\.1\.gz: is named like a manual page"):
        convert("a.1.gz", gzip.compress(b"2024-05-01 12:00 started\n"))
    assert convert("release-7.1", b"# Changes\n").markdown == "# Changes\n"
    with pytest.raises(SourceError, match=r"^a\.1\.gz: is cut off"):
        convert("a.1.gz", b"\x1f\x8b\x08\x00broken")
    assert convert("b.1", b".so man1/kiln.1\n").markdown == "See [kiln.1](kiln.1).\n"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SourceError, match="mandoc or groff must read"):
        convert("kiln.1", PAGE)


def test_a_program_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(man, "_SECONDS", 0.2)
    with pytest.raises(SourceError, match="does not read it"):
        man._run("kiln.1", [sys.executable, "-c", "import time; time.sleep(60)"], PAGE)
