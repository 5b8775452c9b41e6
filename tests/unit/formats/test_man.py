"""Sources of manual pages, read by mandoc or groff."""

import gzip
import resource
import shutil
import sys
from contextlib import suppress

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.child import Child
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
    with pytest.raises(SourceError, match=r"^a\.1: has a request of more than 5,000 characters"):
        convert("a.1", PAGE + b".B " * 2000)
    assert convert("b.1", b".so man1/kiln.1\n").markdown == "See [kiln.1](kiln.1).\n"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(SourceError, match="mandoc or groff must read"):
        convert("kiln.1", PAGE)


@pytest.mark.parametrize(("program", "seconds"), [
    ("import time; time.sleep(60)", 0.2),
    ("while True: pass", 60),
    ("while True: print('x' * 100_000)", 60),
])  # fmt: skip
def test_a_program_that_does_not_end_is_stopped(monkeypatch, program, seconds):
    monkeypatch.setattr(man, "_SECONDS", seconds)
    monkeypatch.setattr(man, "seconds_left", lambda most: 1.0)
    with pytest.raises(SourceError, match=r"^kiln\.1: takes .* more than 1 s, or becomes"):
        man._run("kiln.1", [sys.executable, "-c", program], PAGE)


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
@pytest.mark.parametrize("loop", [
    b".de m\n.m\n.m\n..\n.m\n",
    b".while 1 \\{\\\nx\n.\\}\n",
    b".ds a \\*b\\*b\n.ds b \\*a\\*a\n\\*a\n",
])  # fmt: skip
def test_a_page_that_is_a_loop_takes_time_as_its_size_does(loop):
    with Child() as child:
        assert child.run(_seconds_of_programs, "kiln.1", PAGE + loop) < 3


def _seconds_of_programs(key, data):
    with suppress(SourceError):
        convert(key, data)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
