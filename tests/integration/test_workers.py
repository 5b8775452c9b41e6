"""Workers: they index what jobs name, and nothing of a job is lost or done twice."""

import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import psycopg
import pytest
from git_server import run_git, serving
from mcp_service import eventually
from pipeline_runs import slow_pages
from psycopg.types.json import Jsonb

from pgrag.ground.errors import DatabaseUnavailable
from pgrag.ground.settings import Settings
from pgrag.ingest import child
from pgrag.ingest.source.uploads import UploadedPage
from pgrag.service import jobs
from pgrag.service.app import SENT_PAGES, App
from pgrag.service.worker import Worker, complete

PATIENCE = 60


@pytest.fixture
def app(database_url, tmp_path):
    settings = Settings(database_url=database_url, mcp_roots=(tmp_path,))
    with App(settings) as app:
        yield app


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    for number in range(12):
        (folder / f"page{number}.md").write_text(
            f"# UploadedPage {number}\n\nThe pump of {number}.\n"
        )
    return folder


def create(app: App, source: object, **arguments: Any) -> int:
    [row] = app.database.call(
        "create_job", library="manual", arguments=Jsonb({"source": str(source)}), **arguments
    )
    return int(row["create_job"])


def job(app: App, number: int) -> dict[str, Any]:
    [row] = app.database.call("job", wanted_id=number)
    return row


def upload(app: App, *files: tuple[str, list[bytes]], **arguments: Any) -> int:
    """A job of files, each with its pieces."""
    [row] = app.database.call(
        "create_job", library="manual", arguments=Jsonb(arguments), uploading=True
    )
    number = int(row["create_job"])
    for file, (name, pieces) in enumerate(files):
        for piece, data in enumerate(pieces):
            app.database.call(
                "_pgrag.add_upload_piece",
                job_id=number,
                file=file,
                piece=piece,
                name=name,
                data=data,
            )
    app.database.call("_pgrag.submit_upload", job_id=number)
    return number


def update(app: App, statement: str) -> None:
    with app.database.connection() as connection:
        connection.execute(statement)


@contextmanager
def running(app: App, **options: float) -> Iterator[Worker]:
    worker = Worker(app, **options)
    thread = Thread(target=worker.run, daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        worker.stop()
        thread.join(PATIENCE)
    assert not thread.is_alive()


def ended(app: App, number: int, state: str = "succeeded") -> dict[str, Any]:
    eventually(lambda: job(app, number)["state"] in jobs.ENDED)
    row = job(app, number)
    assert row["state"] == state, row
    return row


def test_a_worker_indexes_what_a_job_names_as_soon_as_it_is_made(app, docs):
    with running(app, poll=10 * PATIENCE):
        time.sleep(0.5)
        row = ended(app, create(app, docs))
    assert (row["report"]["written"], row["report"]["failed"]) == (12, {})
    assert row["report"]["source"] == str(docs)
    assert row["attempts"] == 1
    assert app.database.call("search", query="pump", library="manual")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"source": "http://127.0.0.1:9/", "allow_private": True}, "operator alone"),
        ({"source": "/"}, "outside the folders"),
        ({"source": "file:///etc"}, "not a source that others may name"),
        ({"source": "ssh://host/x"}, "not a source that others may name"),
        ({"source": "git@host:x"}, "not a source that others may name"),
        ({"source": "ext::sh"}, "not a source that others may name"),
        ({"source": "{docs}", "colour": "red"}, "colour"),
        ({"source": "{docs}", "patience": 10**9}, "patience"),
        ({"source": "{docs}", "in_child": 10**9}, "in_child"),
        ({"source": "{docs}", "progress": 10**9}, "progress"),
    ],
)
def test_a_job_that_cannot_be_done_fails_with_the_reason(app, docs, arguments, reason):
    given = arguments | {"source": arguments["source"].format(docs=docs)}
    [row] = app.database.call("create_job", library="manual", arguments=Jsonb(given))
    Worker(app).work()
    [failure] = ended(app, row["create_job"], "failed")["failures"]
    assert reason in failure["reason"]


@pytest.fixture
def tagged(tmp_path):
    """Served as notes.git: the tags v1.0 and v1.1 have a page, v0.9 has none."""
    root = tmp_path / "served"
    work = root / "work"
    work.mkdir(parents=True)
    run_git(work, "init", "-q", "-b", "main")
    for tag, text in {"v0.9": "", "v1.0": "Twice a day.", "v1.1": "High water twice."}.items():
        if text:
            (work / "tides.md").write_text(f"# Tides\n\n{text}\n")
        run_git(work, "add", "-A")
        run_git(work, "commit", "-q", "--allow-empty", "-m", tag)
        run_git(work, "tag", tag)
    run_git(root, "clone", "-q", "--bare", "work", "notes.git")
    with serving(root) as server:
        yield server


