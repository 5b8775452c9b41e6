"""Enrichment of an indexed folder, by a language model on loopback."""

import threading

import psycopg
import pytest
from llm_server import MODEL, hang, says, serving, status
from pipeline_runs import write
from psycopg import conninfo
from pydantic import SecretStr

from pgrag.ground.errors import DatabaseError, LanguageModelError, NotConfigured
from pgrag.ground.settings import Settings
from pgrag.ingest.embeddings import embed_pending
from pgrag.ingest.enrichment import Enricher, Kind
from pgrag.ingest.enrichment.runner import GIVE_UP
from pgrag.service.app import App

TOOLS = ("saw", "plane", "chisel", "vice")
PARTS = ("blade", "handle", "storage")


def pages():
    def section(tool, part):
        care = f"The {part} of a {tool} wants care before cut {{}}, and a dry cloth."
        return f"## {part.title()}\n\n{' '.join(care.format(n) for n in range(8))}"

    return {
        f"{tool}.md": "\n\n".join([f"# The {tool}", *(section(tool, part) for part in PARTS)])
        for tool in TOOLS
    }


@pytest.fixture
def server():
    with serving(says("Ebony: how the tools of a workshop are looked after.")) as server:
        yield server


@pytest.fixture
def app(database_url, server, tmp_path):
    """A library of four pages with three paragraphs each, and the model that may be asked."""
    write(tmp_path / "docs", pages())
    settings = Settings(
        database_url=database_url, llm_url=server.url, llm_model=MODEL, llm_retries=0,
        llm_concurrency=4,
    )  # fmt: skip
    with App(settings) as app:
        app.index("shop", "", str(tmp_path / "docs"))
        yield app


def run(app, kind=Kind.CONTEXT, **arguments):
    return app.enricher("shop").run(kind, **arguments)


def state(app, kind="context"):
    rows = app.database.call("enrichment_state", library="shop")
    return next(row for row in rows if row["kind"] == kind)


def situations(app):
    statement = "select situation from pgrag.documents where level = 2 order by document_id"
    return [row["situation"] for row in app.database.query(statement)]


def is_sound(app):
    return app.database.call("check_library", library="shop") == []


def test_it_is_asked_once_searched_and_never_shown(app, server):
    plan = app.enricher("shop").plan(Kind.CONTEXT)
    assert (plan.calls, plan.kept, plan.documents) == (12, 0, 12)
    assert server.requests == []

    told = []
    report = run(app, progress=lambda *step: told.append(step))
    assert (report.calls, report.documents, report.embedded, report.failed) == (12, 12, 12, 0)
    assert (report.prompt_tokens, report.completion_tokens) == (12 * 40, 12 * 10)
    assert told == [(n, 12, 0) for n in range(1, 13)]
    assert len(server.requests) == 12
    assert is_sound(app)
    payload = server.payloads[0]
    assert payload["max_tokens"] == 1024
    prompt = payload["messages"][1]["content"]
    assert prompt.startswith("<source>\n# The chisel\n\n## Blade\n\nThe blade of a chisel wants")
    # What was estimated is near what was sent.
    messages = [message for payload in server.payloads for message in payload["messages"]]
    sent = sum(len(message["content"].encode()) for message in messages)
    assert plan.prompt_tokens == pytest.approx(sent / 4, rel=0.1)

    for alpha in (0.0, 1.0):
        hits = app.database.call("search", query="ebony workshop", library="shop", alpha=alpha)
        assert "Ebony" not in str(hits)
        assert hits

    again = run(app)
    assert (again.calls, again.kept, again.documents) == (0, 0, 0)
    assert len(server.requests) == 12
    run(app, Kind.SUMMARIES)
    assert is_sound(app)
    assert state(app, "summary")["enriched"] == state(app, "summary")["documents"] == 4
    [hit] = app.database.call("search", query="ebony", library="shop", levels=[0], top_k=1)
    assert hit["content"].startswith("Ebony")
    assert hit["types"] == ["text", "generated"]


