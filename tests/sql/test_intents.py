"""What kind of question a query is: accuracy on labelled queries, and the rules one by one."""

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from benchmarks import intents
from benchmarks.intents import LEAST, Label, Questions
from library import compiled_expressions, ingest, page, refused, run, search, value

PAGE = Path(__file__).parents[2] / "docs" / "query-understanding.md"
PARTS = intents.labelled()
HALVES = {part: PARTS[part] for part in LEAST}
LABELLED: Questions = {query: label for part in PARTS.values() for query, label in part.items()}


def detected(connection, query):
    [row] = run(connection, "detect_intent", query=query)
    return row


def accuracy(connection, questions):
    """The share of questions with the right intent and the right type."""
    return intents.accuracy([*questions.values()], intents.detected(connection, [*questions]))


@pytest.fixture(scope="module")
def found(module_connection):
    return intents.detected(module_connection, [*LABELLED])


def test_the_labelled_questions_are_many_and_balanced():
    assert sum(map(len, PARTS.values())) == len(LABELLED) >= 300
    assert [len(questions) for questions in HALVES.values()] == [75, 75, 154, 146]
    for questions in HALVES.values():
        # A third of them is Russian.
        assert sum("а" <= q[-2].lower() <= "я" for q in questions) >= 20
        assert min(Counter(label.intent for label in questions.values()).values()) >= 6
        assert min(Counter(label.query_type for label in questions.values()).values()) >= 3


def test_most_are_right_no_class_is_worse_and_the_page_says_so(module_connection, found):
    for part, questions in HALVES.items():
        assert accuracy(module_connection, questions) >= LEAST[part]
    questions = HALVES["wordings_held"]
    answers = intents.detected(module_connection, [*questions])
    for field in Label._fields:
        matrix = intents.confusion(field, [*questions.values()], answers)
        assert matrix in PAGE.read_text("utf-8")
        hits: dict[str, list[bool]] = defaultdict(list)
        for labelled, answer in zip(LABELLED.values(), found, strict=True):
            label = getattr(labelled, field)
            hits[label].append(label == getattr(answer, field))
        assert {label: hit for label, hit in hits.items() if sum(hit) / len(hit) < 0.75} == {}