def test_only_jobs_of_the_operator_use_the_credentials_of_the_worker(
    app, tagged, tmp_path, monkeypatch
):
    home = tmp_path / "account"
    home.mkdir()
    (home / ".gitconfig").write_text("[credential]\n\thelper = store\n")
    place = tagged.url.removeprefix("http://").replace(":", "%3a")
    (home / ".git-credentials").write_text(f"http://ada:s3cr3t@{place}\n")
    monkeypatch.setenv("HOME", str(home))
    tagged.login = "ada:s3cr3t"
    source = f"{tagged.url}/notes.git"
    settings = Settings(database_url=app.settings.database_url, outgoing_allow=("127.0.0.0/8",))
    with App(settings) as app:
        own = create(app, source, confined=False)
        Worker(app).work()
        assert ended(app, own)["report"]["written"] == 1
        other = create(app, source, version="2.0")
        Worker(app).work()
        [failure] = job(app, other)["failures"]
        assert "needs a login" in failure["reason"]
        assert "s3cr3t" not in f"{job(app, own)}{job(app, other)}"


def test_every_tag_becomes_a_version_by_one_job(app, tagged):
    settings = Settings(database_url=app.settings.database_url, outgoing_allow=("127.0.0.0/8",))
    with App(settings) as app:
        arguments = {"source": f"{tagged.url}/notes.git", "tags": "v*"}
        [row] = app.database.call("create_job", library="manual", arguments=Jsonb(arguments))
        Worker(app).work()
        report = ended(app, row["create_job"])["report"]
        assert (report["versions"], report["written"]) == (["1.0", "1.1"], 2)
        assert "no documentation in it" in report["failed"]["0.9"]
        labels = {row["version"] for row in app.database.call("library_versions", library="manual")}
        assert labels == {"1.0", "1.1"}
        arguments["ref"] = "v1.0"
        [row] = app.database.call("create_job", library="manual", arguments=Jsonb(arguments))
        Worker(app).work()
        [failure] = ended(app, row["create_job"], "failed")["failures"]
        assert "Leave out version and ref" in failure["reason"]


def test_the_operator_may_name_any_folder(app, docs, tmp_path):
    with App(Settings(database_url=app.settings.database_url)) as narrow:
        number = create(narrow, docs, confined=False)
        Worker(narrow).work()
        ended(narrow, number)


def test_a_poisoned_job_fails_with_its_reasons_and_blocks_no_other(app, docs, tmp_path):
    poison, good = create(app, tmp_path / "gone", priority=9, version="1"), create(app, docs)
    with running(app, poll=0.2):
        ended(app, good)
        for _ in range(2):
            eventually(lambda: job(app, poison)["failures"])
            attempts = len(job(app, poison)["failures"])
            update(app, "update pgrag.jobs set run_at = now() where state = 'queued'")
            eventually(lambda: len(job(app, poison)["failures"]) > attempts)  # noqa: B023
    row = ended(app, poison, "failed")
    assert [failure["attempt"] for failure in row["failures"]] == [1, 2, 3]
    assert all("no such file or folder" in failure["reason"] for failure in row["failures"])


def test_progress_is_seen_and_a_running_job_is_cancelled(app, docs, monkeypatch):
    slow_pages(monkeypatch, 0.5)
    number = create(app, docs)
    with running(app):
        eventually(lambda: job(app, number)["progress"])
        assert job(app, number)["progress"]["total"] == 12
        assert app.database.call("cancel_job", job_id=number) == [{"cancel_job": "running"}]
        row = ended(app, number, "cancelled")
    assert row["failures"] == []


def test_a_worker_that_stops_gives_its_job_back(app, docs, monkeypatch):
    slow_pages(monkeypatch, 0.2)
    number = create(app, docs)
    with running(app):
        eventually(lambda: job(app, number)["state"] == "running")
    row = job(app, number)
    assert (row["state"], row["attempts"], row["failures"]) == ("queued", 0, [])
    monkeypatch.undo()
    with App(app.settings) as other, running(other):
        ended(app, number)


def test_a_job_waits_while_its_version_is_indexed_by_hand(app, docs):
    with app.database.lock("pgrag index manual"):
        number = create(app, docs)
        Worker(app).work()
        row = job(app, number)
        assert (row["state"], row["attempts"], row["failures"]) == ("queued", 0, [])
    update(app, "update pgrag.jobs set run_at = now()")
    Worker(app).work()
    ended(app, number)


def test_a_worker_that_loses_its_lease_stops_and_another_completes(app, docs, monkeypatch):
    slow_pages(monkeypatch, 0.3)
    number = create(app, docs)
    with App(app.settings) as other, running(app):
        eventually(lambda: job(app, number)["progress"])
        update(app, "update pgrag.jobs set leased_until = now() - interval '1 s'")
        other.database.call("_pgrag.claim_job", worker="sweeper", wanted_id=-1)
        update(app, "update pgrag.jobs set run_at = now() where state = 'queued'")
        row = ended(app, number)
    [failure] = row["failures"]
    assert "gave no sign" in failure["reason"]
    assert row["attempts"] == 2
    assert app.database.call("check_library", library="manual") == []


