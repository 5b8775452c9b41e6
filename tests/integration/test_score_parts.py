"""The parts of a score add up to it, whatever the arguments of the search."""

import random
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrag.ground.errors import InvalidInput
from pgrag.ground.settings import Settings
from pgrag.service.app import App

FIXTURES = Path(__file__).parents[1] / "fixtures"
QUERIES = [
    "how do I calibrate the scale", "battery", "honey", '"weather station" battery', "Waage Akku",
    "compost worms", "wax the saw, oil the mower, drain the hose", "firmware update -beta",
    "which plants need water in summer",
]  # fmt: skip
EVIDENCE = {"words", "meaning", "page", "links"}
#: By the name of a part: whether it can act, by the explanation and the arguments.
ACTS: dict[str, Any] = {
    "type_weight": lambda why, given: why["type_weight"] != 1,
    "language_weight": lambda why, given: why["language_weight"] != 1,
    "limit": lambda why, given: why["type_weight"] > 1 and why["fusion"] != "rrf",
    "phrase_weight": lambda why, given: why["phrase_weight"] != 1,
    "summary": lambda why, given: why["section_score"] is not None,
    "tokens": lambda why, given: any(word["match"] > 0 for word in why["tokens"]["words"]),
    "page_decay": lambda why, given: why["page_decay"] != 1 and why["better_on_page"] > 0,
    "aggregate": lambda why, given: why["unit"] == "page" and why["aggregate"] != "max",
    "hierarchy": lambda why, given: why["hierarchy"] != "none",
    "rerank": lambda why, given: "reranked" in given,
}


