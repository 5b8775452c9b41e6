"""Tuning over REST: what was looked for, what came of it, and back again."""

import psycopg
import pytest
from api_client import problem, serving
from psycopg.types.json import Jsonb

ADDRESS = "/v1/libraries/kitchen/tuning"
DISHES = [f"{how} {what}" for how in ("baked", "fried", "raw", "stewed", "dried", "smoked")
          for what in ("apple", "beet", "carrot", "endive", "fennel", "garlic", "leek", "onion",
                       "potato")]  # fmt: skip


@pytest.fixture(scope="module")
def kitchen(clone):
    """A library whose titles are those of other pages, with a question for each page."""
    pages = [
        {
            "key": f"{place}.md",
            "title": DISHES[place - 1],
            "body": dish,
            "source_hash": dish,
            "documents": [{"content": f"Of {dish}: how to make it, and what goes with {dish}."}],
        }
        for place, dish in enumerate(DISHES)
    ]
    queries = [
        {"id": str(place), "text": dish, "judgements": {f"{place}.md": 1}}
        for place, dish in enumerate(DISHES)
    ]
    with clone() as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in (
                "select pgrag.ingest_pages('kitchen', %s, language => 'simple')",
                "select pgrag.import_evaluation_set('dishes', 'kitchen', %s)",
            ):
                connection.execute(statement, [Jsonb(pages if "ingest" in statement else queries)])
            connection.execute("select pgrag.finish_version('kitchen', '')")
        with serving(url) as client:
            yield client


def test_tuned_looked_at_and_undone(kitchen):
    before = kitchen.ok("/v1/libraries/kitchen")["settings"]
    answer = kitchen.post(ADDRESS, {"seed": 3})
    assert answer.status_code == 200
    done = answer.json()
    assert (done["outcome"], done["source"]) == ("accepted", "judgements")
    assert done["questions"] == {"judged": len(DISHES)}
    assert done["validation"]["difference"] > 0.1
    assert kitchen.ok("/v1/libraries/kitchen")["settings"] != before
    listed = kitchen.ok(ADDRESS)
    assert (listed["library"], listed["tunings"]) == ("kitchen", [done])

    undone = kitchen.request("DELETE", ADDRESS).json()
    assert undone["undone_at"]
    assert kitchen.ok("/v1/libraries/kitchen")["settings"] == before
    problem(kitchen.request("DELETE", ADDRESS), 422, "invalid-input")


def test_dry_run_changes_nothing(kitchen):
    before = kitchen.ok("/v1/libraries/kitchen")["settings"]
    assert kitchen.post(ADDRESS, {"dry_run": True}).json()["outcome"] == "dry run"
    assert kitchen.ok("/v1/libraries/kitchen")["settings"] == before
