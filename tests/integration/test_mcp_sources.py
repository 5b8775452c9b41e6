"""Agents index archives and repositories, within the roots as folders."""

from __future__ import annotations

import zipfile

from git_server import run_git
from mcp_client import connected


def test_archives_and_repositories_are_indexed_below_the_roots(database_url, tmp_path, monkeypatch):
    root, outside = tmp_path / "docs", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
        with zipfile.ZipFile(folder / "buoys.zip", "w") as packed:
            packed.writestr("buoys/index.md", "# Buoys\n\nThey mark the channel.\n")
            packed.writestr("buoys/requirements.txt", "buoy==1.0\n")
    monkeypatch.chdir(root)  # an address is no path below it
    (root / "link.zip").symlink_to(outside / "buoys.zip")
    repository = root / "repository"
    repository.mkdir()
    run_git(repository, "init", "-q", "-b", "main")
    (repository / "index.md").write_text("# Buoys\n\nThey are green.\n")
    run_git(repository, "add", "-A")
    run_git(repository, "commit", "-q", "-m", "first")
    with connected(database_url, writes=True, roots=(root,)) as client:
        text, report = client.ok("index_docs", library="buoys", source=str(root / "buoys.zip"))
        assert report["written"] == 1
        [skipped] = report["skipped"]
        assert (skipped["reason"], skipped["count"]) == ("text for programs", 1)
        assert "- skipped, text for programs: 1 file" in text
        report = client.ok(
            "index_docs", library="green", source=f"{root}/repository", ref="main"
        )[1]  # fmt: skip
        assert report["written"] == 1
        for source in (outside / "buoys.zip", root / "link.zip", f"file://{outside}"):
            client.failed("index_docs", library="secret", source=str(source))
        assert "secret" not in client.ok("list_libraries")[0]
