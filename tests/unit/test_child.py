"""A child process ends with what it reads; the process that asked goes on."""

import contextlib
import ctypes
import os
import pickle
import signal
import stat
import subprocess
import sys
import time

import pytest

from pgrag.ground.errors import Busy, SourceError
from pgrag.ingest import children
from pgrag.ingest.child import Child, Limits, bounded
from pgrag.ingest.children import Children
from pgrag.ingest.document import ANSWERS, read_document
from pgrag.ingest.page import PageOptions, read_properties_of
from pgrag.ingest.values import Dates
from pgrag.models.embedding import BuiltinEmbedder, similarities


def test_a_page_is_the_same_in_the_child():
    page = ("a.md", b"---\ntags: [x]\n---\n# A\n\nSee [b](b.md).\n", PageOptions())
    with Child(answers=ANSWERS) as process:
        assert process.run(read_document, *page) == read_document(*page)
        with pytest.raises(SourceError, match=r"^b\.md: is a program, not Markdown\.$"):
            process.run(read_document, "b.md", b"\x7fELF", PageOptions())
    page = (
        b"---\ntags: [x]\ndate: 2024-05-06\nat: 2024-05-06T07:08:09Z\ndata: !!binary AAEC\n"
        b"s: !!set {a, b}\no: !!omap [a: 1]\nrelated: [c.md]\n---\n# A\n\n[b](b.md) #tag\n"
    )
    with Child(answers=ANSWERS) as process:
        here = read_document("a.md", page, PageOptions())
        assert (here.passages, here.edges) == (3, 4)
        assert b'"tags":["x"]' in here.json
        assert process.run(read_document, "a.md", page, PageOptions()) == here
        here = read_properties_of("a.md", page)
        assert process.run(read_properties_of, "a.md", page) == here
        with pytest.raises(SourceError) as error:
            process.run(_raise_with_hint, "a.md")
        assert error.value.hint == "Look."


def test_a_crash_is_an_error_that_names_the_page_and_the_next_call_has_a_new_process():
    with Child() as process:
        assert process.run(len, "abc") == 3
        with pytest.raises(SourceError, match=r"^0: .* its parser crashed \(SIGSEGV\)\.$"):
            process.run(ctypes.string_at, 0)
        with pytest.raises(SourceError, match="its parser exited with status 3"):
            process.run(exit, 3)
        with pytest.raises(SourceError, match="x: cannot be read: it is damaged, or uses"):
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
        with pytest.raises(
            SourceError, match=r"1,000,000,000 bytes of memory \(PGRAG_MAX_PAGE_MEMORY\)\.$"
        ):
            process.run(bytes, 2_000_000_000)
        assert process.run(bytes, 3) == b"\0\0\0"


_KEPT = []


def _keep(_, size):
    _KEPT.append(b"x" * size)
    return os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not limit memory")
def test_what_earlier_calls_left_takes_no_memory_from_the_next():
    with Child(Limits(memory=400_000_000)) as process:
        pids = [process.run(_keep, "a", 120_000_000) for _ in range(7)]
        assert 1 < len({*pids}) < 7, "only a process that keeps much is replaced"
        with pytest.raises(SourceError, match="more than 400,000,000 bytes"):
            process.run(_keep, "a", 500_000_000)
        assert process.run(_keep, "a", 120_000_000) not in pids


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_what_takes_long_for_its_size_is_given_up_by_processor_time():
    with Child(Limits(seconds=60)) as process:
        with pytest.raises(SourceError, match=r"a: .* took too long for its size\.") as error:
            process.run(_work_without_end, "a")
        assert error.value.hint == "Split it, or raise PGRAG_MAX_PAGE_SECONDS."
        assert process.run(_sleep_in_bounds, "b") == "b"


def test_what_is_printed_is_no_answer_and_the_builtin_model_is_not_sent(capfd):
    with Child() as process:
        assert process.run(print, "hello") is None
    assert capfd.readouterr().out == ""
    model = BuiltinEmbedder()
    with Child() as process:
        here = similarities(model, ["a pump"], ["a valve"])
        assert process.run(similarities, model, ["a pump"], ["a valve"]) == here