def test_wordings_and_shapes(connection):
    for query, intent, query_type in [
        ("how are A and B related", "SEMANTIC", "relational"),
        ("Wie hängen A und B zusammen", "SEMANTIC", "relational"),
        ("Welche Verbindung besteht zwischen X und Y", "SEMANTIC", "relational"),
        ("Welcher Unterschied besteht zwischen X und Y", "SEMANTIC", "comparative"),
        ("как связаны A и B", "SEMANTIC", "relational"),
        ("что такое", "EXPLORATORY", "factual"),
        ("зачем", "EXPLORATORY", "factual"),
        ("почему", "EXPLORATORY", "factual"),
        ("why is it slow", "EXPLORATORY", "factual"),
        ("what is a pod", "EXPLORATORY", "factual"),
        ("what is the default port", "SEMANTIC", "factual"),
        ("what are the labels of a pod for", "EXPLORATORY", "factual"),
        ("template", "PROCEDURAL", "procedural"),
        ("шаблон", "PROCEDURAL", "procedural"),
        ("Vorlage", "PROCEDURAL", "procedural"),
        ("was ist eine Vorlage", "EXPLORATORY", "factual"),
        ("Notizen verlinken", "PROCEDURAL", "procedural"),
        ("Rechte für Gruppen", "SEMANTIC", "factual"),
        ("the note Weekly review", "KNOWN_ITEM", "factual"),
        ("note taking", "SEMANTIC", "factual"),
        ("Rust or Go", "SEMANTIC", "comparative"),
        ("should we take Rust or Go for the parser", "SEMANTIC", "comparative"),
        # Contractions, with their sign and without.
        ("what's an ingress", "EXPLORATORY", "factual"),
        ("whats an ingress", "EXPLORATORY", "factual"),
        ("who’s Grace Hopper", "EXPLORATORY", "factual"),
        ("how'd I pair two devices", "PROCEDURAL", "procedural"),
        ("how could somebody pair two devices", "PROCEDURAL", "procedural"),
        ("wie könnt ihr das nachprüfen", "PROCEDURAL", "procedural"),
        # Before an article stands a verb.
        ("pin the tab", "PROCEDURAL", "procedural"),
        ("about the tab", "SEMANTIC", "factual"),
        ("шифровать вложения", "PROCEDURAL", "procedural"),
        ("память на узле", "SEMANTIC", "factual"),
        # An infinitive at the end of a question makes no task of it.
        ("wer darf Dokumente löschen", "SEMANTIC", "factual"),
        ("Warum kann ich nichts löschen", "EXPLORATORY", "factual"),
        # An amount is one fact, the number of things a count, whatever time it is about.
        ("how many developers maintain it", "SEMANTIC", "factual"),
        ("сколько весит образ", "SEMANTIC", "factual"),
        ("wie viel kostet der Versand", "SEMANTIC", "factual"),
        ("number of releases last year", "SEMANTIC", "aggregative"),
        ("serial number of the pump", "SEMANTIC", "factual"),
        ("how old is the pump", "SEMANTIC", "factual"),
        ("до какого месяца действует скидка", "SEMANTIC", "temporal"),
        ("in which quarter did sales fall", "SEMANTIC", "temporal"),
        ("was hat sich an den Preisen geändert", "SEMANTIC", "temporal"),
        ("how has the price evolved", "SEMANTIC", "temporal"),
        # Documents by their names.
        ("Notiz zu PEP-8", "KNOWN_ITEM", "factual"),
        ("протокол 12.03.2021", "KNOWN_ITEM", "factual"),
        ("where is the file about heat pumps", "KNOWN_ITEM", "factual"),
        ("Prof. Ada Lind", "KNOWN_ITEM", "factual"),
        ("notes about pumps", "EXPLORATORY", "aggregative"),
        ("notes without a date", "METADATA_FILTER", "factual"),
        ("all pages by Ada Lind", "METADATA_FILTER", "aggregative"),
        ("create or delete a note", "PROCEDURAL", "procedural"),
    ]:
        row = detected(connection, query)
        assert (row["intent"], row["query_type"]) == (intent, query_type), query
    for query, rule in [
        ("type:guide", "filters-only"),
        ("#project -tags:done", "filters-only"),
        ("tags:python async created:>=2024-12-01", "filters-only"),
        ('author:"Anna Lind" AND (status = open OR NOT priority < 2)', "filters-only"),
        ("std::vector", "identifier"),
        ("https://example.org/a", "file-or-address"),
        ("--dry-run", "identifier"),
        ("kube_proxy_mode", "identifier"),
        ("v1.2.3", "identifier"),
        ("setup.py", "file-or-address"),
        ("„Allgemeiner Teil“", "quoted-title"),
        ("«Общие положения»", "quoted-title"),
        ("Artikel 17", "named-thing"),
        ("Open Water", "capitalised-name"),
    ]:
        assert detected(connection, query)["rule"] == rule


def test_every_rule_is_used_and_none_carries_the_result_alone(connection, found):
    used: Counter[str] = Counter()
    for query in LABELLED:
        row = detected(connection, query)
        used.update({row["rule"], row["type_rule"]})
    rules = [r["name"] for r in connection.execute("select name from pgrag.intent_rules")]
    # There is no page here that a query could name.
    assert {rule for rule in rules if used[rule] < 2} == {"name-of-a-page"}
    # Without a rule, only questions with its words are wrong.
    costs = {}
    whole = intents.accuracy([*LABELLED.values()], found)
    for rule in [r["name"] for r in connection.execute("select name from pgrag.intent_rules")]:
        with connection.transaction(force_rollback=True):
            connection.execute("delete from pgrag.intent_rules where name = %s", [rule])
            costs[rule] = whole - accuracy(connection, LABELLED)
    assert max(costs.values()) <= 0.06


