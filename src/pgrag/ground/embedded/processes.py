"""What the operating system says about processes: commands, children, whether they work."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
# Running or waiting for a processor; waiting for a disk, as Linux and as macOS call it.
_WORKING = frozenset("RDU")
# Seconds of processor time. The background writer of an idle server uses less in an hour.
_LEAST_WORK = 0.05


@dataclass(frozen=True, slots=True)
class Process:
    """One process: the letter of its state as in `ps`, the processor time used so far."""

    pid: int
    parent: int
    state: str
    seconds: float


class Idleness:
    """How long the children of a process have been idle, by comparing repeated calls."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._since = time.monotonic()
        self._used: dict[int, float] = {}
        self._seen: set[int] = set()

    def seconds(self) -> float:
        """Look at the processes, and return for how many seconds they have been idle."""
        children = [process for process in _processes() if process.parent == self._pid]
        used = {child.pid: child.seconds for child in children}
        work = sum(seconds - self._used.get(pid, 0.0) for pid, seconds in used.items())
        # One that is new may be the session that has just refused who asks.
        working = {child.pid for child in children if child.state in _WORKING}
        if work >= _LEAST_WORK or working & self._seen:
            self._since, self._used = time.monotonic(), used
        self._seen = {*used}
        return time.monotonic() - self._since


def command_of(pid: int) -> bytes:
    """Return the command line of a process, with a space after each argument; empty if it ended."""
    if _has_proc():
        with suppress(OSError):
            return (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ")
        return b""
    ps = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
    return subprocess.run(ps, check=False, stdout=subprocess.PIPE).stdout


def _processes() -> Iterator[Process]:
    return _processes_of_proc() if _has_proc() else _processes_of_ps()


def _has_proc() -> bool:
    return (_PROC / "self" / "stat").exists()


def _processes_of_proc() -> Iterator[Process]:
    ticks = os.sysconf("SC_CLK_TCK")
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                # The name before the last bracket may contain spaces and brackets.
                fields = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                seconds = (int(fields[11]) + int(fields[12])) / ticks
                yield Process(int(folder.name), int(fields[1]), fields[0], seconds)


def _processes_of_ps() -> Iterator[Process]:
    ps = ["ps", "-A", "-o", "pid=,ppid=,state=,time="]
    listed = subprocess.run(ps, check=True, stdout=subprocess.PIPE, encoding="ascii").stdout
    for line in listed.splitlines():
        pid, parent, state, used = line.split()
        yield Process(int(pid), int(parent), state[0], _seconds(used))


def _seconds(used: str) -> float:
    """Read a time of `ps`: "0:00.03" on macOS, "1-02:03:04" (with days) elsewhere."""
    days, _, rest = used.rpartition("-")
    seconds = 0.0
    for part in rest.split(":"):
        seconds = 60 * seconds + float(part)
    return 86_400 * int(days or 0) + seconds
