"""The agents of the benchmark with the real server, on a little documentation in two versions."""

import json
from pathlib import Path

import pytest
from benchmarks.agents import __main__ as command
from benchmarks.agents import ours, report, tasks
from benchmarks.agents.tasks import LIBRARIES, Task
from benchmarks.agents.transcript import BrokenReply, Transcript, attempt

from pgrag.ground.settings import Settings
from pgrag.mcp.tool import Reply, Tool
from pgrag.service.app import App

FIXTURES = Path(__file__).parents[1] / "fixtures"
TASKS = [
    {
        "_id": "k-1", "library": "kestrel", "kind": "version", "version": "2.0",
        "text": "how do I restore a folder of a day", "facts": {"2.0": [["kestrel restore 2025"]]},
    },
    {
        "_id": "k-2", "library": "kestrel", "kind": "change", "version": "2.0", "since": "1.4",
        "text": "install Kestrel from a package or an archive",
        "facts": {"1.4": [["Unpack the archive below"]], "2.0": [["has a package"]]},
    },
    {
        "_id": "k-3", "library": "kestrel", "kind": "unanswerable", "version": "2.0",
        "text": "zebra quantum espresso blockchain", "absent": ["/zebra/", "/espresso/"],
    },
]  # fmt: skip
MARKED = f"# Page\n\n{report.MARKS[0]}\n\nold\n\n{report.MARKS[1]}\n\nend\n"


@pytest.fixture
def kestrel(tmp_path, monkeypatch):
    """The tasks about Kestrel alone."""
    file = tmp_path / "tasks.jsonl"
    file.write_text("\n".join(map(json.dumps, TASKS)), "utf-8")
    monkeypatch.setattr(tasks.read, "__defaults__", (file,))
    monkeypatch.setattr(tasks, "LIBRARIES", {"kestrel": ("kestrel", "{}", ("1.4", "2.0"))})
    return tasks.read()


@pytest.fixture
def desk(database_url, kestrel):
    with App(Settings(database_url=database_url)) as app:
        for version in ("1.4", "2.0"):
            app.index("kestrel", version, str(FIXTURES / "kestrel" / version))
        with ours.desk(app) as session:
            yield session


@pytest.mark.parametrize("temperament", ours.TEMPERAMENTS)
def test_planted_facts_are_found_and_a_gap_is_recognised(desk, kestrel, temperament):
    agent = ours.TEMPERAMENTS[temperament](desk)
    outcomes = [attempt(agent, task, 2400) for task in kestrel]
    assert [outcome.fault for outcome in outcomes] == [None, None, None]
    assert [outcome.found for outcome in outcomes] == [1, 2, 0]
    assert all(0 < outcome.tokens <= 2400 for outcome in outcomes)
    assert outcomes[1].calls >= 2
    # Another fact is not found, so that the pages are read, not the tasks.
    wrong = Task("w", "kestrel", "version", "how to restore", "2.0", facts={"2.0": [("a lie",)]})
    assert attempt(agent, wrong, 2400).fault == "facts are missing"
    assert 500 < desk.prompt_tokens < 3000


def test_what_comes_twice_is_left_out_by_the_second_search(desk, kestrel):
    transcript = Transcript(4000)
    first = desk.search(transcript, kestrel[0], "2.0", 2000)
    given = {"query": "Kestrel", "seen": desk.seen(transcript)}
    assert not {*first} & {*desk.search(transcript, kestrel[0], "2.0", 2000, **given)}


def test_a_broken_reply_fails_a_task(desk, kestrel, monkeypatch):
    elsewhere = Task("x", "osprey", "unanswerable", "how to restore", "2.0", absent=("x",))
    for make in ours.TEMPERAMENTS.values():
        fault = attempt(make(desk), elsewhere, 2400).fault
        assert fault is not None
        assert fault.startswith("a broken reply: search_docs: ")
    cut = Reply('<passage id="1">\nThe end is')
    for reply, fault in ((cut, "an open quotation"), (Reply("Soon."), "neither passages nor a")):
        monkeypatch.setattr(Tool, "call", lambda *_, reply=reply: reply)
        with pytest.raises(BrokenReply, match=fault):
            desk.search(Transcript(2400), kestrel[0], "2.0", 2400)


def test_the_command_checks_the_tasks_measures_every_agent_and_writes_the_page(
    database_url, kestrel, tmp_path, capsys
):
    page = tmp_path / "page.md"
    page.write_text(MARKED, "utf-8")
    given = ["--data", str(FIXTURES), "--database-url", database_url, "--page", str(page)]
    assert command.main([*given, "--check"]) == 0
    assert "Every fact is in the pages" in capsys.readouterr().out
    assert page.read_text("utf-8") == MARKED
    assert command.main(given) == 0
    text = page.read_text("utf-8")
    assert text.startswith(f"# Page\n\n{report.MARKS[0]}\n\n3 tasks, ")
    for name in (*(f"pgrag: {each}" for each in ours.TEMPERAMENTS), report.GREP, report.BEST):
        assert f"\n| {name} | " in text
    assert "| pgrag: searches once | 100% | 100% | 100% | 100% | 1.3 |" in text
    # Which cannot know that nothing answers.
    assert f"| {report.SNIPPETS} | 1 of 1 | 1 of 1 | 0 of 1 | 0 | 0 |" in text

    file = Path(tasks.read.__defaults__[0])
    file.write_text(file.read_text("utf-8").replace("has a package", "has a parcel"), "utf-8")
    assert command.main(given) == 1
    assert "k-2: no page of 2.0 says has a parcel" in capsys.readouterr().err
    assert page.read_text("utf-8") == text
    assert "kestrel" not in LIBRARIES
