"""`pgrag index LIBRARY https://…` as processes, one of which is killed."""

import time

from command_line import CommandLine, kill
from pydantic import SecretStr
from website import Reply, Website, page

from pgrag.ground.settings import Settings
from pgrag.service.app import App

NAMES = [f"page-{first}{second}" for first in "abcdefgh" for second in "abcdefgh"]


def test_a_killed_crawl_continues_where_it_stopped(pgrag: CommandLine) -> None:
    pages = {"/": page("Home", "", *NAMES)} | {
        f"/{name}": Reply(page(name), seconds=0.05) for name in NAMES
    }
    pages[f"/{NAMES[-1]}"] = Reply(page(NAMES[-1]), seconds=1.5)
    with Website(pages) as site:
        run = pgrag.start("index", "kestrel", f"{site.url}/", "--allow-private")
        while len(site.sent) < 25:
            assert run.poll() is None
            time.sleep(0.02)
        kill(run)
        before = {*site.sent}
        site.forget()
        done = pgrag.json("index", "kestrel", f"{site.url}/", "--allow-private")
    assert done["written"] == len(NAMES) + 1
    assert done["seconds"] > 1.5, "the crawl counts, and its last page takes as long"
    assert len(before & {*site.asked}) <= 16, "only what was under way is asked again"


def test_the_address_names_the_version_and_the_options_are_remembered(pgrag: CommandLine) -> None:
    pages = {
        "/docs/4.2/": page("Home", "", "guide", "draft"),
        "/docs/4.2/guide": page("Guide"),
        "/docs/4.2/draft": page("Draft"),
    }
    with Website(pages) as site:
        address = f"{site.url}/docs/4.2/"
        assert "--allow-private" in pgrag.run("index", "kestrel", address, code=1).err
        done = pgrag.run("index", "kestrel", address, "--allow-private", "--exclude", "draft")
        url = pgrag.variables["PGRAG_DATABASE_URL"]
        with App(Settings(database_url=SecretStr(url), embedding_url=None)) as app:
            [row] = app.database.call("version_source", library="kestrel", version="4.2")
            again = app.index_again(
                {"library": "kestrel", "version": "4.2", "source": row["version_source"]}
            )
    assert (again.unchanged, again.written, again.removed) == (2, 0, 0)
    assert "kestrel 4.2 from" in done.out
    assert "Skipped, left out by include and exclude: " in done.err
