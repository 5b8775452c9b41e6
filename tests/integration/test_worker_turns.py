"""No job keeps a worker from the jobs of others, and each comes to its end in turns."""

from threading import Event

import pytest
from mcp_service import eventually
from pipeline_runs import slow_pages
from psycopg.types.json import Jsonb
from test_workers import app, docs, ended, job, running, update
from website import Website, page

from pgrag.ground.callers import Caller, calling
from pgrag.ground.errors import Busy
from pgrag.ground.settings import Settings
from pgrag.ingest import writer
from pgrag.ingest.reader import Reader
from pgrag.service import jobs
from pgrag.service.app import App
from pgrag.service.worker import Worker, complete

__all__ = ["app", "docs"]


def ask(app, caller, source, library, **arguments):
    with calling(Caller(caller)):
        [row] = app.database.call(
            "create_job", library=library, arguments=Jsonb({"source": str(source), **arguments})
        )
    return row["create_job"]


def claims(app, number):
    return app.database.query("select claim from pgrag.jobs where job_id = %s", [number])[0][
        "claim"
    ]


@pytest.fixture
def long(docs, monkeypatch):
    """A folder whose pages take their time, until the event is set."""
    for number in range(12, 300):
        (docs / f"page{number}.md").write_text(f"# Page {number}\n\nThe pump of {number}.\n")
    begin, hurries = Reader._begin, Event()

    def slowly(self, file):
        hurries.wait(0.2 if file.key not in self.stored else 0)
        return begin(self, file)

    monkeypatch.setattr(Reader, "_begin", slowly)
    monkeypatch.setattr(writer, "BATCH_SECONDS", 0.2)
    return docs, hurries


def test_a_long_job_gives_its_turn_to_others_and_loses_nothing(app, long):
    folder, hurries = long
    number = ask(app, "ada", folder, "long")
    with running(app, turn=0.6, poll=0.2):
        for nth in range(2):
            eventually(lambda: job(app, number)["state"] == "running")
            ended(app, ask(app, f"bob{nth}", folder / "page1.md", f"short{nth}"))
            assert job(app, number)["state"] not in jobs.ENDED
        while claims(app, number) < 2:
            ended(app, ask(app, "cyd", folder / "page1.md", "short"))
        hurries.set()
        row = ended(app, number)
    assert (row["attempts"], row["failures"], row["report"]["pages"]) == (1, [], 300)
    assert len(app.database.call("pages", library="long", top_k=1000)) == 300
    assert app.database.call("check_library", library="long") == []


def test_two_long_jobs_take_turns_until_both_are_done(app, long):
    folder, hurries = long
    both = [ask(app, caller, folder, caller) for caller in ("ada", "bob")]
    with running(app, turn=0.3, poll=0.2):
        eventually(lambda: min(claims(app, number) for number in both) > 1)
        hurries.set()
        for number in both:
            assert ended(app, number)["report"]["failed"] == {}
    assert {
        len(app.database.call("pages", library=each, top_k=1000)) for each in ("ada", "bob")
    } == {300}


def held_up(monkeypatch, *libraries):
    """Indexing these libraries waits, as for a repository that is fetched; returns what began."""
    index, release, begun = App.index, Event(), []

    def holding(self, library, *others, **options):
        begun.append(library)
        if library.startswith(libraries):
            release.wait(60)
        return index(self, library, *others, **options)

    monkeypatch.setattr(App, "index", holding)
    return begun, release


def test_a_job_that_cannot_be_interrupted_lends_its_place_to_others(app, docs, monkeypatch):
    begun, release = held_up(monkeypatch, "stuck")
    stuck = [ask(app, "ada", docs, f"stuck{number}") for number in range(3)]
    with running(app, turn=0.2, poll=0.2):
        eventually(lambda: begun)
        for caller in ("bob", "cyd"):
            ended(app, ask(app, caller, docs, caller))
        assert begun == ["stuck0", "bob", "cyd"], "ada has one place, and no lent one"
        release.set()
        for number in stuck:
            ended(app, number)


def test_lent_places_are_few(app, docs, monkeypatch):
    begun, release = held_up(monkeypatch, "stuck")
    stuck = [ask(app, f"caller{number}", docs, f"stuck{number}") for number in range(10)]
    with running(app, turn=0.1, poll=0.2):
        eventually(lambda: len(begun) == 8)
        release.set()
        for number in stuck:
            ended(app, number)


def test_a_website_is_asked_once_for_each_page_whatever_the_turns(database_url, monkeypatch):
    links = [f"/{number}.html" for number in range(12)]
    pages = {"/": page("Start", "", *links)} | {link: page(f"Page {link}") for link in links}
    settings = Settings(database_url=database_url, outgoing_allow=("127.0.0.0/8",))
    monkeypatch.setattr(writer, "BATCH_SECONDS", 0.1)
    with App(settings) as app, Website(pages) as site:
        slow_pages(monkeypatch, 0.2)
        long = ask(app, "ada", site.url, "site")
        with running(app, turn=0.3, poll=0.2):
            for number in range(2):
                eventually(lambda: (job(app, long)["progress"] or {}).get("documents"))
                ended(app, ask(app, "bob", site.url, f"other{number}", max_pages=1))
            row = ended(app, long)
        assert claims(app, long) > 1
        assert row["report"]["failed"] == {}
        assert len(app.database.call("pages", library="site")) == 13
        assert {link: site.asked.count(link) for link in links} == dict.fromkeys(links, 1)


def test_whoever_waits_for_a_job_of_a_key_takes_turns(app, docs):
    first = ask(app, "ada", docs, "first")
    own = ask(app, "bob", docs, "own")
    with calling(Caller("bob")):
        assert complete(app, own, lambda _: None)["state"] == "succeeded"
    assert job(app, first)["state"] == "succeeded", "it was the turn of ada"
    later, wanted = ask(app, "ada", docs, "later"), ask(app, "cyd", docs, "wanted")
    assert complete(app, wanted, lambda _: None)["state"] == "succeeded"
    assert job(app, later)["state"] == "queued", "without a key it does only its own job"


def test_a_job_whose_version_is_in_use_is_no_job_that_has_had_its_turn(app, docs, monkeypatch):
    def busy(*_, **__):
        raise Busy("Another run is indexing it.")

    monkeypatch.setattr(App, "index", busy)
    number = ask(app, "ada", docs, "used")
    before = job(app, number)["run_at"]
    Worker(app).work()
    assert job(app, number)["run_at"] > before
    monkeypatch.undo()
    update(app, "update pgrag.jobs set run_at = now()")
    Worker(app).work()
    ended(app, number)


@pytest.mark.parametrize("field", ["done", "documents"])
def test_progress_of_a_first_turn_is_shown(app, docs, field):
    number = ask(app, "ada", docs, "manual")
    Worker(app).work()
    assert ended(app, number)["progress"][field] >= 12
