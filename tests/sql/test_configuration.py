"""The configuration of all libraries: compared, applied, shipped anew without losing changes."""

import pytest
from library import ingest, page, refused, run, value
from psycopg.types.json import Jsonb

MINE = {"language": "any", "confidence": 0.8, "words": ["mind the gap"], "intent": "SEMANTIC"}


def configuration(connection):
    return value(connection, "select pgrag.configuration()")


def apply(connection, **sections):
    rows = run(connection, "apply_configuration", entries=sections)
    return [(row["change"], f"{row['section']}/{row['name']}") for row in rows]


def install(connection, entries):
    rows = run(connection, "_pgrag.install_configuration", entries=entries)
    return [(row["change"], f"{row['section']}/{row['name']}") for row in rows]


def test_it_holds_every_row_and_comparing_or_applying_it_changes_nothing(connection):
    found = configuration(connection)
    assert sorted(found) == [
        "edge_kinds", "intents", "page_types", "query_types", "rules", "synonyms", "templates",
    ]  # fmt: skip
    assert found["query_types"]["aggregative"]["levels"] == [0, 1, 2]
    assert found["intents"]["KNOWN_ITEM"]["alpha"] == 0.1
    assert "overview of" in found["rules"]["overview-en"]["words"]
    assert found["rules"]["filters-only"]["shape"] == "filters"
    before = run(connection, "configuration_history")
    whole = configuration(connection)
    assert run(connection, "compare_configuration", entries=whole, exact=True) == []
    assert run(connection, "apply_configuration", entries=whole, exact=True) == []
    assert run(connection, "configuration_history") == before
    whole = configuration(connection)
    [row] = run(
        connection, "compare_configuration", entries={"intents": {"SEMANTIC": {"unit": "page"}}}
    )
    assert (row["before"]["unit"], row["after"]["unit"]) == ("document", "page")
    assert configuration(connection) == whole


def test_entries_are_changed_others_stay_unless_it_is_exact(connection):
    count = len(configuration(connection)["rules"])
    changes = apply(
        connection,
        rules={"mind": MINE, "overview-en": None, "no-such-rule": None},
        intents={"SEMANTIC": {"alpha": 0.4}},
    )
    assert changes == [
        ("change", "intents/SEMANTIC"), ("add", "rules/mind"), ("remove", "rules/overview-en"),
    ]  # fmt: skip
    found = configuration(connection)
    assert found["rules"]["mind"] == MINE
    assert len(found["rules"]) == count
    assert found["intents"]["SEMANTIC"] == {
        "description": "", "unit": "document", "aggregate": "max", "alpha": 0.4,
        "inject_types": [],
    }  # fmt: skip
    run(connection, "apply_configuration", entries={"rules": {"mind": MINE}}, exact=True)
    found = configuration(connection)
    assert list(found["rules"]) == ["mind"]
    assert len(found["intents"]) == 5


def test_states_are_kept_as_versions(connection):
    run(connection, "apply_configuration", entries={"rules": {"mind": MINE}},
        note="as the board decided")  # fmt: skip
    newest, shipped = run(connection, "configuration_history")
    assert (newest["origin"], newest["note"]) == ("user", "as the board decided")
    assert newest["configuration"] == configuration(connection)
    assert shipped["origin"] == "package"
    assert len(run(connection, "configuration_history", top_k=1)) == 1


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([], "must be an object of sections"),
        ({"rule": {}}, "rule: there is no such section."),
        ({"rules": []}, "rules: must be an object of entries by name."),
        ({"rules": {"a": 3}}, "rules/a: must be an object, or null to remove it."),
        ({"rules": {"Big": MINE}}, "rules/Big: the name must be of small letters"),
        ({"intents": {"small": {}}}, "intents/small: the name must be of capital letters"),
        ({"rules": {"a": MINE | {"word": 1}}}, "rules/a/word: there is no such field."),
        ({"rules": {"a": MINE | {"confidence": 7}}}, "must be 0 to 1, got 7."),
        ({"rules": {"a": MINE | {"confidence": "1"}}}, "must be 0 to 1, got '1'."),
        ({"rules": {"a": MINE | {"words": []}}}, "rules/a/words: must be a list of phrases"),
        ({"rules": {"a": MINE | {"words": ["a|b"]}}}, "rules/a/words: must be a list"),
        ({"rules": {"a": MINE | {"words": ["?"]}}}, "rules/a/words: must be a list"),
        ({"rules": {"a": MINE | {"language": "fr"}}}, "must be any, de, en or ru"),
        ({"rules": {"a": MINE | {"pattern": "b"}}}, "rules/a: needs one of words, pattern and"),
        ({"rules": {"a": {"words": ["b"]}}}, "rules/a: needs an intent or a query type."),
        ({"rules": {"a": {"pattern": "(b", "intent": "SEMANTIC"}}}, "rules/a/pattern: invalid"),
        ({"rules": {"a": {"shape": "square", "intent": "SEMANTIC"}}}, "must be filters, quoted"),
        ({"rules": {"a": MINE | {"intent": "NONE"}}}, "there is no intent 'NONE'"),
        ({"rules": {"a": MINE | {"query_type": "odd"}}}, "there is no query type 'odd'"),
        ({"query_types": {"factual": None}}, "/query_type: there is no query type 'factual'"),
        ({"query_types": {"x": {"levels": [3]}}}, "query_types/x/levels: must be a list of 0"),
        ({"query_types": {"x": {"levels": []}}}, "query_types/x/levels: must be a list of 0"),
        ({"query_types": {"x": {"alpha_offset": 2}}}, "must be -1 to 1, got 2."),
        ({"intents": {"X": {"unit": "book"}}}, "intents/X/unit: must be document or page"),
        ({"intents": {"X": {"hierarchy": "up"}}}, "must be none, depth, breadth or overview"),
        ({"synonyms": {"none": {"a": ["b"]}}}, "There is no library 'none'."),
    ],
)
def test_invalid_entries_are_refused_with_their_location(connection, entries, message):
    before = configuration(connection)
    code = "PGR02" if "library" in message else "PGR01"
    with refused(connection, code, message):
        run(connection, "apply_configuration", entries=Jsonb(entries))
    assert configuration(connection) == before