#: What its section is about is in no paragraph alone: the summary above lends its score.
WINTER = "".join(
    f"## {heading}\n\n" + "\n\n".join(
        f"{subject} needs {need} in winter. " + f"The shed is dry and its door shut {nth}. " * 12
        for nth, (subject, need) in enumerate(needs)
    ) + "\n\n"
    for heading, needs in [
        ("Shed", [("The mower", "oil"), ("The saw", "wax"), ("The hose", "drainage")]),
        ("House", [("The boiler", "water"), ("The lamp", "bulbs"), ("The roof", "clearing")]),
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def app(clone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("winter")
    (folder / "winter.md").write_text(f"# Winter\n\n{WINTER}", encoding="utf-8")
    with (
        clone() as url,
        psycopg.connect(url, autocommit=True) as connection,
        App(Settings(database_url=url, pool_size=2)) as app,
    ):
        app.index("scale", "1", str(FIXTURES / "evaluation" / "pages"))
        app.index("garden", "1", str(FIXTURES / "garden"))
        app.index("winter", "", str(folder))
        # One weight lowers scores, one would lift them above 1.
        for weight, name, remainder in [(0.4, "post", 0), (5, "guide", 1)]:
            connection.execute(
                "update pgrag.page_types set retriever_weight = %s where name = %s",
                [weight, name],
            )
            connection.execute(
                "update pgrag.pages set type = %s where page_id %% 3 = %s", [name, remainder]
            )
        yield app


def drawn(draw: random.Random) -> dict[str, Any]:
    """Random arguments; some contradict each other."""
    choices: dict[str, list[Any]] = {
        "library": ["scale", "garden", "winter", None],
        "mode": ["hybrid", "hybrid", "keyword", "semantic"],
        "fusion": ["absolute", "rrf"],
        "alpha": [0, 0.3, 1],
        "rrf_k": [10],
        "page_evidence": [0, 0.5],
        "page_decay": [0, 0.5, 1],
        "levels": [[1, 2], [2]],
        "max_per_page": [1, 2],
        "group": ["page"],
        "unit": ["page"],
        "aggregate": ["max", "mean", "rrf"],
        "hierarchy": ["depth", "breadth", "overview"],
        "mmr_lambda": [0.5],
        "graph": [True],
        "query_expansion": ["feedback"],
        "prefix": [True],
        "intent": ["auto"],
    }
    chances = {"library": 1, "mode": 0.3, "fusion": 0.3, "unit": 0.3, "aggregate": 0.3}
    given = {
        name: draw.choice(values)
        for name, values in choices.items()
        if draw.random() < chances.get(name, 0.15)
    }
    if "aggregate" in given:
        given["unit"] = "page"
    return {"query": draw.choice(QUERIES), **given}


def checked(app: App, arguments: dict[str, Any]) -> set[str] | None:
    """The parts that acted in a search; None if its arguments contradict each other."""
    if arguments.get("mode", "hybrid") != "hybrid":
        for name in ("alpha", "fusion", "rrf_k", "graph", "unit", "aggregate", "hierarchy",
                     "mmr_lambda", "intent", "group", "page_decay", "query_expansion", "prefix",
                     "page_evidence"):  # fmt: skip
            arguments.pop(name, None)
    query = arguments["query"]
    given = {name: value for name, value in arguments.items() if name != "query"}
    try:
        hits = app.search.search(query, explain=True, top_k=20, **given).rows
    except InvalidInput as error:
        if "effect only with" in error.message:
            return None
        raise
    acting = set()
    for hit in hits:
        parts = hit["explanation"]["parts"]
        assert sum(parts.values()) == pytest.approx(hit["score"], abs=1e-6), (arguments, parts)
        assert parts.keys() >= EVIDENCE
        for name in parts.keys() - EVIDENCE:
            assert ACTS[name](hit["explanation"], arguments), (name, arguments, parts)
        if hit["explanation"]["graph"] is None:
            assert parts["links"] == 0
        acting |= {name for name, part in parts.items() if abs(part) > 1e-9}
    return acting


def test_the_parts_of_a_score_add_up_to_it(app):
    draw = random.Random(39)
    acted: set[str] = set()
    searches = 0
    for _ in range(160):
        found = checked(app, drawn(draw))
        searches += found is not None
        acted |= found or set()
    assert searches > 80
    assert acted | {"rerank"} == EVIDENCE | ACTS.keys()


def test_parts_are_the_numbers_of_the_explanation(app):
    for hit in app.search.search("battery of the scale", library="scale", explain=True).rows:
        why = hit["explanation"]
        keyword, parts, share = why["keyword"], why["parts"], 1 - why["alpha"]
        evidence = keyword["page_evidence"]
        assert parts["words"] == pytest.approx(share * (1 - evidence) * keyword["passage_score"])
        assert parts["page"] == pytest.approx(share * evidence * keyword["page_score"])
        assert parts["meaning"] == pytest.approx(why["alpha"] * why["semantic"]["score"])
        lexemes = sum(word["adds"] for word in keyword["lexemes"])
        assert lexemes == pytest.approx(keyword["passage_score"], abs=1e-6)


@pytest.mark.parametrize("more", [{}, {"unit": "page", "aggregate": "mean"}, {"graph": True},
                                  {"hierarchy": "breadth"}])  # fmt: skip
def test_a_reranker_is_one_part(app, more):
    hits = app.search.search("battery of the scale", library="scale", top_k=20, **more).rows
    scores = {str(hit["document_id"]): nth / 20 for nth, hit in enumerate(hits)}
    arguments = {"library": "scale", "query": "battery of the scale", "reranked": scores, **more}
    rows = app.database.call("search", explain=True, top_k=20, **arguments)
    assert rows
    for hit in rows:
        parts = hit["explanation"]["parts"]
        assert sum(parts.values()) == pytest.approx(hit["score"], abs=1e-6)
        before = hit["score"] - parts["rerank"]
        plain = next(one for one in hits if one["document_id"] == hit["document_id"])
        assert before == pytest.approx(plain["score"], abs=1e-6)


def test_filters_alone_are_the_whole_score(app):
    for hit in app.search.search("type:guide", library="scale", explain=True).rows:
        assert hit["explanation"]["parts"] == {"filters": hit["score"]}