def test_the_length_of_a_text_is_a_setting(app, server):
    usual = app.enricher("shop").limits
    assert {kind.length: kind.usual_limit for kind in Kind}.items() <= usual.items()
    run(app)
    limits = {"enrichment_limits": {"context_length": 40}}
    app.database.call("configure_library", library="shop", settings=limits)
    plan = app.enricher("shop").plan(Kind.CONTEXT)
    assert (plan.calls, plan.completion_tokens) == (12, 12 * 10)
    asked = len(server.requests)
    assert run(app).calls == 12
    assert "at most 40 characters" in str(server.requests[asked])


def test_one_run_at_a_time_asks_side_by_side(app, server):
    with app.database.lock("pgrag enrich shop") as taken:
        assert taken is None
        with pytest.raises(DatabaseError, match="Another run is enriching the library 'shop'"):
            run(app)
    assert server.requests == []
    server.delay = 0.05
    assert run(app).calls == 12
    assert server.most_at_once == 4
    assert not [t for t in threading.enumerate() if t.name.startswith("pgrag-enrich")]


def test_failures_leave_documents_as_they_are(app, server):
    good = says("Ebony.")
    server.script = [good, status(503), good, says(" "), good, status(500), good]
    report = run(app)
    assert (report.calls, report.documents, report.failed) == (12, 9, 3)
    assert {reason.split(" ")[0] for _, reason in report.failures}
    assert sorted(situations(app)) == [""] * 3 + ["Ebony."] * 9
    assert is_sound(app)
    failures = app.database.call("enrichment_failures", library="shop")
    assert sorted((f["key"], f["reason"]) for f in failures) == sorted(report.failures)
    assert (state(app)["failed"], state(app)["enriched"]) == (3, 9)
    # The next run asks for these alone.
    asked = len(server.requests)
    assert run(app).documents == 3
    assert len(server.requests) == asked + 3
    assert state(app)["failed"] == 0


def test_it_gives_up_on_a_model_that_always_fails(app, server, monkeypatch):
    server.script = [status(500)]
    with pytest.raises(LanguageModelError, match=r"\d+ requests in a row failed") as caught:
        run(app)
    assert "next run" in str(caught.value.hint)
    assert GIVE_UP <= len(server.requests) <= 12
    assert set(situations(app)) == {""}
    # As after timeouts: each failure is stored by itself, and nothing waits at the end.
    monkeypatch.setattr("pgrag.ingest.enrichment.runner._PATIENCE", 0.0)
    server.script = [status(500)]
    with pytest.raises(LanguageModelError, match=r"\d+ requests in a row failed"):
        run(app)


def test_an_interrupted_run_goes_on_where_it_was(app, server):
    server.script = [*[says("Ebony.")] * 5, hang]

    def interrupt(done, *_):
        if done == 5:
            assert server.hanging.wait(120)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(app, progress=interrupt)
    assert server.left.wait(120)
    assert not [t for t in threading.enumerate() if t.name.startswith("pgrag-enrich")]
    assert sorted(situations(app)) == [""] * 7 + ["Ebony."] * 5
    assert app.database.call("enrichment_failures", library="shop") == []
    assert is_sound(app)
    asked = len(server.requests)
    server.script = [says("Ebony.")]
    report = run(app)
    assert (report.calls, report.documents) == (7, 7)
    assert len(server.requests) == asked + 7


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_is_stored_gets_its_vectors_however_the_run_ended(app, is_killed):
    given = []

    def embed(page_ids):
        given.append(page_ids)
        if len(given) == 2 or (is_killed and len(given) > 2):
            raise KeyboardInterrupt
        return embed_pending(app.database, app.providers.builtin, "shop", page_ids=page_ids)

    with pytest.raises(KeyboardInterrupt):
        Enricher(
            app.database, app.providers.require_language_model(), embed, "shop",
            limits={"context_length": 200},
        ).run(Kind.CONTEXT)  # fmt: skip
    assert len(given) == 3
    assert is_sound(app) is not is_killed
    report = run(app)
    assert (report.calls, report.embedded) == (0, 12 if is_killed else 0)
    assert is_sound(app)


def connected_with(app, url, options):
    changed = SecretStr(conninfo.make_conninfo(url, options=options))
    return App(app.settings.model_copy(update={"database_url": changed}))


