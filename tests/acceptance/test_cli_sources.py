"""`pgrag index` with the sources that people have: archives, repositories, tags."""

import zipfile

import pytest
from git_server import run_git, serving


@pytest.fixture
def repository(tmp_path):
    """A repository whose tag v0.1 has no page yet."""
    root = tmp_path / "repository"
    root.mkdir()
    run_git(root, "init", "-q", "-b", "main")
    (root / "Makefile").write_text("all:\n")
    for tag in ("v0.1", "v1.0", "v1.1"):
        if tag != "v0.1":
            (root / "boiler.md").write_text(f"# Boiler\n\nThe boiler of {tag} is descaled.\n")
            (root / "cup.md").write_text("# Cup\n\nThe cup holds a third of a litre.\n")
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "--allow-empty", "-m", tag)
        run_git(root, "tag", tag)
    return root


def test_every_tag_becomes_a_version(pgrag, repository):
    done = pgrag.run("index", "kettle", repository, "--tags", "v*", code=1)
    assert "kettle 0.1: " in done.err
    assert "no documentation in it" in done.err
    assert done.out.index("kettle 1.0 from ") < done.out.index("kettle 1.1 from ")
    versions = pgrag.json("versions", "kettle")
    assert {row["version"]: row["pages"] for row in versions} == {"1.0": 2, "1.1": 2}
    hit, *_ = pgrag.hits("search", "descaled boiler", "--library", "kettle", "--version", "1.0")
    assert "boiler of v1.0" in hit["content"]

    again = pgrag.run("index", "kettle", repository, "--tags", "v1.*").out
    assert again.count("Nothing changed in kettle 1.") == 2
    [report] = pgrag.json("index", "cups", repository, "--tags", "v1.0")
    assert report["version"] == "1.0"
    assert report["report"]["source"] == f"{repository} at v1.0"

    refused = pgrag.run("index", "kettle@1", repository, "--tags", "v*", code=2).err
    assert "Invalid value for --tags" in refused
    missing = pgrag.run("index", "kettle", repository, "--tags", "x*", code=1).err
    assert "no tag matches 'x*'" in missing
    assert "v1.1" in missing


def test_the_address_of_a_repository_is_read_again_as_it_was(pgrag, repository, tmp_path):
    run_git(tmp_path, "clone", "-q", "--bare", str(repository), "kettle.git")
    pgrag.variables["PGRAG_OUTGOING_ALLOW"] = "127.0.0.0/8"
    pgrag.variables["PGRAG_HOME"] = str(tmp_path / "home")
    with serving(tmp_path) as server:
        url = f"{server.url}/kettle.git"
        pgrag.run("index", "kettle@1.0", url.replace("//", "//ada:s3cr3t@"), "--ref", "v1.0")
        [version] = pgrag.json("versions", "kettle")
        assert "s3cr3t" not in str(version)
        kept = pgrag.run("index", "kettle@1.0", url, "--ref", "v1.0").out
        assert "Nothing changed in kettle 1.0: 2 pages" in kept
        (tmp_path / "types.yaml").write_text("page_types:\n  default:\n    chunk_profile: long\n")
        pgrag.run("config", "apply", "types.yaml")
        assert f"kettle 1.0 from {url}" in pgrag.run("index", "--changed-config").out
        refused = pgrag.run("index", "kettle", f"{server.url}/none.git", code=1).err
        assert "there is no repository" in refused


def test_archives_say_what_they_skipped_and_one_reason_is_told_at_once(pgrag, tmp_path):
    with zipfile.ZipFile(tmp_path / "kettle.zip", "w") as packed:
        packed.writestr("kettle-1.0/boiler.md", "# Boiler\n\nThe boiler is descaled.\n")
        packed.writestr("kettle-1.0/../../up.md", "# Up\n")
        packed.writestr("kettle-1.0/requirements.txt", "descaler==1.0\n")
    done = pgrag.run("index", "kettle", tmp_path / "kettle.zip")
    assert "1 page written" in done.out
    assert "Skipped, names that lead out of the archive: kettle-1.0/../../up.md.\n" in done.err
    skipped = "Skipped, text for programs: requirements.txt. To read them as well: --include '**/"
    assert skipped in done.err
    assert "Nothing changed" in pgrag.run("index", "kettle", tmp_path / "kettle.zip").out
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "boiler.md").write_text("# Boiler\n\nThe boiler is descaled.\n")
    for number in range(5):
        (docs / f"note-{number}.txt").write_text("A note.\n")
        (docs / f"broken-{number}.md").write_bytes(bytes(range(1, 30)) * 50)
    done = pgrag.run("index", "kettle", docs, code=1)
    said = " ".join(done.err.split())
    assert (
        "Skipped, plain text beside other formats: 5 files (note-0.txt, note-1.txt, note-2.txt …)."
        " To read them as well: --include '**/*.txt' --include '**'."
    ) in said
    assert said.count("error: ") == 1
    assert "error: 5 files (broken-0.md, broken-1.md, broken-2.md …): is binary (" in said
    report = pgrag.attempt("index", "kettle", docs, "--json").json
    assert len(report["failed"]) == 5
    assert [(group["count"], group["reason"]) for group in report["skipped"]] == [
        (5, "plain text beside other formats")
    ]
