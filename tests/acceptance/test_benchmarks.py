"""The benchmarks, run to their end on a small made-up corpus: what is not about speed must hold."""

import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from benchmarks import __main__ as bench
from benchmarks import growth
from benchmarks.figures import Figure
from benchmarks.rivals import report
from benchmarks.rivals.rival import SYSTEMS
from command_line import write_pages

CHECKOUT = Path(__file__).parents[2]
WORDS = ("pump", "valve", "gasket", "manifold")
SECONDS = 1200


@pytest.fixture
def corpora(tmp_path):
    """The corpora that the benchmarks know, each with a few dozen pages; one is packed."""
    data = tmp_path / "corpora"
    for corpus, labelled, word in (
        ("mdn-en", "mdn-anchor", "pump"),
        ("k8s-en", "k8s-anchor", "valve"),
    ):
        write_pages(data / corpus / "files", 40, word=word)
        _label(data / labelled, word)
    for number, version in enumerate(("1.x", "2.x")):
        # The second version has all pages of the first one, and others.
        write_pages(data / "jest-versions/files" / f"version-{version}", 20 + 10 * number)
    _abstracts(data / "scifact")
    with tarfile.open(data / "scifact.tar.xz", "w:xz") as archive:
        archive.add(data / "scifact", "scifact")
    for file in (data / "scifact").iterdir():
        file.unlink()
    (data / "scifact").rmdir()
    return data


def test_every_measure_ends_and_what_is_exact_is_exact(corpora, empty_database_url, tmp_path):
    finished = _run(tmp_path, "--data", corpora, "--database-url", empty_database_url, "--quick")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in finished.stdout.splitlines()
        if line.startswith("| ")
    ]
    figures = {row[0]: row[1:] for row in rows if len(row) == 5}

    def reached(beginning):
        [row] = [row for what, row in figures.items() if what.startswith(beginning)]
        return row[1], row[3]

    assert reached("keyword retriever = brute force") == ("20 of 20", "yes")
    assert reached("texts embedded for all versions") == ("120 distinct texts", "yes")
    assert reached("index again, 1 pages changed")[0].endswith(" %")
    assert reached("— share of the passages embedded") == ("0.6 %", "yes")
    nearest = [row for row in rows if row[0].startswith("vector retriever: recall@10")]
    assert [row[2] for row in nearest] == ["1.0000"] * len(nearest) != []
    returned = [row for row in rows if row[0] == "— fewest rows returned"]
    assert [row[4] for row in returned] == ["yes"] * len(nearest)


def test_labelled_sets_are_measured_and_written_into_the_page(
    corpora, empty_database_url, tmp_path
):
    page, figures = tmp_path / "evaluation.md", tmp_path / "figures.json"
    marks = ("<!-- figures: made by `make evaluation` -->", "<!-- end of the figures -->")
    page.write_text(f"# Evaluation\n\n{marks[0]}\nold\n{marks[1]}\n\nRead on.\n", "utf-8")
    arguments = (
        "--data", corpora, "--database-url", empty_database_url, "--page", page,
        "--figures", figures, "--only", "scifact", "k8s-anchor",
    )  # fmt: skip
    finished = _run(tmp_path, *arguments, module="benchmarks.evaluation")
    text = page.read_text("utf-8")
    assert text.startswith(f"# Evaluation\n\n{marks[0]}\n\n### nDCG@10")
    assert text.endswith(f"{marks[1]}\n\nRead on.\n")
    assert finished.stdout.strip() in text
    rows = {
        (cells[0], len(cells)): cells[1:]
        for line in text.splitlines()
        if line.startswith("| ")
        for cells in [[cell.strip() for cell in line.strip("| ").split("|")]]
    }
    assert rows["scifact, 4", 6][1] == "1.000 ± 0.000 (≥ 0.670)"
    assert rows["k8s-anchor, 20", 6][1] == "1.000 ± 0.000 (≥ 0.645)"
    assert any(key[0] == "k8s-anchor" and key[1] == 7 for key in rows), "front matter"
    assert set(json.loads(figures.read_text("utf-8"))) == {"scifact", "k8s-anchor"}
    assert "bare" not in finished.stderr
    # What is measured with these functions is not measured again.
    again = _run(tmp_path, *arguments, module="benchmarks.evaluation")
    assert re.search(r"scifact … \d s", again.stderr)
    assert page.read_text("utf-8") == text