def test_synonyms_belong_to_it(connection):
    ingest(connection, "tool", [page("a.md", "Turn the tap.")], embed=False)
    apply(connection, synonyms={"tool": {"valve": ["tap"], "x": {"expansions": ["y"]}}})
    assert configuration(connection)["synonyms"]["tool"]["valve"] == {
        "expansions": ["tap"], "mutual": False, "weight": 0.5,
    }  # fmt: skip
    apply(connection, synonyms={"tool": {"cock": {"expansions": ["tap"], "mutual": True}}})
    assert [row["term"] for row in run(connection, "synonyms", library="tool")] == ["cock"]
    assert apply(connection, synonyms={"tool": None}) == [("remove", "synonyms/tool")]
    assert configuration(connection)["synonyms"] == {}


class TestRelease:
    """A release brings its own changes, and leaves alone those of people."""

    @pytest.fixture
    def shipped(self, connection):
        entries = run(connection, "configuration_history")[-1]["configuration"]
        assert install(connection, entries) == []
        return entries

    def test_what_people_changed_stays(self, connection, shipped):
        connection.execute(
            "update pgrag.intent_rules set confidence = 0.2 where name = 'overview-en'"
        )
        connection.execute("delete from pgrag.intent_rules where name = 'summary-en'")
        apply(connection, rules={"mind": MINE}, intents={"SEMANTIC": {"alpha": 0.9}})
        rules = {name: rule | {"confidence": 0.77} for name, rule in shipped["rules"].items()} | {
            "mind": MINE | {"confidence": 0.1}
        }
        intents = shipped["intents"] | {"SEMANTIC": {"unit": "page"}}
        changed = install(connection, shipped | {"rules": rules, "intents": intents})
        found = configuration(connection)
        assert found["rules"]["overview-en"]["confidence"] == 0.2
        assert found["rules"]["mind"] == MINE
        assert "summary-en" not in found["rules"]
        assert found["intents"]["SEMANTIC"]["alpha"] == 0.9
        assert ("change", "rules/overview-de") in changed
        # Once more, and nothing happens: the release is in.
        assert install(connection, shipped | {"rules": rules, "intents": intents}) == []

    def test_untouched_entries_follow_the_release_unless_it_has_a_fault(self, connection, shipped):
        before = configuration(connection)
        with refused(connection, "PGR01", "rules/a: needs an intent"):
            install(connection, shipped | {"rules": {"a": {"words": ["b"]}}})
        assert configuration(connection) == before
        rules = shipped["rules"] | {"mind": MINE}
        del rules["summary-en"]
        rules["overview-en"] = rules["overview-en"] | {"confidence": 0.7}
        assert install(connection, shipped | {"rules": rules}) == [
            ("add", "rules/mind"), ("change", "rules/overview-en"), ("remove", "rules/summary-en"),
        ]  # fmt: skip
        found = configuration(connection)["rules"]
        assert found["overview-en"]["confidence"] == 0.7
        assert "summary-en" not in found
