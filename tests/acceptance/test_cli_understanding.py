"""`pgrag intent`, `pgrag config` and `pgrag synonyms`."""

FILE = """
rules:
  mooring:
    words: [make fast, "*leinen"]
    intent: PROCEDURAL
    confidence: {confidence}
"""


def test_a_query_is_understood_by_the_configuration_that_is_applied(pgrag):
    row = pgrag.json("intent", "Überblick über die Häfen")
    assert (row["intent"], row["rule"], row["levels"]) == ("EXPLORATORY", "overview-de", [0, 1, 2])
    assert "rule when-en: 'when does'" in pgrag.run("intent", "when does the ferry leave").out
    assert "no rule matches" in pgrag.run("intent", "ferry").out
    file = pgrag.folder / "mine.yaml"
    file.write_text(FILE.format(confidence=7), encoding="utf-8")
    refused = pgrag.run("config", "diff", file, code=1)
    assert "mine.yaml:6: rules/mooring/confidence: must be 0 to 1" in refused.err
    file.write_text(FILE.format(confidence=0.7), encoding="utf-8")
    assert pgrag.run("config", "diff", file).out == "+ rules/mooring\n1 entry.\n"
    [change] = pgrag.run("config", "apply", file, "--note", "for sailors", "--json").json
    assert (change["change"], change["after"]["words"]) == ("add", ["make fast", "*leinen"])
    assert pgrag.run("config", "apply", file).out == "Nothing has changed.\n"
    assert pgrag.json("intent", "Festmacherleinen")["rule"] == "mooring"

    newest, first = pgrag.json("config", "history")
    assert (newest["note"], first["origin"]) == ("for sailors", "package")
    whole = pgrag.folder / "whole.yaml"
    whole.write_text(pgrag.run("config", "show").out, encoding="utf-8")
    assert pgrag.run("config", "diff", whole, "--exact").out == "Nothing would change.\n"
    before = pgrag.json("config", "show", "rules", "--version", first["version_id"])
    assert "mooring" not in before["rules"]
    assert before == pgrag.json("config", "show", "rules", "--shipped")

    # An upgrade leaves it alone.
    pgrag.run("db", "upgrade")
    assert pgrag.json("intent", "Festmacherleinen")["rule"] == "mooring"

    assert "no section 'rule'" in pgrag.run("config", "show", "rule", code=1).err
    assert "no version 99" in pgrag.run("config", "show", "--version", "99", code=1).err
    assert "cannot be read" in pgrag.run("config", "apply", "none.yaml", code=1).err
    broken = pgrag.run("config", "apply", "-", code=1, stdin="a: [")
    assert "stdin:2: this is not YAML" in broken.err


def test_strategies_and_synonyms_of_ones_own(pgrag, fixtures_folder):
    pgrag.run("index", "wegweiser", fixtures_folder / "wegweiser")
    file = pgrag.folder / "strategy.yaml"
    strategy = "\nintents:\n  MOORING: {min_score: SCORE, graph: {search: true, depth: 2}}\n"
    rule = FILE.format(confidence=0.7).replace("PROCEDURAL", "MOORING")
    file.write_text(rule + strategy.replace("SCORE", "high"), encoding="utf-8")
    refused = pgrag.run("config", "apply", file, code=1)
    assert "intents/MOORING/min_score: must be a number, got 'high'." in refused.err
    file.write_text(rule + strategy.replace("SCORE", "1"), encoding="utf-8")
    pgrag.run("config", "apply", file)
    shown = pgrag.run("intent", "Festmacherleinen").out
    assert '{"graph": {"depth": 2, "search": true}, "min_score": 1}' in shown
    ask = ("context", "Ausweis und Festmacherleinen", "--library", "wegweiser")
    assert pgrag.json(*ask)["blocks"]
    assert pgrag.json(*ask, "--intent", "auto")["blocks"] == []
    assert pgrag.json(*ask, "--intent", "auto", "--min-score", "0")["blocks"]
    assert "has no synonyms" in pgrag.run("synonyms", "wegweiser").out
    given = "Müll: [Abfall]\nAusweis: {expansions: [Personalausweis], mutual: true, weight: 0.8}\n"
    shown = pgrag.run("synonyms", "wegweiser", "--file", "-", stdin=given).out
    assert "Personalausweis" in shown
    wrong = pgrag.run("synonyms", "wegweiser", "--file", "-", code=1, stdin="\nMüll: 3\n")
    assert "stdin:2: Müll: must be a list of synonyms" in wrong.err
    left = pgrag.run("synonyms", "wegweiser", "--remove", "Müll", "--json").json
    assert [(row["term"], row["mutual"]) for row in left] == [("Ausweis", True)]
    assert "Did you mean wegweiser" in pgrag.run("synonyms", "wegweise", code=1).err
