"""`pgrag index LIBRARY https://…` as processes, one of which is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from pydantic import SecretStr
from website import Reply, Website, page

from pgrag.ground.settings import Settings
from pgrag.service.app import App

NAMES = [f"page-{first}{second}" for first in "abcdefgh" for second in "abcdefgh"]


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    return os.environ | {"PGRAG_DATABASE_URL": database_url}


def command(address: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "pgrag", "index", "kestrel", address, *options]


def pgrag(environment: dict[str, str], address: str, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(address, *options),
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_killed_crawl_continues_where_it_stopped(environment: dict[str, str]):
    pages = {"/": page("Home", "", *NAMES)} | {
        f"/{name}": Reply(page(name), seconds=0.05) for name in NAMES
    }
    with Website(pages) as site:
        run = subprocess.Popen(command(f"{site.url}/", "--allow-private"), env=environment)
        while len(site.sent) < 25:
            assert run.poll() is None
            time.sleep(0.02)
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
        before = {*site.sent}
        site.forget()
        done = pgrag(environment, f"{site.url}/", "--allow-private", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["written"] == len(NAMES) + 1
    assert len(before & {*site.asked}) <= 16, "only what was under way is asked again"


def test_the_address_names_the_version_and_the_options_are_remembered(environment: dict[str, str]):
    pages = {
        "/docs/4.2/": page("Home", "", "guide", "draft"),
        "/docs/4.2/guide": page("Guide"),
        "/docs/4.2/draft": page("Draft"),
    }
    with Website(pages) as site:
        address = f"{site.url}/docs/4.2/"
        refused = pgrag(environment, address)
        assert refused.returncode == 1
        assert "--allow-private" in refused.stderr
        done = pgrag(environment, address, "--allow-private", "--exclude", "draft")
        url = environment["PGRAG_DATABASE_URL"]
        with App(Settings(database_url=SecretStr(url), embedding_url=None)) as app:
            [row] = app.database.call("version_source", library="kestrel", version="4.2")
            again = app.index_again(
                {"library": "kestrel", "version": "4.2", "source": row["version_source"]}
            )
    assert (again.unchanged, again.written, again.removed) == (2, 0, 0)
    assert done.returncode == 0, done.stderr
    assert "kestrel 4.2 from" in done.stdout
    assert "Skipped, left out by include and exclude: " in done.stderr
