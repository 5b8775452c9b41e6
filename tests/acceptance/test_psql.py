"""psql as a person types it: the real program on a terminal, with the commands of pgrag."""

import os
import pty
import re
import select
import subprocess
from contextlib import contextmanager

import pytest

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Session:
    """A psql on a terminal of its own."""

    def __init__(self, terminal):
        self.terminal = terminal
        self.unread = ""

    def until(self, words):
        """What the screen gets next, up to these words."""
        while words not in self.unread:
            is_ready = select.select([self.terminal], [], [], 120)[0]
            assert is_ready, f"psql waits, without {words!r}: {self.unread}"
            try:
                part = os.read(self.terminal, 65536)
            except OSError:
                part = b""
            assert part, f"psql ended before {words!r}: {self.unread}"
            text = self.unread + part.decode("utf-8", "replace").replace("\r", "")
            self.unread = ESCAPE.sub("", text)
        screen, _, self.unread = self.unread.partition(words)
        return screen + words

    def type(self, *answers, prompt="pgrag", library=""):
        """Type a command, and an answer to each of its prompts."""
        line, *prompts = answers
        os.write(self.terminal, f"{line}\n".encode())
        for question, answer in prompts:
            self.until(question)
            os.write(self.terminal, f"{answer}\n".encode())
        self.until("\n")
        return self.until(f"{prompt} {library}=")


@contextmanager
def psql(pgrag, home, **variables):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        pgrag.command("db", "psql"),
        cwd=pgrag.folder,
        env=pgrag.environment | {"HOME": str(home), "PAGER": "cat", "TERM": "dumb"} | variables,
        stdin=theirs, stdout=theirs, stderr=theirs,
        # Without a controlling terminal \\prompt asks this one, not that of who runs the tests.
        start_new_session=True,
    )  # fmt: skip
    os.close(theirs)
    session = Session(ours)
    try:
        yield session
        os.write(ours, b"\\q\n")
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_commands_are_asked_for_and_answer(indexed, tmp_path):
    (tmp_path / ".psqlrc").write_text("\\echo mine is read\n\\set top_k 3\n")
    with psql(indexed, tmp_path) as session:
        greeting = session.until("pgrag =")
        assert "mine is read" in greeting
        assert "Type :pgrag for the commands" in greeting
        listed = session.type(":pgrag")
        commands = set(re.findall(r"^ (:\w+)", listed, re.MULTILINE))
        assert commands == {
            ":search", ":page", ":why", ":context", ":use", ":libraries", ":searches", ":gaps",
            ":functions",
        }  # fmt: skip
        found = session.type(":search", ("Search: ", "it's about a backup to restore"))
        assert "Restore a folder › When the other machine is gone\n" in found
        assert re.findall(r"^ (\d)  0\.\d{3}  ", found, re.MULTILINE) == ["1", "2", "3"]
        page = session.type(":page", ("Page (", "1"))
        assert "# Restore a folder" in page
        assert "|" not in page
        why = session.type(":why", ("Hit number: ", "1"))
        parts = dict(re.findall(r"^ (\w+) +\| +([\d.]+)", why, re.MULTILINE))
        score = float(parts.pop("score"))
        assert sum(map(float, parts.values())) == pytest.approx(score, abs=0.001)
        assert "Its meaning is similar" in why

        wrong = session.type(":use", ("Library (empty: all): ", "kestrl"))
        assert "Did you mean kestrel?" in wrong
        used = session.type(
            ":use", ("Library (empty: all): ", "kestrel@1.4"), library="kestrel@1.4"
        )
        assert "kestrel" in used

        def in_old(*answers):
            return session.type(*answers, library="kestrel@1.4")

        assert "kestrel 1.4" in in_old(":search", ("Search: ", "install"))
        assert "There is no package of version 1.4" in in_old(
            ":page", ("Page (", "Install Kestrel")
        )
        assert "<passage id=" in in_old(":context", ("Question: ", "how do I install it?"))
        assert "kestrel" in in_old(":libraries")
        assert "gaps" in in_old(":functions", ("Function, or a word: ", "did not find"))
        assert "p95_ms" in in_old(":searches")
        assert "found_nothing" in in_old(":gaps")
        assert "No function of pgrag" in in_old(":functions", ("Function, or a word: ", "serch"))


def test_a_person_sees_columns_of_the_terminal_and_a_script_its_own(indexed, tmp_path):
    with psql(indexed, tmp_path, COLUMNS="100") as session:
        session.until("pgrag =")
        session.type("\\pset columns 100")
        listed = session.type("\\df pgrag.*")
        assert "search_many" in listed
        assert max(map(len, listed.splitlines())) <= 100
    answer = indexed.run("db", "psql", "--", "-c", "select repeat('x', 300) as x").out
    assert "x" * 300 in answer
    assert "pgrag" not in answer
