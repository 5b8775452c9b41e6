"""Synonyms and relevance feedback: what they find, and that without them nothing changes."""

import pytest
from library import contents, ingest, page, refused, run, search, value

PAGES = [
    page("leave.md", "Every employee has thirty days of leave.", "Leave is granted in writing."),
    page("paid.md", "Paid time off is agreed with the head of the department."),
    page("time.md", "The clock shows the time of the harbour."),
    page("valve.md", "Close the valve before the pump starts.", "The valve and the gasket leak."),
    page("gasket.md", "A worn gasket is replaced every winter."),
    page("other.md", "Gulls live on the roof of the warehouse."),
]
GERMAN = [page("rohr.md", "Der Hahn wird langsam zugedreht."), page("möwe.md", "Möwen fliegen.")]

TERMS = """
select t.*
from unnest(
    _pgrag.expand_terms(
        array(
            select q
            from pgrag.query_terms(
                %(words)s,
                array(select l.library_id from pgrag.libraries as l where l.name = any (%(of)s))
            ) as q
        ),
        _pgrag.make_target(
            array(select l.library_id from pgrag.libraries as l where l.name = any (%(of)s)),
            array(
                select v.version_id
                from pgrag.versions as v
                join pgrag.libraries as l on l.library_id = v.library_id
                where l.name = any (%(of)s)
            ),
            100, false, 6, null, '{}', '{}', '{}'
        ),
        %(words)s,
        %(how)s
    )
) as t
order by t.weight desc, t.lexeme
"""


@pytest.fixture(scope="module", autouse=True)
def handbook(module_connection):
    ingest(module_connection, "handbook", PAGES, language="english")
    ingest(module_connection, "handbuch", GERMAN, language="german")


def terms(connection, words, how, *of):
    rows = connection.execute(
        TERMS, {"words": words, "how": how, "of": list(of or ("handbook",))}
    ).fetchall()
    return {row["lexeme"]: row for row in rows}


def synonyms(connection, library="handbook", **given):
    run(connection, "set_synonyms", library=library, synonyms=given)


def found(connection, query, how):
    return contents(search(connection, query, library="handbook", alpha=0, query_expansion=how))


def test_off_means_that_nothing_changes(connection):
    def everything():
        return value(
            connection,
            "select jsonb_agg(to_jsonb(s) - 'search_id')::text"
            " from pgrag.search('leave the valve', library => 'handbook', top_k => 100) as s",
        )

    before = everything()
    assert "Leave is granted" in before
    synonyms(connection, leave=["gulls"], valve=["clock"])
    assert everything() == before
    assert found(connection, "leave", None) == found(connection, "leave", "none")


def test_a_synonym_finds_what_the_word_does_not_and_weighs_less(connection):
    synonyms(connection, pto=["leave"])
    assert found(connection, "pto", None) == []
    assert len(found(connection, "PTO", "synonyms")) == 2
    assert found(connection, "clock", "synonyms") == found(connection, "clock", None)
    synonyms(connection, leave=["clock"])
    hits = found(connection, "leave", "synonyms")
    assert len(hits) == 3
    assert "clock" in hits[-1]
    weighed = terms(connection, "leave", "synonyms")
    assert set(weighed) == {"leav", "clock"}
    same_idf = weighed["clock"]["idf"] / weighed["leav"]["idf"]
    ratio = weighed["clock"]["weight"] / weighed["leav"]["weight"]
    assert ratio == pytest.approx(0.5 * same_idf)
    synonyms(connection, pto={"expansions": ["paid time off"], "weight": 0.9})
    weighed = terms(connection, "pto", "synonyms")
    # "off" is a stop word.
    assert set(weighed) == {"pto", "paid", "time"}
    shares = {x: weighed[x]["weight"] / weighed[x]["idf"] for x in weighed}
    assert shares["paid"] == pytest.approx(shares["time"]) == pytest.approx(0.45 * shares["pto"])
    assert found(connection, "pto", "synonyms")[0].startswith("Paid time off")


def test_synonyms_of_several_words_mutual_ones_and_each_language(connection):
    synonyms(connection, **{"time off": ["leave"]})
    assert "leav" in terms(connection, "more time off please", "synonyms")
    assert "leav" not in terms(connection, "off the clock", "synonyms")
    synonyms(connection, valve={"expansions": ["tap", "cock"], "mutual": True}, pump=["engine"])
    assert set(terms(connection, "cock", "synonyms")) == {"cock", "tap", "valv"}
    assert set(terms(connection, "valve", "synonyms")) == {"cock", "tap", "valv"}
    assert set(terms(connection, "engine", "synonyms")) == {"engin"}
    synonyms(connection, "handbuch", Ventile=["Hähne"])
    weighed = terms(connection, "Ventil", "synonyms", "handbook", "handbuch")
    assert {(row["language"], x) for x, row in weighed.items()} >= {("german", "hahn")}
    assert all(row["lexeme"] != "hahn" for row in weighed.values() if row["language"] == "english")
    hits = search(connection, "VENTILE", library="handbuch", alpha=0, query_expansion="synonyms")
    assert contents(hits) == ["Der Hahn wird langsam zugedreht."]


