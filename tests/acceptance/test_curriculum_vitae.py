"""R14: a question about a person is answered by the whole of the page that is about him."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from command_line import CommandLine
from psycopg.rows import dict_row

WHERE_HE_WORKED = "Wo hat Peter Kühne gearbeitet?"
EMPLOYERS = {
    "Nordlicht Logistik GmbH, Hamburg",
    "Medizintechnik Saale AG, Jena",
    "Stadtwerke Halle",
    "Ingenieurbüro Brandt & Söhne, Erfurt",
}
CAREER = "Beruflicher Werdegang"
RELEVANT = {
    WHERE_HE_WORKED: {*EMPLOYERS, CAREER},
    "Bei welchem Arbeitgeber war er von 2008 bis 2013?": {"Stadtwerke Halle", CAREER},
    "Wer entwickelte Beatmungsgeräte?": {"Medizintechnik Saale AG, Jena"},
    "In welchem Hafen gibt es eine Schnittstelle?": {"Nordlicht Logistik GmbH, Hamburg"},
    "Was hat er in Polen gemacht?": {"Ingenieurbüro Brandt & Söhne, Erfurt"},
    "Wo hat Peter Kühne studiert?": {"Ausbildung"},
    "Welche Programmiersprachen kennt er?": {"Kenntnisse und Ehrenamt"},
    "Welches Ehrenamt hat Herr Kühne?": {"Kenntnisse und Ehrenamt"},
    "Wo wohnt Peter Kühne?": {"Lebenslauf Peter Kühne"},
    "Wann wurde er geboren?": {"Lebenslauf Peter Kühne"},
    "Welche Datenbanken beherrscht er?": {"Kenntnisse und Ehrenamt"},
    "Was tut er im Ruderverein?": {"Kenntnisse und Ehrenamt"},
    "An welchem Gymnasium machte er Abitur?": {"Ausbildung"},
    "Welche Note bekam die Diplomarbeit?": {"Ausbildung"},
    "Wen bildete er in Halle aus?": {"Stadtwerke Halle"},
    "Für wie viele Fahrzeuge gilt die Tourenplanung?": {"Nordlicht Logistik GmbH, Hamburg"},
}


@pytest.fixture(scope="module")
def personal(
    clone: Callable[[], AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
    fixtures_folder: Path,
) -> Iterator[CommandLine]:
    """The curriculum vitae among other German pages, and a page of fifty paragraphs."""
    folder = tmp_path_factory.mktemp("personal")
    source = shutil.copytree(fixtures_folder / "wegweiser", folder / "pages")
    shutil.copy(fixtures_folder / "curriculum_vitae.md", source)
    (folder / "reisen.md").write_text(
        "# Reisen\n\n"
        + "\n\n".join(
            f"## Reise {number}\n\nDie {number}. Reise führte im Zug über die Alpen und dauerte"
            f" {number + 3} Tage; das Tagebuch nennt {number * 7} Orte, die er auf ihr gesehen hat,"
            f" und schließt mit den Kosten von {number * 40} Euro."
            for number in range(1, 51)
        ),
        encoding="utf-8",
    )
    with clone() as url:
        pgrag = CommandLine(folder, {"PGRAG_DATABASE_URL": url})
        pgrag.run("index", "personal", source, "--language", "de")
        pgrag.run("index", "travel", "reisen.md", "--language", "de")
        yield pgrag


@pytest.fixture(scope="module")
def database(personal: CommandLine) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    url = personal.variables["PGRAG_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        yield connection


def test_every_employer_is_among_the_sources_of_an_answer(
    database: psycopg.Connection[dict[str, Any]],
) -> None:
    """However the question is understood, and if a single hit is all that the search gives."""
    for arguments in ("", ", top_k => 1", ", intent => 'EXPLORATORY'", ", intent => 'off'"):
        row = database.execute(
            f"select a.* from pgrag.answer_context(%s, 'personal'{arguments}) as a".encode(),
            [WHERE_HE_WORKED],
        ).fetchone()
        assert row is not None
        assert {source["path"][-1] for source in row["sources"]} >= EMPLOYERS, arguments
        prompt = row["messages"][-1]["content"]
        assert [name for name in EMPLOYERS if name not in prompt] == []


def test_one_hit_brings_in_the_rest_of_its_page(personal: CommandLine) -> None:
    rows = personal.json("context", WHERE_HE_WORKED, "-l", "personal", "--top-k", "1")
    assert [row["relation"] for row in rows].count("hit") == 1
    assert {row["path"][-1] for row in rows} >= EMPLOYERS
    assert {row["score"] for row in rows if row["relation"] == "expansion"} == {0.1}
    alone = personal.json(
        "context", WHERE_HE_WORKED, "-l", "personal", "--top-k", "1", "--no-expand"
    )
    assert [row["relation"] for row in alone] == ["hit"]


def test_what_is_relevant_is_found_and_little_else(
    database: psycopg.Connection[dict[str, Any]],
) -> None:
    wanted = found = false_positives = 0
    for question, relevant in RELEVANT.items():
        wanted += len(relevant)
        context = _headings(database, "context", question, 10)
        found += len(relevant & set(context))
        best = _headings(database, "search", question, len(relevant))
        false_positives += len([heading for heading in best if heading not in relevant])
    assert found / wanted > 0.9
    assert false_positives / wanted < 0.2


def test_a_page_of_fifty_paragraphs_is_read_once(
    database: psycopg.Connection[dict[str, Any]],
) -> None:
    asked = (
        "select c.* from pgrag.context('Reise über die Alpen', 'travel', top_k => 1,"
        " token_budget => 20000, max_chunks_per_document => 60, expand => %s,"
        " expansion_threshold => 0.1) as c"
    )

    def blocks(*, expand: bool) -> int:
        explained = f"explain (analyze, buffers, format json) {asked}"
        [row] = database.execute(explained.encode(), [expand]).fetchall()
        [plan] = row["QUERY PLAN"]
        return int(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])

    rows = database.execute(asked.encode(), [True]).fetchall()
    assert {row["path"][-1] for row in rows} >= {f"Reise {number}" for number in range(1, 51)}
    blocks(expand=False)  # fills the caches of the session
    assert blocks(expand=True) < len(rows) * blocks(expand=False)


def _headings(
    database: psycopg.Connection[dict[str, Any]], function: str, question: str, count: int
) -> list[str]:
    rows = database.execute(
        f"select f.path from pgrag.{function}(%s, 'personal', top_k => %s) as f", [question, count]
    ).fetchall()
    return [row["path"][-1] for row in rows]
