"""Tools that write, and the tools that have Context7's names."""

import os
import zipfile

import anyio
import pipeline_runs
import psycopg
import pytest
from api_corpus import SOURCES, write
from git_server import commit, run_git
from mcp_client import connected
from website import Reply, Website, page

from pgrag.ingest.source import git as git_source

WRITING = {"index_docs", "remove_docs"}


@pytest.fixture(scope="module")
def reader(harbour_url):
    with connected(harbour_url) as client:
        yield client


@pytest.fixture
def writer(database_url):
    with connected(database_url, writes=True) as client:
        yield client


def test_tools_that_write_are_offered_only_where_they_may(reader):
    assert not WRITING & reader.tools().keys()
    for name in WRITING:
        with pytest.raises(Exception, match="There is no tool"):
            reader.call(name, {"library": "harbour", "source": "/", "version": "*"})


def test_what_is_indexed_is_found_and_what_is_removed_is_gone(writer, tmp_path):
    tools = writer.tools()
    assert tools.keys() >= WRITING
    assert tools["remove_docs"].annotations.destructive_hint
    folder = str(write(SOURCES[1], tmp_path))
    planned, plan = writer.ok("index_docs", library="Harbour", source=folder, dry_run=True)
    assert plan["written"] == 4
    assert "would be written" in planned
    _, same = writer.ok("scrape_docs", library="Harbour", url=folder, dry_run=True)
    assert same["written"] == 4
    assert "scope: there is no such argument" in writer.failed(
        "scrape_docs", library="Harbour", url=folder, scope="domain"
    )
    assert writer.ok("find_library")[1]["libraries"] == []
    arguments = {"library": "harbour", "version": "2.1", "source": folder}
    report, told = writer.heard("index_docs", **arguments)
    assert (report["written"], report["failed"], report["version"]) == (4, {}, "2.1")
    assert told[-1] == (4, 4, "4 of 4 pages read")
    assert "Spring tides" in writer.ok("search_docs", library="harbour", query="spring tides")[0]
    again = writer.ok("index_docs", **arguments)[1]
    assert (again["written"], again["unchanged"]) == (0, 4)
    writer.ok("index_docs", library="harbour", source=folder)
    gone, removed = writer.ok("remove_docs", library="harbour", version="-")
    assert removed == {"library": "harbour", "version": "-", "pages": 4}
    assert gone == "Removed harbour: 4 pages."
    assert writer.ok("remove_docs", library="harbour", version="*")[1]["pages"] == 4
    assert writer.ok("find_library")[1]["libraries"] == []


def test_a_website_is_fetched_before_its_pages_are_read(database_url):
    pages = {"/": page("Start", "", "/1", "/2"), **{f"/{n}": page(f"Buoy {n}") for n in (1, 2)}}
    with (
        Website({path: Reply(html, seconds=0.8) for path, html in pages.items()}) as site,
        connected(database_url, writes=True, allow_private=True) as writer,
    ):
        report, told = writer.heard("index_docs", library="buoys", source=site.url)
    assert report["written"] == 3
    stages = [message.rpartition(" ")[2] for *_, message in told]
    assert stages == sorted(stages), "fetched, then read"
    assert {*stages} == {"fetched", "read"}


def test_the_options_of_a_version_are_kept_and_what_cannot_be_is_told(writer, tmp_path):
    arguments = {"library": "harbour", "source": str(write(SOURCES[1], tmp_path))}
    first = writer.ok("index_docs", **arguments, base_url="https://harbour.example")[1]
    assert (first["slugs"], first["changes"]) == ("github", [])
    for blank in ({}, {"base_url": "", "language": "", "slugs": ""}):
        assert writer.ok("index_docs", **arguments, **blank)[1]["unchanged"] == 4
    text, other = writer.ok("index_docs", **arguments, slugs="hugo", base_url="https://h.example")
    assert other["changes"] == [
        "base URL: https://harbour.example → https://h.example; rewrites the URLs of 4 pages",
        "slug style: github → hugo; rewrites the anchors of 4 pages",
    ]
    assert f"- changed: {other['changes'][1]}" in text
    assert "slugs" in writer.failed("index_docs", **arguments, slugs="jekyll")
    writer.ok("remove_docs", library="harbour", version="*")
    missing = writer.failed("index_docs", library="harbour", source=str(tmp_path / "nowhere"))
    assert "nowhere" in missing
    assert "source: it is required" in writer.failed("index_docs", library="harbour")
    assert "library: it is required" in writer.failed("remove_docs", version="1")
    assert "version: it is required" in writer.failed("remove_docs", library="harbour")
    assert "find_library" in writer.failed("remove_docs", library="harbour", version="1")
    for odd in ("~nobody-of-this-name/docs", str(tmp_path / ("x" * 300))):
        assert odd in writer.failed("index_docs", library="harbour", source=odd)
    writer.ok("index_docs", library="harbour", source=str(write(SOURCES[1], tmp_path)))
    told = writer.failed("remove_docs", library="harbour", version="1")
    assert told == "harbour has no version '1'; nothing was removed. Its versions are: -."
    writer.ok("remove_docs", library="harbour", version="-")
    assert "**harbour**: nothing is indexed" in writer.ok("find_library")[0]


