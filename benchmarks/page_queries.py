"""Queries over pages: the time of a query over a whole library, and that no task is missed."""

from __future__ import annotations

import re
from pathlib import Path
from time import perf_counter

import numpy as np
from markdown_it import MarkdownIt

from benchmarks.bench import Bench
from benchmarks.figures import Figure

TIMES = 5
QUERIES = {
    "equality and a sort": 'TABLE title, page-type WHERE page-type = "guide" SORT title LIMIT 20',
    "a comparison of every page": 'LIST WHERE title < "b" and file.folder > "c"',
    "a tag and a function": 'LIST FROM #CSS WHERE startswith(title, "A")',
    "groups": "TABLE length(rows) AS n GROUP BY page-type SORT length(rows) DESC",
    "all pages, sorted by two keys": "TABLE page-type, title SORT page-type, title",
    "open tasks": "TASK",
}
QUERY = b"select * from pgrag.query_pages(%s, %s)"
PROPERTIES = b"select * from pgrag.properties(%s)"
TASKS = b"select q.key, q.line from pgrag.query_pages('TASK WHERE checked or !checked', %s) as q"
_HEAD = re.compile(r"---\n.*?\n---\n", re.DOTALL)


def ask(bench: Bench) -> list[Figure]:
    """The median of several runs of each query, after a warm-up."""
    library = bench.mdn()
    figures = []
    with bench.connect() as connection:
        for name, query in QUERIES.items():
            seconds = []
            for _ in range(TIMES + 1):
                started = perf_counter()
                rows = connection.execute(QUERY, (query, library)).fetchall()
                seconds.append(perf_counter() - started)
            middle = float(np.median(seconds[1:])) * 1000
            figures.append(Figure(
                f"pgrag.query_pages, {name}: p50", f"MDN, {len(rows):,} rows", f"{middle:.0f} ms",
            ))  # fmt: skip
        started = perf_counter()
        found = connection.execute(PROPERTIES, (library,)).fetchall()
        milliseconds = (perf_counter() - started) * 1000
        figures.append(Figure(
            "pgrag.properties", f"MDN, {len(found)} properties", f"{milliseconds:.0f} ms"
        ))  # fmt: skip
    return [*figures, _tasks(bench)]


def _tasks(bench: Bench) -> Figure:
    """Compare the lines of all tasks with those of the list items that markdown-it finds."""
    folder = bench.corpora.pages("k8s-en")
    library = bench.require("k8s", folder)
    with bench.connect() as connection:
        found = set(connection.execute(TASKS, (library,)).fetchall())
    wanted = {
        (file.relative_to(folder).as_posix(), line)
        for file in folder.rglob("*.md")
        if file.is_file()
        for line in _lines(file)
    }
    differing = len(found ^ wanted)
    return Figure(
        "tasks that pgrag.query_pages and markdown-it see differently",
        f"Kubernetes, {len(wanted)} tasks", str(differing), "0", differing == 0,
    )  # fmt: skip


def _lines(file: Path) -> list[int]:
    text = file.read_text("utf-8", errors="replace")
    head = _HEAD.match(text)
    start = head.end() if head else 0
    tokens = MarkdownIt("commonmark").enable("table").parse(text[start:])
    return [
        text[:start].count("\n") + token.map[0] + 1
        for token, inline in zip(tokens, tokens[2:], strict=False)
        if token.type == "list_item_open" and token.map and re.match(r"\[.\]\s", inline.content)
    ]