def test_rivals_are_measured_and_one_without_its_package_is_named(
    corpora, empty_database_url, tmp_path
):
    page, figures = tmp_path / "benchmarks.md", tmp_path / "rivals.json"
    page.write_text(f"# B\n\n{report.MARKS[0]}\n{report.MARKS[1]}\n", "utf-8")
    finished = _run(
        tmp_path, "--data", corpora, "--database-url", empty_database_url, "--quick",
        "--only", "k8s-anchor", "--page", page, "--figures", figures, module="benchmarks.rivals",
    )  # fmt: skip
    found = json.loads(figures.read_text("utf-8"))["k8s-anchor"]
    missing = {system.name for system in SYSTEMS if system.versions() is None}
    assert found["systems"].keys() == {system.name for system in SYSTEMS} - missing
    for row in found["systems"].values():
        assert row["ndcg@10"] > 0.9
        assert row["recall@10"] == 1
        assert 0 < row["p50"] <= row["p95"]
        assert row["processor"] > 0
        assert row["margin"] >= 0
        assert row["behind"]["from"] <= row["behind"]["by"] <= row["behind"]["to"]
    assert found["systems"]["pgrag"]["behind"] == {"by": 0, "from": 0, "to": 0}
    for name in missing:
        assert f"{name}: not run; to install it:" in finished.stderr
        assert f"| {name} | not run |" in page.read_text("utf-8")
    assert finished.stdout.strip() in page.read_text("utf-8")


def test_growth_is_measured_and_goes_on_where_it_ended(corpora, tmp_path):
    page, figures = tmp_path / "benchmarks.md", tmp_path / "work" / "figures.json"
    page.write_text(f"# B\n\n{growth.MARKS[0]}\n{growth.MARKS[1]}\n", "utf-8")
    arguments = (
        corpora / "mdn-en", "--work", tmp_path / "work", "--sizes", "60", "120",
        "--page", page, "--to",
    )  # fmt: skip
    _run(tmp_path, *arguments, "60", module="benchmarks.growth")
    small = json.loads(figures.read_text("utf-8"))
    assert [row["size"] for row in small] == [60] * 3
    # As after a crash, a page between the others is missing.
    with growth._app(tmp_path / "work" / "many") as app:
        app.database.query(
            "select pgrag.remove_pages(l.name, array[min(p.key)]) from pgrag.pages as p"
            " join pgrag.libraries as l using (library_id) group by l.name"
        )
    again = _run(tmp_path, *arguments, "120", "--beside", module="benchmarks.growth")
    assert "60 passages …" not in again.stderr
    rows = json.loads(figures.read_text("utf-8"))
    assert [row for row in rows if row["size"] == 60] == small
    *rows, alone, beside = rows
    [one] = [r for r in rows if r["searched"] == "one library" and r["size"] == 120]
    assert beside["passages"] == one["passages"] + alone["passages"]
    for row in rows:
        assert row["size"] <= row["passages"] < 1.5 * row["size"]
    for row in (*rows, alone, beside):
        assert 0 < row["p50"] <= row["p95"]
        assert row["rate"] > 0
    assert {row["searched"] for row in rows} == {
        "one library", "all of many libraries", "one of many libraries"
    }  # fmt: skip
    assert again.stdout.strip() in page.read_text("utf-8")


def test_a_missing_corpus_is_said_and_fails_only_when_strict(tmp_path, empty_database_url):
    arguments = ("--data", tmp_path, "--database-url", empty_database_url, "--only", "versions")
    assert "holds no jest-versions" in _run(tmp_path, *arguments, "--strict", code=1).stdout
    _run(tmp_path, *arguments)


def test_a_measure_that_fails_does_not_lose_the_others(monkeypatch, capsys, empty_database_url):
    def broken(bench):
        raise IsADirectoryError("page.md")

    told = [Figure("answer", "everything", "42")]
    monkeypatch.setattr(
        bench, "MEASURES", {"one": lambda _: told, "two": broken, "three": lambda _: told}
    )
    assert bench.main(["--database-url", empty_database_url]) == 1
    printed = capsys.readouterr()
    assert printed.out.count("| answer | everything | 42 |") == 2
    assert "| two | — | failed: IsADirectoryError('page.md') |  | **no** |" in printed.out
    assert "Traceback" in printed.err


def _run(folder, *arguments, module="benchmarks", code=0):
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-m", module, *map(str, arguments)],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMPDIR": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert finished.returncode == code, finished.stderr
    return finished


def _label(folder, word):
    """Queries that name the number of a page; another page quotes each of them."""
    queries, answers, sources = [], ["query-id\tcorpus-id\tscore"], ["query-id\tsource-page"]
    for number in range(20):
        queries.append(json.dumps({"_id": f"q{number}", "text": f"{word} {number} assembly"}))
        answers.append(f"q{number}\tpart-{number % 7}/{word}-{number}.md\t1")
        sources.append(f"q{number}\tpart-{(number + 1) % 7}/{word}-{number + 1}.md")
    _write(folder, {"queries.jsonl": queries, "qrels.tsv": answers, "sources.tsv": sources})


def _abstracts(folder):
    records, queries, answers = [], [], ["query-id\tcorpus-id\tscore"]
    for number, word in enumerate(WORDS):
        text = f"We observed that a {word} lasts {number + 3} years where the water is soft."
        record = {"_id": str(number), "title": f'Wear of a "{word}"', "text": text}
        records.append(json.dumps(record))
        queries.append(json.dumps({"_id": f"q{number}", "text": f"How long does a {word} last?"}))
        answers.append(f"q{number}\t{number}\t1")
    _write(folder, {"corpus.jsonl": records, "queries.jsonl": queries, "qrels.tsv": answers})


def _write(folder, files):
    folder.mkdir(parents=True)
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
