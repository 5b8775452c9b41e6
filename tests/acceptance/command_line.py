"""Runs `pgrag` as a process of its own, as people do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg

SECONDS = 120
_SMALL_BATCHES = (
    "from pgrag.ingest import pipeline; pipeline.BATCH_DOCUMENTS = 60;"
    " from pgrag.cli import main; main()"
)


@dataclass(frozen=True)
class Finished:
    """What a run left: exit status, and the words on stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What stdout holds, all of it."""
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """`pgrag` with an environment of its own, in a folder of its own."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    #: Every batch a commit: a run can be hit between two of them without a large source.
    small_batches: bool = False

    def run(self, *arguments: object, code: int = 0, stdin: str = "") -> Finished:
        """Run a command to its end, which must come with this exit status and no traceback."""
        ended = subprocess.run(
            self._command(arguments),
            cwd=self.folder,
            env=self.environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
        assert "Traceback" not in ended.stderr, ended.stderr
        assert ended.returncode == code, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return Finished(ended.returncode, ended.stdout, ended.stderr)

    def json(self, *arguments: object) -> Any:
        """Run a command with --json; return what it printed."""
        return self.run(*arguments, "--json").json

    def start(self, *arguments: object) -> subprocess.Popen[str]:
        """Start a command and return its process."""
        return subprocess.Popen(
            self._command(arguments),
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def with_variables(self, **variables: str) -> CommandLine:
        """The same with more variables in the environment."""
        return replace(self, variables=self.variables | variables)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        return {
            **kept,
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm-256color",
            "PYTHONWARNINGS": "error",
            "PGRAG_HOME": str(self.folder / "pgrag-home"),
            **self.variables,
        }

    def _command(self, arguments: tuple[object, ...]) -> list[str]:
        program = ["-c", _SMALL_BATCHES] if self.small_batches else ["-m", "pgrag"]
        return [sys.executable, *program, *map(str, arguments)]


def write_pages(folder: Path, pages: int, *, word: str = "pump") -> Path:
    """Make a source of pages that are all different, each with three sections."""
    for number in range(pages):
        page = folder / f"part-{number % 7}" / f"{word}-{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        sections = "\n".join(
            f"## {title} of {word} {number}\n\n"
            f"The {word} with the number {number} is looked at by {title.lower()} {number * step}"
            f" times before it leaves the hall, and each time the result is written into the book"
            f" of {word}s beside the result of its neighbour {number + step}.\n"
            for step, title in enumerate(("Assembly", "Pressure", "Delivery"), start=2)
        )
        page.write_text(f"# {word.title()} {number}\n\n{sections}", encoding="utf-8")
    return folder


def wait_for(url: str, statement: str, process: subprocess.Popen[str], *, least: int) -> None:
    """Wait until a count in the database is at least so high, while a process still runs."""
    deadline = time.monotonic() + SECONDS
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < deadline:
            row = connection.execute(statement.encode()).fetchone()
            if row is not None and row[0] >= least:
                return
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
    raise AssertionError(f"{statement} stayed below {least}")


def kill(process: subprocess.Popen[str]) -> None:
    """End a process without letting it say a word."""
    process.send_signal(signal.SIGKILL)
    process.communicate()
