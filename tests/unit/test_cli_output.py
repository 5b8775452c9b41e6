"""What reaches a terminal, and what must not."""

import io
import json
import logging
import re
import sys
from datetime import UTC, datetime

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from pgrag.cli import output, progress
from pgrag.cli.output import print_json, print_table, print_text
from pgrag.ground.logs import TextFormatter
from pgrag.ground.printable import printable


def test_what_is_printed_is_whole_marked_and_harmless(capsys):
    assert printable("a\x1b[2Jb\x9bc\x07d\re") == r"a\x1b[2Jb\x9bc\x07d\x0de"
    assert printable("keeps\ttabs\nand\r\nlines") == "keeps\ttabs\nand\nlines"
    print_json({"when": datetime(2025, 2, 1, tzinfo=UTC), "word": "Kühne", "none": None})
    assert json.loads(capsys.readouterr().out) == {
        "when": "2025-02-01T00:00:00+00:00",
        "word": "Kühne",
        "none": None,
    }
    print_text("word\t" * 100)
    print_table(("name", "count"), [("x" * 300, 1200), (None, 3)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "word\t" * 100
    assert (lines[3].split(), len(lines)) == (["x" * 300, "1,200"], 5)


SHOWN = [
    ("\x00\x08\x7f\x85", r"\x00\x08\x7f\x85"),
    ("a\x1b]8;;http://x\x07b", r"a\x1b]8;;http://x\x07b"),
    ("user\u202etxt.exe", r"user\u202etxt.exe"),
    ("\u200e\u200f\u061c\u2066a\u2069", r"\u200e\u200f\u061c\u2066a\u2069"),
    ("pay\u200dpal pay\u200bpal \ufeffx", r"pay\u200dpal pay\u200bpal \ufeffx"),
    ("a\U000e0041\U000e007fb", r"a\U000e0041\U000e007fb"),
    ("\ud800x\udfff", r"\ud800x\udfff"),
    ("\u3164\u115f\u2028\u2029\u2063", r"\u3164\u115f\u2028\u2029\u2063"),
    ("ж\u200d\u200dж", r"ж\u200d\u200dж"),
    ("a\ufe01b ☀\ufe0f\ufe0e", "a\\ufe01b ☀\ufe0f\\ufe0e"),
    ("Donau\xaddampf -\xadrf", "Donau\xaddampf -\\xadrf"),
    # What is written from right to left, and by joiners, is text.
    ("שלום עולם", "שלום עולם"),
    ("نامه\u200cای", "نامه\u200cای"),
    ("क्\u200dष", "क्\u200dष"),
    ("👩\u200d💻 ❤\ufe0f 1\ufe0f⃣", "👩\u200d💻 ❤\ufe0f 1\ufe0f⃣"),
    ("é e\u0301 日本語 ไทย", "é e\u0301 日本語 ไทย"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_what_a_reader_would_not_see_is_an_escape_everywhere(text, shown, monkeypatch, capsys):
    assert printable(text) == shown
    assert printable(shown) == shown
    screen = io.StringIO()
    console = output._console(file=screen, width=200, force_terminal=True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(output, "stdout", lambda: console)
    monkeypatch.setattr(output, "stderr", lambda: console)
    console.print(Text(text))
    console.print(Tree(Text(text)))
    output.notice(text)
    output.warn(text)
    output.complain(text, text)
    print_table(["page", text], [[text, 1]])
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, "%s\nforged", (text,), None)
    line = TextFormatter().format(record)
    print_json({text: text})
    print_text(text)
    sys.stdout.write(output.json_line([text]))
    written = capsys.readouterr().out
    assert json.loads(written.split("}")[0] + "}") == {text: text}
    hidden = [each for each in text if each not in shown]
    for everything in (screen.getvalue(), written, line):
        bare = re.sub(r"\x1b\[[\d;]*m", "", everything)
        assert [each for each in hidden if each in bare] == []
    assert "\n" not in line


def test_a_terminal_shows_how_many_pages_of_a_site_are_fetched_then_indexed(monkeypatch):
    screen = io.StringIO()

    class Eager(progress.bars.Progress):
        def update(self, *arguments, **fields):
            super().update(*arguments, **fields)
            screen.truncate(screen.seek(0))
            self.refresh()

    monkeypatch.setattr(progress.bars, "Progress", Eager)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(
        progress, "stderr", lambda: Console(file=screen, force_terminal=True, width=120)
    )
    shown = []
    with progress.shown_progress("Indexing kestrel", hidden=False) as show:
        for step in ((30, 900, None), (900, 900, None), (1, 850, 12)):
            show(*step)
            shown.append(screen.getvalue())
    assert "Indexing kestrel: fetching pages" in shown[0]
    assert "30/900" in shown[0]
    assert "fetching" in shown[1]
    assert "fetching" not in shown[2]
    assert "1/850" in shown[2]


def test_columns_too_many_for_the_terminal_become_lists_of_values(monkeypatch):
    screen = io.StringIO()
    narrow = Console(file=screen, width=60, highlight=False)
    monkeypatch.setattr(output, "stdout", lambda: narrow)
    names = [f"column-{number}" for number in range(8)]
    print_table(names, [["value"] * 7 + [None], ["数据库是" * 12, *range(7)]])
    lines = screen.getvalue().splitlines()
    assert lines[:2] == ["column-0  value", "column-1  value"]
    assert (lines[7], lines[8]) == ("", "column-0  " + "数据库是" * 6 + "数")
    assert max(map(cell_len, lines)) <= 60
    screen.truncate(screen.seek(0))
    print_table(["page", "sentence"], [["short.md", "one two three " * 9]])
    words = {word for line in screen.getvalue().splitlines() for word in line.split()}
    assert {"short.md", "one", "two", "three"} <= words
    assert not words - {"short.md", "one", "two", "three", "page", "sentence", "─" * 60}
