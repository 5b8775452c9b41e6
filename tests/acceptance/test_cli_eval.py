"""`pgrag eval` from the import of a set to its gate."""

import json
import re

import pytest
from command_line import CommandLine

SMALL = {
    "corpus.jsonl": [
        {"_id": "d1", "title": "Eiche", "text": "Die Eiche ist ein Baum mit hartem Holz."},
        {"_id": "d2", "title": "Kiefer", "text": "Die Kiefer wächst auch auf sandigem Boden."},
        {"_id": "d3", "title": "Birke", "text": "Die Birke hat eine weiße Rinde und ist hell."},
    ],
    "queries.jsonl": [
        {"_id": "1", "text": "weiße Rinde"},
        {"_id": "2", "text": "sandiger Boden"},
        {"_id": "3", "text": "nobody judged this"},
    ],
}


@pytest.fixture(scope="session")
def house_set(fixtures_folder):
    return fixtures_folder / "evaluation"


@pytest.fixture(scope="module")
def evaluated(clone, tmp_path_factory, house_set):
    """`pgrag` on a database with our own set."""
    with clone() as url:
        pgrag = CommandLine(tmp_path_factory.mktemp("eval"), {"PGRAG_DATABASE_URL": url})
        pgrag.run("eval", "import", "apiary", house_set, "--corpus", house_set / "pages")
        yield pgrag


def write_set(folder):
    folder.mkdir()
    for name, records in SMALL.items():
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\td3\t1\n2\td2\t1\n")
    return folder


def test_search_is_as_good_as_it_was_and_the_gate_names_a_drop(evaluated, house_set, tmp_path):
    """The gate: a drop of nDCG@10 by more than 0.01 on our own set fails."""
    rows = evaluated.json("eval", "gate", "apiary", house_set / "baseline.json")
    assert {row["config"] for row in rows} == {"keyword", "semantic", "hybrid", "rrf"}
    assert all(row["passed"] for row in rows)
    baseline = tmp_path / "baseline.json"
    written = evaluated.json("eval", "gate", "apiary", baseline, "--update")
    document = json.loads(baseline.read_text())
    assert document["scores"] == {row["config"]: row["baseline"] for row in written}
    document["scores"]["hybrid"] += 0.02
    document["scores"]["rrf"] += 0.005
    baseline.write_text(json.dumps(document))
    failed = evaluated.run("eval", "gate", "apiary", baseline, code=1)
    assert "Dropped by more than 0.01: hybrid." in failed.err
    evaluated.run("eval", "gate", "apiary", baseline, "--tolerance", "0.03")
    other = evaluated.run("eval", "gate", "apiary", tmp_path / "none.json", code=1)
    assert "none.json: cannot be read" in other.err
    baseline.write_text(json.dumps(document | {"metric": "mrr@10"}))
    other = evaluated.run("eval", "gate", "apiary", baseline, code=1)
    assert "is a baseline of 'mrr@10'; the gate compares ndcg@10" in other.err


def test_a_run_prints_its_metrics_and_what_changed_since_the_one_before(evaluated):
    found = evaluated.json("eval", "run", "apiary", "--config", "hybrid")
    assert (found["set"], found["config"], found["queries"]) == ("apiary", "hybrid", 35)
    assert set(found["metrics"]) == {"ndcg@10", "mrr@10", "recall@20"}
    assert found["metrics"]["ndcg@10"] > 0.85
    assert 0.01 < found["margins"]["ndcg@10"] < 0.1
    assert found["configuration"]["function"] == "search"
    every = evaluated.json("eval", "run", "apiary", "--metric", "precision@5")
    assert [run["config"] for run in every] == ["keyword", "semantic", "hybrid", "rrf"]
    assert all(0.1 < run["metrics"]["precision@5"] < 0.5 for run in every)
    shown = evaluated.run("eval", "run", "apiary", "--config", "keyword").out
    assert "ndcg@10" in shown
    assert "keyword" in shown
    assert re.search(r"0\.\d{4} ± 0\.\d{3}", shown)
    first = evaluated.json("eval", "run", "apiary", "--config", "hybrid")
    evaluated.run("eval", "run", "apiary", "--config", "keyword")
    evaluated.run("configure", "eval-apiary", "page_evidence=0")
    try:
        second = evaluated.json("eval", "run", "apiary", "--config", "hybrid")
    finally:
        evaluated.run("configure", "eval-apiary", "page_evidence=null")
    change = second["change"]
    assert (change["run_id"], change["other_run_id"]) == (first["run"], second["run"])
    difference = second["metrics"]["ndcg@10"] - first["metrics"]["ndcg@10"]
    assert abs(change["difference"] - difference) < 1e-9
    assert change["lower_bound"] < change["difference"] < change["upper_bound"]
    assert 0 < len(change["moved"]) <= 5
    told = evaluated.run("eval", "run", "apiary", "--config", "hybrid").out
    assert f"since run {second['run']}: " in told
    assert "(95 % interval" in told
    assert change["moved"][0]["query_id"] in told
    told = evaluated.run("eval", "run", "apiary", "--config", "hybrid").out
    assert "no query moved" in told


