"""What an intent or a query type sets for searches, contexts and answers."""

import pytest
import vault
from library import keys, page, refused, relations, run, search, value
from vault import Link

QUESTION = "Should I decide to move to the harbour?"
DECISION = {
    "intents": {"DECISION": {"inject_types": ["value", "goal"]}},
    "rules": {"decide-en": {"language": "en", "words": ["should i"], "intent": "DECISION"}},
}
WORDS = "Decide to move to the harbour, and do move to it."
PAGES = [
    page("move.md", WORDS, "How one decides.", "The harbour has boats.", type="note"),
    page("again.md", "To move to the harbour takes a day.", type="note"),
    page("freedom.md", "Freedom is more than money. The harbour.", type="value"),
    page("money.md", "Money is kept in a bank of the harbour.", type="goal"),
    page("boats.md", "Ferries leave the harbour at noon.", type="note"),
]


@pytest.fixture(scope="module", autouse=True)
def life(module_connection):
    links = [Link("move", "boats"), Link("again", "boats")]
    vault.write(module_connection, "life", PAGES, links)
    run(module_connection, "refresh_page_ranks", library="life")


def sets(connection, **arguments):
    intent = DECISION["intents"]["DECISION"] | arguments
    run(connection, "apply_configuration", entries={**DECISION, "intents": {"DECISION": intent}})


def context(connection, **arguments):
    given = {"library": "life", "intent": "auto", "top_k": 1, "expand": False} | arguments
    return run(connection, "context", query=QUESTION, **given)


def answer(connection, **arguments):
    given = {"library": "life", "top_k": 1, "expand": False} | arguments
    [row] = run(connection, "answer_context", question=QUESTION, **given)
    return row["sources"]


@pytest.mark.parametrize("function", [context, answer])
class TestInjection:
    def test_types_of_the_intent_are_in_the_context(self, connection, function):
        """Even if its best page scores less than half of the best hit."""
        sets(connection)
        rows = function(connection, inject_count=1)
        assert relations(rows, "title") == {"hit": ["Move"], "injected": ["Freedom"]}
        score = {row["relation"]: row["score"] for row in rows}
        assert score["injected"] < score["hit"] / 2
        rows = function(connection)
        assert sorted(relations(rows, "title")["injected"]) == ["Freedom", "Money"]
        assert relations(function(connection, intent="off"), "title") == {"hit": ["Move"]}

    def test_types_of_the_caller_replace_them(self, connection, function):
        sets(connection)
        rows = function(connection, inject_types=["Goal"])
        assert relations(rows, "title") == {"hit": ["Move"], "injected": ["Money"]}
        assert relations(function(connection, inject_types=[]), "title") == {"hit": ["Move"]}
        rows = function(connection, intent="off", inject_types=["value"])
        assert relations(rows, "title")["injected"] == ["Freedom"]

    def test_its_count_comes_from_the_intent(self, connection, function):
        sets(connection, inject_count=0)
        assert relations(function(connection), "title") == {"hit": ["Move"]}
        assert len(relations(function(connection, inject_count=2), "title")["injected"]) == 2

    def test_it_takes_turns_with_the_hits(self, connection, function):
        sets(connection)
        given = {"top_k": 3, "score_share": 0, "inject_types": ["goal"]}
        assert len(relations(function(connection, **given), "title")["hit"]) == 3
        rows = function(connection, **given, token_budget=110 if function is context else 75)
        assert relations(rows, "title") == {"hit": ["Move"], "injected": ["Money"]}


@pytest.mark.parametrize("function", [context, answer])
class TestArguments:
    def test_expansion(self, connection, function):
        given = {"expand": None, "inject_types": []}
        sets(connection)
        assert relations(function(connection, **given), "title").keys() == {"hit", "expansion"}
        for arguments in (
            {"expand": False}, {"expansion_threshold": 2}, {"max_documents_to_expand": 0},
            {"max_chunks_per_document": 0},
        ):  # fmt: skip
            sets(connection, **arguments)
            assert relations(function(connection, **given), "title") == {"hit": ["Move"]}, arguments
        rows = function(connection, **given, max_chunks_per_document=2)
        assert len(relations(rows, "title")["expansion"]) == 1

    def test_thresholds(self, connection, function):
        given = {"inject_types": [], "top_k": 10}
        sets(connection, score_share=0)
        assert len(set(relations(function(connection, **given), "title")["hit"])) > 1
        sets(connection, score_share=1)
        assert set(relations(function(connection, **given), "title")["hit"]) == {"Move"}
        assert len(set(relations(function(connection, **given, score_share=0), "title")["hit"])) > 1
        sets(connection, min_score=0.99)
        assert function(connection, **given) == []
        assert function(connection, **given, min_score=0) != []

    def test_graph(self, connection, function):
        given = {"inject_types": [], "top_k": 10, "score_share": 0}
        sets(connection, graph={"search": True, "edge_weight": 10})
        linked = {row["title"]: row["score"] for row in function(connection, **given)}
        plain = {row["title"]: row["score"] for row in function(connection, **given, graph=False)}
        assert linked["Boats"] > plain["Boats"]


