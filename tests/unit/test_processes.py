"""Processes as the operating system shows them, for real."""

import os
import shutil
import subprocess
import sys
import time

import pytest

from pgrag.ground.embedded import processes
from pgrag.ground.embedded.processes import Idleness, command_of

PARENT = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"


@pytest.fixture
def parent_of():
    """Starts a process with this command as its only child, and returns its id."""
    started = []

    def start(*command):
        process = subprocess.Popen([sys.executable, "-c", PARENT, *command], process_group=0)
        started.append(process)
        deadline = time.monotonic() + 120
        while all(each.parent != process.pid for each in processes._processes()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return process.pid

    yield start
    for process in started:
        os.killpg(process.pid, 9)
        process.wait()


@pytest.mark.parametrize("listing", ["_processes_of_proc", "_processes_of_ps"])
def test_sleeping_children_are_idle_and_computing_ones_are_not(parent_of, monkeypatch, listing):
    if listing == "_processes_of_proc" and not processes._has_proc():
        pytest.skip("this system has no /proc")
    if listing == "_processes_of_ps" and shutil.which("ps") is None:
        pytest.skip("this system has no ps")
    monkeypatch.setattr(processes, "_processes", getattr(processes, listing))
    sleeping = Idleness(parent_of("sleep", "600"))
    computing = Idleness(parent_of(sys.executable, "-c", "while True: pass"))
    deadline = time.monotonic() + 120
    # A machine that stalls lets both be idle for a moment.
    while not sleeping.seconds() > 1 + 2 * computing.seconds():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_command_is_shown_while_its_process_lives(parent_of):
    assert b"sleep 61 " in command_of(parent_of("sleep", "61"))
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    assert command_of(ended.pid) == b""
    for used, seconds in [
        ("0:00.03", 0.03),
        ("61:02.50", 3662.5),
        ("00:01:05", 65),
        ("1-02:03:04", 93_784),
    ]:
        assert processes._seconds(used) == pytest.approx(seconds)