def test_the_answer_names_the_longest_match_and_its_strategy(connection):
    row = detected(connection, "Bitte: WIE KANN ICH alle Ventile tauschen?")
    assert (row["intent"], row["query_type"]) == ("PROCEDURAL", "procedural")
    assert (row["rule"], row["matched"]) == ("doing", "WIE KANN ICH")
    assert row["confidence"] == 0.9
    assert (row["levels"], row["unit"], row["hierarchy"]) == ([1, 2], "page", "depth")
    overview = detected(connection, "Überblick über Ventile")
    assert (overview["unit"], overview["aggregate"]) == ("page", "max")
    assert overview["levels"] == [0, 1, 2]
    assert overview["matched"] == overview["type_matched"] == "Überblick über"
    row = detected(connection, "what is the difference between a valve and a tap")
    assert (row["rule"], row["matched"]) == ("compare-en", "difference between")
    # "all" says a type, "how do I" says both and is longer.
    row = detected(connection, "how do I close all valves")
    assert (row["intent"], row["query_type"]) == ("PROCEDURAL", "procedural")
    assert row["type_rule"] == "how-to-en"
    row = detected(connection, "how do I find the difference between two valves")
    assert (row["intent"], row["query_type"]) == ("SEMANTIC", "comparative")
    for spelling in ("всё о насосах", "все о насосах", "ВСЁ О НАСОСАХ"):
        assert detected(connection, spelling)["intent"] == "EXPLORATORY"


def test_spelling_makes_no_difference_and_no_rule_is_plain(connection):
    for spelling in [
        "Überblick über Ventile", "UEBERBLICK UEBER VENTILE", "uberblick uber ventile",
        "U\u0308berblick u\u0308ber Ventile", "  überblick   über\nVentile  ",
    ]:  # fmt: skip
        assert detected(connection, spelling)["rule"] == "overview-de"
    for query in ["", " ", "valve pressure", "?!", "\x01", "🚀 🚀", "null"]:
        row = detected(connection, query)
        assert (row["intent"], row["query_type"], row["confidence"]) == ("SEMANTIC", "factual", 0)
        assert (row["rule"], row["levels"], row["unit"]) == (None, [1, 2], "document")
    for query in ["drain type:guide", "12:30", "e.g. valves", "and or not"]:
        assert detected(connection, query)["intent"] != "METADATA_FILTER"


def test_rules_are_rows_folded_and_without_them_there_is_an_answer(connection):
    connection.execute(
        "insert into pgrag.intent_rules (name, language, pattern, intent, confidence)"
        " values ('minutes-de', 'de', 'Protokoll der Sitzung | *protokolle', 'KNOWN_ITEM', 0.7)"
    )
    row = detected(connection, "Sitzungsprotokolle Mai")
    assert (row["rule"], row["matched"]) == ("minutes-de", "Sitzungsprotokolle")
    assert detected(connection, "PROTOKOLL DER SITZUNG von heute")["rule"] == "minutes-de"
    connection.execute(
        "insert into pgrag.intent_rules (name, kind, pattern, query_type)"
        " values ('ticket', 'pattern', 'T-\\d{4,}', 'temporal')"
    )
    assert detected(connection, "see t-12345 please")["type_matched"] == "t-12345"
    for text in ("Größe für Öl", "ÄÖÜ ß ё Ё", "Straße, queue; does-it", "ﬁle"):
        words = value(
            connection,
            "select regexp_replace(normalize(%s, nfkc), '[^[:alnum:]]+', ' ', 'g')",
            text,
        )
        folded = value(connection, "select _pgrag.folded(%s)", words)
        connection.execute(
            "insert into pgrag.intent_rules (name, pattern, intent) values ('x', %s, 'SEMANTIC')",
            [text],
        )
        stored = value(connection, "select phrases from pgrag.intent_rules where name = 'x'")
        assert stored == [folded]
        connection.execute("delete from pgrag.intent_rules where name = 'x'")
    connection.execute("delete from pgrag.intent_rules; delete from pgrag.intents")
    connection.execute("delete from pgrag.query_types")
    row = detected(connection, "how do I close the valve")
    assert (row["intent"], row["levels"]) == ("SEMANTIC", [1, 2])
    assert (row["unit"], row["aggregate"]) == ("document", "max")