def test_only_what_lies_below_the_roots_is_indexed(database_url, tmp_path):
    root, secret = tmp_path / "docs", tmp_path / "docs-secret"
    for folder in (root / "guide", secret):
        folder.mkdir(parents=True)
        (folder / "page.md").write_text("# Buoys\n\nThey mark the channel.\n")
    (root / "link").symlink_to(secret)
    (root / "loop").symlink_to("loop")
    (root / "deep").symlink_to("guide")
    sources = (
        secret, tmp_path, root / ".." / "docs-secret", root / "link", root / "link" / "page.md",
        root / "loop", "~nobody-of-this-name", "page.md", "~",
    )  # fmt: skip
    subfolders = ("../docs-secret", "link", "deep/../guide")
    outside = [{"source": str(source)} for source in sources]
    outside += [{"source": str(root), "subfolder": subfolder} for subfolder in subfolders]
    with connected(database_url, writes=True, roots=(tmp_path / "none", root)) as client:
        for arguments in outside:
            told = client.failed("index_docs", library="buoys", **arguments)
            assert "outside the folders" in told, arguments
            assert str(root) in told
        for arguments in ({"source": str(root)}, {"source": str(root), "subfolder": "guide"}):
            assert client.ok("index_docs", library="buoys", **arguments)[1]["written"] == 1
    with connected(database_url, writes=True, roots=()) as client:
        told = client.failed("index_docs", library="buoys", source=str(root))
        assert "PGRAG_MCP_ROOTS" in told


def test_odd_paths_and_pipes_hold_up_nobody(database_url, tmp_path, monkeypatch):
    monkeypatch.setattr(git_source, "ANSWER_SECONDS", 0.5)
    root, secret = tmp_path / "docs", tmp_path / "secret"
    for folder in (root, secret):
        folder.mkdir()
        (folder / "page.md").write_text("# Buoys\n\nThey mark the channel.\n")
    run_git(root, "init", "-q", "-b", "main")
    (tmp_path / "alias").symlink_to(root)
    with connected(database_url, writes=True, roots=(tmp_path / "alias",)) as client:
        through = [
            f"/proc/self/root{secret}",
            f"/proc/{os.getpid()}/cwd/../{secret}",
            "/proc/1/cwd",
        ]
        for source in [f"{root}\0", f"{root}/\0/../../secret", f"{root}/\ud800", "\0", *through]:
            told = client.failed("index_docs", library="buoys", source=source)
            refusals = ("outside the folders", "arguments cannot be used")
            assert any(refusal in told for refusal in refusals), source
        for name in ("subfolder", "ref"):
            arguments = {"source": str(root), name: "a\0b"}
            told = client.failed("index_docs", library="buoys", **arguments)
            assert "log says why" not in told, name
        (root / ".git" / "HEAD").unlink()
        os.mkfifo(root / ".git" / "HEAD")
        told = client.failed("index_docs", library="buoys", source=str(root), ref="main")
        assert "did not end in" in told
        # the lock of indexing runs is free again, and a root may be reached by its other name
        for source in (root, tmp_path / "alias", f"/proc/self/root{root}"):
            assert client.ok("index_docs", library="buoys", source=str(source))[0]


