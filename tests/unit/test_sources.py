"""Folders, files and commits as sources."""

import os
from pathlib import Path

import pytest
from git_server import commit, run_git
from trees import contents, keys, write

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.source import digest_of, read_file
from pgrag.ingest.source.sources import discover


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose tag v1 has other files than its working tree."""
    root = tmp_path / "repository"
    write(root, "README.md", "docs/a.md", "docs/Über uns/b.md", "docs/.hidden/x.md", "docs/c.txt")
    (root / "docs" / "link.md").symlink_to("a.md")
    commit(root)
    run_git(root, "tag", "v1")
    (root / "docs" / "a.md").write_text("changed\n")
    (root / "docs" / "Über uns" / "b.md").unlink()
    return root


def test_a_folder_gives_its_documentation_in_the_order_of_keys(tmp_path):
    write(tmp_path, "b.md", "a/z.markdown", "a/b.mdx", "A.MD", "a.txt", "a/c.md.bak", "ä.md")
    write(tmp_path, ".git/x.md", ".obsidian/x.md", "b/node_modules/x.md", "b/.cache/x.md")
    with discover(str(tmp_path)) as source:
        files = list(source.files())
        assert [file.key for file in files] == ["A.MD", "a/b.mdx", "a/z.markdown", "b.md", "ä.md"]
        assert files[1].read() == b"# a/b.mdx\n"
        assert (len(source), source.warnings, source.revision) == (5, (), None)


def test_a_single_file_or_what_include_exclude_and_subfolder_leave(tmp_path):
    write(tmp_path, "docs/a.md", "docs/old/b.md", "docs/guide/c.md", "blog/d.md")
    some = {"include": ["docs/**"], "exclude": ["**/old/**"]}
    assert keys(tmp_path, **some) == ["docs/a.md", "docs/guide/c.md"]
    assert keys(tmp_path, subfolder="docs/") == ["a.md", "guide/c.md", "old/b.md"]
    some = {"include": ["*.md"], "exclude": ["c.md"]}
    assert keys(tmp_path, subfolder="docs", **some) == ["a.md", "old/b.md"]
    write(tmp_path, "notes.txt", "b.md")
    assert contents(tmp_path / "notes.txt") == {"notes.txt": b"# notes.txt\n"}


def test_links_neither_loop_nor_leave_nor_double(tmp_path):
    root = tmp_path / "root"
    write(root, "a.md", "sub/b.md", "sub/text.txt")
    write(tmp_path, "outside/secret.md")
    (root / "loop").symlink_to(root)
    (root / "sub" / "up").symlink_to("..")
    (root / "self.md").symlink_to("self.md")
    (root / "same.md").symlink_to("a.md")
    (root / "other.md").symlink_to("sub/text.txt")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "secret.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "gone.md").symlink_to("nowhere.md")
    with discover(str(root)) as source:
        assert [file.key for file in source.files()] == ["a.md", "other.md", "sub/b.md"]
        assert source.warnings == (
            "gone.md: is a symbolic link that leads nowhere; skipped",
            "out: is a symbolic link out of the folder; skipped",
            "secret.md: is a symbolic link out of the folder; skipped",
            "self.md: is a symbolic link that leads nowhere; skipped",
        )
    assert keys(root / "loop" / "sub") == ["b.md"]


def test_a_pipe_named_like_markdown_does_not_block(tmp_path):
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / ".gitignore")
    with discover(str(tmp_path)) as source:
        assert [file.key for file in source.files()] == ["a.md"]
        assert source.warnings == ("pipe.md: is not a regular file; skipped",)
    with pytest.raises(SourceError, match=r"pipe\.md: is neither a folder nor a regular file"):
        discover(str(tmp_path / "pipe.md"))


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_configuration_that_cannot_be_read_shows_no_generator(tmp_path, make):
    write(tmp_path, "a.md")
    make(tmp_path / "conf.py")
    with discover(str(tmp_path)) as source:
        assert source.generator() is None


def test_a_large_file_is_refused_by_the_setting_that_can_allow_it(repository, tmp_path):
    write(tmp_path, "docs/a.md")
    for folder, ref in ((tmp_path / "docs", None), (repository / "docs", "v1")):
        with discover(str(folder), ref=ref) as source:
            file = next(source.files())
            whole = file.read()
            assert file.read(len(whole)) == whole
            with pytest.raises(
                SourceError, match=r"a\.md: is larger than 3 bytes.* PGRAG_MAX_PAGE"
            ):
                file.read(3)
            assert file.read() == whole, "the next answer of git is whole"


def test_names_that_are_no_utf8_become_keys_that_are_told_apart(tmp_path):
    (tmp_path / os.fsdecode(b"K\xf6ln.md")).write_text("# Dom\n")
    (tmp_path / os.fsdecode(b"K\xfcln.md")).write_text("# Other\n")
    assert contents(tmp_path) == {r"K\xf6ln.md": b"# Dom\n", r"K\xfcln.md": b"# Other\n"}
    (tmp_path / r"K\xf6ln.md").write_text("# Other\n")
    with discover(str(tmp_path)) as source:
        assert [file.key for file in source.files()] == [r"K\xf6ln.md", r"K\xfcln.md"]
        [warning] = source.warnings
        assert r"b'K\xf6ln.md'" in warning
        assert r"b'K\\xf6ln.md'" in warning
        assert warning.endswith("the second is skipped")


def test_a_file_that_vanishes_or_becomes_a_pipe_or_a_link_is_not_read(tmp_path):
    write(tmp_path, "docs/a.md")
    with discover(str(tmp_path)) as source:
        (tmp_path / "docs" / "a.md").unlink()
        with pytest.raises(SourceError, match=r"docs/a\.md: cannot be read: No such file"):
            next(source.files()).read()
    write(tmp_path, "docs/a.md", "docs/b.md", "secret.md")
    with discover(str(tmp_path / "docs")) as source:
        for name in ("a.md", "b.md"):
            (tmp_path / "docs" / name).unlink()
        os.mkfifo(tmp_path / "docs" / "a.md")
        (tmp_path / "docs" / "b.md").symlink_to(tmp_path / "secret.md")
        a, b = source.files()
        with pytest.raises(SourceError, match=r"a\.md: cannot be read: it is not a regular file"):
            a.read()
        with pytest.raises(SourceError, match=r"b\.md: cannot be read: Too many levels"):
            b.read()


def test_sources_without_documentation_say_where_and_what_was_looked_for(tmp_path):
    write(tmp_path, "full/a.md", "other/a.svg", "programs/requirements.txt")
    (tmp_path / "empty").mkdir()
    for name, told in {
        "missing": "missing: no such file or folder",
        "~nobody-of-this-name": "~nobody-of-this-name: no such file or folder",
        "x" * 300: "xxx: cannot be read: File name too long",
        "empty": r"empty: no documentation in it \(looked for Markdown, ",
        "other": r"other: no documentation in it \(looked for Markdown, ",
    }.items():
        with pytest.raises(SourceError, match=told):
            discover(name if name[0] == "~" else str(tmp_path / name))
    with pytest.raises(SourceError, match="skipped are text for programs") as told:
        discover(str(tmp_path / "programs"))
    assert told.value.hint == "To read them as well: --include '**/*.txt' --include '**'."
    with pytest.raises(SourceError, match="full: include and exclude leave none of its 1 files"):
        discover(str(tmp_path / "full"), exclude=["*.md"])
    with pytest.raises(SourceError, match="has no folder 'docs'"):
        discover(str(tmp_path / "full"), subfolder="docs")


def test_a_forbidden_folder_is_named(tmp_path, monkeypatch):
    """The system's answer is made up here, because root may read everything."""
    write(tmp_path, "a.md", "locked/b.md")
    scandir = os.scandir

    def refuse(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(SourceError, match="locked: cannot be read: Permission denied"):
        discover(str(tmp_path))


def test_a_commit_is_read_whatever_is_checked_out(repository):
    with discover(str(repository), ref="v1", subfolder="docs") as source:
        files = list(source.files())
        assert [file.key for file in files] == ["a.md", "Über uns/b.md"]
        assert [file.read().decode() for file in files] == [
            "# docs/a.md\n",
            "# docs/Über uns/b.md\n",
        ]
        assert source.revision == run_git(repository, "rev-parse", "v1")
        assert source.location.endswith("repository/docs at v1")
    assert keys(repository, ref="main") == ["README.md", "docs/a.md", "docs/Über uns/b.md"]
    assert keys(repository / "docs", ref="v1", include=["**/b.md"]) == ["Über uns/b.md"]
    assert keys(repository) == ["README.md", "docs/a.md"]
    with discover(str(repository), ref="v1") as source:
        files = list(source.files())
        read = [file.read() for file in reversed(files)][::-1]
        assert read == [file.read() for file in files]
        assert [file.digest for file in files] == [digest_of(each) for each in read]
    (repository / "my docs" / "the guide").mkdir(parents=True)
    (repository / "my docs" / "the guide" / "a.md").write_text("# A\n")
    commit(repository)
    assert keys(repository, ref="main", subfolder="my docs/the guide") == ["a.md"]


def test_a_ref_needs_a_repository_and_documentation_in_it(repository, tmp_path):
    write(tmp_path, "plain/a.md")
    with pytest.raises(SourceError, match="not a git repository"):
        discover(str(tmp_path / "plain"), ref="main")
    with pytest.raises(SourceError, match="docs2 at v1: no documentation in it"):
        discover(str(repository), ref="v1", subfolder="docs2")
    with pytest.raises(SourceError, match="is a file; a ref is read from a folder"):
        discover(str(repository / "README.md"), ref="v1")
    for ref in ["nowhere", "--help", "v1:docs", ""]:
        with pytest.raises(SourceError, match="no branch, tag or commit"):
            discover(str(repository), ref=ref)


def test_files_are_read_where_the_system_lacks_flags(tmp_path, monkeypatch):
    """As on Windows."""
    write(tmp_path, "a.md")
    (tmp_path / "link.md").symlink_to("a.md")
    for flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC"):
        monkeypatch.delattr(os, flag)
    assert read_file(tmp_path / "a.md", 3) == b"# a"
    with pytest.raises(OSError, match="symbolic link"):
        read_file(tmp_path / "link.md")


def test_documentation_in_a_format_without_a_reader_is_named_with_what_to_do(tmp_path):
    write(tmp_path, "a.md", "paper.tex", "old/notes.ORG", "wiki/Home.textile", ".x/b.rtf", "c.py")
    write(tmp_path, {".gitignore": "ignored.org\n", "ignored.org": "x"})
    with discover(str(tmp_path)) as source:
        [group] = source.skipped
    assert (group.count, group.examples) == (3, ("old/notes.ORG", "paper.tex", "wiki/Home.textile"))
    assert group.reason == "in a format that cannot be read"
    assert "pandoc" in group.hint
    (tmp_path / "a.md").unlink()
    with pytest.raises(SourceError, match=r"no documentation in it; .* \(3: old/notes\.ORG, paper"):
        discover(str(tmp_path))
