"""Folders, files and commits as sources."""

import os
import subprocess
from pathlib import Path

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.source.file import read_file
from pgrag.ingest.source.source import digest_of
from pgrag.ingest.source.sources import discover


def write(root: Path, *keys: str) -> None:
    for key in keys:
        path = root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {key}\n")


def keys(source: Path | str, **options: object) -> list[str]:
    with discover(str(source), **options) as found:  # type: ignore[arg-type]
        return [file.key for file in found.files()]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose tag v1 has other files than its working tree."""
    root = tmp_path / "repository"
    write(root, "README.md", "docs/a.md", "docs/Über uns/b.md", "docs/.hidden/x.md", "docs/c.txt")
    (root / "docs" / "link.md").symlink_to("a.md")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    git(root, "tag", "v1")
    (root / "docs" / "a.md").write_text("changed\n")
    (root / "docs" / "Über uns" / "b.md").unlink()
    return root


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)
    return done.stdout.decode()


def test_a_folder_gives_its_markdown_in_the_order_of_keys(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.markdown", "a/b.mdx", "A.MD", "a.txt", "a/c.md.bak", "ä.md")
    with discover(str(tmp_path)) as source:
        files = list(source.files())
        assert [file.key for file in files] == ["A.MD", "a/b.mdx", "a/z.markdown", "b.md", "ä.md"]
        assert files[1].read() == b"# a/b.mdx\n"
        assert len(source) == 5
        assert source.warnings == ()
        assert source.revision is None


def test_hidden_folders_and_dependencies_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, "a.md", ".git/x.md", ".obsidian/x.md", "b/node_modules/x.md", "b/.cache/x.md")
    assert keys(tmp_path) == ["a.md"]


def test_include_exclude_and_subfolder(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "docs/old/b.md", "docs/guide/c.md", "blog/d.md")
    assert keys(tmp_path, include=["docs/**"], exclude=["**/old/**"]) == [
        "docs/a.md",
        "docs/guide/c.md",
    ]
    assert keys(tmp_path, subfolder="docs/") == ["a.md", "guide/c.md", "old/b.md"]
    assert keys(tmp_path, subfolder="docs", include=["*.md"], exclude=["c.md"]) == [
        "a.md",
        "old/b.md",
    ]


def test_a_single_file_whatever_its_suffix(tmp_path: Path) -> None:
    write(tmp_path, "notes.txt", "b.md")
    with discover(str(tmp_path / "notes.txt")) as source:
        assert [(file.key, file.read()) for file in source.files()] == [
            ("notes.txt", b"# notes.txt\n")
        ]


def test_links_neither_loop_nor_leave_nor_double(tmp_path: Path) -> None:
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


def test_a_pipe_named_like_markdown_does_not_block(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / ".gitignore")
    with discover(str(tmp_path)) as source:
        assert [file.key for file in source.files()] == ["a.md"]
        assert source.warnings == ("pipe.md: is not a regular file; skipped",)
    with pytest.raises(SourceError, match=r"pipe\.md: is neither a folder nor a regular file"):
        discover(str(tmp_path / "pipe.md"))


def test_a_file_that_becomes_a_pipe_or_a_link_is_not_read(tmp_path: Path) -> None:
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


def test_a_configuration_that_is_a_pipe_shows_no_generator(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    os.mkfifo(tmp_path / "conf.py")
    with discover(str(tmp_path)) as source:
        assert source.generator() is None


def test_a_large_file_is_refused_by_the_setting_that_can_allow_it(
    repository: Path, tmp_path: Path
) -> None:
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


def test_names_that_are_no_utf8_become_keys_that_are(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"K\xf6ln.md")).write_text("# Dom\n")
    (tmp_path / os.fsdecode(b"K\xfcln.md")).write_text("# Other\n")
    with discover(str(tmp_path)) as source:
        assert [(file.key, file.read()) for file in source.files()] == [
            (r"K\xf6ln.md", b"# Dom\n"),
            (r"K\xfcln.md", b"# Other\n"),
        ]
        assert source.warnings == ()


def test_two_names_of_one_key_are_both_named(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"K\xf6ln.md")).write_text("# Dom\n")
    (tmp_path / r"K\xf6ln.md").write_text("# Other\n")
    with discover(str(tmp_path)) as source:
        assert [file.key for file in source.files()] == [r"K\xf6ln.md"]
        [warning] = source.warnings
        assert r"b'K\xf6ln.md'" in warning
        assert r"b'K\\xf6ln.md'" in warning
        assert warning.endswith("the second is skipped")


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md")
    with discover(str(tmp_path)) as source:
        (tmp_path / "docs" / "a.md").unlink()
        with pytest.raises(SourceError, match=r"docs/a\.md: cannot be read: No such file"):
            next(source.files()).read()


def test_sources_without_documentation_say_where_and_what_was_looked_for(tmp_path: Path) -> None:
    write(tmp_path, "full/a.md", "other/a.svg", "programs/requirements.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SourceError, match=r"missing: no such file or folder"):
        discover(str(tmp_path / "missing"))
    with pytest.raises(SourceError, match=r"~nobody-of-this-name: no such file or folder"):
        discover("~nobody-of-this-name")
    with pytest.raises(SourceError, match=r"xxx: cannot be read: File name too long"):
        discover(str(tmp_path / ("x" * 300)))
    for name in ("empty", "other"):
        with pytest.raises(
            SourceError, match=rf"{name}: no documentation in it \(looked for Markdown, "
        ):
            discover(str(tmp_path / name))
    with pytest.raises(SourceError, match="skipped are text for programs") as told:
        discover(str(tmp_path / "programs"))
    assert told.value.hint == "To read them as well: --include '**/*.txt' --include '**'."
    with pytest.raises(SourceError, match="full: include and exclude leave none of its 1 files"):
        discover(str(tmp_path / "full"), exclude=["*.md"])
    with pytest.raises(SourceError, match="has no folder 'docs'"):
        discover(str(tmp_path / "full"), subfolder="docs")


def test_a_forbidden_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_commit_is_read_whatever_is_checked_out(repository: Path) -> None:
    with discover(str(repository), ref="v1", subfolder="docs") as source:
        assert [(file.key, file.read()) for file in source.files()] == [
            ("a.md", b"# docs/a.md\n"),
            ("Über uns/b.md", "# docs/Über uns/b.md\n".encode()),
        ]
        assert source.revision == git(repository, "rev-parse", "v1").strip()
        assert source.location.endswith("repository/docs at v1")
    assert keys(repository, ref="main") == ["README.md", "docs/a.md", "docs/Über uns/b.md"]
    assert keys(repository / "docs", ref="v1", include=["**/b.md"]) == ["Über uns/b.md"]
    assert keys(repository) == ["README.md", "docs/a.md"]


def test_a_commit_knows_the_digests_of_its_files_without_reading_them(repository: Path) -> None:
    with discover(str(repository), ref="v1") as source:
        for file in source.files():
            assert file.digest == digest_of(file.read())


def test_files_of_a_commit_are_read_in_any_order_and_again(repository: Path) -> None:
    with discover(str(repository), ref="v1") as source:
        files = list(source.files())
        contents = [file.read() for file in reversed(files)]
        assert contents[::-1] == [file.read() for file in files]


@pytest.mark.parametrize("ref", ["nowhere", "--help", "v1:docs", ""])
def test_an_unknown_ref_is_named(repository: Path, ref: str) -> None:
    with pytest.raises(SourceError, match="no branch, tag or commit"):
        discover(str(repository), ref=ref)


def test_a_ref_needs_a_repository_and_documentation_in_it(repository: Path, tmp_path: Path) -> None:
    write(tmp_path, "plain/a.md")
    with pytest.raises(SourceError, match="not a git repository"):
        discover(str(tmp_path / "plain"), ref="main")
    with pytest.raises(SourceError, match="docs2 at v1: no documentation in it"):
        discover(str(repository), ref="v1", subfolder="docs2")
    with pytest.raises(SourceError, match="is a file; a ref is read from a folder"):
        discover(str(repository / "README.md"), ref="v1")


def test_folders_of_a_commit_may_have_blanks_in_their_names(repository: Path) -> None:
    (repository / "my docs" / "the guide").mkdir(parents=True)
    (repository / "my docs" / "the guide" / "a.md").write_text("# A\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "second")
    assert keys(repository, ref="main", subfolder="my docs/the guide") == ["a.md"]


def test_a_configuration_that_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n")
    (tmp_path / "docs" / "conf.py").mkdir()
    with discover(str(tmp_path / "docs")) as source:
        assert source.generator() is None


def test_files_are_read_where_the_system_lacks_flags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows."""
    write(tmp_path, "a.md")
    (tmp_path / "link.md").symlink_to("a.md")
    for flag in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC"):
        monkeypatch.delattr(os, flag)
    assert read_file(tmp_path / "a.md", 3) == b"# a"
    with pytest.raises(OSError, match="symbolic link"):
        read_file(tmp_path / "link.md")
