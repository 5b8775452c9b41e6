"""The measures on our labelled questions, on a little documentation."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from benchmarks import evaluation
from benchmarks.corpora import Corpora
from benchmarks.evaluation import Labelled
from benchmarks.questions import citations, confidence, east_asian, measuring
from benchmarks.questions.citations import Cited
from benchmarks.questions.east_asian import Segmenter
from benchmarks.questions.rows import Question, Relevant

from pgrag.ground.settings import Settings
from pgrag.service.app import App

PAGES = {
    "oven.md": "# Oven\n\n## Cleaning\n\nWipe it with vinegar.\n\n## Heat\n\n250 degrees.\n",
    "fridge.md": "# Fridge\n\nKeep milk at 4 degrees.\n\n## Noise\n\nA hum is normal.\n",
    "lamp.md": "# Lamp\n\nTurn the bulb to the left.\n",
}
QUESTIONS = [
    Question(
        "home-001", "vinegar", "home-en", "en", "how-to", "open",
        (Relevant("oven.md", "cleaning", 2),), (("wipe",),),
    ),
    Question(
        "home-002", "hum", "home-en", "en", "symptom", "open",
        (Relevant("lamp.md", "lamp", 2),), (("never",),),
    ),
    Question(
        "home-003", "bulb", "home-en", "en", "how-to", "held",
        (Relevant("lamp.md", "lamp", 2),), (("left",),),
    ),
]  # fmt: skip


def written(folder: Path, corpora: dict[str, dict[str, str]]) -> Corpora:
    for corpus, pages in corpora.items():
        (folder / corpus / "files").mkdir(parents=True)
        for name, text in pages.items():
            (folder / corpus / "files" / name).write_text(text, "utf-8")
    return Corpora(folder, folder / "scratch")


@pytest.fixture
def app(database_url: str) -> Iterator[App]:
    with App(Settings(database_url=database_url)) as app:
        yield app


def test_pages_sections_and_facts_are_measured(app, tmp_path, monkeypatch):
    corpora = written(tmp_path, {"home-en": PAGES})
    monkeypatch.setattr(measuring, "SETS", {"home-questions": "home-en"})
    monkeypatch.setattr(measuring, "read", lambda _: QUESTIONS)
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in measuring.measure(app, corpora, "open").splitlines()
    ]
    # The second question finds another page than the one that it is judged by.
    assert rows[2][:3] == ["home-en, asked in en, 2", "page", "0.500"]
    assert rows[3][:3] == ["home-en, asked in en, 2", "section", "0.500"]
    assert rows[-1] == ["all, 2", "50%", "50%"]
    held = measuring.measure(app, corpora, "held").splitlines()
    assert held[-1] == "| all, 1 | 100% | 100% |"


def test_confidence_tells_what_a_documentation_answers(app, tmp_path, monkeypatch):
    sets = {
        "oven-en": ("Clean the oven with vinegar.", "how do I clean the oven"),
        "spade-en": ("Oil the spade in autumn.", "when should I oil the spade"),
    }
    corpora = written(tmp_path, {name: {"page.md": text} for name, (text, _) in sets.items()})
    for name, (_, query) in sets.items():
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": query}) + "\n")
        (folder / "qrels.tsv").write_text("q\tpage.md\t2\n")
    labelled = {name: Labelled(name) for name in sets}
    pairs = tuple((name, name) for name in sets)
    monkeypatch.setattr(evaluation, "SETS", labelled)
    monkeypatch.setattr(evaluation, "labelled_folder", lambda _, name: tmp_path / "data" / name)
    monkeypatch.setattr(confidence, "TESTED", pairs)
    monkeypatch.setattr(confidence, "FITTED", pairs)
    monkeypatch.setattr(confidence, "PICTURE", tmp_path / "picture.svg")
    monkeypatch.setattr(confidence, "write_between", lambda *_: None)
    told = confidence.measure(app, corpora)
    assert told.count("| 1.000 |") == 2, "both tell their own question from the other's"
    assert "| oven-en | 0% | 100% |" in told
    assert "<polyline" in (tmp_path / "picture.svg").read_text("utf-8")
    assert "hybrid: constant" in confidence.fit(app, corpora)


def test_sentences_of_other_words_are_doubted_and_no_library_is_left(app):
    passage = "The pool grows to 32 threads under load."
    right = Cited("en-01-right", "en", passage, "Under load the pool grows to 32.", True, None)
    wrong = Cited("en-01-wrong", "en", passage, "Zebras graze at noon.", False, "invented option")
    assert citations.doubted(app, [right, wrong]) == {"en-01-wrong"}
    detail = Cited("en-01-wrong", "en", passage, "The pool has 64 threads.", False, "wrong unit")
    assert citations.doubted(app, [right, detail]) == {"en-01-wrong"}
    assert app.database.call("libraries") == []


def test_the_files_folder_holds_nothing_but_the_sets():
    names = {path.stem for path in Path(measuring.__file__).parent.glob("*.jsonl")}
    assert names == {*measuring.SETS, "citations"}


def test_fusions_are_compared_with_words_alone(app, tmp_path, monkeypatch):
    corpora = written(tmp_path, {"home-en": PAGES})
    monkeypatch.setattr(measuring, "SETS", {"home-questions": "home-en"})
    monkeypatch.setattr(measuring, "read", lambda _: QUESTIONS)
    table = measuring.compare_fusions(app, corpora, "open", ["home-questions"])
    head, _, line = table.splitlines()
    assert [cell.strip() for cell in head.strip("|").split("|")][1:] == [*measuring.FUSIONS]
    name, *means = [cell.strip() for cell in line.strip("|").split("|")]
    assert name == "home-questions, 2"
    assert all(0.5 <= float(mean) < 1 for mean in means)


def test_make_evaluation_prints_the_questions_too():
    """Unless single sets are asked for."""
    root = Path(__file__).parents[2]
    printed = {
        only: subprocess.run(
            ["make", "--dry-run", "evaluation", "DATA=corpora", *only],
            cwd=root, capture_output=True, encoding="utf-8", check=True,
        ).stdout
        for only in ((), ("ONLY=scifact",))
    }  # fmt: skip
    assert "benchmarks.evaluation" in printed[()]
    assert "measure fusion versions" in printed[()]
    assert "benchmarks.questions citations" in printed[()]
    assert "benchmarks.questions" not in printed["ONLY=scifact",]


def test_east_asian_searches_are_measured_beside_the_words_of_a_segmenter(
    app, tmp_path, monkeypatch
):
    pages = {"烤箱.md": "# 烤箱\n\n用醋擦干净。\n", "lamp.md": "# 灯\n\n向左转。\n"}
    corpora = written(tmp_path, {"docs-zh": pages})
    answer = (Relevant("烤箱.md", None, 2),)
    asked = Question("zh-001", "烤箱 醋", "docs-zh", "zh", "how-to", "open", answer, (("醋",),))
    gone = replace(asked, relevant=(*answer, Relevant("gone.md", None, 1)), facts=(("盐",),))
    assert list(east_asian.faults([asked, gone], corpora)) == [
        "zh-001: there is no page gone.md",
        "zh-001: no page that answers it says 盐",
    ]
    monkeypatch.setattr(east_asian, "read", lambda: [asked])
    signs = Segmenter("signs more-signs", lambda: iter)
    lacking = Segmenter("no-such-package", lambda: import_module("no_such_package"))
    for segmenter, cells in (
        (signs, ["1.000 (signs)"]), (lacking, ["not measured: pip install no-such-package", ""]),
    ):  # fmt: skip
        monkeypatch.setattr(east_asian, "SEGMENTERS", {"zh": segmenter})
        row = east_asian.measure(app, corpora).splitlines()[2].strip("|").split("|")
        assert row[0].strip() == "zh, 1"
        assert [cell.strip() for cell in row[3:]][: len(cells)] == cells
