"""Repositories that want to run programs, to hold up a service or to fill its memory."""

import os
import subprocess
from pathlib import Path

import pytest
from git_server import commit, run_git
from trees import write

from pgrag.ground.errors import SourceError
from pgrag.ingest.source import git
from pgrag.ingest.source.selection import Selection
from pgrag.ingest.source.sources import discover, discover_tags


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    write(root, {"docs/a.md": "# a\n", "docs/b.md": "# b\n"})
    commit(root)
    return root


def object_of(repository: Path, what: str) -> Path:
    name = run_git(repository, "rev-parse", what)
    return repository / ".git" / "objects" / name[:2] / name[2:]


def read_all(repository: Path) -> dict[str, bytes | str]:
    """Do all that indexing does with a repository; errors in place of contents."""
    found: dict[str, bytes | str] = {}
    git.object_folders(repository)
    with discover(str(repository), ref="main") as source:
        source.generator()
        for file in source.files():
            try:
                found[file.key] = file.read()
            except SourceError as error:
                found[file.key] = str(error)
    return found


#: Settings with which git fetches the objects that a repository lacks.
LAZY = {
    "core.repositoryformatversion": "1",
    "extensions.partialClone": "origin",
    "remote.origin.promisor": "true",
    "remote.origin.url": "nowhere",
}
#: Settings of a repository that name a program.
PROGRAMS = (
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.askPass", "core.editor",
    "core.alternateRefsCommand", "core.gitProxy", "remote.origin.uploadpack", "credential.helper",
    "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.external", "gpg.program",
    "pager.ls-tree", "pager.rev-parse", "alias.rev-parse", "alias.ls-tree", "alias.cat-file",
    "uploadpack.packObjectsHook", "interactive.diffFilter",
)  # fmt: skip


@pytest.mark.parametrize("knows_lazy_fetch", [True, False])
def test_no_program_of_a_repository_is_started(repository, tmp_path, monkeypatch, knows_lazy_fetch):
    ran = tmp_path / "ran"
    ran.mkdir()
    object_of(repository, "main:docs/b.md").unlink()  # it would be fetched
    for setting in PROGRAMS:
        run_git(repository, "config", setting, f"touch '{ran}/{setting}'; false")
    for setting, value in {
        **LAZY,
        "protocol.allow": "always",
        "core.hooksPath": str(repository / "hooks"),
    }.items():
        run_git(repository, "config", setting, value)
    (repository / "hooks").mkdir()
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc"):
        (repository / "hooks" / hook).write_text(f"#!/bin/sh\ntouch '{ran}/{hook}'\n")
        (repository / "hooks" / hook).chmod(0o755)
    (repository / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    if not knows_lazy_fetch:
        monkeypatch.delitem(git.UNCONNECTED, "GIT_NO_LAZY_FETCH")
    found = read_all(repository)
    assert list(ran.iterdir()) == []
    assert found["docs/a.md"] == b"# a\n"
    assert "is not in the repository" in str(found["docs/b.md"]) or not knows_lazy_fetch


def test_the_trap_above_would_spring(repository, tmp_path):
    """Without the guards the same repository runs its program."""
    blob = object_of(repository, "main:docs/b.md")
    blob.unlink()
    uploadpack = {"remote.origin.uploadpack": f"touch '{tmp_path}/sprung'; false"}
    for setting, value in (LAZY | uploadpack).items():
        run_git(repository, "config", setting, value)
    subprocess.run(
        ["git", "-C", repository, "cat-file", "-p", blob.parent.name + blob.name],
        check=False,
        capture_output=True,
        env=os.environ | {"GIT_NO_LAZY_FETCH": "0"},
    )
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "pipe", ["config", "HEAD", "refs/heads/main", "packed-refs", "objects/info/alternates"]
)
def test_a_pipe_in_a_repository_holds_up_nobody(repository, monkeypatch, pipe):
    monkeypatch.setattr(git, "ANSWER_SECONDS", 0.5)
    if pipe == "packed-refs":
        (repository / ".git" / "refs" / "heads" / "main").unlink()
    (repository / ".git" / pipe).unlink(missing_ok=True)
    os.mkfifo(repository / ".git" / pipe)
    with pytest.raises(SourceError, match=r"did not end in|no branch|not a git repository"):
        read_all(repository)


def test_an_object_that_is_a_pipe_ends_the_reading(repository, monkeypatch):
    monkeypatch.setattr(git, "ANSWER_SECONDS", 1.0)
    blob = object_of(repository, "main:docs/a.md")
    blob.unlink()
    os.mkfifo(blob)
    found = read_all(repository)
    assert {key: str(value).endswith("git does not answer.") for key, value in found.items()} == {
        "docs/a.md": True,
        "docs/b.md": True,  # without another wait
    }


def test_a_tree_of_a_million_files_in_a_few_objects_fills_no_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(git, "LONGEST_LISTING", 1_000_000)
    run_git(tmp_path, "init", "-q", "-b", "main")
    leaf = run_git(tmp_path, "hash-object", "-w", "--stdin", given="# a\n")
    tree = run_git(
        tmp_path, "mktree", given="".join(f"100644 blob {leaf}\t{n}.md\n" for n in range(10))
    )
    for _ in range(5):
        rows = "".join(f"040000 tree {tree}\t{number}\n" for number in range(10))
        tree = run_git(tmp_path, "mktree", given=rows)
    commit = run_git(tmp_path, "commit-tree", "-m", "first", tree)
    run_git(tmp_path, "update-ref", "refs/heads/main", commit)
    with pytest.raises(SourceError, match=r"git ls-tree failed: it lists more than 1,000,000 byt"):
        discover(str(tmp_path), ref="main")


def test_submodules_worktrees_and_a_worktree_elsewhere_show_only_the_commit(repository, tmp_path):
    secret = tmp_path / "secret"
    write(secret, "s.md")
    head = run_git(repository, "rev-parse", "main")
    run_git(repository, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    (repository / ".gitmodules").write_text(f'[submodule "sub"]\npath = sub\nurl = {secret}\n')
    (repository / "docs" / "link.md").symlink_to(secret / "s.md")
    run_git(repository, "add", ".gitmodules", "docs")
    run_git(repository, "commit", "-q", "-m", "second")
    run_git(repository, "config", "core.worktree", str(secret))
    assert read_all(repository) == {"docs/a.md": b"# a\n", "docs/b.md": b"# b\n"}


def test_a_path_of_another_process_is_read_in_its_resolved_form(repository):
    """Below /proc/PID/root another file system may lie, though the path resolves to this one."""
    links = Path("/proc/self/cwd")
    if not links.exists():
        pytest.skip("no /proc here")
    source = links / os.path.relpath(repository)
    assert git.GitTree(source, "main", None).folder == repository.resolve()
    with discover(str(source), ref="main") as found:
        assert [file.read() for file in found.files()] == [b"# a\n", b"# b\n"]


def test_the_hook_of_another_repository_may_index_this_one(repository, tmp_path, monkeypatch):
    """Git tells a hook where its repository is, by the environment."""
    other = tmp_path / "other"
    write(other, "secret.md")
    commit(other)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert read_all(repository) == {"docs/a.md": b"# a\n", "docs/b.md": b"# b\n"}


def test_tags_with_odd_names_are_versions(repository):
    for tag in ("v1.0", "1²", b"v\xe9-4"):
        subprocess.run(["git", "tag", tag], cwd=repository, check=True)
    found = [label for label, _ in discover_tags(str(repository), "*", Selection())]
    assert found == ["1²", "1.0", r"v\xe9-4"]
