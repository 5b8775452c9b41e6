"""The counts of `make house`, on a small tree and on the repository itself."""

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
        "tests/pages/search.md": "alpha\nbeta\n",
        "docs/search.md": "alpha\n",
    }
    for name, text in files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return house.read_sources(tmp_path)


def test_lines_files_functions_and_arguments_are_counted(house, sources):
    assert dict(line.rsplit(maxsplit=1) for line in house.report(sources).split("\n")[:12]) == {
        "lines in src/": "253", "lines in sql/": "8", "lines in alembic/": "0",
        "lines in tests/": "2", "lines in benchmarks/": "0", "lines in campaign/": "0",
        "lines in scripts/": "0", "lines in src/ and sql/": "261",
        "lines in benchmarks/, campaign/ and scripts/": "0", "files over 250 lines": "1",
        "public SQL functions": "1", "private SQL functions": "2",
    }  # fmt: skip
    assert house.functions(sources) == ({"search"}, {"_pgrag.rank", "_pgrag.hits"})
    assert house.search_arguments(sources) == ["query", "alpha"]
    assert house.places(house.code(sources), "alpha") == {
        "sql/search/search.sql": 3, "src/pgrag/search/search.py": 1,
    }  # fmt: skip
    assert "alpha: 4 places in 2 files" in house.report(sources, "alpha")


def test_long_functions_are_named_and_a_tree_without_search_is_refused(house):
    body = "    select 1;\n" * 151
    sources = {
        "sql/a.sql": f"create or replace function pgrag.a()\nas $$\n{body}$$;\n",
        "sql/b.sql": "create or replace function pgrag.b()\nas $$\nselect 1;\n$$;\n",
        "src/c.py": "def c():\n" + body.replace(";", "").replace("select ", "x = "),
    }
    assert sorted(house.long_functions(sources)) == [
        (151, "sql/a.sql: pgrag.a"),
        (151, "src/c.py: c"),
    ]
    long = [name for _, name in house.long_functions(house.read_sources(ROOT))]
    # Its comment has the measurement that keeps it whole.
    assert long == ["sql/ingest/_write_documents.sql: _pgrag.write_documents"]
    with pytest.raises(SystemExit, match=r"pgrag\.search"):
        house.report({"sql/a.sql": "select 1;\n"})


@pytest.mark.parametrize("argument", [(), ("alpha",)])
def test_the_repository_has_its_report(argument):
    run = subprocess.run(
        [sys.executable, SCRIPT, *argument], capture_output=True, text=True, check=True
    )
    assert "lines in src/ and sql/" in run.stdout
    assert "alpha" in run.stdout
