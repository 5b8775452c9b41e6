"""What can be said about a database without one."""

import re

import pytest

from pgrag import errors, schema
from pgrag.routines import digest, function_files


@pytest.mark.parametrize(
    ("extension", "available", "ok", "remedy"),
    [
        ("0.8.0", "0.8.0", True, ""),
        (None, "0.8.5", True, ""),
        ("0.10.1", "0.10.1", True, ""),
        ("1.0.0", "1.0.0", True, ""),
        ("0.7.4", "0.8.1", False, "alter extension vector update"),
        ("0.7.4", "0.7.4", False, "Install pgvector 0.8 or newer"),
        ("0.7.4", None, False, "Install pgvector 0.8 or newer"),
        (None, "0.7.4", False, "Install pgvector 0.8 or newer"),
        (None, None, False, "Install pgvector 0.8 or newer"),
    ],
)
def test_pgvector(extension, available, ok, remedy):
    finding = schema._vector_finding(extension, available)
    assert finding.ok is ok
    assert remedy in finding.remedy
    assert bool(finding.remedy) is not ok


def test_digest_knows_names_and_contents(tmp_path):
    tree = tmp_path / "sql"
    (tree / "words").mkdir(parents=True)
    (tree / "layers.txt").write_text("# lowest first\nwords  terms of a text\n")
    (tree / "words" / "one.sql").write_text("select 1;")
    (tree / "words" / "notes.txt").write_text("of no consequence")
    first = digest(tree)
    (tree / "words" / "notes.txt").unlink()
    assert digest(tree) == first
    (tree / "a.sql").write_text("select 2;")
    second = digest(tree)
    (tree / "a.sql").rename(tree / "grants.sql")
    third = digest(tree)
    (tree / "grants.sql").write_text("select 3;")
    assert len({first, second, third, digest(tree)}) == 4


def test_functions_are_installed_layer_by_layer_and_grants_last(tmp_path):
    for layer in ("search", "text"):
        (tmp_path / layer).mkdir()
        (tmp_path / layer / "one.sql").write_text("select 1;")
    (tmp_path / "grants.sql").write_text("select 2;")
    (tmp_path / "layers.txt").write_text("text  terms\nsearch  the search\n")
    files = [file.relative_to(tmp_path).as_posix() for file in function_files(tmp_path)]
    assert files == ["text/one.sql", "search/one.sql", "grants.sql"]


def test_a_folder_without_a_layer_is_refused(tmp_path):
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "one.sql").write_text("select 1;")
    (tmp_path / "layers.txt").write_text("text  terms\n")
    with pytest.raises(errors.DatabaseError, match=r"folders search of .* no line in layers\.txt"):
        function_files(tmp_path)


def test_revisions_follow_each_other_and_files_carry_their_names():
    names, head = schema._revisions()
    files = sorted((schema.alembic_root() / "versions").glob("*.py"))
    assert head in names
    assert len(names) == len(files)
    assert sorted(names) == [re.split("_", file.name)[0] for file in files]


def test_migrations_are_no_package():
    """A package of this name would hide the library of the same name."""
    assert not (schema.alembic_root() / "__init__.py").exists()