@pytest.mark.parametrize("call", [
    "time.sleep, 600",
    "exec, 'while True: pass'",
    "sum, range(10**18)",  # in C, which looks at no signal and keeps the interpreter's lock
])  # fmt: skip
def test_a_call_that_has_lost_its_parent_ends(call):
    program = (
        "import os, signal, time\n"
        "from pgrag.ingest.child import Child, Limits, bounded\n"
        "signal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "child = Child(Limits(seconds=1))\n"
        "print(child.run(os.getpid), flush=True)\n"
        f"child.run({call})\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    orphan = int(parent.stdout.readline())
    time.sleep(0.2)  # the call begins
    parent.kill()
    parent.communicate()
    assert _is_alive(orphan)
    _wait_for_the_end_of(orphan)


def test_a_child_that_waits_ends_with_its_parent():
    program = (
        "import os\n"
        "from pgrag.ingest.child import Child\n"
        "child = Child()\n"
        "print(child.run(os.getpid), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    parent = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, check=False, text=True
    )
    _wait_for_the_end_of(int(parent.stdout))


def _work_without_end(key):
    with bounded(10_000):
        while True:
            key += ""


def _sleep_in_bounds(key):
    with bounded(0):
        time.sleep(0.8)  # processor time counts, not the clock
    return key


def _raise_with_hint(key):
    raise SourceError(f"{key}: is bad.", hint="Look.")


def _writes(data):
    """Say these bytes in place of an answer, as a parser that was taken over can."""
    for number in range(3, 20):
        with contextlib.suppress(OSError):
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                os.write(number, data)
    time.sleep(60)


class _Runs:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


FORGED = {
    "calls a function": lambda path: pickle.dumps((_Runs(path), None)),
    "imports a module": lambda path: b"cthis\nPrinter\n.",
    "leads through a class": lambda path: (
        b"\x80\x04\x8c\x13pgrag.ingest.values\x8c\x0eDates.__init__\x93."
    ),
    "alters a class": lambda path: (
        b"\x80\x04cpgrag.ingest.values\nDates\nN}\x8c\x07createdK\x01s\x86b."
    ),
    "alters an error": lambda path: (
        b"\x80\x04cpgrag.ground.errors\nBusy\nN}\x8c\x04hintK\x01s\x86b."
    ),
    "alters a time": lambda path: b"\x80\x04cdatetime\ntimedelta\nN}\x8c\x01aK\x01s\x86b.",
    "is not a pair": lambda path: pickle.dumps("ab" * 3),
    "is not an error": lambda path: pickle.dumps((None, [1])),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_forged_answer_does_nothing_here(tmp_path, forged):
    path = tmp_path / "made"
    data = FORGED[forged](path)
    with Child(Limits(seconds=30), answers=ANSWERS) as process:
        assert process.run(len, "abc") == 3
        with pytest.raises(SourceError, match="cannot be read: its parser gave an invalid answer"):
            process.run(_writes, data)
        assert process.run(len, "abcd") == 4
    assert not path.exists()
    assert "this" not in sys.modules
    assert Dates.created.__class__.__name__ == "member_descriptor"
    assert not hasattr(Busy, "hint")


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _wait_for_the_end_of(pid: int) -> None:
    deadline = time.monotonic() + 120
    while _is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_calls_are_answered_side_by_side(monkeypatch):
    monkeypatch.setattr(children, "WORTH", 0.0)
    with Children(Limits(), most=2) as processes:
        slow = processes.submit(time.sleep, 60)
        assert processes.submit(len, "abc").result() == 3
        assert not slow.done()
        waiting = [processes.submit(time.sleep, 60) for _ in range(3)]
    assert all(each.cancelled() or each.exception() for each in (slow, *waiting)), "none ended"


def test_few_calls_have_one_process_which_ends_after_a_rest(monkeypatch):
    monkeypatch.setattr(children, "WORTH", 60.0)
    with Children(Limits(), most=4) as processes:
        pids = [processes.submit(os.getpid) for _ in range(20)]
        assert len({each.result() for each in pids}) == 1
    with Children(Limits(), most=1, idle_seconds=0.2) as processes:
        [first, same] = [processes.submit(os.getpid).result() for _ in range(2)]
        assert first == same
        _wait_for_the_end_of(first)
        last = processes.submit(os.getpid).result()
        assert last != first
    assert not _is_alive(last)


def test_a_crash_fails_one_call_of_many():
    with Children(Limits(), most=2) as processes:
        calls = [processes.submit(len, "abc") for _ in range(5)]
        crash = processes.submit(ctypes.string_at, 0)
        calls += [processes.submit(len, "abc") for _ in range(5)]
        assert [each.result() for each in calls] == [3] * 10
        with pytest.raises(SourceError, match="its parser crashed"):
            crash.result()
