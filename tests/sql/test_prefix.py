"""Search as you type: the last word counts as the beginning of words."""

import pytest
from library import explained, ids, ingest, keys, page, run, search


@pytest.fixture(scope="module")
def manual(module_connection):
    ingest(module_connection, "manual", [
        page("drain.md", "Drain a node before you upgrade it.", "The node is empty."),
        page("house.md", "Drain the cellar of a house."),
        page("config.md", "The configuration is in config.yaml.", "Restarting keeps my-widget."),
        page("rest.md", "Rest after work."),
        page("kube.md", "Kubernetes, kubectl and kubelet."),
        page("zahl.md", "数据库的连接"),
    ], language="en")  # fmt: skip
    return "manual"


def found(connection, query, **more):
    return keys(run(connection, "keyword_search", query=query, library="manual", prefix=True,
                    **more))  # fmt: skip


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("drain a no", "drain.md"), ("d", "drain.md"), ("kube", "kube.md"), ("KUBECT", "kube.md"),
        ("config.", "config.md"), ("configurati", "config.md"), ("restarti", "config.md"),
        ("my-wid", "config.md"), ("the cel", "house.md"), ("(cellar ho", "house.md"),
        ("type:x OR #y d", None), ("upgr", "drain.md"), ("数", "zahl.md"),
    ],
)  # fmt: skip
def test_the_last_word_is_the_beginning_of_words(connection, manual, query, first):
    assert found(connection, query)[:1] == ([first] if first else [])


def test_a_begun_word_has_no_meaning_yet_and_titles_show_its_likeliest_end(connection, manual):
    for query in ["how to conf", "conf"]:
        hits = explained(connection, query, prefix=True)
        assert {hit["explanation"]["alpha"] for hit in hits} == {0}
        assert hits[0]["key"] == "config.md"
    [hit, *_] = explained(connection, "drain a no", prefix=True)
    assert hit["explanation"]["alpha"] > 0
    assert hit["explanation"]["keyword"]["title_score"] == pytest.approx(1 / 2)
    # The stem of a word that is there is not that word.
    ingest(connection, "middle", [
        page("a.md", "Middleware, middleware and middleware."), page("b.md", "In the middle."),
        page("c.md", "Another middleware."),
    ], language="en")  # fmt: skip
    weights = {
        w["lexeme"]: w["weight"]
        for w in search(connection, "middl", library="middle", prefix=True, explain=True)[0][
            "explanation"
        ]["keyword"]["lexemes"]
    }
    assert weights["middlewar"] > 0.9 * weights["middl"]


def test_without_it_a_beginning_finds_nothing(connection, manual):
    for query in ["d", "KUBECT", "configurati", "my-wid"]:
        assert run(connection, "keyword_search", query=query, library=manual) == []


@pytest.mark.parametrize(
    "query", ["drain a no ", '"drain a no"', "drain -no", "drain xyz", "no drain", "."]
)
def test_what_is_finished_marked_or_begins_nothing_stays(connection, manual, query):
    wanted = run(connection, "search", query=query, library=manual, explain=True)
    hits = run(connection, "search", query=query, library=manual, explain=True, prefix=True)
    assert [(h["document_id"], h["score"]) for h in hits] == [
        (h["document_id"], h["score"]) for h in wanted
    ]


def test_the_beginning_of_a_stem_is_no_beginning_of_a_longer_word(connection, manual):
    """Rest is not what "resta" begins."""
    assert "rest.md" not in found(connection, "restar")


def test_begun_words_weigh_as_one_and_the_word_itself_more(connection, manual):
    [hit, *_] = explained(connection, "drain a no", prefix=True, mode="keyword")
    weights = {w["lexeme"]: w["weight"] for w in hit["explanation"]["keyword"]["lexemes"]}
    assert set(weights) == {"drain", "node"}
    for query in ["node", "drain a nod", "kube", "d", "r"]:
        for hit in explained(connection, query, prefix=True, mode="keyword"):
            lexemes = hit["explanation"]["keyword"]["lexemes"]
            assert sum(w["weight"] for w in lexemes) == pytest.approx(1 / 2.2)
            assert 0 <= hit["score"] <= 1


def test_a_begun_word_is_not_misspelt(connection, manual, notices):
    assert found(connection, "cellar hou")[0] == "house.md"
    assert notices == []
    # Unless nothing begins like it.
    assert set(found(connection, "drian kubeclt")) == {"drain.md", "house.md", "kube.md"}
    assert [note.split("“")[1].split("”")[0] for note in notices] == ["drain", "kubectl"]


def test_every_search_takes_it_and_none_has_it_by_default(connection, manual):
    assert ids(search(connection, "drain a no", library=manual)) == ids(
        search(connection, "drain a no", library=manual, prefix=False)
    )
    for function in ["search_pages", "facets", "context", "answer_context"]:
        question = "question" if function == "answer_context" else "query"
        rows = run(connection, function, **{question: "kube"}, library=manual, prefix=True)
        assert rows, function


def test_words_of_very_many_passages_come_last_and_end_the_list(connection, manual):
    def begun(word):
        rows = connection.execute(
            "select b.lexeme from _pgrag.begun_lexemes(%s, array(select l from pgrag.libraries as l"
            " where l.name = 'manual')) as b where b.language = 'english'",
            [word],
        )
        return {row["lexeme"] for row in rows}

    every = begun("kube")
    assert {"kubectl", "kubelet", "kubernet"} <= every
    for lexeme, count in [("kubectl", 30_000), ("kubelet", 15_000), ("kubernet", 15_000)]:
        connection.execute(
            "update pgrag.lexeme_statistics set document_count = %s where lexeme = %s",
            [count, lexeme],
        )
    assert begun("kube") == every - {"kubectl"}
    assert "kubectl" in begun("kubectl"), "the word itself"