def test_configurations_come_from_yaml_whose_faults_are_named_with_their_line(evaluated, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "deep:\n  function: search\n  arguments: {alpha: 0.6, levels: [0, 1, 2]}\n  depth: 50\n"
        "light: {function: keyword_search}\n"
    )
    runs = evaluated.json("eval", "run", "apiary", "--file", file, "--metric", "recall@50")
    assert [run["config"] for run in runs] == ["deep", "light"]
    assert runs[0]["configuration"]["arguments"] == {"alpha": 0.6, "levels": [0, 1, 2]}
    one = evaluated.json("eval", "run", "apiary", "--file", file, "--config", "light")
    assert one["config"] == "light"
    for text, message in (
        ("a:\n  function: search\n  arguments:\n    alhpa: 1\n", ":4: a: pgrag.search has no arg"),
        ("a:\n  function: serach\n", ":2: a: There is no search function 'serach'."),
        ("a:\n  function: search\n  dept: 3\n", ":3: a: A configuration has no 'dept'."),
        ("a: 3\n", ":1: a: A configuration must be an object"),
        ("a: {function: search\nb: 1\n", "mine.yaml:"),
        ("- a\n", ":1: must map names to configurations"),
        ("a: {function: search}\na: {function: search}\n", ":2: 'a' is there twice"),
    ):
        file.write_text(text)
        assert message in evaluated.run("eval", "run", "apiary", "--file", file, code=1).err


def test_runs_are_listed_compared_shown_repeated_and_removed(evaluated):
    one = evaluated.json("eval", "run", "apiary", "--config", "keyword")["run"]
    other = evaluated.json("eval", "run", "apiary", "--config", "semantic")["run"]
    assert [row["run_id"] for row in evaluated.json("eval", "list", "apiary")[:2]] == [other, one]
    assert evaluated.json("eval", "list")[0]["name"] == "apiary"
    compared = evaluated.json("eval", "compare", one, other)
    assert 0 < compared["p_value"] <= 1
    assert compared["wins"] + compared["losses"] + compared["ties"] == 35
    assert len(compared["moved"]) == min(10, compared["wins"] + compared["losses"])
    assert " → " in evaluated.run("eval", "compare", one, other).out
    answer = evaluated.json("eval", "show", one, "q22")
    assert (answer["query"], answer["results"][0]["target"]) == ("E17", "en/troubleshooting.md")
    assert answer["results"][0]["words"].startswith("e17 ")
    assert answer["metrics"] == {"mrr@10": 1, "ndcg@10": 1}
    assert "en/troubleshooting.md" in evaluated.run("eval", "show", one, "q22").out
    again = evaluated.json("eval", "repeat", one)
    assert again["run"] > other
    assert again["metrics"] == evaluated.json("eval", "repeat", one)["metrics"]
    evaluated.run("eval", "remove", "--run", one)
    assert one not in [row["run_id"] for row in evaluated.json("eval", "list", "apiary")]


def test_an_ablation_changes_one_thing_at_a_time_and_nothing_for_good(evaluated):
    before = evaluated.json("libraries")
    rows = ["keyword alone", "levels 1 2", "title weight 0"]
    runs = evaluated.json(
        "eval", "ablation", "apiary", *(part for row in rows for part in ("--only", row))
    )
    assert [run["config"] for run in runs] == rows
    assert {run["library"] for run in runs} == {"eval-apiary"}
    assert runs[2]["settings"]["field_weights"]["title"] == 0
    assert evaluated.json("libraries") == before
    unknown = evaluated.run("eval", "ablation", "apiary", "--only", "magic", code=2)
    assert "rows are: keyword alone" in unknown.err


def test_a_beir_set_is_imported_with_its_language(pgrag, tmp_path):
    folder = write_set(tmp_path / "trees")
    said = pgrag.run("eval", "import", "trees", folder)
    assert "trees: 2 queries, 2 judgements about eval-trees (3 pages, de)." in said.out
    assert "left out, as nobody judged them: 1 queries (3 …)" in said.err
    found = pgrag.json("eval", "run", "trees", "--config", "keyword")
    assert found["metrics"] == {"ndcg@10": 1, "mrr@10": 1, "recall@20": 1}
    imported = pgrag.json("eval", "import", "trees", folder, "--language", "en")
    assert (imported["language"], imported["unjudged"]) == ("en", ["3"])
    assert pgrag.json("eval", "remove", "trees") == {
        "set": "trees", "runs": 1, "libraries": ["eval-trees"],
    }  # fmt: skip
    assert pgrag.json("libraries") == []


def test_bad_input_is_named(pgrag, tmp_path):
    folder = write_set(tmp_path / "trees")
    assert "no evaluation set 'trees'" in pgrag.run("eval", "run", "trees", code=1).err
    assert "no evaluation set 'trees'" in pgrag.run("eval", "list", "trees", code=1).err
    assert "no evaluation run 7" in pgrag.run("eval", "compare", 7, 8, code=1).err
    (folder / "qrels.tsv").write_text("1\td3\t1\n2\td9\t1\n")
    failed = pgrag.run("eval", "import", "trees", folder, code=1)
    assert "qrels.tsv:2: the corpus has no page 'd9', which query '2' expects." in failed.err
    assert pgrag.json("libraries") == []
    assert pgrag.run("eval", "remove", code=2).err
    write_set(tmp_path / "good")
    pgrag.run("eval", "import", "trees", tmp_path / "good")
    unknown = pgrag.run("eval", "run", "trees", "--config", "best", code=1)
    assert "There is no configuration 'best'." in unknown.err


def test_bad_input_is_named_and_leaves_nothing(evaluated, house_set, tmp_path):
    before = evaluated.json("eval", "list", "apiary")
    failed = evaluated.run("eval", "run", "apiary", "--metric", "luck@10", code=1)
    assert "no metric 'luck@10'" in failed.err
    assert evaluated.json("eval", "list", "apiary") == before
    useless = write_set(tmp_path / "useless")
    (useless / "qrels.tsv").write_text("1\td3\t0\n")
    failed = evaluated.run("eval", "import", "useless", useless, code=1)
    assert "qrels.tsv: no grade is above 0" in failed.err
    failed = evaluated.run("eval", "import", "useless", house_set, "--unit", "chunk", code=1)
    assert "page, section or document, got 'chunk'" in failed.err
    assert "eval-useless" not in [row["library"] for row in evaluated.json("libraries")]