def test_who_may_not_write_is_refused_and_miscounts_cost_nothing(app, server, database_url):
    with connected_with(app, database_url, "-c default_transaction_read_only=on") as reader:
        assert reader.enricher("shop").plan(Kind.CONTEXT).calls == 12
        with pytest.raises(NotConfigured, match="read-only"):
            run(reader)
    assert server.requests == []
    server.script = [says("Ebony.", usage=(10**12, 5)), says("Ebony.")]
    assert run(app).documents == 12


def test_what_could_not_be_stored_is_stored_when_the_run_ends(app, server, database_url):
    """The database fails once, as a store waits for a lock longer than it may."""
    waits = """
        select query_start
        from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()
    """

    def give_way(held):
        with psycopg.connect(database_url, autocommit=True) as watching:
            first = None
            while first is None or watching.execute(waits).fetchone() == first:
                first = first or watching.execute(waits).fetchone()
                threading.Event().wait(0.005)
        held.rollback()

    with (
        connected_with(app, database_url, "-c lock_timeout=300ms") as enriching,
        psycopg.connect(database_url) as held,
    ):
        releasing = threading.Thread(target=give_way, args=[held])

        def progress(done, *_):
            if done == 12:
                held.execute("select from pgrag.libraries for update")
                releasing.start()

        with pytest.raises(DatabaseError):
            run(enriching, progress=progress)
        releasing.join(120)
    assert situations(app) == ["Ebony: how the tools of a workshop are looked after."] * 12
    assert run(app).calls == 0


def test_pages_may_be_indexed_while_a_model_writes(app, server, tmp_path):
    gate = threading.Event()
    server.script = [says("Ebony on tools.", gate=gate)]
    reports = []
    runner = threading.Thread(target=lambda: reports.append(run(app)))
    runner.start()
    try:
        while server.running < 4:
            assert runner.is_alive()
            threading.Event().wait(0.01)
        changed = pages()["saw.md"].replace("dry cloth", "soft brush")
        (tmp_path / "docs" / "saw.md").write_text(changed, "utf-8")
        (tmp_path / "docs" / "vice.md").unlink()
        report = app.index("shop", "", str(tmp_path / "docs"))
        assert (report.written, report.removed) == (1, 1)
    finally:
        gate.set()
        runner.join(120)
    assert reports[0].failed == 0
    assert is_sound(app)
    # What was asked about the page of before is not put into the page of now.
    assert sorted(situations(app)) == [""] * 3 + ["Ebony on tools."] * 6
    assert run(app).documents == 3
    assert is_sound(app)


def test_indexing_does_it_where_the_library_wants_it(app, server, tmp_path):
    docs = str(tmp_path / "docs")
    app.index("shop", "", docs)
    assert server.requests == []
    both = {"enrichment": "context,summaries"}
    app.database.call("configure_library", library="shop", settings=both)
    report = app.index("shop", "", docs)
    assert report.enriched == {"context": 12, "summaries": 4}
    asked = len(server.requests)
    report = app.index("shop", "", docs)
    assert report.enriched == {"context": 0, "summaries": 0}
    assert len(server.requests) == asked
    (tmp_path / "docs" / "saw.md").write_text(pages()["saw.md"].replace("dry", "wet"), "utf-8")
    report = app.index("shop", "", docs)
    assert report.enriched == {"context": 3, "summaries": 1}
    assert is_sound(app)

    # A model that fails, or none at all, keeps nobody from indexing.
    server.script = [status(500)]
    (tmp_path / "docs" / "saw.md").write_text(pages()["saw.md"].replace("dry", "old"), "utf-8")
    report = app.index("shop", "", docs)
    assert report.enriched == {"context": 0, "summaries": 0}
    assert [w.partition(": ")[0] for w in report.warnings] == ["saw.md"] * 4
    with App(Settings(database_url=app.settings.database_url)) as without:
        report = without.index("shop", "", docs)
        assert report.warnings == [
            "The setting enrichment is 'context,summaries': No language model is configured."
            " Set PGRAG_LLM_URL and PGRAG_LLM_MODEL."
        ]
        with pytest.raises(NotConfigured):
            without.enricher("shop")