def _is_done_if_due(app: App, number: int) -> bool:
    with suppress(DatabaseUnavailable):  # it was a connection of the test
        update(app, "update pgrag.jobs set run_at = now() where state = 'queued'")
        return job(app, number)["state"] in jobs.ENDED
    return False


def test_a_worker_survives_the_end_of_all_its_sessions(app, docs, database_url):
    with running(app, poll=0.2):
        for round_number in range(3):
            number = create(app, docs, version=str(round_number))
            with psycopg.connect(database_url, autocommit=True) as connection:
                connection.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where datname = current_database() and pid <> pg_backend_pid()"
                )
            eventually(lambda: _is_done_if_due(app, number))  # noqa: B023
            assert job(app, number)["state"] == "succeeded"


def test_an_upload_is_indexed_by_any_worker_and_removes_nothing(app, docs):
    ended_number = create(app, docs)
    Worker(app).work()
    ended(app, ended_number)
    pieces = [b"# Seal\n\n", b"The gasket leaks.\n"]
    number = upload(app, ("guide/seal.md", pieces), ("page3.md", pieces), adds=True)
    Worker(app).work()
    report = ended(app, number)["report"]
    assert (report["written"], report["removed"], report["source"]) == (2, 0, f"upload {number}")
    assert len(app.database.call("pages", library="manual")) == 13
    [hit, *_] = app.database.call("search", query="gasket", library="manual")
    assert hit["key"] in {"guide/seal.md", "page3.md"}
    [source] = app.database.call("version_source", library="manual")
    assert source["version_source"]["location"] == str(docs), "the folder can be indexed again"


def test_a_large_upload_is_never_in_memory_as_a_whole(app):
    number = upload(app, ("a.md", [b"The valve closes at noon.\n" * 40_000] * 40))
    tracemalloc.start()
    try:
        Worker(app).work()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "a.md" in ended(app, number)["report"]["failed"]
    assert peak < 15_000_000


def test_lines_of_json_are_pages_and_a_bad_line_is_told(app):
    lines = (
        b'{"key": "a.md", "content": "# A\\n\\nThe valve.", "properties": {"type": "guide"}}\n'
        b"nonsense\n"
        b'{"key": "b.md", "content": "# B\\n\\nThe tank."}\n'
        b'{"key": "../c.md", "content": "# C"}\n'
    )
    number = upload(app, ("pages.ndjson", [lines]))
    Worker(app).work()
    report = ended(app, number)["report"]
    assert report["written"] == 2
    assert [warning.partition(":")[0] for warning in report["warnings"]] == ["line 2", "line 4"]
    [page] = [row for row in app.database.call("pages", library="manual") if row["key"] == "a.md"]
    assert page["type"] == "guide"


_UNPACKS = """
import sys, time
from pgrag.ingest.source.uploads import upload_folder
with upload_folder() as folder:
    (folder / "a.md").write_text("# A")
    print(folder, flush=True)
    sys.stdin.read()
"""


def unpacking() -> tuple[subprocess.Popen[str], Path]:
    """A process that has unpacked an upload, and where."""
    process = subprocess.Popen(
        [sys.executable, "-c", _UNPACKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    return process, Path(process.stdout.readline().strip())


def test_what_a_killed_worker_has_unpacked_is_removed_by_the_next_one(app, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (killed, left), (busy, used) = unpacking(), unpacking()
    with killed, busy:
        killed.kill()
        killed.wait()
        assert (left / "a.md").exists()
        with running(app):
            eventually(lambda: not left.exists())
            assert (used / "a.md").exists(), "another worker reads it"
        busy.communicate("")
    assert list(tmp_path.glob("pgrag-upload-*")) == []


def test_a_job_is_completed_without_any_other_worker(app, docs):
    seen = []
    row = complete(app, create(app, docs), seen.append)
    assert row["state"] == "succeeded"
    assert seen[0]["state"] == "queued"


def test_a_job_that_another_worker_has_is_waited_for(app, docs, monkeypatch):
    slow_pages(monkeypatch, 0.2)
    number = create(app, docs)
    with App(app.settings) as other, running(other):
        eventually(lambda: job(app, number)["state"] == "running")
        seen = []
        row = complete(app, number, seen.append)
    assert row["state"] == "succeeded"
    assert any(each["progress"] for each in seen)


def test_pages_that_are_sent_are_read_by_the_same_processes_until_the_end(app, monkeypatch):
    start, started = child._started, []

    def noticed(limits: child.Limits) -> Any:
        started.append(start(limits))
        return started[-1]

    monkeypatch.setattr(child, "_started", noticed)
    for number in range(3):
        page = UploadedPage(f"{number}.md", b"# Valve\n\nClose it.")
        assert app.send_pages("manual", "", [page]).written == 1
    assert 1 <= len(started) <= SENT_PAGES
    assert {process.poll() for process in started} == {None}
    app.close()
    assert None not in {process.poll() for process in started}
