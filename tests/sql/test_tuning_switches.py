"""Links, query expansion and aggregation of pages change only if that is better."""

import pytest
import vault
from labelled import import_set
from library import page, refused, run, value
from psycopg.types.json import Jsonb
from vault import Link
from workshop import MATERIALS, TOPICS, judge, key, state, tune, write

ASKED = TOPICS[:75]


def verdict(done, setting):
    [found] = [each for each in done["verdicts"] if each["setting"] == setting]
    return found


def settings(connection):
    return value(connection, "select settings from pgrag.libraries where name = 'workshop'")


def ask(connection, *, of="right", words="{}"):
    """Bring in a question for each topic, answered by one page of its pair."""
    queries = [
        {"id": topic, "text": words.format(topic), "judgements": {f"{of}{place}.md": 1}}
        for place, topic in enumerate(ASKED)
    ]
    import_set(connection, queries, name="parts", library="workshop")


def pairs(connection, right, wrong, linked):
    """For each topic a page that answers and one that does not, which may link to the first."""
    pages = [
        page(f"{name}{place}.md", *(text.format(topic) for text in texts), title="Part")
        for place, topic in enumerate(ASKED)
        for name, texts in (("right", right), ("wrong", wrong))
    ]
    links = [Link(f"wrong{n}", f"right{n}") for n in range(len(ASKED))] if linked else []
    vault.write(connection, "workshop", pages, links)


@pytest.fixture
def linked(connection):
    """The better a page says the words, the less it is the answer: it links to the answer."""
    pairs(connection, ["Keep the {}, and much else, on the wall."], ["The {}."], linked=True)
    return connection


class TestLinks:
    def test_are_kept_if_they_lead_to_answers(self, linked):
        ask(linked)
        before = state(linked)
        done = tune(linked)
        assert done["outcome"] == "accepted"
        graph = verdict(done, "graph")
        assert (graph["value"], graph["kept"]) == (True, True)
        assert graph["validation"]["difference"] > 0.1
        assert graph["validation"]["p_value"] < 0.05
        assert settings(linked)["graph"] == {"search": True}
        [hit] = run(linked, "search", query=ASKED[7], library="workshop", top_k=1)
        assert hit["key"] == "right7.md"
        assert done["searched"]["foreseen"] == pytest.approx(done["searched"]["after"], abs=0.02)
        [listed] = run(linked, "tuning_history", library="workshop")
        assert listed["verdicts"] == done["verdicts"]
        run(linked, "undo_tuning", library="workshop")
        assert state(linked) == before

    def test_are_switched_off_if_they_lead_away(self, linked):
        ask(linked, of="wrong")
        run(linked, "configure_library", library="workshop", settings={"graph": {"search": True}})
        done = tune(linked)
        assert (verdict(done, "graph")["value"], verdict(done, "graph")["kept"]) == (False, True)
        assert settings(linked)["graph"] == {"search": False}
        run(linked, "undo_tuning", library="workshop")
        assert settings(linked)["graph"] == {"search": True}

    def test_questions_that_are_texts_of_links_do_not_decide(self, linked):
        for place, topic in enumerate(ASKED):
            linked.execute(
                "update pgrag.pages set anchor_texts = array[%s] where key = %s",
                [f"about the {topic}", f"right{place}.md"],
            )
        ask(linked)
        graph = verdict(tune(linked, dry_run=True), "graph")
        assert not graph["kept"]
        assert "0 questions decide" in graph["reason"]

    def test_titles_do_not_decide(self, connection):
        """The same library, asked by its own titles and descriptions."""
        pages = [
            page(
                f"right{place}.md",
                f"Keep the {topic}, and much else, on the wall.",
                title=f"{topic} handbook",
            )
            for place, topic in enumerate(ASKED)
        ]
        links = [Link(f"right{n}", f"right{n - 1}") for n in range(1, len(ASKED))]
        vault.write(connection, "workshop", pages, links)
        done = tune(connection, dry_run=True)
        assert done["questions"] == {"title": len(ASKED)}
        assert "0 questions decide" in verdict(done, "graph")["reason"]

    def test_library_without_links_is_not_asked(self, connection):
        write(connection)
        judge(connection)
        assert "graph" not in [v["setting"] for v in tune(connection)["verdicts"]]


