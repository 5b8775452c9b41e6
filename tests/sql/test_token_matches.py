"""The first hits are compared with the query word by word."""

import pytest
from library import ingest, page, run, search, value

QUERY = "how do I stop the gateway from losing messages when it restarts at night"
FIRST = 20


@pytest.fixture(scope="module", autouse=True)
def gateway(module_connection):
    subjects = ("messages", "mails", "letters", "parcels", "tokens", "logs")
    verbs = ("lose", "drop", "keep", "sort", "repeat")
    pages = [
        page(f"{verb}-{subject}.md", f"Gateways {verb} {subject} after a restart; see the manual.")
        for subject in subjects
        for verb in verbs
    ]
    ingest(module_connection, "gateway", pages)


@pytest.fixture
def weigh(connection):
    """Set the weight of the matches."""

    def set_weight(weight):
        run(connection, "configure_library", library="gateway", settings={"token_weight": weight})

    return set_weight


def hits(connection, query=QUERY, **arguments):
    found = search(
        connection, query, **{"library": "gateway", "top_k": 30, "explain": True, **arguments}
    )
    assert found
    return found


def parts(hit):
    return hit["explanation"]["parts"]


def test_the_match_of_a_word_is_the_largest_cosine(connection):
    matches = {
        (hit["key"], word["word"]): word["match"]
        for hit in hits(connection)
        for word in hit["explanation"]["tokens"]["words"]
    }
    words = {word for _, word in matches}
    assert {"gateway", "messages", "restarts", "night"} <= words
    assert not {"the", "how", "do"} & words, "stop words"
    near = value(
        connection,
        "select t.cosines[array_position(t.related, 'mails')] from pgrag.model_tokens as t"
        " where t.token = 'messages'",
    )
    assert matches["lose-messages.md", "messages"] == pytest.approx(1, abs=0.04)
    assert matches["lose-parcels.md", "messages"] == 0
    if near is not None:
        assert matches["lose-mails.md", "messages"] == pytest.approx(near, abs=0.04)


def test_related_words_have_the_cosines_of_their_vectors(connection):
    rows = connection.execute(
        "select r.cosine, -((t.embedding <#> o.embedding)"
        " / l2_norm(t.embedding) / l2_norm(o.embedding)) as expected"
        " from pgrag.model_tokens as t"
        " cross join lateral unnest(t.related, t.cosines) as r (word, cosine)"
        " join pgrag.model_tokens as o on o.model_id = t.model_id and o.token = r.word"
        " where t.token in ('install', 'hund', 'container')"
    ).fetchall()
    assert len(rows) > 20
    for row in rows:
        cosine, expected = row.values() if isinstance(row, dict) else row
        assert cosine == pytest.approx(expected, abs=1 / 100)
        assert 0.69 < cosine < 1


def test_the_first_hits_stay_the_first_and_the_others_as_they_are(connection, weigh):
    weigh(0)
    before = hits(connection)
    assert all("tokens" not in parts(hit) for hit in before)
    weigh(0.2)
    after = hits(connection)
    assert any(parts(hit).get("tokens", 0) > 0.05 for hit in after)
    scores = {hit["key"]: hit["score"] for hit in before}
    assert {hit["key"] for hit in after[:FIRST]} == {hit["key"] for hit in before[:FIRST]}
    for place, hit in enumerate(after):
        added = parts(hit).get("tokens", 0)
        assert 0 <= added <= 0.2
        assert hit["score"] == pytest.approx(sum(parts(hit).values()))
        assert hit["score"] >= scores[hit["key"]] - 1e-9
        if place >= FIRST:
            assert hit["score"] == pytest.approx(scores[hit["key"]])
    assert [hit["score"] for hit in after] == sorted((h["score"] for h in after), reverse=True)


def test_a_page_of_results_continues_the_same_list(connection):
    whole = hits(connection)
    listed, after = [], None
    while len(listed) < len(whole):
        some = hits(connection, top_k=7, after=after)
        listed += some
        after = some[-1]["cursor"]
    assert [hit["document_id"] for hit in listed] == [hit["document_id"] for hit in whole]
    assert [hit["score"] for hit in listed] == [hit["score"] for hit in whole]


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("gateway messages", {}), (QUERY, {"mode": "keyword"}), (QUERY, {"mode": "semantic"}),
        (QUERY, {"alpha": 0}), (QUERY, {"fusion": "rrf"}),
    ],
)  # fmt: skip
def test_names_single_retrievers_and_ranks_have_no_matches(connection, query, arguments):
    assert all("tokens" not in parts(hit) for hit in hits(connection, query, **arguments))


def test_the_least_score_is_that_of_the_list(connection):
    whole = hits(connection)
    least = whole[9]["score"]
    found = hits(connection, min_score=least)
    assert [hit["key"] for hit in found] == [h["key"] for h in whole if h["score"] >= least]


@pytest.mark.parametrize("arguments", [{"unit": "page"}, {"graph": True}, {"mmr_lambda": 0.7}])
def test_rearranged_lists_have_them(connection, arguments):
    found = hits(connection, **arguments)
    assert any(parts(hit).get("tokens", 0) > 0 for hit in found)
    for hit in found:
        assert hit["score"] == pytest.approx(sum(parts(hit).values()))


@pytest.mark.parametrize("alpha", [0, 1])
def test_a_library_with_a_single_retriever_has_no_matches(connection, alpha):
    run(connection, "configure_library", library="gateway", settings={"alpha": alpha})
    assert all("tokens" not in parts(hit) for hit in hits(connection))


def test_a_misspelt_word_is_compared_as_what_is_searched_for(connection):
    matches = hits(connection, "gatewway restart loses logs")[0]["explanation"]["tokens"]["words"]
    assert {word["word"] for word in matches} == {"gateway", "restart", "loses", "logs"}


@pytest.mark.parametrize("place", [2, 9, 17, 24, 40])
def test_pages_are_counted_as_a_search_with_the_filter_finds_them(connection, manual, place):
    query = {"query": "install a certificate and rotate the encryption keyword of the linker"}
    query["library"] = manual
    least = search(connection, **query, top_k=200)[place]["score"]
    total, *rows = run(connection, "facets", **query, min_score=least)
    counted = [({}, total)]
    counted += [({row["facet"]: row["value"]}, row) for row in rows if row["facet"] == "type"]
    assert len(counted) > 1
    for filters, row in counted:
        assert row["is_exact"]
        found = search(connection, **query, min_score=least, top_k=200, filters=filters or None)
        assert len(found) == row["passage_count"], filters
        assert len({hit["page_id"] for hit in found}) == row["page_count"], filters
