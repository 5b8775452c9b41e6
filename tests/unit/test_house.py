"""The counts of `make house`, on a small tree and on the repository itself."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "house.py"
SEARCH = """create or replace function pgrag.search(
    query text,
    alpha double precision default null
)
returns setof pgrag.hit
as $$ select alpha, _alpha, search.alpha $$;
"""


@pytest.fixture(scope="module")
def house():
    spec = importlib.util.spec_from_file_location("house", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sources(house, tmp_path):
    files = {
        "src/pgrag/search/search.py": "alpha = 1\nalphabet = 2\n",
        "src/pgrag/long.py": "x = 1\n" * 251,
        "sql/search/search.sql": SEARCH,
        "sql/search/_rank.sql": "create or replace function _pgrag.rank(a text)\n",
        "sql/search/hits.sql": "create function _pgrag.hits(a text)\n",
        "docs/search.md": "alpha\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return house.read_sources(tmp_path)


def test_lines_and_long_files_are_counted(house, sources):
    lines = dict(line.rsplit(maxsplit=1) for line in house.report(sources).split("\n")[:4])
    assert lines == {
        "lines in src/": "253", "lines in sql/": "8", "lines in both": "261",
        "files over 250 lines": "1",
    }  # fmt: skip


def test_private_functions_are_known_by_either_spelling(house, sources):
    assert house.functions(sources) == ({"search"}, {"_pgrag.rank", "_pgrag.hits"})


def test_an_argument_counts_as_a_whole_word(house, sources):
    assert house.search_arguments(sources) == ["query", "alpha"]
    assert house.places(sources, "alpha") == {
        "sql/search/search.sql": 3, "src/pgrag/search/search.py": 1,
    }  # fmt: skip
    assert "alpha: 4 places in 2 files" in house.report(sources, "alpha")


def test_a_tree_without_search_is_refused(house):
    with pytest.raises(SystemExit, match=r"pgrag\.search"):
        house.report({"sql/a.sql": "select 1;\n"})


@pytest.mark.parametrize("argument", [(), ("alpha",)])
def test_the_repository_has_its_report(argument):
    run = subprocess.run(
        [sys.executable, SCRIPT, *argument], capture_output=True, text=True, check=True
    )
    assert "lines in both" in run.stdout
    assert "alpha" in run.stdout
