"""A child process ends with what it reads; the process that asked goes on."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time

import pytest

from pgrag.embedding import BuiltinEmbedder, similarities
from pgrag.errors import SourceError
from pgrag.ingest import children
from pgrag.ingest.child import Child, Limits
from pgrag.ingest.children import Children
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


def test_a_call_that_has_lost_its_parent_ends():
    program = (
        "import os, time\n"
        "from pgrag.ingest.child import Child, Limits\n"
        "child = Child(Limits(seconds=1))\n"
        "print(child.run(os.getpid), flush=True)\n"
        "child.run(time.sleep, 600)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    orphan = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.communicate()
    deadline = time.monotonic() + 30
    while _is_alive(orphan):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_calls_are_answered_side_by_side(monkeypatch):
    monkeypatch.setattr(children, "WORTH", 0.0)
    started = time.monotonic()
    with Children(Limits(), most=2) as processes:
        slow = processes.submit(time.sleep, 60)
        assert processes.submit(len, "abc").result() == 3
        assert not slow.done()
        waiting = [processes.submit(time.sleep, 60) for _ in range(3)]
    assert time.monotonic() - started < 30
    assert all(each.cancelled() or each.exception() for each in (slow, *waiting))


def test_few_calls_have_one_process(monkeypatch):
    monkeypatch.setattr(children, "WORTH", 60.0)
    with Children(Limits(), most=4) as processes:
        pids = [processes.submit(os.getpid) for _ in range(20)]
        assert len({each.result() for each in pids}) == 1


def test_a_crash_fails_one_call_of_many():
    with Children(Limits(), most=2) as processes:
        calls = [processes.submit(len, "abc") for _ in range(5)]
        crash = processes.submit(ctypes.string_at, 0)
        calls += [processes.submit(len, "abc") for _ in range(5)]
        assert [each.result() for each in calls] == [3] * 10
        with pytest.raises(SourceError, match="its parser crashed"):
            crash.result()
