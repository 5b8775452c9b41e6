"""The front door: what `pgrag.connect` gives, on real pages, through values alone."""

import asyncio
import dataclasses
import re
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from git_server import run_git

import pgrag
from pgrag.ground.cancelling import Statements
from pgrag.ground.settings import Settings
from pgrag.service.app import App

GARDEN = Path(__file__).parents[1] / "fixtures" / "garden"


@pytest.fixture(scope="module")
def url(clone):
    with clone() as url:
        with pgrag.connect(url) as db:
            db.index("garden", GARDEN, "2.1")
            db.index("garden", GARDEN, "1.0")
        yield url


@pytest.fixture
def db(url):
    with pgrag.connect(url) as db:
        yield db


def test_every_name_is_exported_and_documented():
    assert pgrag.__all__ == sorted(pgrag.__all__)
    assert dir(pgrag) == pgrag.__all__
    for name in pgrag.__all__:
        assert getattr(pgrag, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'conect'"):
        pgrag.conect  # noqa: B018
    errors = {
        name for name, member in vars(pgrag.ground.errors).items()
        if isinstance(member, type) and issubclass(member, pgrag.PgragError)
    }  # fmt: skip
    assert errors <= set(pgrag.__all__)
    assert not [name for name in pgrag.__all__ if name.startswith("_")]
    text = (Path(__file__).parents[2] / "docs" / "python.md").read_text("utf-8")
    table = text[text.index("## All methods") :]
    methods = {name for name in dir(pgrag.Client) if not name.startswith("_")}
    assert set(re.findall(r"`(\w+)`", table)) == methods - {"close"}
    names = {name for name in dir(pgrag.AsyncClient) if not name.startswith("_")}
    assert names == methods - {"answer_stream", "tools"}


def test_a_search_says_what_it_read_and_goes_on(db):
    first = db.search("compost", library="garden", top_k=2)
    assert (first.version, first.reason) == ("2.1", "the newest release")
    assert all(isinstance(hit, pgrag.Hit) for hit in first.hits)
    seen = [hit.document_id for hit in first.hits]
    page = first
    while page := page.next():
        assert page.hits or page.next() is None
        seen += [hit.document_id for hit in page.hits]
    assert len(seen) == len(set(seen)) > 2
    whole = db.search("compost", library="garden", top_k=len(seen))
    assert [hit.document_id for hit in whole.hits] == seen
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.hits[0].score = 1.0
    old = db.search("xyzzy quux", "garden@1.0")
    assert (old.version, db.search("compost", "garden@1.0").version) == ("1.0", "1.0")
    one, other = (db.search("compost", library="garden", version="1.0") for _ in range(2))
    assert one == other
    assert one.version == "1.0"
    assert "_continued" not in repr(one)


def test_hits_of_a_page_are_one_entry(db):
    found = db.search("compost", library="garden", group="page", top_k=1)
    [entry] = found.pages
    assert isinstance(entry, pgrag.PageGroup)
    assert entry.hits == found.hits
    assert 1 <= len(entry.hits) <= 3
    assert {hit.page_id for hit in found} == {entry.page_id}
    following = found.next()
    assert following is not None
    assert entry.page_id not in {page.page_id for page in following.pages}
    assert db.search("compost", library="garden").pages == ()


def test_wrong_arguments_are_named(db):
    with pytest.raises(pgrag.UnknownLibrary, match="gardn") as caught:
        db.search("compost", library="gardn")
    assert "garden" in str(caught.value)
    for arguments, told in (
        ({"alpha": 2}, "alpha must be 0 to 1"),
        ({"inject_types": ["x"]}, "search has no argument inject_types"),
        ({"token_budget": 5}, "search has no argument token_budget"),
        ({"library": ["garden"]}, r"library must be a text, not list \['garden'\]"),
        ({"version": 2}, "version must be a text, not int 2"),
        ({"top_k": 3.5}, "top_k must be a whole number, not float 3.5"),
        ({"exclude": [1]}, "exclude must be a list of texts; int 1 is none"),
        ({"filters": {"type": object()}}, "filters cannot hold object"),
    ):
        with pytest.raises(pgrag.InvalidInput, match=told):
            db.search("compost", **arguments)
    for name, arguments in (("chunk_key", (None, "garden")), ("library", ("compost.md#c1", None))):
        with pytest.raises(pgrag.InvalidInput, match=f"{name} must not be None"):
            db.find_passage(*arguments)
    with pytest.raises(pgrag.NotConfigured, match="PGRAG_LLM"):
        db.answer("how is compost made", library="garden")


def test_searches_queries_and_their_arguments(db):
    pages = db.search_pages("compost", library="garden", top_k=1)
    assert pages.pages[0].title == "Compost"
    assert pages.cursor is not None
    assert db.facets("compost", library="garden").facets["library"][0].value == "garden"
    batch = db.search_many(["compost", ""], library="garden", top_k=1)
    assert (len(batch.answers[0].hits), batch.answers[1].error.code) == (1, "PGR01")
    context = db.context("how is compost made", library="garden", token_budget=200)
    assert context.text
    assert context.tokens == sum(block.tokens for block in context.blocks)
    [line, *_] = db.search_text("compost", "garden", case="ignore")
    assert "compost" in line.content.lower()
    table = db.query_pages("TABLE tags", "garden")
    assert table.columns
    assert len(table.rows) == len(db.pages("garden"))
    assert "tags" in {found.name for found in db.properties("garden")}
    assert db.parse_query("compost type:guide").filters == {"type": "guide"}
    assert db.detect_intent("how do I make compost").intent
    assert [s.replacement for s in db.suggest("compst", "garden")] == ["compost"]
    plain = [hit.document_id for hit in db.search("compost", library="garden", top_k=2).hits]
    found = db.search("compost", library="garden", top_k=np.int64(2), levels=(1, 2)).hits
    assert [hit.document_id for hit in found] == plain
    db.search("compost", library="garden", filters={"modified": {">=": date(1990, 1, 1)}})
    key = db.pages("garden")[0].key
    assert db.page(Path(key), "garden").key == key
    assert db.page(np.int64(db.pages("garden")[0].page_id)).key == key


def test_navigation(db):
    [library] = db.libraries()
    assert (library.library, library.versions) == ("garden", 2)
    [found] = db.find_libraries("how do I make compost")
    assert isinstance(found, pgrag.FoundLibrary)
    assert (found.library, found.version, found.words[0]) == ("garden", "2.1", "compost")
    assert db.find_libraries("xylophone", top_k=1) == []
    assert [version.version for version in db.versions("garden")] == ["2.1", "1.0"]
    assert db.resolve_version("garden", "^1").version == "1.0"
    assert db.compare_versions("garden", "1.0", diff=True).pages == ()
    history = db.section_history(db.search("garden", library="garden").hits[0].document_id)
    assert [state.change for state in history] == ["first", "unchanged"]
    page = db.page(db.pages("garden")[0].key, "garden")
    assert page == db.page(page.page_id)
    beds = db.find_page("Raised beds", "garden", "^1")
    assert beds.key == "beds.md"
    assert db.page("BEDS", "garden", "1.0").page_id == beds.page_id
    assert db.page("garden@1.0:beds").page_id == beds.page_id
    assert db.outline("beds") == db.outline(db.page("beds.md").page_id)
    outline = db.outline(page.page_id)
    assert outline[0].document_id
    passage = db.passage(outline[0].document_id)
    assert db.find_passage(f"{passage.key}#c{passage.sort_order}", "garden") == passage
    assert db.passage(f"{passage.key}#c{passage.sort_order}") == passage
    child = db.children(f"{passage.key}#c{passage.sort_order}")[0]
    assert db.parent(child.document_id) == dataclasses.replace(
        passage, relation="parent", distance=db.parent(child.document_id).distance
    )
    assert passage.document_id in {above.document_id for above in db.ancestors(child.document_id)}
    assert isinstance(db.siblings(child.document_id), list)
    with pytest.raises(pgrag.UnknownPage):
        db.page(10**9)


def test_the_graph(db):
    edge = next(edge for edge in db.edges("garden") if edge.target_page_id is not None)
    source, target = edge.source_page_id, edge.target_page_id
    assert source in {link.source_page_id for link in db.backlinks(target)}
    assert target in {near.page_id for near in db.neighbourhood(source, direction="out")}
    assert [step.page_id for step in db.shortest_path(source, target)] == [source, target]
    assert db.related_pages(source)
    assert edge.source_document_id is not None
    related = db.related_sections([edge.source_document_id])
    assert target in {section.page_id for section in related if section.relation == "link"}
    assert {link.state for link in db.links("garden", state="resolved")} == {"resolved"}
    assert db.backlinks(target, kinds=["no-such-kind"]) == []


def test_writing_and_removing(clone, tmp_path):
    (tmp_path / "tides.md").write_text("# Tides\n\nHigh water comes twice a day.\n")
    with clone() as url, pgrag.connect(url) as db:
        report = db.index("harbour", tmp_path)
        assert (report.pages, report.failed) == (1, {})
        assert db.index("harbour", tmp_path).unchanged == 1
        assert db.index("harbour", tmp_path, slugs="sphinx").slugs == "sphinx"
        assert db.index("harbour", tmp_path).slugs == "sphinx"
        assert db.configure("harbour", alpha=0.4)["alpha"] == 0.4
        assert db.check("harbour") == []
        [told] = db.index("harbour", tmp_path, language="englsh").warnings
        assert told.startswith("'englsh' is not the name of a language")
        for language in ("eu", "german", "simple", "english"):
            assert db.index("harbour", tmp_path, language=language).warnings == []
        (tmp_path / "fees.md").write_text("# Fees\n\nPaid at the office.\n")
        assert db.index("harbour", tmp_path, dry_run=True).written == 1
        assert len(db.pages("harbour")) == 1
        db.remove("harbour", "")
        assert db.libraries() == [] or db.versions("harbour") == []
        db.remove("harbour")
        assert db.libraries() == []
        with pytest.raises(pgrag.InvalidInput, match="version must be a text, not int 2"):
            db.index("harbour", tmp_path, 2)
        with pytest.raises(pgrag.InvalidInput, match="content must be a text or bytes"):
            db.send_page("harbour", "a.md", tmp_path)
    with pytest.raises(pgrag.InvalidInput, match="url must be a text, not PosixPath"):
        pgrag.connect(tmp_path)


def test_pages_are_sent_and_jobs_are_made(clone, tmp_path):
    with clone() as url, pgrag.connect(url) as db:
        sent = db.send_page("notes", "guide/tides.md", "# Tides\n\nThe sill dries.", "1.0")
        assert (sent.key, sent.version, sent.status) == ("guide/tides.md", "1.0", "written")
        assert db.search("sill", library="notes").hits[0].key == "guide/tides.md"
        with pytest.raises(pgrag.InvalidInput, match="cannot be the key"):
            db.send_page("notes", "/tides.md", "# Tides", "1.0")
        assert db.remove_page("notes", "guide/tides.md", "1.0")
        assert not db.remove_page("notes", "guide/tides.md", "1.0")
        job = db.create_job(
            "harbour", tmp_path, "2.0", every=timedelta(days=1), language="de", exclude=["x/**"]
        )
        assert (job.state, job.version, job.every) == ("queued", "2.0", timedelta(days=1))
        assert job.arguments.items() >= {"source": str(tmp_path), "exclude": ["x/**"]}.items()
        assert job.arguments["language"] == "de"
        assert [each.job_id for each in db.jobs(state="queued")] == [job.job_id]
        tags = db.create_job("harbour", tmp_path, tags="v*", subfolder="docs")
        assert (tags.arguments["tags"], tags.arguments["subfolder"]) == ("v*", "docs")
        db.cancel_job(tags.job_id)
        site = db.create_job("harbour", "https://docs.example/", max_pages=7)
        assert site.arguments["max_pages"] == 7
        db.cancel_job(site.job_id)
        for source, meaningless in (
            (tmp_path, {"max_pages": 7}),
            ("https://docs.example/", {"subfolder": "docs"}),
            ("https://docs.example/harbour", {"tags": "v*", "max_pages": 7}),
        ):
            with pytest.raises(pgrag.InvalidInput, match="no meaning for"):
                db.create_job("harbour", source, **meaningless)
        with pytest.raises(pgrag.InvalidInput, match="no argument 'max_page'"):
            db.create_job("harbour", tmp_path, max_page=7)
        with pytest.raises(pgrag.InvalidInput, match="no argument 'tags'"):
            db.index("harbour", tmp_path, tags="v*")
        with pytest.raises(pgrag.InvalidInput, match="one of github"):
            db.index("harbour", tmp_path, slugs="jekyll")
        assert [each.library for each in db.libraries()] == ["notes"]
        assert db.cancel_job(job.job_id) == "cancelled"
        assert db.retry_job(job.job_id) == "queued"
        with pytest.raises(pgrag.UnknownJob):
            db.job(99)


def test_evaluation(db):
    queries = [{"id": "1", "text": "compost", "judgements": {"compost.md": 1}}]
    receipt = db.import_evaluation_set("garden-questions", "garden", queries)
    assert (receipt.queries, receipt.judgements) == (1, 1)
    hybrid = db.evaluate("garden-questions")
    words = db.evaluate("garden-questions", {"function": "keyword_search"})
    assert hybrid.averages["ndcg@10"] == 1
    assert db.compare(hybrid.run_id, words.run_id).difference == 0
    assert [found.name for found in db.evaluation_sets()] == ["garden-questions"]


def test_async_gives_the_same_values(url, db):
    async def both():
        async with pgrag.connect_async(url) as other:
            return await asyncio.gather(
                *(other.search(query, library="garden") for query in ("compost", "soil"))
            )

    assert asyncio.run(both()) == [
        db.search(query, library="garden") for query in ("compost", "soil")
    ]


def test_a_cancelled_call_ends_in_the_database(url):
    app = App(Settings(database_url=url))
    client = pgrag.Client(app)
    running = "select from pg_stat_activity where query like 'select pg_sleep(599%%'"

    def sleeps(_):
        app.database.query("select pg_sleep(599)")

    async def cancel_it():
        other = pgrag.AsyncClient(client)
        task = asyncio.create_task(pgrag.client.asynchronous._in_thread(sleeps)(other))
        while not await asyncio.to_thread(app.database.query, running):
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with client:
        asyncio.run(asyncio.wait_for(cancel_it(), 120))
        assert client.search("compost", library="garden").hits


def test_a_cancelled_caller_starts_nothing_more(db):
    statements = Statements()
    statements.cancel()
    with pytest.raises(pgrag.DatabaseError, match="no longer waits"):
        statements.run(db.libraries)


def test_the_examples_of_the_documentation_run(clone, monkeypatch, capsys):
    """Each prints something, when they are run in the order of the page."""
    root = Path(__file__).parents[2]
    text = (root / "docs" / "python.md").read_text("utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(examples) >= 7
    monkeypatch.chdir(root)
    names = {}
    with clone() as url:
        monkeypatch.setenv("PGRAG_DATABASE_URL", url)
        for example in examples:
            exec(example, names)
            assert capsys.readouterr().out.strip(), example


def test_repositories_and_their_tags(clone, tmp_path):
    root = tmp_path / "harbour"
    (root / "docs").mkdir(parents=True)
    run_git(root, "init", "-q", "-b", "main")
    for tag, text in {
        "v0.9": "",
        "v1.0": "Twice a day.",
        "v1.1": "High water twice a day.",
    }.items():
        if text:
            (root / "docs" / "tides.md").write_text(f"# Tides\n\n{text}\n")
        run_git(root, "add", "-A")
        run_git(root, "commit", "-q", "--allow-empty", "-m", tag)
        run_git(root, "tag", tag)
    too_long = "1.0" + 40 * "-rc"
    run_git(root, "tag", f"v{too_long}")
    with clone() as url, pgrag.connect(url) as db:
        reports = db.index_tags("harbour", root, "v*", subfolder="docs")
        assert [*reports] == ["0.9", "1.0", too_long, "1.1"]
        assert isinstance(reports[too_long], pgrag.InvalidInput)
        assert isinstance(reports["0.9"], pgrag.SourceError)
        assert reports["1.1"].written == 1
        assert {page.key for page in db.pages("harbour", "1.0")} == {"tides.md"}
        assert db.index("harbour", root, "1.0", ref="v1.0", subfolder="docs").unchanged == 1
