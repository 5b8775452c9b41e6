"""The agent benchmark: its tasks, what counts as right, and the rivals that need no database."""

import re
from collections import Counter
from datetime import date

import pytest
from benchmarks.agents import context_bench, report, rivals, tasks
from benchmarks.agents.report import Row
from benchmarks.agents.tasks import KINDS, LIBRARIES, Page, Task
from benchmarks.agents.transcript import BrokenReply, Transcript, attempt
from benchmarks.agents.words import key_words, names
from benchmarks.corpora import Corpora
from benchmarks.rivals.rival import Passage

PUMP = "---\ntitle: Pump\ndescription: How it is primed\n---\n# Pumps\n\nFill it with `2 litres`.\n"
VALVE = "# The valve\n\n" + "It opens at noon.\n" * 90 + "Set max_flow to 7.\n"
ASKED = Task(
    "x-1", "plant", "version", "how much goes into the pump", "2", facts={"2": [("2 litres",)]}
)
CHANGED = Task(
    "x-2", "plant", "change", "the max_flow of the valve", "2", "1",
    {"1": [("/max_flow to 5/",)], "2": [("max_flow to 7",)]},
)  # fmt: skip
ABSENT = Task("x-3", "plant", "unanswerable", "grow Tomatoes", "2", absent=("/tomato/",))


@pytest.fixture
def corpora(tmp_path, monkeypatch):
    monkeypatch.setitem(LIBRARIES, "plant", ("plant-docs", "v{}", ("1", "2")))
    for version, valve in (("1", VALVE.replace("7", "5")), ("2", VALVE)):
        (tmp_path / "plant-docs" / f"v{version}").mkdir(parents=True)
        for name, text in (("pump.md", PUMP), ("valve.md", valve)):
            (tmp_path / "plant-docs" / f"v{version}" / name).write_text(text, "utf-8")
    return Corpora(tmp_path, tmp_path)


def test_the_tasks_are_sixty_and_whole():
    asked = tasks.read()
    assert Counter(task.kind for task in asked) == KINDS
    assert len({task.id for task in asked}) == len({task.text for task in asked}) == 60
    assert set(Counter(task.library for task in asked).values()) == {20}
    for task in asked:
        known = LIBRARIES[task.library][2]
        assert {*task.versions, *task.facts} <= set(known)
        assert (task.since is not None) == (task.kind == "change")
        assert bool(task.absent) == (task.kind == "unanswerable") == (not task.facts)
        assert task.found(task.text)[0] == 0
        for text in (*task.absent, *(a for each in task.facts.values() for f in each for a in f)):
            assert text.strip()
            if text[0] == text[-1] == "/":
                re.compile(text[1:-1])


def test_tasks_that_the_pages_contradict_are_found(corpora):
    assert [*tasks.faults([ASKED, CHANGED, ABSENT], corpora)] == []
    wrong = [
        Task("a", "plant", "version", "why", "2", facts={"2": [("3 litres", "4 litres")]}),
        Task("b", "plant", "change", "why", "2", "1", {"1": [("noon",)], "2": [("litres",)]}),
        Task("c", "plant", "unanswerable", "why", "2", absent=("/opens at/",)),
        Task("d", "plant", "version", "is it 2 litres", "2", facts={"2": [("2 litres",)]}),
    ]
    assert [*tasks.faults(wrong, corpora)] == [
        "a: no page of 2 says 3 litres or 4 litres",
        "b: every fact stands in 1 and in 2",
        "c: a page of 2 says /opens at/",
        "d: the question itself says a fact, which replies repeat",
    ]


def test_tokens_are_counted_and_end_with_the_budget():
    transcript = Transcript(5)
    transcript.read("abcdefg")
    assert (transcript.replies, transcript.room) == (["abcdefg"], 3)
    transcript.read("ж" * 7)
    # 12 bytes are left: six letters of two.
    assert (transcript.replies[1], transcript.room) == ("ж" * 6, 0)
    transcript.read("more")
    assert transcript.replies[2] == ""


def reading(*replies, refused=False, broken=False):
    def agent(_, transcript):
        for reply in replies:
            transcript.read(reply)
        transcript.refused = refused
        if broken:
            raise BrokenReply("half of it")

    return agent


