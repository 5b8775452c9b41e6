"""What can be said about a database without one."""

import pytest

from pgrag.ground import errors, schema
from pgrag.ground.tree import digest, function_files


@pytest.mark.parametrize(("extension", "available", "level", "remedy"), [
    ("0.8.4", "0.8.4", "ok", ""),
    (None, "0.8.5", "ok", ""),
    ("0.10.1", "0.10.1", "ok", ""),
    ("1.0.0", "1.0.0", "ok", ""),
    ("0.8.0", "0.8.0", "warning", "Install pgvector 0.8.4 or newer"),
    (None, "0.8.3", "warning", "Install pgvector 0.8.4 or newer"),
    ("0.8.3", "0.8.4", "warning", "Run `alter extension vector update`"),
    ("0.7.4", "0.8.1", "wrong", "alter extension vector update"),
    ("0.7.4", "0.7.4", "wrong", "Install pgvector 0.8 or newer"),
    ("0.7.4", None, "wrong", "Install pgvector 0.8 or newer"),
    (None, "0.7.4", "wrong", "Install pgvector 0.8 or newer"),
    (None, None, "wrong", "Install pgvector 0.8 or newer"),
])  # fmt: skip
def test_pgvector(extension, available, level, remedy):
    finding = schema._vector_finding(extension, available)
    assert finding.level == level
    assert finding.ok is (level != "wrong")
    assert remedy in finding.remedy
    assert bool(finding.remedy) is (level != "ok")


@pytest.mark.parametrize(("version", "faults"), [
    ("0.8.0", ["CVE-2026-3172", "may corrupt", "may fail"]),
    ("0.8.2", ["may corrupt", "may fail"]),
    ("0.8.3", ["may fail"]),
])  # fmt: skip
def test_a_pgvector_with_faults_names_those_of_its_version(version, faults):
    message = schema._vector_finding(version, version).message
    assert [
        fault for fault in ("CVE-2026-3172", "may corrupt", "may fail") if fault in message
    ] == faults


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
    (tmp_path / "layers.txt").write_text("text  terms\n")
    with pytest.raises(errors.DatabaseError, match=r"folders search of .* no line in layers\.txt"):
        function_files(tmp_path)


def test_revisions_follow_each_other_and_files_carry_their_names():
    names, head = schema._revisions()
    files = sorted((schema.alembic_root() / "versions").glob("*.py"))
    assert head in names
    assert len(names) == len(files)
    assert sorted(names) == [file.stem for file in files]
    # A package of this name would hide the library of the same name.
    assert not (schema.alembic_root() / "__init__.py").exists()


@pytest.mark.parametrize(("version", "number", "level"), [
    ("15.9", 150009, "wrong"),
    ("16.0", 160000, "warning"),
    ("16.4", 160004, "warning"),
    ("16.5", 160005, "ok"),
    ("17.0", 170000, "warning"),
    ("17.1", 170001, "ok"),
    ("18.4", 180004, "ok"),
])  # fmt: skip
def test_servers(version, number, level):
    finding = schema._server_finding(version, number)
    assert finding.level == level
    assert version in finding.message
    assert (finding.remedy == "") == (level == "ok")
    assert ("CVE-2024-10976" in finding.message) == (level == "warning")
