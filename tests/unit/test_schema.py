"""What can be said about a database without one."""

import re

import pytest

from pgrag import schema
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
    (tree / "10_b").mkdir(parents=True)
    (tree / "10_b" / "one.sql").write_text("select 1;")
    (tree / "10_b" / "notes.txt").write_text("of no consequence")
    first = digest(tree)
    (tree / "10_b" / "notes.txt").unlink()
    assert digest(tree) == first
    (tree / "00_a.sql").write_text("select 2;")
    second = digest(tree)
    (tree / "00_a.sql").rename(tree / "20_a.sql")
    third = digest(tree)
    (tree / "20_a.sql").write_text("select 3;")
    assert len({first, second, third, digest(tree)}) == 4
    assert [file.name for file in function_files(tree)] == ["one.sql", "20_a.sql"]


def test_revisions_follow_each_other_and_files_carry_their_names():
    names, head = schema._revisions()
    files = sorted((schema.alembic_root() / "versions").glob("*.py"))
    assert head in names
    assert len(names) == len(files)
    assert sorted(names) == [re.split("_", file.name)[0] for file in files]


def test_migrations_are_no_package():
    """A package of this name would hide the library of the same name."""
    assert not (schema.alembic_root() / "__init__.py").exists()
