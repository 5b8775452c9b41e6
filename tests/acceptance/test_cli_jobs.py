"""`pgrag jobs`, `pgrag worker` and `pgrag index --job`, as a user calls them."""

import signal

import pytest
from service import eventually, served


@pytest.fixture
def folder(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "tides.md").write_text("# Tides\n\nThe sill dries at half tide.\n")
    return docs


def test_a_job_is_made_shown_cancelled_and_tried_again(pgrag, folder):
    made = pgrag.run("index", "notes@1.0", folder, "--job").out
    assert ": a worker will index notes@1.0" in made
    job = made.partition(":")[0].removeprefix("Job ")
    assert pgrag.json("index", "notes@1.0", folder, "--every", "1d")["job_id"] == int(job)
    listed = pgrag.run("jobs", "list").out
    assert "notes 1.0" in listed
    assert "queued" in listed
    shown = pgrag.run("jobs", "show", job).out
    assert f"Job {job}: notes 1.0 from {folder}" in shown
    assert "again 1 day, 0:00:00 after each end" in shown
    assert "cancelled" in pgrag.run("jobs", "cancel", job).out
    assert [row["state"] for row in pgrag.json("jobs", "list", "--state", "cancelled")] == [
        "cancelled"
    ]
    assert "queued again" in pgrag.run("jobs", "retry", job).out
    assert "There is no job 7" in pgrag.run("jobs", "cancel", "7", code=1).err
    refused = pgrag.run("index", "notes", folder, "--job", "--dry-run", code=2).err
    assert "cannot be combined with --job" in refused


def test_a_job_has_the_arguments_of_a_run_by_hand(pgrag, folder):
    site = "https://docs.example/kestrel/4.2/"
    made = pgrag.json(
        "index", "kestrel", site, "--max-pages", "9", "--allow-private", "--include", "a/{b,c}",
        "--include", "d", "--profile", "short", "--chunk-sizes", "150,900,1200", "--job",
    )  # fmt: skip
    assert made["version"] == "4.2"
    assert pgrag.json("jobs", "show", made["job_id"])["arguments"] == {
        "source": site, "max_pages": 9, "allow_private": True, "include": ["a/{b,c}", "d"],
        "profile": "short", "chunk_sizes": [150, 900, 1200],
    }  # fmt: skip
    tags = pgrag.json("index", "kestrel", folder, "--tags", "v*", "--job")
    assert pgrag.json("jobs", "show", tags["job_id"])["arguments"]["tags"] == "v*"
    assert "--tags" in pgrag.run("index", "kestrel@1", folder, "--tags", "v*", "--job", code=2).err


def test_a_worker_or_the_service_does_a_job_and_stops_when_told(pgrag, folder):
    with served(pgrag, "--no-worker"):
        job = pgrag.json("index", "notes", folder, "--job")["job_id"]
    assert pgrag.json("jobs", "show", job)["state"] == "queued"
    worker = pgrag.start("worker")
    try:
        eventually(lambda: pgrag.json("jobs", "show", job)["state"] == "succeeded")
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=120) == 0
    finally:
        worker.kill()
        worker.communicate()
    assert "1 page written" in pgrag.run("jobs", "show", job).out
    assert "Tides" in pgrag.run("search", "sill", "--library", "notes").out
    job = pgrag.json("index", "notes", folder, "--job")["job_id"]
    with served(pgrag):
        eventually(lambda: pgrag.json("jobs", "show", job)["state"] == "succeeded")
