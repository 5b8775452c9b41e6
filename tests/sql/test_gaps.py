"""What readers looked for and did not find: searches that failed them, as topics."""

import pytest
from library import ingest, page, run, value
from psycopg.types.json import Jsonb


@pytest.fixture(scope="module", autouse=True)
def libraries(module_connection):
    pages = [
        page("prime.md", "Prime the pump before the first run. Bleed the air from the pump."),
        page("seal.md", "Replace the seal of the pump when it drips."),
    ]
    ingest(module_connection, "pumps", pages)
    ingest(module_connection, "valves", [page("valve.md", "Close the valve by hand.")])


def asked(connection, query, confidence=0.7, **facts):
    """Record a search of some minutes ago; without a confidence it had no hits."""
    facts = {"library": "pumps", "client": "rest", "minutes": 60, "parameters": {}} | facts
    return value(
        connection,
        "insert into pgrag.searches (client, query, library, hit_count, confidence, parameters, at,"
        " caller, continued) values (%s, %s, %s, %s, %s, %s, now() - make_interval(mins => %s), %s,"
        " %s) returning search_id",
        facts["client"], query, facts["library"], 0 if confidence is None else 10, confidence,
        Jsonb(facts["parameters"]), facts["minutes"], facts.get("caller"),
        facts.get("continued", False),
    )  # fmt: skip


def unanswered(connection, *queries, times=1):
    for query in queries * times:
        asked(connection, query, None)


def gaps(connection, **arguments):
    return run(connection, "gaps", **arguments)


def topics(connection):
    return {frozenset(row["examples"]) for row in gaps(connection)}


def reasons(row):
    return tuple(
        row[name]
        for name in ("searches", "found_nothing", "found_little", "rephrased", "rated_badly")
    )


def test_confidence_says_what_found_little(connection):
    asked(connection, "prime the pump", 0.8)
    asked(connection, "air valve", 0.4)
    assert gaps(connection) == []
    assert reasons(gaps(connection, weak_confidence=0.5)[0]) == (1, 0, 1, 0, 0)
    asked(connection, "submarine permit", None)
    asked(connection, "Submarine  permit", 0.1, minutes=40, parameters={"fusion": "rrf"})
    [row] = gaps(connection)
    assert (row["topic"], row["library_name"]) == ("submarine permit", "pumps")
    assert reasons(row) == (2, 1, 1, 0, 0)
    assert row["examples"] == ["submarine permit"]


def test_a_recorded_search_keeps_its_confidence(connection):
    for query, is_gap in (("prime the pump", False), ("forgotten mail account", True)):
        run(connection, "recorded_search", query=query, library="pumps")
        found = [row["topic"] for row in gaps(connection) if row["topic"] == query]
        assert bool(found) == is_gap


@pytest.mark.parametrize(
    "query",
    [
        "zzzqqq xyzzyplugh",
        "asdfasdf",
        "how do I asdfgh",
        "prmie the pump",
        "the vlave",
        "ghjkl seel",
    ],
)
def test_slips_are_no_topics(connection, query):
    unanswered(connection, query, query)
    assert gaps(connection) == []
    for caller in ("ada", "bob"):
        asked(connection, query, None, caller=caller)
    assert len(gaps(connection)) == 1, "several callers mean it"


@pytest.mark.parametrize(
    "query",
    ["submarine permit", "42", "how to", "цена насоса", "泵的价格", "installation of a pump"],
)
def test_other_unknown_words_are(connection, query):
    unanswered(connection, query)
    assert [row["topic"] for row in gaps(connection)] == [query]


def test_rephrased_questions_are_gaps(connection):
    asked(connection, "pump drips", minutes=30, caller="a")
    asked(connection, "pump drips at the seal", minutes=29, caller="a")
    asked(connection, "bleed air", minutes=28, caller="a")
    [row] = gaps(connection)
    assert row["topic"] == "pump drips"
    assert reasons(row) == (1, 0, 0, 1, 0)


@pytest.mark.parametrize(
    "second",
    [
        {"query": "pump drips at the seal", "minutes": 25},
        {"query": "pump drips at the seal", "caller": "b"},
        {"query": "pump drips at the seal", "client": "cli"},
        {"query": "pump drips at the seal", "library": "valves"},
        {"query": "Pump  drips"},
        {"query": "bleed the air"},
        {"query": "pump drips at the seal", "continued": True},
    ],
)
def test_other_searches_are_not_the_same_question_again(connection, second):
    asked(connection, "pump drips", minutes=30, caller="a")
    asked(connection, second.pop("query"), **({"minutes": 29, "caller": "a"} | second))
    assert gaps(connection) == []


