"""Four times as much of one construct costs about four times as much time, in every format."""

import time
import zlib

import pytest
from tests.unit.formats import office_files

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats.formats import convert
from pgrag.ingest.formats.html import limits
from pgrag.ingest.page import PageOptions, read_page
from pgrag.ingest.source.web.lists import parse_inventory, parse_versions

#: A name, what stands before and after, the construct, and how often the smaller file has it.
SHAPES = [
    ("a.rst", "", ".. _same:\n\n", "", 500),
    ("a.rst", "", "Text.\n\n----\n\n", "", 600),
    ("a.rst", "", ".. contents::\n\nT\n=\n\n", "", 200),
    ("a.html", "<html>", "\\(", "", 3000),
    ("a.html", "<html>", "\\[x", "", 3000),
    ("a.html", "<html>", "<p id=x>y</p>", "", 1500),
    ("a.html", "<html>", "<a href='#x§'>y</a> ", "", 1500),
    ("a.html", "<html>", "<p><a href=x>", "", 1500),
    ("a.html", "<html>", "<p><font a§=1>x", "", 500),
    ("a.md", "+++\n", "a§ = [[t]]\n", "+++\n", 600),
    ("a.md", "+++\n", "a.", "\n+++\n", 8000),
    ("a.ipynb", '{"cells": [{"cell_type": "markdown", "source": "', "<pre>x</pre>\\n",
     '", "metadata": {}}], "metadata": {}, "nbformat": 4}', 2000),
]  # fmt: skip
FACTOR, BOUND, ALLOWANCE = 4, 8, 0.05


@pytest.mark.parametrize(("name", "before", "unit", "after", "count"), SHAPES)
def test_time_follows_the_size(name, before, unit, after, count):
    def seconds(count):
        data = before + "".join(unit.replace("§", str(at)) for at in range(count)) + after
        started = time.process_time()
        read_page(name, data.encode(), PageOptions())
        return time.process_time() - started

    seconds(1)
    # Others on the machine can slow one measurement, not all.
    assert any(seconds(FACTOR * count) <= BOUND * (seconds(count) + ALLOWANCE) for _ in range(3))


def test_an_inventory_of_blanks_takes_linear_time_and_names_with_blanks_are_read():
    head = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# zlib:\n"

    def pages(text):
        return parse_inventory("https://x.org/objects.inv", head + zlib.compress(text.encode()))

    started = time.process_time()
    assert pages(" \t" * 50_000 + "\n" + "a " * 50_000) == []
    assert time.process_time() - started < 5, "it took minutes"
    entries = "a b py:class 1 x.html#a A title\nz std:label -1 y.html -\nno entry\n"
    assert pages(entries) == ["https://x.org/x.html", "https://x.org/y.html"]


def test_lists_that_nest_without_end_are_no_versions():
    assert parse_versions("https://x.org/versions.json", b"[" * 100_000) == []


def test_attributes_that_double_each_other_and_repeated_cells_stay_small():
    doubling = ":a: word word\n" + ":a: {a}{a}\n" * 40 + "\n{a}\n"
    assert len(convert("a.adoc", doubling.encode()).markdown) < 10_000
    used = ":a: " + "word " * 800 + "\n\n" + "{a}" * 2000 + "\n"
    assert len(convert("a.adoc", used.encode()).markdown) < 200_000


def test_cells_of_an_open_document_that_repeat_in_rows_that_repeat_stay_small():
    cell = '<table:table-cell table:number-columns-repeated="100"><text:p>x</text:p>{}'
    row = '<table:table-row table:number-rows-repeated="100">' + cell
    inner, ends = "", "</table:table-cell></table:table-row>"
    for _ in range(4):
        inner = f"<table:table>{row.format(inner)}{ends}</table:table>"
    text = convert("a.odt", office_files.odt(inner)).markdown
    assert "x" in text
    assert len(text) < 5_000_000


def test_elements_of_any_name_that_nest_without_end_are_refused_also_after_ends(monkeypatch):
    monkeypatch.setattr(limits, "_DEEPEST", 100)
    for body in ("<footer>" * 101, "<x-y>" * 101, "</div>" * 200 + "<div>" * 101):
        with pytest.raises(SourceError, match="nests more than 100 elements"):
            limits.within_limits("a.html", body)
    assert limits.within_limits("a.html", "<p>x<br><li>x<td>" * 200)[1] == []


def test_a_carriage_return_that_is_written_as_a_number_is_the_end_of_a_line():
    book = b'{"cells": [{"cell_type": "markdown", "source": "# A\\r\\r|\\ra", "metadata": {}}],'
    page = read_page("a.ipynb", book + b'"metadata": {}, "nbformat": 4}', PageOptions())
    assert page.title == "A"
    assert "\r" not in page.body
