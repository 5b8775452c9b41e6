"""The hook of pre-commit, installed from this repository, and run by `git commit`."""

import os
import subprocess
from pathlib import Path

import pytest
from git_server import commit

from pgrag.ground.embedded import EmbeddedServer

INSTALLED = os.environ.get("PGRAG_GENERATORS")
ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(INSTALLED is None, reason="make test-generators installs it")


def test_a_commit_that_breaks_a_link_is_refused(tmp_path):
    assert INSTALLED is not None
    programs = Path(INSTALLED).resolve() / "bin"
    identity = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org"}
    identity |= {"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
    home = tmp_path / "home"
    environment = {
        **os.environ, **identity, "PRE_COMMIT_HOME": str(tmp_path / "hooks"),
        "PGRAG_HOME": str(home), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        # What the gate has tested, rather than what is newest today.
        "PIP_CONSTRAINT": str(ROOT / "constraints.txt"),
    }  # fmt: skip

    def run(*command: str) -> tuple[int, str]:
        done = subprocess.run(
            command, cwd=project, env=environment, text=True, check=False, timeout=600,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.returncode, done.stdout

    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    revision = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {ROOT}\n    rev: {revision}\n    hooks:\n"
        "      - id: pgrag-links\n        args: [docs/]\n",
        "utf-8",
    )
    (project / "docs/a.md").write_text("# A\n\nSee [B](b.md#part).\n", "utf-8")
    (project / "docs/b.md").write_text("# B\n\n## Part\n\nText.\n", "utf-8")
    commit(project)
    assert run("pre-commit", "install")[0] == 0
    try:
        # The page that breaks is not the one that changes.
        (project / "docs/b.md").write_text("# B\n\n## Parts\n\nText.\n", "utf-8")
        status, said = run("git", "commit", "-a", "-m", "rename")
        assert status == 1, said
        assert "docs/a.md:3: docs/b.md has no heading or block #part" in said
        (project / "docs/a.md").write_text("# A\n\nSee [B](b.md#parts).\n", "utf-8")
        status, said = run("git", "commit", "-a", "-m", "rename")
        assert status == 0, said
        # Where no page changes, nothing is read.
        (project / "notes.cfg").write_text("a=1\n", "utf-8")
        run("git", "add", "-A")
        status, said = run("git", "commit", "-m", "other")
        assert status == 0, said
        assert "(no files to check)Skipped" in said
    finally:
        EmbeddedServer(home / "links").remove()
