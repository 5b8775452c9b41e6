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
    monkeypatch.chdir(root)  # an address is not a path below it
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


def test_tags_are_read_below_the_roots_only(database_url, tmp_path):
    root = tmp_path / "docs"
    for folder in (root / "repository", tmp_path / "outside"):
        folder.mkdir(parents=True)
        run_git(folder, "init", "-q", "-b", "main")
        (folder / "index.md").write_text(f"# Buoys\n\nThose of {folder.name}.\n")
        run_git(folder, "add", "-A")
        run_git(folder, "commit", "-q", "-m", "first")
        run_git(folder, "tag", "v1.0")
    borrower = root / "borrower"
    run_git(root, "clone", "-q", "--shared", str(tmp_path / "outside"), str(borrower))
    with connected(database_url, writes=True, roots=(root,)) as client:
        arguments = {"library": "buoys", "tags": "v*", "source": str(root / "repository")}
        planned = client.ok("index_docs", **arguments, dry_run=True)[1]
        assert (planned["versions"], planned["written"]) == (["1.0"], 1)
        text, report = client.ok("index_docs", **arguments)
        assert (report["versions"], report["written"]) == (["1.0"], 1)
        assert text.startswith("# buoys 1.0 from ")
        told = client.failed("index_docs", library="secret", tags="v*", source=str(borrower))
        assert "outside the folders" in told
        for wrong in ({"allow_private": True}, {"version": "1.0"}, {"max_pages": 0}):
            client.failed("index_docs", **arguments, **wrong)
