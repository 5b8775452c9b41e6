"""What facets count is what a search lists with the value as a filter (meilisearch#4494, #6326,
typesense#1714), and chosen values stay (typesense#2131)."""

import random
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgrag.ground.settings import Settings
from pgrag.service.app import App

FIXTURES = Path(__file__).parents[1] / "fixtures"
QUERIES = [
    "how do I calibrate the scale", "battery", "battery of the scale -winter", "Waage Akku",
    "restore a folder", "winter feeding and weight",
]  # fmt: skip
FACETS = ("topic", "type", "path", "tags", "language", "content_tags")


@pytest.fixture(scope="module")
def app(clone, tmp_path_factory):
    folder = tmp_path_factory.mktemp("twins")
    for name, tag in [("a/one.md", "Ops/Night"), ("b/two.md", "ops"), ("b/c/three.md", "day")]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(
            f"---\ntags: [{tag}]\ntype: {name[0].upper() if 'two' in name else name[0]}\n---\n"
            "# Battery\n\n## Change\n\nThe battery of the scale is changed in winter.\n\n"
            + ("## Weight\n\nOnly here: the weight of the battery.\n" if "two" in name else ""),
            encoding="utf-8",
        )
    with (
        clone() as url,
        psycopg.connect(url, autocommit=True) as connection,
        App(Settings(database_url=url, pool_size=2)) as app,
    ):
        app.index("scale", "1", str(FIXTURES / "evaluation" / "pages"))
        for version in ("1.4", "2.0"):
            app.index("kestrel", version, str(FIXTURES / "kestrel" / version))
        app.index("twins", "", str(folder))
        for statement in (
            "update pgrag.pages set type = (array['guide', 'Guide', 'reference'])"
            "[1 + page_id % 3], topic = case when page_id % 2 = 0 then 'Even' end,"
            " tags = (array['{a, B/c}', '{b}', '{b/d, a}', '{}'])[1 + page_id % 4]::text[]"
            " where key not like '_/%.md'",
            "update pgrag.documents set content_tags = case document_id % 3"
            " when 0 then '{code, Table}'::text[] when 1 then '{code}' else '{}' end",
        ):
            connection.execute(statement)
        yield app


def drawn(draw: random.Random) -> dict[str, Any]:
    """Random arguments that narrow a search."""
    choices: dict[str, list[Any]] = {
        "library": ["scale", "kestrel", "twins", None],
        "version": ["*"],
        "alpha": [0, 0.5],
        "min_score": [0.1, 0.3],
        "min_confidence": [0.2],
        "levels": [[2]],
        "prefix": [True],
        "filters": [
            {"type": "guide"}, {"tags": ["a", "b"]}, {"path": "/b"}, {"content_tags": "code"},
            {"type": "reference", "tags": {"in": ["b"]}}, {"language": "de"},
            {"or": [{"type": "guide"}, {"tags": "a"}]},
        ],
    }  # fmt: skip
    chances = {"library": 1, "filters": 0.5}
    given = {
        name: draw.choice(values)
        for name, values in choices.items()
        if draw.random() < chances.get(name, 0.2)
    }
    if given["library"] == "kestrel" and draw.random() < 0.3:
        given |= {"version": "2.0", "changed_since": "1.4"}
    return {"query": draw.choice(QUERIES), **given}


def listed(app: App, query: str, **arguments: Any) -> tuple[int, int]:
    """The numbers of pages and passages that a search lists."""
    hits = app.search.search(query, top_k=1000, graph=False, **arguments).rows
    return len({hit["page_id"] for hit in hits}), len(hits)


