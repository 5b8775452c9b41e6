"""The other systems of the comparison find what has the words, and what has the vector."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from benchmarks.agents.rivals import assembled
from benchmarks.agents.tasks import Task
from benchmarks.agents.transcript import attempt
from benchmarks.rivals.rival import Passage, Setup

DIMENSIONS = 8
WORDS = ("pump", "valve", "gasket", "manifold", "boiler", "sieve", "hinge", "lever")
SYSTEMS = ("sqlite", "bm25", "lance", "langchain", "hybrid")
AXES = np.eye(DIMENSIONS, dtype=np.float32)
AWKWARD = [
    "?", 'the "good pump" here', 'say "hello', "(pump OR", "NOT pump", "it's", "key:value -x",
    "100% [a]",
]  # fmt: skip


def passages():
    return [
        Passage(
            id=100 + number,
            page=f"{word}.md",
            url=f"{word}.md",
            title=f"About the {word}",
            path="Handbook",
            content=f"A {word} wears out. Order the part {number} anew.",
            vector=AXES[number] if number else None,
        )
        for number, word in enumerate(WORDS)
    ]


@pytest.fixture(params=SYSTEMS)
def rival(request, tmp_path):
    uses_server = request.param in {"langchain", "hybrid"}
    url = request.getfixturevalue("database_url") if uses_server else ""
    module = import_module(f"benchmarks.rivals.{request.param}")
    made = module.make(Setup(url, "handbook", tmp_path, DIMENSIONS, passages()))
    yield made
    made.close()


def test_the_passage_with_word_and_vector_comes_first(rival):
    for number in (3, 5):
        assert rival.search(WORDS[number], AXES[number], 3)[0] == 100 + number
    # The stem of a plural is found; a second search is not answered for the first.
    assert rival.search("valves", AXES[1], 3)[0] == 101
    assert len(rival.search("part", AXES[2], 3)) == 3


def test_words_and_vector_each_have_a_say(rival, request):
    found = rival.search("lever", AXES[4], 2)
    assert 107 in found
    if "bm25" not in request.node.name:
        assert 104 in found


@pytest.mark.parametrize("query", AWKWARD)
def test_no_query_is_an_error(rival, query):
    assert len(rival.search(query, AXES[2], 4)) <= 4


class Shelf:
    """The passages of both versions, all siblings on a page each."""

    dimensions = DIMENSIONS

    def passages(self, _library, version):
        on_a_page = [
            replace(each, page="all.md", content=f"{version}: {each.content}")
            for each in passages()
        ]
        return [*on_a_page, replace(on_a_page[0], id=1, page="other.md", content="elsewhere")]

    def vector(self, _text):
        return AXES[3]


def test_an_agent_reads_the_hits_of_sqlite_with_their_siblings(tmp_path):
    facts = {"1": [("1: A manifold",)], "2": [("2: A manifold",), ("2: A sieve",)]}
    task = Task("x", "handbook", "change", "manifold", "2", "1", facts)
    agent = assembled(Shelf(), import_module("benchmarks.rivals.sqlite").make, tmp_path)
    outcome = attempt(agent, task, 4000)
    assert (outcome.fault, outcome.calls) == (None, 2)
    assert attempt(agent, task, 20).fault == "facts are missing"
