"""A child process ends with what it reads; the process that asked goes on."""

from __future__ import annotations

import ctypes
import sys
import time

import pytest

from pgrag.embedding import BuiltinEmbedder, similarities
from pgrag.errors import SourceError
from pgrag.ingest.child import Child, Limits
from pgrag.ingest.page import PageOptions, read_page


def test_a_page_is_the_same_in_the_child():
    page = ("a.md", b"---\ntags: [x]\n---\n# A\n\nSee [b](b.md).\n", PageOptions())
    with Child() as process:
        assert process.run(read_page, *page) == read_page(*page)
        with pytest.raises(SourceError, match=r"^b\.md: is a program, not Markdown\.$"):
            process.run(read_page, "b.md", b"\x7fELF", PageOptions())


def test_a_crash_is_an_error_that_names_the_page_and_the_next_call_has_a_new_process():
    with Child() as process:
        assert process.run(len, "abc") == 3
        with pytest.raises(SourceError, match=r"^0: .* its parser crashed \(SIGSEGV\)\.$"):
            process.run(ctypes.string_at, 0)
        with pytest.raises(SourceError, match="its parser ended with 3"):
            process.run(exit, 3)
        with pytest.raises(SourceError, match="x: cannot be read: ValueError: invalid literal"):
            process.run(int, "x")
        assert process.run(len, "abcd") == 4


def test_what_does_not_end_is_given_up():
    with (
        Child(Limits(seconds=0.5)) as process,
        pytest.raises(SourceError, match=r"60: .* its parser took 0.5 seconds"),
    ):
        process.run(time.sleep, 60)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not limit memory")
def test_what_takes_too_much_memory_fails_alone():
    with Child(Limits(memory=1_000_000_000)) as process:
        with pytest.raises(SourceError, match=r"more than 1,000,000,000 bytes of memory\.$"):
            process.run(bytes, 2_000_000_000)
        assert process.run(bytes, 3) == b"\0\0\0"


def test_what_is_printed_is_no_answer(capfd):
    with Child() as process:
        assert process.run(print, "hello") is None
    assert capfd.readouterr().out == ""


def test_the_builtin_model_is_not_sent_but_loaded():
    model = BuiltinEmbedder()
    with Child() as process:
        here = similarities(model, ["a pump"], ["a valve"])
        assert process.run(similarities, model, ["a pump"], ["a valve"]) == here
