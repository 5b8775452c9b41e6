"""Pages that were made to be slow: four times as much costs about four times as much."""

import gc
import re
import time
from collections.abc import Callable

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrag.ingest.document import page_document
from pgrag.ingest.page import PageOptions, read_page

#: The smaller size of each shape, and a page by its number of parts.
SHAPES: dict[str, tuple[int, Callable[[int], str]]] = {
    "headings": (2000, lambda n: "".join(f"## Heading {i}\n\nText {i}.\n\n" for i in range(n))),
    "equal sections": (2000, lambda n: "## Heading\n\nText.\n\n" * n),
    "links": (8000, lambda n: " ".join(f"[word {i}](page{i}.md)" for i in range(n))),
    "links to sections": (
        800,
        lambda n: "".join(f"## Heading {i}\n\n[text](#heading-{n - i})\n\n" for i in range(n)),
    ),
    "links to ids": (
        1500, lambda n: " ".join(f'<b id="b{i}">x</b> [x](#b{n - i})' for i in range(n)),
    ),
    "characters in a line": (400_000, lambda n: "word " * (n // 5)),
    "characters in a word": (400_000, lambda n: "a" * n),
    "distinct words": (15_000, lambda n: " ".join(f"w{i:x}z" for i in range(n))),
    "tags": (
        4500, lambda n: f"---\ntags: [{', '.join(f't{i}' for i in range(n))}]\n---\nText.\n",
    ),
    "brackets in front matter": (25_000, lambda n: f"---\na: {'[' * n}{']' * n}\n---\nText.\n"),
}  # fmt: skip
FACTOR = 4
#: Linear work has the ratio FACTOR, quadratic work its square, 16.
BOUND = 8
#: Seconds that every measurement gets, so that small times may vary.
ALLOWANCE = 0.05


@pytest.fixture
def server(database_url):
    """A connection, and the processor times of its statements in seconds."""
    times = []

    def note(diagnostic):
        told = diagnostic.message_detail or ""
        if match := re.search(r"([\d.]+) s user, ([\d.]+) s system", told):
            times.append(float(match[1]) + float(match[2]))

    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.add_notice_handler(note)
        connection.execute("set client_min_messages = log; set log_statement_stats = on")
        yield connection, times


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_as_the_page_does(server, shape):
    connection, times = server
    # A collection walks what all tests before have left.
    gc.collect()
    gc.freeze()
    reading = []
    writing = []
    least, page_of = SHAPES[shape]
    for size in (least, FACTOR * least):
        data = page_of(size).encode()
        started = time.process_time()
        page = read_page("page.md", data, PageOptions())
        reading.append(time.process_time() - started)
        times.clear()
        for statement, arguments in (
            ("select pgrag.ingest_pages(%s, %s)", [f"n{size}", Jsonb([page_document(page)])]),
            ("select pgrag.finish_version(%s)", [f"n{size}"]),
        ):
            connection.execute(statement, arguments)
        writing.append(sum(times))
    assert len(times) >= 2, "the server tells processor times"
    for small, large in (reading, writing):
        assert large <= BOUND * (small + ALLOWANCE), (reading, writing)
