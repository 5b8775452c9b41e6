"""Pages that are read together in a child process fail alone."""

import ctypes
import threading

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest import aside
from pgrag.ingest.aside import Aside
from pgrag.ingest.child import Limits
from pgrag.ingest.children import Children
from pgrag.ingest.document import ANSWERS, read_document
from pgrag.ingest.page import PageOptions

TEXTS = {f"{name}.md": b"# %b\n\nA page about this." % name.encode() for name in "abcdef"}


def reads(key, data, **options):
    """Read a page; "c" ends the process, and "d" gives what is no page."""
    if key == "c.md":
        ctypes.string_at(0)
    return ["x"] if key == "d.md" else read_document(key, data, **options)


@pytest.fixture
def calls(monkeypatch):
    """The keys of each call of a child."""
    made = []
    submit = Children.submit

    def recorded(self, function, names, *arguments, **options):
        made.append(names)
        return submit(self, function, names, *arguments, **options)

    monkeypatch.setattr(Children, "submit", recorded)
    return made


def test_small_pages_are_read_in_one_call_and_a_crash_fails_one(calls):
    with Children(Limits(), most=1, answers=ANSWERS) as children:
        together = Aside(children, reads, options=PageOptions())
        pages = {
            key: together.read(is_alone=False, key=key, data=TEXTS[key])
            for key in ("a.md", "b.md", "c.md", "e.md")
        }
        alone = together.read(is_alone=True, key="f.md", data=TEXTS["f.md"])
        assert alone.result() == read_document("f.md", TEXTS["f.md"], PageOptions())
        assert calls == ["f.md"], "nothing else is begun before it is needed"
        together.send()
        for key in ("a.md", "b.md", "e.md"):
            assert pages[key].result() == read_document(key, TEXTS[key], PageOptions())
        with pytest.raises(SourceError, match=r"^c\.md: .* its parser crashed \(SIGSEGV\)\.$"):
            pages["c.md"].result()
    assert calls[1:] == ["a.md, b.md, c.md, e.md", "a.md", "b.md", "c.md", "e.md"]


def test_an_answer_that_is_no_page_fails_one(calls):
    with Children(Limits(), most=1, answers=ANSWERS) as children:
        together = Aside(children, reads, options=PageOptions())
        pages = [
            together.read(is_alone=False, key=key, data=TEXTS[key]) for key in ("d.md", "e.md")
        ]
        together.send()
        with pytest.raises(SourceError, match=r"^d\.md: .* gave an invalid answer\.$"):
            pages[0].result()
        assert pages[1].result().key == "e.md"


def test_a_call_begins_when_it_has_enough(calls, monkeypatch):
    monkeypatch.setattr(aside, "MOST_FILES", 2)
    with Children(Limits(), most=1, answers=ANSWERS) as children:
        together = Aside(children, reads, options=PageOptions())
        for key in ("a.md", "b.md", "e.md"):
            together.read(is_alone=False, key=key, data=TEXTS[key])
        together.read(is_alone=False, key="f.md", data=b"long " * aside.ENOUGH_BYTES).result()
    assert calls == ["a.md, b.md", "e.md, f.md"]


def test_pages_that_are_not_needed_any_more_are_given_up():
    with Children(Limits(), most=1, answers=ANSWERS) as children:
        together = Aside(children, _waits, options=PageOptions())
        pages = [together.read(is_alone=True, key=key, data=b"") for key in TEXTS]
        threading.Timer(0.5, children.close).start()
        for page in pages:
            assert page.exception is not None
            with pytest.raises((SourceError, aside.CancelledError)):
                page.result(timeout=60)


def _waits(key, data, **_):
    threading.Event().wait()
