"""Links of a documentation as questions for their targets."""

import pytest
from benchmarks import link_texts
from pipeline_runs import write

from pgrag.ground.settings import Settings
from pgrag.service.app import App

PAGES = {
    "oven.md": "# Oven\n\n[Clean the fridge](fridge.md), [Section 2](lamp.md), [it](lamp.md).\n",
    "fridge.md": "# Fridge\n\nMilk. The [old oven](oven.md), the [little lamp](lamp.md).\n",
    "lamp.md": "# Lamp\n\nThe [old oven](oven.md), the [little lamp](oven.md), [top](#lamp).\n",
}


@pytest.fixture
def app(database_url):
    with App(Settings(database_url=database_url)) as app:
        yield app


def test_a_text_that_leads_to_one_page_is_a_query(app, tmp_path, capsys):
    empty = tmp_path / "empty"
    write(tmp_path, PAGES | {"empty/page.md": "# Page\n\nNo link.\n"})
    table = link_texts.measure(app, [tmp_path, empty])
    asked = app.database.query(
        "select q.query, q.excluded, array_agg(j.target) as targets"
        " from pgrag.evaluation_queries as q"
        " join pgrag.evaluation_judgements as j on j.set_id = q.set_id and j.query_id = q.query_id"
        " group by q.query, q.excluded order by lower(q.query)",
        [],
    )
    assert [dict(row) for row in asked] == [
        {"query": "Clean the fridge", "excluded": ["oven.md"], "targets": ["fridge.md"]},
        {"query": "old oven", "excluded": ["fridge.md", "lamp.md"], "targets": ["oven.md"]},
    ]
    [row] = table.splitlines()[2:]
    assert row == f"| {tmp_path}, 2 | 1.000 | 1.000 | 1.000 | 1.000 | +0.000 |"
    assert f"{empty}: no text of a link leads to one page alone" in capsys.readouterr().err


def test_alphas_are_compared_with_the_default_query_by_query(app, tmp_path):
    write(tmp_path, PAGES)
    words, default = link_texts.measure(app, [tmp_path], [0.0, 0.3]).splitlines()[-2:]
    assert words.endswith("| 1.000 | 1.000 |")
    assert default.endswith("| +0.0000 ± 0.0000 | +0.0000 ± 0.0000 |")
    hybrid = [run for run in app.database.call("evaluation_runs") if run["name"] == "hybrid"]
    alphas = [run["settings"]["alpha"] for run in hybrid]
    assert sorted(alphas) == [0.0, 0.3, 0.3, 0.3]
