"""Pages that were made to be slow: four times as much costs about four times as much."""

import gc
import re
import time
from typing import Any

import psycopg
import pytest
from benchmarks.hostile import SHAPES
from psycopg.types.json import Jsonb

from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.writer import page_document

#: The smaller size of each shape; the larger one is four times as large.
SIZES = {
    "headings": 2000,
    "equal sections": 2000,
    "links": 8000,
    "links to sections": 800,
    "links to ids": 1500,
    "characters in a line": 400_000,
    "characters in a word": 400_000,
    "distinct words": 15_000,
    "tags": 4500,
    "brackets in front matter": 25_000,
}
FACTOR = 4
#: Linear work has the ratio FACTOR, quadratic work its square, 16.
BOUND = 8
#: Seconds that every measurement gets, so that small times may vary.
ALLOWANCE = 0.05


@pytest.fixture
def server(database_url: str):
    """A connection, and the processor times of its statements in seconds."""
    times: list[float] = []

    def note(diagnostic: Any) -> None:
        told = diagnostic.message_detail or ""
        if match := re.search(r"([\d.]+) s user, ([\d.]+) s system", told):
            times.append(float(match[1]) + float(match[2]))

    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.add_notice_handler(note)
        connection.execute("set client_min_messages = log; set log_statement_stats = on")
        yield connection, times


@pytest.mark.parametrize("shape", SIZES)
def test_work_grows_as_the_page_does(server, shape):
    connection, times = server
    # A collection walks what all tests before have left.
    gc.collect()
    gc.freeze()
    reading: list[float] = []
    writing: list[float] = []
    for size in (SIZES[shape], FACTOR * SIZES[shape]):
        data = SHAPES[shape](size).encode()
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
