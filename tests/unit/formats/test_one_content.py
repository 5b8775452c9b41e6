"""One handbook in every format: the same headings, tables and code come out of each."""

import pytest
from benchmarks.formats import expected, files, parts_of
from benchmarks.handbook import WRITERS


@pytest.mark.parametrize("name", files())
def test_headings_tables_and_code_are_the_same_in_every_format(name):
    assert parts_of(name, WRITERS[name]()) == expected(name)
