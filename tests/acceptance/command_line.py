"""Runs `pgrag` as a process of its own, as people do."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

import psycopg
from fork_server import ForkServer
from psycopg.rows import dict_row

SECONDS = 300
_PROGRAM = "from pgrag.cli import main; main()"
_SMALL_BATCHES = (
    "from pgrag.ingest import writer; writer.BATCH_DOCUMENTS = 60;"
    " writer.RETRY_DELAYS = (0.3, 0.6, 1.2, 2.4, 4.8, 9.6);"
    f" {_PROGRAM}"
)
_BARE_ENVIRONMENT = {
    **{name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ},
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm-256color",
    "PYTHONWARNINGS": "error",
}


@dataclass(frozen=True)
class Finished:
    """What a run left: exit status, and the words on stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """What stdout holds, all of it."""
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """`pgrag` with an environment of its own, in a folder of its own."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    #: A run can be hit between two commits without a large source, and tries again sooner.
    small_batches: bool = False

    def run(self, *arguments, code=0, stdin=""):
        """Run a command to its end, which must come with this exit status and no traceback."""
        finished = self.attempt(*arguments, stdin=stdin)
        assert "Traceback" not in finished.err, finished.err
        assert finished.code == code, f"{finished.code}\n{finished.out}\n{finished.err}"
        return finished

    def attempt(self, *arguments, stdin=""):
        """Run a command to its end, whatever that is."""
        # Python reads its own variables at its start, which is that of the server.
        assert not any(name.startswith("PYTHON") for name in self.variables)
        with TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as err:
            source.write(stdin.encode())
            source.seek(0)
            ended = _fork_server().run(
                self.program,
                [str(argument) for argument in arguments],
                folder=self.folder,
                environment=self.environment,
                streams=(source, out, err),
                timeout=SECONDS,
            )
            out.seek(0)
            err.seek(0)
            return Finished(ended, out.read().decode(), err.read().decode())

    def run_all(self, *commands, code=0):
        """Run commands that do not depend on each other, two at a time."""
        with ThreadPoolExecutor(max_workers=2) as pool:
            return list(pool.map(lambda command: self.run(*command, code=code), commands))

    def json(self, *arguments):
        """Run a command with --json; return what it printed."""
        return self.run(*arguments, "--json").json

    def hits(self, *arguments):
        """Run a search with --json; return its hits."""
        return self.json(*arguments)["hits"]

    def start(self, *arguments, stdin=subprocess.DEVNULL):
        """Start a command from nothing, as a shell does, and return its process."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def with_variables(self, **variables):
        """The same with more variables in the environment."""
        return replace(self, variables=self.variables | variables)

    @property
    def program(self):
        """What Python runs."""
        return _SMALL_BATCHES if self.small_batches else _PROGRAM

    @property
    def environment(self):
        return {
            **_BARE_ENVIRONMENT,
            "PGRAG_HOME": str(self.folder / "pgrag-home"),
            **self.variables,
        }

    def command(self, *arguments):
        """The words that start it."""
        program = ["-c", _SMALL_BATCHES] if self.small_batches else ["-m", "pgrag"]
        return [sys.executable, *program, *map(str, arguments)]


@functools.cache
def _fork_server():
    """The server of this run of tests."""
    folder = TemporaryDirectory(prefix="pgrag-")
    server = ForkServer(Path(folder.name) / "commands", _BARE_ENVIRONMENT)
    atexit.register(folder.cleanup)
    atexit.register(server.stop)
    return server


def write_pages(folder, pages, *, word="pump"):
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


def wait_for(url, statement, process, *, least):
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


def kill(process):
    """End a process without letting it say a word."""
    process.send_signal(signal.SIGKILL)
    process.communicate()


def rows(url, statement, library):
    """Run a statement with a library's name."""
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        return connection.execute(statement.encode(), {"library": library}).fetchall()


def counted(url, library):
    """Count what is stored of a library."""
    statement = """
        with
            own as (select l.library_id from pgrag.libraries as l where l.name = %(library)s),
            passages as (select d.covers from pgrag.documents as d natural join own)
        select
            (select count(*) from pgrag.pages natural join own) as pages,
            (select count(*) from passages) as documents,
            (select count(*) from passages where covers > 0) as searchable,
            (select count(*) from pgrag.embeddings natural join own) as vectors,
            (select array_agg(v.status) from pgrag.versions as v natural join own) as statuses
    """
    [counts] = rows(url, statement, library)
    return counts


def assert_complete(url, *, library, pages):
    """Every page is there with all its vectors, and the statistics are those of the rows."""
    counts = counted(url, library)
    assert counts["pages"] == pages
    assert counts["vectors"] == counts["searchable"] > 0
    assert set(counts["statuses"]) == {"ready"}
    assert rows(url, "select f.* from pgrag.check_library(%(library)s) as f", library) == []