class TestAggregation:
    def test_mean_of_a_page_where_a_page_says_more(self, connection):
        right = [f"{verb} the {{0}}, a {{0}}." for verb in ("Keep", "Hold", "Pack")]
        wrong = [
            "{0}: {0}, {0}, {0}, {0}.",
            "Look at many other things that are on the wall, as the {0} is.",
            "And at so many other things that are in the cellar today, or the {0}.",
        ]
        pairs(connection, right, wrong, linked=False)
        # Other weights would do as well here.
        connection.execute(
            "create or replace function _pgrag.choose_weights(in_force jsonb, alpha_is_learnable"
            " boolean, out chosen jsonb, out proposed jsonb, out trials jsonb) language sql stable"
            " as $$ select in_force, '{}'::jsonb, '[]'::jsonb $$"
        )
        ask(connection)
        done = tune(connection)
        assert verdict(done, "aggregate")["kept"], verdict(done, "aggregate")["reason"]
        assert settings(connection)["aggregate"] == "mean"
        [found] = run(connection, "search_pages", query=ASKED[5], library="workshop", top_k=1)
        assert (found["key"], found["aggregate"]) == ("right5.md", "mean")
        run(connection, "undo_tuning", library="workshop")
        [found] = run(connection, "search_pages", query=ASKED[5], library="workshop", top_k=1)
        assert (found["key"], found["aggregate"]) == ("wrong5.md", "max")

    def test_library_decides_and_the_argument_comes_first(self, connection):
        write(connection)
        run(connection, "configure_library", library="workshop", settings={"aggregate": "mean"})
        query = {"query": TOPICS[0], "library": "workshop", "top_k": 1}
        assert run(connection, "search_pages", **query)[0]["aggregate"] == "mean"
        assert run(connection, "search_pages", **query, aggregate="rrf")[0]["aggregate"] == "rrf"
        with refused(connection, "PGR01", "aggregate must be max, mean, rrf"):
            run(connection, "configure_library", library="workshop", settings={"aggregate": "sum"})


class TestExpansion:
    def test_synonyms_where_questions_need_them(self, connection):
        write(connection)
        synonyms = {f"{material}ish": [material] for material in MATERIALS}
        run(connection, "set_synonyms", library="workshop", synonyms=Jsonb(synonyms))
        queries = [
            {"id": topic, "text": topic.replace(" ", "ish "), "judgements": {key(topic): 1}}
            for topic in TOPICS
        ]
        import_set(connection, queries, name="parts", library="workshop")
        done = tune(connection)
        assert verdict(done, "query_expansion")["kept"]
        assert settings(connection)["query_expansion"] in ("synonyms", "both")
        assert done["searched"]["after"] > done["searched"]["before"] + 0.2
        run(connection, "undo_tuning", library="workshop")
        assert "query_expansion" not in settings(connection)

    def test_values_are_compared_with_the_settings_in_force(self, linked):
        ask(linked)
        run(linked, "configure_library", library="workshop",
            settings={"query_expansion": "feedback"})  # fmt: skip
        done = tune(linked, dry_run=True)
        assert verdict(done, "query_expansion")["value"] == "none"


def test_kept_settings_apply_together(linked):
    """The weights are one decision; rejected settings are not stored."""
    ask(linked)
    done = tune(linked)
    kept = [each["setting"] for each in done["verdicts"] if each["kept"]]
    assert [each["setting"] for each in done["verdicts"]] == [
        "weights", "query_expansion", "graph", "aggregate",
    ]  # fmt: skip
    assert set(done["proposed"]) >= {k for k in kept if k != "weights"}
    assert all(each["reason"] for each in done["verdicts"])