@pytest.mark.parametrize(
    ("task", "agent", "found", "fault"),
    [
        (ASKED, reading("Fill in **2\nlitres**."), 1, None),
        (ASKED, reading("x" * 400, "2 litres"), 0, "facts are missing"),
        (ASKED, reading("2 litres", broken=True), 1, "a broken reply: half of it"),
        (ASKED, reading("No good match", refused=True), 0, "told that nothing answers"),
        (CHANGED, reading("max_flow to 7"), 1, "facts are missing"),
        (CHANGED, reading("max_flow to 7", "Max_flow to 5"), 2, None),
        (ABSENT, reading("No good match", refused=True), 0, None),
        (ABSENT, reading('Note: No passage of plant contains "grow", "Tomatoes".'), 0, None),
        (
            ABSENT,
            reading('No passage of plant contains "grow".\nA tomato.'),
            0,
            "not recognised as unanswerable",
        ),
        (ABSENT, reading("cabbages"), 0, "not recognised as unanswerable"),
        (ABSENT, reading(refused=True, broken=True), 0, "a broken reply: half of it"),
    ],
)
def test_only_all_facts_within_the_budget_or_a_recognised_gap_is_right(task, agent, found, fault):
    outcome = attempt(agent, task, 100)
    assert (outcome.found, outcome.fault, outcome.is_right) == (found, fault, fault is None)
    assert outcome.tokens <= 100


def test_an_agent_looks_for_words_and_knows_names():
    text = "how do I set --max-flow in Plant 2.1, workerLimit or kafka?"
    assert key_words(text) == ["set", "--max-flow", "Plant", "2.1", "workerLimit", "kafka"]
    assert names(text) == ["--max-flow", "Plant", "workerLimit"]
    assert names("why") == names("2.1 at 7") == []


def test_grep_reads_the_lines_around_the_rarest_words(corpora):
    outcome = attempt(rivals.grep(corpora), CHANGED, 4000)
    assert (outcome.fault, outcome.found) == (None, 2)
    assert attempt(rivals.grep(corpora), ABSENT, 4000).is_right
    assert attempt(rivals.grep(corpora), CHANGED, 20).fault == "facts are missing"


def test_llms_txt_lists_titles_and_whole_pages_are_read_until_the_budget_ends(corpora):
    pages = tasks.pages(tasks.folder(corpora, "plant", "2"))
    assert rivals.index(pages) == ("- [Pump](pump.md): How it is primed\n- [The valve](valve.md)")
    assert Page("a.md", "no title").title == "a.md"
    assert attempt(rivals.llms_txt(corpora), ASKED, 4000).is_right
    best = rivals.best_pages(corpora)
    assert attempt(best, CHANGED, 4000).is_right
    # Half of it is for each version, and the fact stands at the end of the page.
    assert attempt(best, CHANGED, 640).found == 0


def test_a_hit_comes_with_its_parent_children_and_siblings():
    paths = ["A", "A › B", "A › C", "A › C › 1", "A › C › 2", "A › C › 3", "A › C › 4", "A › D"]
    places = [Passage(nth, "a.md", "a.md", "A", path, path, None) for nth, path in enumerate(paths)]
    other = Passage(99, "b.md", "b.md", "A", "A › C › 1", "", None)
    assert rivals.around([*places, other], 2) == {0, 2, 3, 4, 5}
    assert rivals.around([*places, other], 4) == {2, 4}
    same = [Passage(nth, "a.md", "a.md", "A", "A", "", None) for nth in range(6)]
    assert rivals.around(same, 2) == {1, 2, 3, 4}


def test_the_tables_have_shares_and_the_tasks_that_need_more():
    few, many = reading("nothing"), reading("2 litres", "max_flow to 7, once max_flow to 5")
    agents = dict(zip(report.BUDGETS, (few, few, many), strict=True))
    outcomes = {
        budget: [attempt(agent, task, budget) for task in (ASKED, CHANGED, ABSENT)]
        for budget, agent in agents.items()
    }
    text = report.tables([Row("pgrag: reads", 1234, outcomes)], tasks.read(), date(2026, 11, 28))
    assert "60 tasks, 28 November 2026." in text
    assert "| pgrag: reads | 0% | 0% | 67% | 0% | 1.0 | 2 | 1,234 |" in text
    assert "| pgrag: reads | 0 of 1 | 0 of 1 | 0 of 1 | 0 | 0 |" in text
    assert "- pgrag: reads: [x-1], [x-2], x-3." in text


def test_the_facts_of_context_bench_are_the_names_that_its_solutions_use():
    code = (
        "import json\nfrom agno.agent import Agent\nfrom agno.models import Chat\n"
        "from os import path\njson.dumps({}, indent=2)\nAgent(model=Chat(id='x'), tools=[])\n"
    )
    assert context_bench.names(code, {"agno"}) == {"Agent", "Chat", "model", "id", "tools"}
    assert context_bench.words("`Agent(id=1)`") == {"Agent", "id", "1"}