def test_a_strategy_by_name_has_the_levels_of_the_requirement(connection):
    [row] = run(connection, "strategy", intent_name=" procedural ")
    assert (row["intent"], row["query_type"]) == ("PROCEDURAL", "procedural")
    assert row["hierarchy"] == "depth"
    [row] = run(connection, "strategy", intent_name="SEMANTIC", type_name="aggregative")
    assert (row["query_type"], row["levels"]) == ("aggregative", [0, 1, 2])
    with refused(connection, "PGR01", "There is no intent 'SHOPPING'", "EXPLORATORY, KNOWN_ITEM"):
        run(connection, "strategy", intent_name="SHOPPING")
    with refused(connection, "PGR01", "no query type 'funny'", "aggregative, comparative"):
        run(connection, "strategy", intent_name="SEMANTIC", type_name="funny")
    levels = {
        row["name"]: row["levels"] for row in connection.execute("select * from pgrag.query_types")
    }
    assert levels.pop("aggregative") == [0, 1, 2]
    assert sorted(levels) == ["comparative", "factual", "procedural", "relational", "temporal"]
    assert all(chosen == [1, 2] for chosen in levels.values())


@pytest.mark.parametrize(
    ("expression", "parts"),
    [
        (r"how\s+(is|are)\s+\w+\s+(linked|related)", ["linked", "related"]),
        (r"^\s*(please\s+)?(list|name)\M|\mcount\s+of", ["list", "name", "count"]),
        (r"(re(lease|view)|plans?)\s+\w", ["lease", "view", "plan"]),
        (r"(?c)[Tt]he\s+Page\.md", ["page.md"]),
        (r"v[0-9]+|T-\d{4,}", [*"0123456789"] * 2),
        (r"\w+(?=.*[^a]note)(?!.*\mpages)", ["note"]),
        ("colou?r", ["colo"]),
        ("x{0,2}(abc){2}", ["abc"]),
        # Nothing that is required, or can be known to be.
        (r"(day|\w+)\s+(later)?", None),
        (r"\u0061bc", None),
        (r"(abc)\1", None),
        ("(?x) a b c", None),
        ("***=abc", None),
        ("a|b", None),
    ],
)
def test_what_a_match_requires(connection, expression, parts):
    required = "select _pgrag.required_parts(%s)"
    assert value(connection, required, expression) == parts


def test_what_a_rule_matches_has_a_part_that_it_requires(module_connection):
    rules = module_connection.execute(
        "select name, pattern, required_parts from pgrag.intent_rules"
        " where required_by = pattern_hash"
    ).fetchall()
    assert len(rules) > 10
    for rule in rules:
        matched = module_connection.execute(
            "select q from unnest(%s::text[]) as q where regexp_like(q, %s, 'i')",
            [[*LABELLED], rule["pattern"]],
        ).fetchall()
        for row in matched:
            assert any(part in row["q"].lower() for part in rule["required_parts"]), rule["name"]


def test_a_rule_that_is_changed_in_the_table_is_compared_with_every_query(connection):
    connection.execute("update pgrag.intent_rules set pattern = 'gizmo' where name = 'counted'")
    assert detected(connection, "a gizmo")["type_rule"] == "counted"


def test_it_does_not_compile_its_patterns_again_and_again(connect):
    # A session keeps 32 expressions, and a search and its sources need 20. With more in turn, each
    # is compiled for each question.
    for question in [*LABELLED][::45]:
        connection = connect()
        detected(connection, question)
        assert 1 < compiled_expressions(connection) < 12, question


def test_the_name_of_a_page_is_a_known_item(connection):
    assert detected(connection, "amuratov")["intent"] == "SEMANTIC"
    ingest(connection, "vault", [
        {**page("people/amuratov.md", "Works on Qdrant."), "title": "Alexander Muratov"},
        {**page("p.md", "Works on Ollama."), "front_matter": {"id": "pkuehne"}, "aliases": ["pk"]},
    ])  # fmt: skip
    for name in ("amuratov", " Amuratov ", "pkuehne", "pk", "people/amuratov"):
        row = detected(connection, name)
        assert (row["intent"], row["unit"]) == ("KNOWN_ITEM", "page"), name
    for words in ("who is amuratov", "qdrant", ""):
        assert detected(connection, words)["intent"] != "KNOWN_ITEM", words
    [hit, *_] = search(connection, "amuratov", library="vault", intent="auto")
    assert hit["key"] == "people/amuratov.md"
