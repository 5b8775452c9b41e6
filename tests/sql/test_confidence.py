"""Whether a hit answers: one number, whatever decided the order; and what follows from it."""

import pytest
from library import ingest, page, run, search, value

from pgrag.search.result import NO_MATCH

PUMP = "how do I prime the pump"
GIBBERISH = "zzzqqq xyzzyplugh"
ELSEWHERE = "reset a forgotten password of the mail account"


@pytest.fixture(scope="module", autouse=True)
def pumps(module_connection):
    pages = [
        page("prime.md", "Prime the pump before the first run.", "Bleed the air from the pump."),
        page("seal.md", "Replace the seal of the pump when it drips.", "Order seals by number."),
        page("valve.md", "Close the valve by hand before the motor is opened."),
        page("winter.md", "Empty the pipes in winter, so that no frost bursts them."),
    ]
    ingest(module_connection, "pumps", pages)


def confidences(connection, query, **arguments):
    rows = run(connection, "search", query=query, library="pumps", **arguments)
    return {row["document_id"]: row["confidence"] for row in rows}


def best(connection, query, **arguments):
    return max(confidences(connection, query, **arguments).values())


def test_what_the_pages_answer_is_told_from_what_they_do_not(connection):
    assert best(connection, PUMP) > 0.8
    for query in (GIBBERISH, ELSEWHERE):
        assert best(connection, query) < NO_MATCH
    assert best(connection, "the") < NO_MATCH, "stop words only"


def test_order_changes_nothing(connection):
    plain = confidences(connection, PUMP)
    for arguments in (
        {"fusion": "rrf"}, {"graph": True}, {"hierarchy": "breadth"}, {"mmr_lambda": 0.5},
        {"alpha": 0.7}, {"candidate_count": 1000}, {"top_k": 4},
    ):  # fmt: skip
        other = confidences(connection, PUMP, **arguments)
        shared = plain.keys() & other.keys()
        assert len(shared) >= 4
        assert {id: other[id] for id in shared} == pytest.approx({id: plain[id] for id in shared})
    reranked = {str(id): nth / 10 for nth, id in enumerate(plain)}
    assert confidences(connection, PUMP, reranked=reranked) == pytest.approx(plain)
    pages = run(connection, "search_pages", query=PUMP, library="pumps")
    assert all(row["confidence"] == pytest.approx(plain[row["document_id"]]) for row in pages)


@pytest.mark.parametrize("mode", ["keyword", "semantic"])
def test_a_single_retriever_has_its_own_calibration(connection, mode):
    assert best(connection, PUMP, mode=mode) > 0.5
    found = confidences(connection, ELSEWHERE, mode=mode)
    assert max(found.values(), default=0) < NO_MATCH


def test_it_is_null_where_it_is_not_calibrated(connection, notices):
    assert set(confidences(connection, "page:prime.md").values()) == {None}
    assert notices == []
    assert confidences(connection, "page:prime.md", min_confidence=0.9)
    assert notices == ["min_confidence left out no hit whose confidence is not known."]
    connection.execute(
        "update pgrag.embedding_models set provider = 'openai', settings = settings || '{}'"
        " where provider = 'builtin'"
    )
    vector = value(connection, "select embedding::text from pgrag.embeddings limit 1")
    found = run(connection, "search", query=PUMP, library="pumps", query_embedding=vector)
    assert {row["confidence"] for row in found} == {None}
    assert best(connection, PUMP, mode="keyword") > 0.5, "words have no model"


def test_min_confidence_is_applied_before_the_limit(connection, notices):
    plain = confidences(connection, "pump seal", top_k=100)
    strong = {id for id, confidence in plain.items() if confidence >= 0.5}
    assert 0 < len(strong) < len(plain)
    assert confidences(connection, "pump seal", min_confidence=0.5).keys() == strong
    last = min(strong, key=plain.get)
    [only] = confidences(connection, "pump seal", min_confidence=0.5, top_k=1)
    assert only in strong
    assert last in confidences(connection, "pump seal", min_confidence=plain[last] - 1e-9)
    assert confidences(connection, GIBBERISH, min_confidence=NO_MATCH) == {}
    assert notices == []
    context = run(connection, "context", query="pump seal", library="pumps", min_confidence=0.5,
                  expand=False)  # fmt: skip
    assert {row["document_id"] for row in context} <= strong