def test_counts_are_what_the_search_lists_with_the_filter(app):
    draw = random.Random(2131)
    compared = dict.fromkeys(FACETS, 0)
    for _ in range(60):
        arguments = drawn(draw)
        query = arguments.pop("query")
        total, *rows = app.search.facets(query, top_k=1000, **arguments).rows
        told = (query, arguments)
        assert (total["facet"], total["is_exact"]) == ("total", True), told
        assert (total["page_count"], total["passage_count"]) == listed(app, query, **arguments), (
            told
        )
        chosen = arguments.get("filters") or {}
        for row in draw.sample(rows, min(len(rows), 6)):
            facet, value = row["facet"], row["value"]
            if facet in FACETS:
                narrowed = arguments | {"filters": {**chosen, facet: value}}
            # Without a library, each that lacks the version reads its nearest one.
            elif value and (arguments["library"] or facet == "library"):
                narrowed = arguments | {facet: value}
            else:
                continue
            found = listed(app, query, **narrowed)
            assert (row["page_count"], row["passage_count"]) == found, (told, row)
            compared[facet] = compared.get(facet, 0) + 1
    assert all(count > 3 for count in compared.values()), compared


def test_without_words_counts_are_what_the_filters_list(app):
    for filters in [None, {"type": "guide"}, {"tags": "b"}, {"content_tags": "code"},
                    {"path": "/b/c"}]:  # fmt: skip
        for row in app.search.facets(None, filters=filters).rows[1:]:
            if row["facet"] in FACETS:
                narrowed = {**(filters or {}), row["facet"]: row["value"]}
                hits = app.search.search("NOT type:zzz", filters=narrowed, top_k=1000).rows
                assert row["page_count"] == len({hit["page_id"] for hit in hits}), (filters, row)


def values(app: App, facet: str, query: str, **arguments: Any) -> dict[str, tuple[int, bool]]:
    return {
        row["value"]: (row["page_count"], row["is_chosen"])
        for row in app.search.facets(query, **arguments).rows
        if row["facet"] == facet
    }


def test_chosen_values_stay_with_their_alternatives(app):
    every = values(app, "type", "battery", library="twins")
    assert every == {"A": (0, False)} or set(every) == {"a", "B"}
    chosen = values(app, "type", "battery", library="twins", filters={"type": "a"})
    assert chosen["a"][1]
    assert {name: count for name, (count, _) in chosen.items()} == {
        name: count for name, (count, _) in every.items()
    }
    # In the query's text, within "and", by operators, in other letters, and with nothing to count.
    for query, filters in [
        ("battery type:A", None), ("battery", {"and": [{"type": "a"}]}),
        ("battery", {"type": {"in": ["A"]}}),
    ]:  # fmt: skip
        assert values(app, "type", query, library="twins", filters=filters) == chosen
    gone = values(app, "type", "battery", library="twins", filters={"type": ["recipe", "a"]})
    assert gone == chosen | {"recipe": (0, True)}
    few = values(app, "type", "battery", library="twins", filters={"type": "recipe"}, value_count=1)
    assert few["recipe"] == (0, True)
    assert len(few) == 2
    # What is filtered in other ways is no choice of a value.
    other = values(app, "type", "battery", library="twins", filters={"type": {"!=": "a"}})
    assert {name for name, (_, is_chosen) in other.items() if is_chosen} == set()


def test_folders_from_the_root_are_counted_where_they_part(app):
    assert values(app, "path", "battery", library="twins") == {"/a": (1, False), "/b": (2, False)}
    deeper = values(app, "path", "battery", library="twins", filters={"path": "/b/c/"})
    assert deeper == {"/a": (1, False), "/b": (2, False), "/b/c": (1, True)}
    several = {"path": ["/a", "/b/c"]}
    assert listed(app, "battery", library="twins", filters=several, alpha=0, unit="page")[0] == 2


def test_the_total_says_when_it_is_not_all(app):
    total = app.search.facets("battery", library="scale", top_k=5).facets()["total"]
    assert (total["passages"], total["exact"]) == (5, False)
    total = app.search.facets("zebra", library="scale", alpha=0).facets()["total"]
    assert total == {"pages": 0, "passages": 0, "exact": True}


def test_notices_are_told_once(app):
    found = app.search.facets("battery", library="scale", filters={"tags": ["b", "none"]})
    assert len(found.notices) == len(set(found.notices))
