"""Runs of sets whose queries only a model outside the database can embed."""

import json

import pytest
from embedding_server import serving

from pgrag.evaluation import labelled, runs
from pgrag.ground.settings import Settings
from pgrag.service.app import App


@pytest.fixture
def oven_set(tmp_path):
    folder = tmp_path / "ovens"
    folder.mkdir()
    records = [{"_id": "a", "text": "Ovens are warm."}, {"_id": "b", "text": "Zebras are not."}]
    queries = [{"_id": "1", "text": "ovens"}, {"_id": "2", "text": "zebras"}]
    for name, rows in (("corpus", records), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "qrels.tsv").write_text("1\ta\t1\n2\tb\t1\n")
    return folder


@pytest.fixture
def server():
    with serving() as server:
        yield server


def test_queries_are_embedded_once_and_only_where_meaning_counts(database_url, oven_set, server):
    settings = Settings(database_url=database_url, embedding_url=server.url, embedding_model="tiny")
    with App(settings) as app:
        labelled.import_set(app, "ovens", oven_set)
        keyword, semantic, hybrid, _ = runs.builtin(app)
        asked = len(server.requests)
        runs.run(app, "ovens", keyword)
        assert len(server.requests) == asked
        made = runs.run(app, "ovens", semantic)
        assert made["model"] == "tiny"
        assert len(server.requests) == asked + 2
        runs.run(app, "ovens", hybrid)
        assert len(server.requests) == asked + 2
        scores = app.database.query(
            "select r.score from pgrag.evaluation_results as r where r.run_id = %s", [made["run"]]
        )
        assert len(scores) == 4
        assert all(row["score"] > 0 for row in scores)