def test_rated_badly(connection):
    poor = asked(connection, "winter storage")
    mixed = asked(connection, "change of oil")
    for search_id, rating in ((poor, 1), (poor, 3), (mixed, 1), (mixed, 5)):
        run(connection, "give_feedback", search_id=search_id, rating=rating)
    [row] = gaps(connection)
    assert (row["topic"], reasons(row)) == ("winter storage", (1, 0, 0, 0, 1))


class TestTopics:
    def test_words_and_meaning_make_a_topic(self, connection):
        first, *others = same = [
            "how to store the pump in winter", "store pump winter",
            "storing pumps during the winter season",
        ]  # fmt: skip
        unanswered(connection, *same)
        unanswered(connection, first, others[0], "price list")
        unanswered(connection, first, "price list")
        stored, prices = gaps(connection)
        assert (stored["topic"], stored["searches"]) == (first, 6)
        assert stored["examples"] == same
        assert (prices["topic"], prices["searches"]) == ("price list", 2)

    def test_meaning_alone_makes_a_topic(self, connection):
        unanswered(connection, "purchase", "buy", "submarine")
        assert topics(connection) == {frozenset({"purchase", "buy"}), frozenset({"submarine"})}

    def test_letters_that_the_model_does_not_know_are_not_alike(self, connection):
        one, *alike = "настроить насос", "зимнее хранение", "зимнее хранение насоса"
        unanswered(connection, one, *alike)
        assert topics(connection) == {frozenset({one}), frozenset(alike)}

    def test_a_topic_is_of_one_library(self, connection):
        for library in ("pumps", "valves", None):
            asked(connection, "price list", None, library=library)
        assert {row["library_name"] for row in gaps(connection)} == {"pumps", "valves", None}
        [row] = gaps(connection, library="Valves")
        assert row["library_name"] == "valves"

    def test_a_chain_of_likenesses_is_not_one_topic(self, connection):
        first, both, last = (
            "storage winter invoice", "winter invoice language", "invoice language kernel"
        )  # fmt: skip
        for times, query in enumerate((last, both, first), start=1):
            unanswered(connection, query, times=times)
        assert [row["examples"] for row in gaps(connection)] == [[first, both], [last]]

    def test_examples_and_rows_are_few(self, connection):
        unanswered(connection, *(f"price list {number}" for number in range(8)), "winter")
        rows = gaps(connection)
        assert [len(row["examples"]) for row in rows] == [5, 1]
        assert len(gaps(connection, top_k=1)) == 1

    def test_only_the_last_days(self, connection):
        asked(connection, "price list", None, minutes=60 * 24 * 8)
        assert gaps(connection, days=7) == []
        assert len(gaps(connection, days=9)) == 1


class TestNearestPages:
    def test_are_those_of_the_library_today(self, connection):
        asked(connection, "seal of a submarine", 0.1)
        [row] = gaps(connection)
        assert row["pages"][0]["key"] == "seal.md"
        assert row["pages"][0].keys() == {"library", "key", "title", "url", "score"}
        assert {near["library"] for near in row["pages"]} == {"pumps"}

    def test_none_of_a_library_that_is_gone(self, connection):
        ingest(connection, "hoses", [page("hose.md", "Wind up the hose.")])
        asked(connection, "seal of a hose", None, library="hoses")
        run(connection, "remove_library", library="hoses")
        [row] = gaps(connection)
        assert (row["library_name"], row["pages"]) == ("hoses", [])

    def test_none_for_an_invalid_query(self, connection):
        asked(connection, "-seal", None)
        [row] = gaps(connection)
        assert row["pages"] == []


def test_queries_without_a_vector_are_no_notice(connection, notices):
    run(connection, "register_model", name="far", dimensions=3, provider="custom")
    connection.execute(
        "update pgrag.libraries set model_id = (select model_id from pgrag.embedding_models"
        " where name = 'far') where name = 'pumps'"
    )
    asked(connection, "seal of a submarine", 0.1)
    assert gaps(connection)[0]["pages"]
    assert notices == []


def test_nobody_reads_what_others_asked(connection):
    asked(connection, "price list", None, caller="somebody")
    connection.execute("set local role pgrag_reader")
    connection.execute("select set_config('pgrag.caller', 'me', true)")
    assert gaps(connection) == []