def test_a_known_word_gains_nothing_and_both_feeds_synonyms_back(connection):
    synonyms(connection, valve=["gasket"])
    before = terms(connection, "valve gasket", "feedback")
    plain = {
        row["lexeme"]: row["weight"]
        for row in connection.execute(
            "select * from pgrag.query_terms('valve gasket', array(select library_id"
            " from pgrag.libraries where name = 'handbook'))"
        )
    }
    after = terms(connection, "valve gasket", "synonyms")
    assert {x: row["weight"] for x, row in after.items()} == pytest.approx(plain)
    assert before.keys() >= plain.keys()
    synonyms(connection, stopcock=["valve"])
    assert set(terms(connection, "stopcock", "feedback")) == {"stopcock"}
    assert "gasket" in terms(connection, "stopcock", "both")


def test_feedback_finds_what_stands_beside_the_words_or_nothing(connection):
    plain = found(connection, "valve", None)
    assert len(plain) == 2
    more = found(connection, "valve", "feedback")
    assert more[:2] == plain or set(more[:2]) == set(plain)
    assert "A worn gasket is replaced every winter." in more
    weighed = terms(connection, "valve", "feedback")
    assert max(weighed, key=lambda x: weighed[x]["weight"]) == "valv"
    # Ten words of feedback, and those of the query.
    assert 1 < len(weighed) <= 11
    assert set(terms(connection, "zeppelin", "feedback")) == {"zeppelin"}
    assert found(connection, "zeppelin", "both") == []


@pytest.mark.parametrize("how", ["synonyms", "feedback", "both"])
@pytest.mark.parametrize("query", ["leave", "pto valve", "pump pump gasket winter", "the valve"])
def test_scores_stay_between_0_and_1_and_bounds_hold(connection, how, query):
    synonyms(connection, pto=["leave", "paid time off"],
             valve={"expansions": ["gasket", "tap"], "weight": 1, "mutual": True})  # fmt: skip
    weighed = terms(connection, query, how)
    assert sum(row["weight"] * 2.2 for row in weighed.values()) == pytest.approx(1)
    hits = search(connection, query, library="handbook", alpha=0, page_evidence=0, top_k=100,
                  query_expansion=how)  # fmt: skip
    assert hits
    assert all(0 < hit["score"] <= 1 for hit in hits)
    impacts = {
        row["lexeme"]: row["largest_impact"]
        for row in connection.execute(
            "select s.lexeme, s.largest_impact from pgrag.lexeme_statistics as s"
            " join pgrag.libraries as l on l.library_id = s.library_id where l.name = 'handbook'"
        )
    }
    for lexeme, row in weighed.items():
        assert row["bound"] == pytest.approx(row["weight"] * impacts.get(lexeme, 0))
    assert hits[0]["score"] <= sum(row["bound"] for row in weighed.values()) * 1.0001


def test_synonyms_are_listed_changed_and_go_with_their_library(connection):
    synonyms(connection, a=["b"], c={"expansions": ["d", " e "], "weight": 0.7, "mutual": True})
    rows = run(connection, "synonyms", library="handbook")
    assert [tuple(row.values()) for row in rows] == [
        ("a", ["b"], 0.5, False), ("c", ["d", "e"], 0.7, True),
    ]  # fmt: skip
    [row] = run(connection, "set_synonyms", library="handbook", synonyms={"a": None, "f": ["g"]})
    assert row["set_synonyms"] == 2
    [row] = run(connection, "remove_synonyms", library="handbook", terms=["c", "none"])
    assert row["remove_synonyms"] == 1
    run(connection, "remove_synonyms", library="handbook")
    assert run(connection, "synonyms", library="handbook") == []
    ingest(connection, "brief", [page("a.md", "Some text.")], embed=False)
    synonyms(connection, "brief", a=["b"])
    run(connection, "remove_library", library="brief")
    assert value(connection, "select count(*) from pgrag.synonyms") == 0
    with refused(connection, "PGR02", "There is no library 'handboook'"):
        synonyms(connection, "handboook", a=["b"])
    for given, message in [
        ({"a": 3}, "a: must be a list of synonyms"),
        ({"a": {}}, "a/expansions: must be a list of words"),
        ({"a": []}, "a/expansions: must be a list of words"),
        ({"a": [""]}, "a/expansions: must be a list of words"),
        ({"?": ["b"]}, "?: the term has no word"),
        ({"a": {"expansions": ["b"], "weight": 0}}, "a/weight: must be above 0, at most 1, got 0"),
        ({"a": {"expansions": ["b"], "mutual": 1}}, "a/mutual: must be true or false, got 1"),
        ({"a": {"expansions": ["b"], "wait": 1}}, "a/wait: there is no such field"),
    ]:
        with refused(connection, "PGR01", message):
            run(connection, "set_synonyms", library="handbook", synonyms=given)