def test_a_repository_reads_only_below_the_roots(database_url, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "page.md").write_text("# Buoys\n\nThey mark the channel.\n")
    commit(secret)
    root = tmp_path / "docs"
    for name in ("pointer", "alternate", "nested", "linked", "whole"):
        (root / name).mkdir(parents=True)
    (root / "pointer" / ".git").write_text(f"gitdir: {secret / '.git'}\n")
    for name in ("alternate", "nested", "linked"):
        run_git(root / name, "init", "-q", "-b", "main")
        head = root / name / ".git" / "refs" / "heads" / "main"
        head.write_bytes((secret / ".git" / "refs" / "heads" / "main").read_bytes())
    for name, other in (("alternate", secret), ("nested", root / "alternate")):
        alternates = root / name / ".git" / "objects" / "info" / "alternates"
        alternates.write_text(f"{other / '.git' / 'objects'}\n")
    objects = root / "linked" / ".git" / "objects"
    for entry in (secret / ".git" / "objects").iterdir():
        if len(entry.name) == 2:
            (objects / entry.name).symlink_to(entry)
    run_git(root / "whole", "clone", "-q", "--no-local", str(secret), ".")
    with connected(database_url, writes=True, roots=(root,)) as client:
        for name in ("pointer", "alternate", "nested", "linked"):
            arguments = {"source": str(root / name), "ref": "main"}
            told = client.failed("index_docs", library="buoys", **arguments)
            assert f"The repository of {root / name} reads from {secret}" in told, name
            assert "outside the folders that may be read for others" in told
        arguments = {"source": str(root / "whole"), "ref": "main"}
        assert client.ok("index_docs", library="buoys", **arguments)[1]["written"] == 1


def test_a_crash_of_a_parser_costs_a_page_and_not_the_service(writer, tmp_path, monkeypatch):
    pipeline_runs.write(tmp_path, pipeline_runs.GUIDE)
    monkeypatch.setattr("pgrag.ingest.reader.read_document", pipeline_runs.crashing_read_document)
    report = writer.ok("index_docs", library="guide", source=str(tmp_path))[1]
    assert report["written"] == 3
    assert report["failed"] == {
        "drain.md": "drain.md: cannot be read: its parser crashed (SIGSEGV)."
    }
    monkeypatch.undo()
    assert writer.ok("index_docs", library="guide", source=str(tmp_path))[1]["written"] == 1


def test_runs_take_turns_and_a_cancelled_one_ends(writer, tmp_path, monkeypatch):
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.md").write_text(f"# Buoy {number}\n\nIt marks the channel.\n")
    begun = pipeline_runs.slow_pages(monkeypatch, 0.1)
    arguments = {"library": "buoys", "source": str(folder)}

    async def leave():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.client.call_tool, "index_docs", arguments)
            await anyio.to_thread.run_sync(begun.wait, 30)
            tasks.cancel_scope.cancel()

    leaving = writer.portal.start_task_soon(leave)
    assert begun.wait(30)
    other = writer.ok("index_docs", **arguments | {"version": "2"})[1]
    assert (other["written"], other["failed"]) == (40, {})
    leaving.result(30)
    monkeypatch.undo()
    assert writer.ok("index_docs", **arguments)[1]["failed"] == {}
    with psycopg.connect(writer.app.url) as connection:
        jobs = connection.execute("select state from pgrag.jobs() order by job_id").fetchall()
    assert jobs == [("cancelled",), ("succeeded",), ("succeeded",)]


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
    (repository / "index.md").write_text("# Buoys\n\nThey are green.\n")
    commit(repository)
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
        assert "secret" not in client.ok("find_library")[0]


def test_tags_are_read_below_the_roots_only(database_url, tmp_path):
    root = tmp_path / "docs"
    for folder in (root / "repository", tmp_path / "outside"):
        folder.mkdir(parents=True)
        (folder / "index.md").write_text(f"# Buoys\n\nThose of {folder.name}.\n")
        commit(folder)
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


def test_an_agent_learns_that_its_operator_has_too_many_jobs(database_url, tmp_path):
    folder = str(write(SOURCES[1], tmp_path))
    with connected(database_url, writes=True, max_waiting_jobs=1) as client:
        client.app.database.query(
            "select pgrag.create_job('other', '{\"source\": \"/a\"}', run_at => 'tomorrow')"
        )
        said = client.failed("index_docs", library="harbour", source=folder)
        assert "it may not have more" in said
        assert "cancel some" in said
