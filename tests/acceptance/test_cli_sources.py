"""`pgrag index` with the sources that people have: archives, repositories, tags."""

import zipfile

import psycopg
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


def test_a_library_is_refreshed_from_where_it_came(pgrag, repository, tmp_path):
    folder = tmp_path / "cups"
    folder.mkdir()
    (folder / "cup.md").write_text("# Cup\n\nThe cup is blue.\n")
    (folder / "draft.md").write_text("# Draft\n\nNo cup.\n")
    pgrag.run("index", "cups", folder, "--exclude", "draft.md", "--base-url", "https://a.example")
    (folder / "cup.md").write_text("# Cup\n\nThe cup is green.\n")
    assert "1 page written, 0 unchanged" in pgrag.run("index", "cups").out
    [hit, *_] = pgrag.hits("search", "cup", "-l", "cups")
    assert "green" in hit["content"]
    assert hit["url"] == "https://a.example/cup"
    assert pgrag.json("index", "-l", "cups", "--dry-run")["unchanged"] == 1

    pgrag.run("index", "kettle@main", repository, "--ref", "main")
    pgrag.run("index", "kettle@1.0", repository, "--ref", "v1.0")
    (repository / "cup.md").write_text("# Cup\n\nThe cup holds a litre.\n")
    run_git(repository, "commit", "-q", "-a", "-m", "larger")
    both = pgrag.run("index", "kettle").out
    assert "Nothing changed in kettle 1.0: 2 pages" in both
    assert "1 page written, 1 unchanged" in both, "the branch has moved"
    assert "Nothing changed in kettle main" in pgrag.run("index", "kettle@main").out
    assert "several versions" in pgrag.run("index", "kettle", "--watch", code=2).err
    assert (
        "pgrag index LIBRARY SOURCE --tags"
        in pgrag.run("index", "kettle", "--tags", "v*", code=2).err
    )


def test_what_cannot_be_refreshed_says_the_way_out(pgrag, tmp_path):
    folder = tmp_path / "cups"
    folder.mkdir()
    (folder / "cup.md").write_text("# Cup\n\nThe cup is blue.\n")
    assert "pgrag index nothing SOURCE" in pgrag.run("index", "nothing", code=1).err
    assert f"pgrag index NAME {folder}" in pgrag.run("index", folder, code=1).err
    pgrag.run("index", "cups", folder)
    assert "pgrag index cups@9 SOURCE" in pgrag.run("index", "cups@9", code=1).err
    (folder / "cup.md").unlink()
    folder.rmdir()
    gone = pgrag.run("index", "cups", code=1).err
    assert f"{folder}: no such file or folder" in gone
    assert pgrag.hits("search", "cup", "-l", "cups"), "what was indexed stays"
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"]) as connection:
        connection.execute("update pgrag.versions set source = '{}'")
    assert "its source is not remembered" in pgrag.run("index", "cups", code=1).err