class TestGraph:
    def found(self, connection, **arguments):
        given = {"library": "life", "intent": "auto", "explain": True} | arguments
        rows = search(connection, QUESTION, **given)
        return {row["title"]: row["explanation"]["graph"] for row in rows}

    def test_is_turned_on_and_set_by_the_strategy_before_the_library(self, connection):
        sets(connection, graph=True)
        assert self.found(connection)["Boats"]["linked_by"] == 2
        assert self.found(connection, graph=False)["Boats"] is None
        run(connection, "configure_library", library="life", settings={"graph": {"search": True}})
        sets(connection, graph=False)
        assert self.found(connection)["Boats"] is None
        assert self.found(connection, graph=True)["Boats"]["linked_by"] == 2
        run(connection, "configure_library", library="life", settings={"graph": {"seeds": 1}})
        sets(connection, graph={"search": True})
        assert self.found(connection)["Boats"]["seeds"] == 1
        sets(connection, graph={"search": True, "seeds": 2})
        assert self.found(connection)["Boats"]["seeds"] == 2

    def test_a_query_type_sets_arguments_too_and_the_intent_decides(self, connection):
        levels = {"levels": [1, 2]}
        run(
            connection, "apply_configuration",
            entries={"query_types": {"relational": levels | {"graph": True, "min_score": 0.1}}},
        )  # fmt: skip
        [row] = run(connection, "strategy", intent_name="SEMANTIC", type_name="relational")
        assert row["arguments"] == {"graph": True, "min_score": 0.1}
        sets(connection, min_score=0.2)
        [row] = run(connection, "strategy", intent_name="DECISION", type_name="relational")
        assert row["arguments"] == {
            "graph": True, "min_score": 0.2, "inject_types": ["value", "goal"],
        }  # fmt: skip


def test_other_searches_take_them_too(connection):
    sets(connection, min_score=0.99)
    given = {"query": QUESTION, "library": "life", "intent": "auto"}
    for function in ("search", "search_pages", "recorded_search"):
        assert run(connection, function, **given) == []
        assert run(connection, function, **given, min_score=0) != []
    sets(connection, max_per_page=1)
    found = keys(search(connection, QUESTION, library="life", intent="auto"))
    assert len(set(found)) == len(found)


def test_they_are_configured_for_intents_and_types_only(connection):
    set_ = {"graph": {"search": True, "depth": 2}, "min_score": 0.2, "expand": False}
    sets(connection, **set_)
    stored = value(connection, "select pgrag.configuration() #> '{intents,DECISION}'")
    assert stored.items() >= set_.items()
    [row] = run(connection, "detect_intent", query=QUESTION)
    assert row["arguments"] == set_ | {"inject_types": ["value", "goal"]}
    entries = {"intents": {"DECISION": stored}}
    assert run(connection, "apply_configuration", entries=entries) == []
    sets(connection)
    assert "graph" not in value(connection, "select pgrag.configuration() #> '{intents,DECISION}'")
    with refused(connection, "PGR01", "page_types/note/min_score: there is no such field."):
        run(connection, "apply_configuration", entries={"page_types": {"note": {"min_score": 1}}})
    for arguments, message in [
        ({"min_score": "x"}, "intents/DECISION/min_score: must be a number, got 'x'."),
        ({"score_share": 2}, "intents/DECISION/score_share: must be 0 to 1, got 2."),
        ({"expand": "yes"}, "intents/DECISION/expand: must be true or false, got 'yes'."),
        ({"inject_count": 1.5}, "intents/DECISION/inject_count: must be 0 to 100, got 1.5."),
        ({"graph": "on"}, "intents/DECISION/graph: must be true, false, or an object like"),
        ({"graph": {"depth": 9}}, "graph.depth must be a whole number from 1 to 3, got 9."),
        ({"graph": {"deep": 1}}, "graph.deep must be one of graph.admitted"),
        ({"top_k": 3}, "intents/DECISION/top_k: there is no such field."),
    ]:
        with refused(connection, "PGR01", message):
            sets(connection, **arguments)
