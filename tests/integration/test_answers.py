"""Answers by a language model on loopback: sources, citations, checks, what is kept of them."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import llm_server
import pytest
from api_corpus import SOURCES, indexed
from llm_server import break_off, calls, hang, hang_after, says, status

from pgrag.answer.stream import MOST_TOKENS, NO_ANSWER
from pgrag.ground import errors
from pgrag.ground.settings import Settings
from pgrag.ground.values.answers import Source
from pgrag.models.reranking import Reranked
from pgrag.search.result import NO_MATCH
from pgrag.search.search import Search
from pgrag.service.app import App

QUESTION = "When is the range of the tide largest?"
TRUE = "Two days after a full moon the range is largest"


@pytest.fixture(scope="module")
def server():
    with llm_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def app(clone, server, tmp_path_factory):
    """The harbour handbook and a language model; tests add recorded answers and nothing else."""
    folder = tmp_path_factory.mktemp("answers")
    with clone() as url:
        indexed(url, folder, SOURCES[1:])
        settings = Settings(
            database_url=url, pool_size=2, llm_url=server.url, llm_model="small-chat",
            llm_retries=0, llm_max_tokens=300,
        )  # fmt: skip
        with App(settings) as app:
            yield app


@pytest.fixture
def answerer(app, server):
    server.requests.clear()
    server.hanging.clear()
    server.left.clear()
    return app.answering("test")


def answer(answerer, server, text, question=QUESTION, **given):
    server.script = [says(text)]
    return answerer.answer(question, library="harbour", **given)


def test_the_model_is_not_asked_what_nothing_answers(answerer, server):
    question = "How do I reset the password of my mail account?"
    made = answer(answerer, server, f"{TRUE} [1].", question)
    assert (made.status, made.text, made.model) == ("not_in_documentation", NO_ANSWER, None)
    assert server.requests == []
    assert any(notice.startswith("No good match; nearest: ") for notice in made.notices)
    assert all(source.confidence < NO_MATCH for source in made.sources if source.relation == "hit")
    answer(answerer, server, f"{TRUE} [1].", question, min_confidence=0.0)
    assert len(server.requests) == 1, "told otherwise"


def number_of(made, words):
    [number] = [s.number for s in made.sources if words in s.content]
    return int(number)


def longest_first(_, rows):
    """As a reranker would that prefers long passages."""
    return Reranked(
        [
            {**row, "score": len(row["content"]) / 10_000, "hybrid_score": row["score"]}
            for row in rows
        ]
    )


def test_sources_are_reranked_before_they_are_expanded(app, answerer, server):
    search = Search(app.database, None, rerank=longest_first, client="test")
    given = {"top_k": 1, "expand": False, "inject_types": [], "library": "harbour"}
    server.script = [says("x [1].")]
    made = replace(answerer, results=search).answer(QUESTION, rerank=True, **given)
    [source] = made.sources
    hits = search.search(QUESTION, library="harbour", top_k=50, intent="auto", unit="document").rows
    longest = max(hits, key=lambda hit: len(hit["content"]))
    assert (source.document_id, source.hybrid_score) == (longest["document_id"], longest["score"])
    assert source.score == len(longest["content"]) / 10_000
    [row] = app.database.call("search_record", search_id=made.search_id)
    [kept] = row["search_record"]["hits"]
    assert (kept["score"], kept["hybrid_score"]) == (source.score, source.hybrid_score)
    with pytest.raises(errors.InvalidInput, match="no use for rerank"):
        answerer.answer(QUESTION, mode="agentic", rerank=True)


def recorded(app, made):
    [row] = app.database.query("select * from pgrag.answers where search_id = %s", [made.search_id])
    return row


def test_an_answer_rests_on_sources_and_is_recorded(app, answerer, server):
    number = number_of(answer(answerer, server, "x [1]."), TRUE)
    made = answer(answerer, server, f"{TRUE} [{number}].")
    assert made.status == "answered"
    assert made.text == f"{TRUE} [{number}]."
    assert [(c.number, made.text[c.start : c.end]) for c in made.citations] == [
        (number, f"[{number}]")
    ]
    [sentence] = made.sentences
    assert sentence.is_supported
    assert sentence.cited == (number,)
    assert made.unsupported == made.unknown_citations == ()
    assert made.intent.decided_by in {"rule", "default"}
    assert made.model == "small-chat"
    assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (40, 10)
    assert {"retrieval", "first_token", "writing", "checks", "total"} <= made.timings.keys()

    payload = server.payloads[-1]
    assert payload["max_tokens"] == 300
    assert [message["role"] for message in payload["messages"]] == ["system", "user"]
    assert set(llm_server.sources_of(payload)) == {s.number for s in made.sources}

    row = recorded(app, made)
    assert (row["client"], row["status"], row["library"]) == ("test", "answered", "harbour")
    assert row["answer"] == made.text
    assert row["citations"] == [{"number": number, "document_id": made.citations[0].document_id}]
    assert row["completion_tokens"] == 10
    hit = made.sources[0].document_id
    app.database.call(
        "give_feedback", search_id=made.search_id, document_id=hit, rating=5, comment="true"
    )


def test_what_is_not_supported_is_marked(answerer, server):
    number = number_of(answer(answerer, server, "x"), TRUE)
    made = answer(
        answerer,
        server,
        f"{TRUE} [{number}]. Whales sing below the bridge at midnight [{number}]."
        f" Dragons sleep on 7 volcanoes. {TRUE}. The zebra is purple [77].",
    )
    assert [(s.verdict, s.doubt) for s in made.sentences] == [
        ("supported", None),
        ("not in the sources", "other words than its sources"),
        ("not in the sources", "no citation"),
        ("doubtful", "no citation"),
        ("not in the sources", "unknown source"),
    ]
    assert [s.is_supported for s in made.sentences] == [True, False, False, False, False]
    assert [s.support is None for s in made.sentences] == [False, False, True, True, True]
    opposite = answer(
        answerer, server, f"{TRUE} not [{number}]. Use --tide-max, {TRUE} [{number}]."
    )
    assert [(s.verdict, s.doubt) for s in opposite.sentences] == [
        ("doubtful", "the opposite of its sources"),
        ("not in the sources", "names that its sources lack"),
    ]
    assert made.unknown_citations == (77,)
    assert [c.number for c in made.citations] == [number, number]


def test_the_stream_tells_everything_in_order(answerer, server):
    server.script = [says("", pieces=["It", " is so [", "1", "] and", " so [9]."])]
    stream = answerer.stream(QUESTION, library="harbour")
    events = list(stream)
    assert [event.name for event in events] == [
        "intent", "sources", "token", "token", "token", "token", "citation", "token", "citation",
        "done",
    ]  # fmt: skip
    by_name = {event.name: event.data for event in events}
    text = "".join(event.data["text"] for event in events if event.name == "token")
    assert text == "It is so [1] and so [9]." == by_name["done"]["text"]
    first, second = (event.data for event in events if event.name == "citation")
    assert first["document_id"] == by_name["sources"]["sources"][0]["document_id"]
    assert second == {"number": 9, "start": 20, "end": 23, "document_id": None}
    assert by_name["done"] == stream.answer.as_json()
    assert by_name["sources"]["search_id"] == by_name["done"]["search_id"]


def test_without_an_answer_or_its_end_that_is_said(app, answerer, server):
    made = answer(answerer, server, "x", "qwertzuiop", alpha=0.0)
    assert (made.status, made.text, made.sources) == ("not_in_documentation", NO_ANSWER, ())
    assert server.requests == []
    assert recorded(app, made)["status"] == "not_in_documentation"
    made = answer(answerer, server, "NOT_IN_DOCUMENTATION\n\nVon Walen steht dort nichts.")
    assert (made.status, made.text) == ("not_in_documentation", "Von Walen steht dort nichts.")
    assert made.sentences == ()
    assert recorded(app, made)["status"] == "not_in_documentation"
    assert answer(answerer, server, "NOT_IN_DOCUMENTATION").text == NO_ANSWER
    late = answer(answerer, server, "Nothing about whales.\nNOT_IN_DOCUMENTATION")
    assert (late.status, late.text) == ("not_in_documentation", "Nothing about whales.")
    server.script = [says("It is [1] and", finish="length")]
    made = answerer.answer(QUESTION, library="harbour")
    assert "PGRAG_LLM_MAX_TOKENS" in made.notices[0]


def test_the_model_says_the_intent_where_no_rule_does(answerer, server):
    vague = "harbour moorings electricity"
    server.script = [says("The kind is: procedural."), says("So it is [1].")]
    made = answerer.answer(vague, library="harbour", ask_intent=True)
    assert (made.intent.intent, made.intent.decided_by) == ("PROCEDURAL", "model")
    asked, _ = server.payloads
    assert asked["max_tokens"] == MOST_TOKENS
    assert "KNOWN_ITEM" in asked["messages"][0]["content"]
    assert vague in asked["messages"][1]["content"]

    for useless in (says("Both SEMANTIC and KNOWN_ITEM"), says("None"), status(500)):
        server.script = [useless, says("So it is [1].")]
        made = answerer.answer(vague, library="harbour", ask_intent=True)
        assert made.intent.decided_by == "default"

    server.requests.clear()
    server.script = [says("So it is [1].")]
    ruled = answerer.answer("How do I pay for electricity?", library="harbour", ask_intent=True)
    chosen = answerer.answer(vague, library="harbour", ask_intent=True, intent="SEMANTIC")
    assert (ruled.intent.decided_by, chosen.intent.decided_by) == ("rule", "argument")
    assert len(server.requests) == 2


def test_a_model_that_fails(app, answerer, server):
    server.script = [break_off("It is so ", "[1] and")]
    stream = answerer.stream(QUESTION, library="harbour")
    with pytest.raises(errors.AnswerCutShort):
        list(stream)
    with pytest.raises(RuntimeError, match="not finished"):
        _ = stream.answer
    server.script = [status(500)]
    with pytest.raises(errors.LanguageModelError):
        answerer.answer(QUESTION, library="harbour")
    server.script = [calls(("search_the_web", {"query": "tides"}))]
    with pytest.raises(errors.LanguageModelError, match="calls tools instead of answering"):
        answerer.answer(QUESTION, library="harbour")
    rows = app.database.query(
        "select status, answer from pgrag.answers where status = 'failed' order by at"
    )
    assert [row["answer"] for row in rows] == ["It is so [1] and", "", ""]


def test_a_model_that_searches_by_itself(app, answerer, server):
    search = ("keyword_search", {"query": "spring tides"})
    server.script = [calls(search), says(f"{TRUE} [1]. Whales sing at midnight [1].")]
    stream = answerer.stream(QUESTION, library="harbour", mode="agentic", max_steps=3)
    names = [event.name for event in list(stream)]
    assert (names[0], names[-1]) == ("sources", "done")
    assert {"step", "token", "citation"} <= set(names)
    made = stream.answer
    assert (made.mode, made.status, made.intent) == ("agentic", "answered", None)
    assert made.trace is not None
    assert [[call["tool"] for call in step["calls"]] for step in made.trace] == [
        ["keyword_search"],
        [],
    ]
    assert [s.doubt for s in made.sentences] == [None, "other words than its sources"]
    assert made.citations[0].document_id == made.sources[0].document_id
    assert len(recorded(app, made)["trace"]) == 2
    [found] = app.database.query(
        "select * from pgrag.searches where search_id = %s", [made.search_id]
    )
    assert found["parameters"]["function"] == "agent"
    assert found["duration_ms"] is None, "what the model took is not a time of a search"
    assert found["hit_count"] == len(made.sources)
    direct = answer(answerer, server, "x")
    assert isinstance(made.sources[0], Source)
    assert isinstance(direct.sources[0], Source)
    with pytest.raises(errors.InvalidInput, match="no use for top_k"):
        answerer.stream(QUESTION, mode="agentic", top_k=3)
    with pytest.raises(errors.InvalidInput, match="no use for max_steps"):
        answerer.stream(QUESTION, max_steps=3)


def test_an_agentic_answer_that_fails_is_recorded_as_far_as_it_came(app, answerer, server):
    server.script = [calls(("keyword_search", {"query": "tide range"})), status(500)]
    with pytest.raises(errors.LanguageModelError):
        answerer.answer(QUESTION, library="harbour", mode="agentic")
    [row] = app.database.query(
        "select a.status, a.trace, a.prompt_tokens, count(h) as hits from pgrag.answers as a"
        " left join pgrag.search_hits as h using (search_id)"
        " group by a.search_id order by a.at desc limit 1"
    )
    assert (row["status"], len(row["trace"])) == ("failed", 1)
    assert row["hits"] > 0
    assert row["prompt_tokens"] == row["trace"][0]["prompt_tokens"] == 40
    before = app.database.query("select count(*) as n from pgrag.answers")
    with pytest.raises(errors.UnknownLibrary):
        answerer.answer(QUESTION, library="atlantis", mode="agentic")
    assert app.database.query("select count(*) as n from pgrag.answers") == before


@pytest.mark.parametrize("call", [
    ("keyword_search", '{"query": "tide \\ud800"}'),
    ("keyword_search", '{"query": "tide\\u0000"}'),
    ("keyword_search", '{"query": "tide", "top_k": NaN}'),
    ("read\0chunk", '{"chunk_id": 1e999}'),
])  # fmt: skip
def test_what_no_database_takes_of_a_model_costs_nobody_an_answer(app, answerer, server, call):
    server.script = [
        calls(call), calls(("keyword_search", {"query": "range tide"})), says(f"{TRUE}\0 [1]."),
    ]  # fmt: skip
    made = answerer.answer(QUESTION, library="harbour", mode="agentic")
    assert made.text == f"{TRUE}\N{REPLACEMENT CHARACTER} [1]."
    assert made.trace[0]["calls"][0]["outcome"] == "unusable"
    json.dumps(made.as_json(), ensure_ascii=False, allow_nan=False).encode()
    assert recorded(app, made)["trace"] == list(made.trace)


@pytest.mark.parametrize("mode", ["direct", "agentic"])
@pytest.mark.parametrize("behaviour", [hang, hang_after("It is so [1]", " and")])
def test_a_cancelled_answer_leaves_nothing(app, answerer, server, behaviour, mode):
    server.script = [behaviour]
    cancelled = "select count(*) as n from pgrag.answers where status = 'cancelled'"
    [recorded_before] = app.database.query(cancelled)
    stream = answerer.stream(QUESTION, library="harbour", mode=mode)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(list, stream)
        assert server.hanging.wait(120)
        stream.cancel()
        stream.cancel()
        assert type(reading.exception(120)) is errors.GenerationCancelled
    assert server.left.wait(120)
    [after] = app.database.query(cancelled)
    assert after["n"] == recorded_before["n"] + 1


def test_who_leaves_the_stream_early_cancels_it(answerer, server):
    server.script = [hang_after("It", " is")]
    stream = answerer.stream(QUESTION, library="harbour")
    for event in stream:
        if event.name == "token":
            break
    stream.events.close()
    assert server.left.wait(120)
    never = answerer.stream(QUESTION, library="harbour")
    never.cancel()
    server.requests.clear()
    with pytest.raises(errors.GenerationCancelled):
        list(never)
    assert server.requests == []


def test_recording_and_the_language_model_can_be_off(app, answerer, server):
    before = app.database.query("select count(*) as n from pgrag.answers")
    with App(app.settings.model_copy(update={"record_searches": False})) as quiet:
        made = answer(quiet.answering("test"), server, "So it is [1].")
    assert made.search_id is None
    assert app.database.query("select count(*) as n from pgrag.answers") == before
    with App(app.settings.model_copy(update={"llm_url": None})) as without:
        with pytest.raises(errors.NotConfigured) as caught:
            without.answering("test")
        assert "PGRAG_LLM_URL" in str(caught.value)
        assert without.search.search("tide", library="harbour").rows
