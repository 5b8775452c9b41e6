"""Search for exact text: compare lines and times with ripgrep's, in all corpora."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import psycopg
from psycopg.types.json import Jsonb

from benchmarks.bench import Bench
from benchmarks.corpora import CorpusMissing
from benchmarks.figures import Figure
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.source.sources import discover

Lines = set[tuple[str, int]]


class Wish(NamedTuple):
    """A pattern and its options."""

    pattern: str
    mode: str = "literal"
    case_mode: str = "sensitive"

    def __str__(self) -> str:
        return f"{self.mode} {self.pattern!r}{' -i' if self.case_mode == 'ignore' else ''}"


EVERYWHERE = (
    Wish("http"),
    Wish("##"),
    Wish("title:"),
    Wish("---"),
    Wish("[["),
    Wish("a.b(c)*"),
    Wish("no such text anywhere"),
    Wish("API", case_mode="ignore"),
    Wish("in", "word"),
    Wish("test", "word", "ignore"),
    Wish(r"^#+ ", "regex"),
    Wish(r"^$", "regex"),
    Wish(r"\s+$", "regex"),
    Wish(r"^\s*[-*] ", "regex"),
    Wish(r"\[[^\]]+\]\([^)]+\)", "regex"),
    Wish(r"!?\[\[[^\]|#]+(#[^\]|]+)?(\|[^\]]+)?\]\]", "regex"),
    Wish(r"\b[A-Z]{3,}\b", "regex"),
    Wish(r"(error|warning|note)s?\b", "regex", "ignore"),
    Wish(r"\d{4}-\d{2}-\d{2}", "regex"),
    Wish(r"`{3}\w*$", "regex"),
    Wish(r"https?://[\w.-]+/\S*", "regex"),
    Wish(r"(?i)^title:\s*(.+)$", "regex"),
    Wish(r"[^\x00-\x7f]", "regex"),
    Wish(r"^.{200,}$", "regex"),
)
GERMAN = (
    Wish("für"),
    Wish("ÜBER", case_mode="ignore"),
    Wish("größe", "word", "ignore"),
    Wish(r"\b[ÄÖÜ]\w+", "regex"),
    Wish(r"\w+ß\w*", "regex"),
)
RUSSIAN = (
    Wish("файл"),
    Wish("ЗАМЕТК", case_mode="ignore"),
    Wish("и", "word"),
    Wish(r"\b[А-Я]\w+", "regex"),
    Wish(r"^#+ [А-Яа-я ]+$", "regex"),
)
CORPORA: dict[str, tuple[Wish, ...]] = {
    "obsidian-help-en": EVERYWHERE,
    "obsidian-help-de": EVERYWHERE + GERMAN,
    "obsidian-help-ru": EVERYWHERE + RUSSIAN,
    "fastapi-en": EVERYWHERE,
    "k8s-en": EVERYWHERE,
    "jest-versions": EVERYWHERE,
}
LIMIT = 50_000


def lines_as_ripgrep(bench: Bench) -> list[Figure]:
    """Compare the lines and the times of every pattern in every corpus."""
    program = shutil.which("rg")
    other = _ripgrep if program else _python
    name = "ripgrep" if program else "Python's re (no ripgrep here)"
    equal = asked = 0
    ours: list[float] = []
    theirs: list[float] = []
    longest: dict[str, tuple[float, Wish]] = {}
    with bench.connect() as connection:
        for corpus, wishes in CORPORA.items():
            try:
                folder = bench.corpora.pages(corpus)
            except CorpusMissing:
                continue
            library = f"text-{corpus}"
            keys = _store(connection, library, folder)
            for wish in wishes:
                found, seconds = _timed(lambda w=wish, n=library: _pgrag(connection, n, w))
                expected, reference = _timed(lambda w=wish, f=folder: other(f, w))
                expected = {(key, line) for key, line in expected if key in keys}
                asked += 1
                equal += found == expected
                ours.append(seconds)
                theirs.append(reference)
                longest[corpus] = max((seconds, wish), longest.get(corpus, (0.0, wish)))
                if found != expected:
                    print(
                        f"{corpus}, {wish}: only here {sorted(found - expected)[:3]}"
                        f" ({len(found - expected)}), only there {sorted(expected - found)[:3]}"
                        f" ({len(expected - found)})"
                    )
    if not asked:
        raise CorpusMissing("the data folder holds none of the corpora")
    times = [
        f"{corpus} {1000 * seconds:.0f} ms ({wish})" for corpus, (seconds, wish) in longest.items()
    ]
    return [
        Figure(f"same lines as {name}", "all", f"{equal} of {asked}", "", equal == asked),
        Figure("search_text, median", "—", f"{1000 * median(ours):.0f} ms", "", None),
        Figure(f"{name}, median", "—", f"{1000 * median(theirs):.0f} ms", "", None),
        Figure("search_text, longest", "—", "; ".join(times), "", None),
    ]


def _store(connection: psycopg.Connection[Any], library: str, folder: Path) -> set[str]:
    """Store only the sources of a folder: a text search reads no documents."""
    with discover(str(folder)) as source:
        pages = [
            {"key": file.key, "body": decode(file.key, file.read())[0], "documents": []}
            for file in source.files()
        ]
    connection.execute("select count(*) from pgrag.ingest_pages(%s, %s)", [library, Jsonb(pages)])
    return {page["key"] for page in pages}


def _pgrag(connection: psycopg.Connection[Any], library: str, wish: Wish) -> Lines:
    found: Lines = set()
    after = None
    while True:
        rows = connection.execute(
            "select t.key, t.line, t.cursor from pgrag.search_text(%s, %s, mode => %s,"
            " case_mode => %s, top_k => %s, after => %s, timeout_ms => 600000) as t",
            [wish.pattern, library, wish.mode, wish.case_mode, LIMIT, after],
        ).fetchall()
        found.update((key, line) for key, line, _ in rows)
        if len(rows) < LIMIT:
            return found
        after = rows[-1][2]


def _ripgrep(folder: Path, wish: Wish) -> Lines:
    options = {"literal": ["-F"], "word": ["-F", "-w"], "regex": []}[wish.mode]
    if wish.case_mode == "ignore":
        options = [*options, "-i"]
    finished = subprocess.run(
        [
            "rg", "--no-config", "-uu", "--null", "--line-number", "--with-filename",
            "--no-heading", "--color=never", "--crlf", *options, "-e", wish.pattern, ".",
        ],
        cwd=folder, capture_output=True, check=False,
    )  # fmt: skip
    if finished.returncode > 1:
        raise RuntimeError(finished.stderr.decode())
    found = set()
    for line in finished.stdout.split(b"\n"):
        path, zero, rest = line.partition(b"\0")
        if zero:
            found.add((path.decode().removeprefix("./"), int(rest.partition(b":")[0])))
    return found


def _python(folder: Path, wish: Wish) -> Lines:
    pattern = wish.pattern if wish.mode == "regex" else re.escape(wish.pattern)
    if wish.mode == "word":
        pattern = rf"(?<!\w){pattern}(?!\w)"
    expression = re.compile(pattern, re.IGNORECASE if wish.case_mode == "ignore" else 0)
    return {
        (file.relative_to(folder).as_posix(), number)
        for file in folder.rglob("*.md*")
        if file.is_file()
        for number, line in enumerate(
            file.read_text("utf-8-sig", "replace").removesuffix("\n").split("\n"), 1
        )
        if expression.search(line)
    }


def _timed(work: Callable[[], Lines]) -> tuple[Lines, float]:
    started = perf_counter()
    found = work()
    return found, perf_counter() - started
