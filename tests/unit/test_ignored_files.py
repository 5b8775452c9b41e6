"""Files that `.gitignore` and `.ignore` leave out of a source."""

import pytest
from git_server import commit, run_git
from trees import keys, write

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.sources import discover

RULES = {
    ".gitignore": "# what the build makes\nbuild/\n*.draft.md\n/top.md\n!kept.draft.md\n",
    ".ignore": "old/\n!build/\n/build/*\n!/build/readme.md\n",
    "guide/.gitignore": "!plan.draft.md\nsecret.md\n",
    "guide/deep/.gitignore": "*.md\n!**/one.md\n",
}
KEPT = ["a.md", "build/readme.md", "guide/deep/one.md", "guide/plan.draft.md", "guide/top.md",
        "kept.draft.md"]  # fmt: skip
IGNORED = ["build/b.md", "c.draft.md", "guide/deep/two.md", "guide/old/b.md", "guide/secret.md",
           "old/x.md", "old/y/z.md", "top.md"]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "project"
    write(root, RULES | {name: f"# {name}\n" for name in KEPT + IGNORED})
    return root


def test_nested_files_negations_and_precedence_count_unless_they_are_refused(folder):
    with discover(str(folder)) as source:
        assert [file.key for file in source.files()] == KEPT
        assert source.ignored == len(IGNORED)
    with discover(str(folder), include_ignored=True) as source:
        assert [file.key for file in source.files()] == sorted(KEPT + IGNORED)
        assert source.ignored == 0
        assert source.arguments is not None
        assert source.arguments["include_ignored"] is True


def test_gitignore_means_what_git_means(folder):
    (folder / ".ignore").unlink()
    (folder / ".gitignore").write_text(
        "\ufeffbuild/\r\n*.draft.md\r\n\n\\#x.md\ntrailing.md   \n[a-c]?.md\n!\n/**/y/\nguide/*/\n"
    )
    more = ["#x.md", "trailing.md", "b1.md", "d1.md", "guide/a/x.md", "x/guide/a/x.md"]
    write(folder, dict.fromkeys(more, "# x\n"))
    run_git(folder, "init", "-q")
    listed = run_git(folder, "-c", "core.quotePath=off", "ls-files", "-co", "--exclude-standard")
    expected = sorted(name for name in listed.splitlines() if name.endswith(".md"))
    assert keys(folder) == expected
    assert "d1.md" in expected


def test_rules_around_the_source_count_unless_it_is_named_itself(folder):
    assert keys(folder, subfolder="guide") == ["deep/one.md", "plan.draft.md", "top.md"]
    write(folder, {"guide/new.draft.md": "# New\n"})
    assert "new.draft.md" in keys(folder / "guide")
    run_git(folder, "init", "-q")
    expected = ["deep/one.md", "plan.draft.md", "top.md"]
    assert keys(folder / "guide") == expected
    assert keys(folder, subfolder="guide") == expected
    run_git(folder, "init", "-q")
    assert keys(folder / "old") == ["x.md", "y/z.md"]


def test_a_commit_follows_the_ignore_files_in_it(folder):
    commit(folder, "-f")
    (folder / ".gitignore").unlink()
    with discover(str(folder), ref="main") as source:
        assert [file.key for file in source.files()] == KEPT
        assert source.ignored == len(IGNORED)
    assert keys(folder, ref="main", subfolder="guide") == ["deep/one.md", "plan.draft.md", "top.md"]
    assert keys(folder, ref="main", include_ignored=True) == sorted(KEPT + IGNORED)


def test_dependencies_in_an_ignored_folder_are_not_counted(tmp_path):
    files = ["a.md", "venv/x/README.md", "venv/.cache/b.md", "venv/node_modules/c.md", "venv/t.txt"]
    write(tmp_path, {".gitignore": "venv\n"} | dict.fromkeys(files, "# x\n"))
    with discover(str(tmp_path)) as source:
        assert [file.key for file in source.files()] == ["a.md"]
        assert source.ignored == 1


def test_a_source_that_is_ignored_whole_says_so(tmp_path):
    write(tmp_path, {".ignore": "*.md\n", "a.md": "# A\n", "b/c.md": "# C\n"})
    with pytest.raises(SourceError, match=r"\.gitignore and \.ignore leave out all 2") as caught:
        discover(str(tmp_path))
    assert "--include-ignored" in str(caught.value.hint)


def test_an_ignore_file_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    """The system's answer is made up here, because root may read everything."""
    write(tmp_path, {".gitignore": "a.md\n", "a.md": "# A\n"})

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pgrag.ingest.source.folder.read_file", refuse)
    with discover(str(tmp_path)) as source:
        assert source.warnings == (".gitignore: cannot be read: Permission denied; not followed",)
        assert len(source) == 1


def test_a_link_is_ignored_by_its_own_name(tmp_path):
    write(tmp_path, {".gitignore": "link.md\n", "a.txt": "# A\n", "b.md": "# B\n"})
    (tmp_path / "link.md").symlink_to("a.txt")
    (tmp_path / "other.md").symlink_to("a.txt")
    with discover(str(tmp_path)) as source:
        assert [file.key for file in source.files()] == ["b.md", "other.md"]
        assert source.ignored == 1