def test_pages_of_results_with_min_confidence_neither_miss_nor_repeat(connection):
    whole = [*confidences(connection, "pump seal", min_confidence=0.1)]
    assert len(whole) > 2
    rows = run(connection, "search", query="pump seal", library="pumps", min_confidence=0.1,
               top_k=1)  # fmt: skip
    listed = [row["document_id"] for row in rows]
    while rows:
        rows = run(connection, "search", query="pump seal", library="pumps", min_confidence=0.1,
                   top_k=1, after=rows[-1]["cursor"])  # fmt: skip
        listed += [row["document_id"] for row in rows]
    assert listed == whole


def test_no_good_match_names_the_nearest_pages(connection, notices):
    run(connection, "search", query=PUMP, library="pumps")
    assert notices == []
    for function in ("search", "search_pages", "recorded_search", "context", "keyword_search"):
        run(connection, function, query=ELSEWHERE, library="pumps")
        found = [notice for notice in notices if notice.startswith("No good match; nearest: ")]
        assert len(found) == (0 if function == "keyword_search" else 1), function
        notices.clear()
    run(connection, "search", query=ELSEWHERE, library="pumps", min_confidence=0)
    assert notices == [], "the caller has decided"


def test_an_answer_says_that_nothing_answers(connection):
    def ask(**arguments):
        [row] = run(connection, "answer_context", library="pumps", **arguments)
        return row

    assert ask(question=PUMP)["is_answerable"]
    row = ask(question=ELSEWHERE)
    assert not row["is_answerable"]
    assert row["confidence"] < NO_MATCH
    assert {source["relation"] for source in row["sources"]} == {"hit"}, "no page is expanded"
    assert ask(question=ELSEWHERE, min_confidence=0)["is_answerable"]
    assert not ask(question=ELSEWHERE, min_confidence=0.5)["is_answerable"], "no hit is left"


def test_python_knows_the_threshold(connection):
    assert value(connection, "select _pgrag.no_match()") == NO_MATCH


def test_the_words_of_a_passage_count_in_its_own_language(connection):
    pages = [
        page("en.md", "The keeper does not open the hives while it is raining."),
        page("de.md", "Der Imker öffnet die Beuten nicht, solange es noch regnet."),
    ]
    ingest(connection, "bees", pages)
    hits = run(connection, "search", query="hives while raining", library="bees", explain=True)
    assert len(hits) == 2
    for hit in hits:
        words = hit["explanation"]["keyword"]["lexemes"]
        whole = sum(word["weight"] for word in words)
        adding = sum(word["weight"] for word in words if word["adds"] > 0)
        assert hit["explanation"]["confidence"]["coverage"] == pytest.approx(adding / whole)
    assert {hit["explanation"]["confidence"]["coverage"] > 0.9 for hit in hits} == {True, False}


def test_an_explanation_has_every_number(connection):
    [hit] = run(connection, "search", query=PUMP, library="pumps", top_k=1, explain=True)
    parts = hit["explanation"]["confidence"]
    assert parts["value"] == hit["confidence"]
    assert parts["cosine"] == hit["semantic_score"]
    assert parts["page"] == hit["explanation"]["keyword"]["page_score"]
    words = {word["lexeme"]: word for word in hit["explanation"]["keyword"]["lexemes"]}
    whole = sum(word["weight"] for word in words.values())
    adding = sum(word["weight"] for word in words.values() if word["adds"] > 0)
    assert parts["coverage"] == pytest.approx(adding / whole)
    known = sum(word["weight"] for word in words.values() if word["documents"] > 0)
    assert parts["known"] == pytest.approx(known / whole)


def test_a_phrase_of_stop_words_is_answered_where_it_stands(connection, notices):
    ingest(
        connection, "hamlet", [page("a.md", "He asks: to be or not to be."), page("b.md", "x y")]
    )
    [hit] = search(connection, '"to be or not to be"', library="hamlet")
    assert hit["confidence"] > 0.15
    assert notices == []
