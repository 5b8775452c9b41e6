"""R14: a question about a person is answered by the whole page about him, in words, too."""

import json
import shlex
import shutil
import signal
import subprocess

import llm_server
import psycopg
import pytest
from command_line import SECONDS, CommandLine
from llm_server import answer_from_context, calls, hang_after, says, status, talk_on
from psycopg.rows import dict_row
from service import eventually, served

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
NAMES = {"Nordlicht Logistik GmbH", "Medizintechnik Saale AG", "Stadtwerke Halle", "Brandt & Söhne"}


@pytest.fixture(scope="module")
def server():
    with llm_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def personal(clone, tmp_path_factory, fixtures_folder, server):
    """The curriculum vitae among other German pages, fifty paragraphs, and a language model."""
    folder = tmp_path_factory.mktemp("answers")
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
        pgrag = CommandLine(
            folder,
            {
                "PGRAG_DATABASE_URL": url,
                "PGRAG_LLM_URL": server.url,
                "PGRAG_LLM_MODEL": "small-chat",
                "PGRAG_LLM_RETRIES": "0",
            },
        )
        pgrag.run("index", "personal", source, "--language", "de")
        pgrag.run("index", "travel", "reisen.md", "--language", "de")
        yield pgrag


@pytest.fixture(autouse=True)
def _from_the_sources(server):
    server.script = [answer_from_context]
    server.hanging.clear()
    server.left.clear()


@pytest.fixture(scope="module")
def database(personal):
    url = personal.variables["PGRAG_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        yield connection


def test_every_employer_is_among_the_sources_and_one_hit_brings_in_its_page(database, personal):
    """However the question is understood, and if a single hit is all that the search gives."""
    for arguments in ("", ", top_k => 1", ", intent => 'EXPLORATORY'", ", intent => 'off'"):
        row = database.execute(
            f"select a.* from pgrag.answer_context(%s, 'personal'{arguments}) as a".encode(),
            [WHERE_HE_WORKED],
        ).fetchone()
        assert {source["path"][-1] for source in row["sources"]} >= EMPLOYERS, arguments
        prompt = row["messages"][-1]["content"]
        assert [name for name in EMPLOYERS if name not in prompt] == []
    rows = personal.json("context", WHERE_HE_WORKED, "-l", "personal", "--top-k", "1")["blocks"]
    assert [row["relation"] for row in rows].count("hit") == 1
    assert {row["path"][-1] for row in rows} >= EMPLOYERS
    assert {row["score"] for row in rows if row["relation"] == "expansion"} == {0.1}
    alone = personal.json(
        "context", WHERE_HE_WORKED, "-l", "personal", "--top-k", "1", "--no-expand"
    )
    assert [row["relation"] for row in alone["blocks"]] == ["hit"]


def test_what_is_relevant_is_found_and_little_else(database):
    wanted = found = false_positives = 0
    for question, relevant in RELEVANT.items():
        wanted += len(relevant)
        found += len(relevant & set(_headings(database, "context", question, 10)))
        best = _headings(database, "search", question, len(relevant))
        false_positives += len([heading for heading in best if heading not in relevant])
    assert found / wanted > 0.9
    assert false_positives / wanted < 0.2


def test_a_page_of_fifty_paragraphs_is_read_once(database):
    asked = (
        "select c.* from pgrag.context('Reise über die Alpen', 'travel', top_k => 1,"
        " token_budget => 20000, expand => %s, max_chunks_per_document => %s) as c"
    )
    whole, alone = [True, 60], [False, None]

    def blocks(given):
        explained = f"explain (analyze, buffers, format json) {asked}"
        [row] = database.execute(explained.encode(), given).fetchall()
        [plan] = row["QUERY PLAN"]
        return int(plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"])

    rows = database.execute(asked.encode(), whole).fetchall()
    assert {row["path"][-1] for row in rows} >= {f"Reise {number}" for number in range(1, 51)}
    blocks(alone)  # fills the caches of the session
    assert blocks(whole) < len(rows) * blocks(alone)


def _headings(database, function, question, count):
    rows = database.execute(
        f"select f.path from pgrag.{function}(%s, 'personal', top_k => %s) as f", [question, count]
    ).fetchall()
    return [row["path"][-1] for row in rows]


def is_complete(made):
    """Every employer is named, in a sentence that cites a source that says so."""
    assert made["status"] == "answered"
    assert [name for name in NAMES if name not in made["text"]] == []
    by_number = {source["number"]: source for source in made["sources"]}
    assert {source["path"][-1] for source in by_number.values()} >= EMPLOYERS
    for name in NAMES:
        said = [
            sentence
            for sentence in made["sentences"]
            if name in sentence["text"] and sentence["is_supported"]
        ]
        cited = {number for sentence in said for number in sentence["cited"]}
        assert any(name in by_number[number]["content"] for number in cited)
    assert made["unknown_citations"] == []
    for citation in made["citations"]:
        assert made["text"][citation["start"] : citation["end"]] == f"[{citation['number']}]"
        assert citation["document_id"] == by_number[citation["number"]]["document_id"]


def test_every_employer_is_in_the_answer_over_http(personal, server):
    body = {"question": WHERE_HE_WORKED, "library": "personal"}
    with served(personal) as (client, _):
        response = client.post("/v1/answer", json=body)
        assert response.status_code == 200, response.text
        is_complete(response.json())
        told = list(read(client, body | {"stream": True}))
        is_complete(told[-1][1])
        assert [name for name, _ in told[:2]] == ["intent", "sources"]
        tokens = [data["text"] for name, data in told if name == "token"]
        assert "".join(tokens) == told[-1][1]["text"]
        search_id = told[-1][1]["search_id"]
        rated = {"search_id": search_id, "rating": 5, "comment": "complete"}
        assert client.post("/v1/feedback", json=rated).is_success

        # Whoever closes the page in the middle of an answer ends it.
        server.script = [hang_after("Peter", " Kühne")]
        for name, _ in read(client, body | {"stream": True}):
            if name == "token":
                break
        assert server.left.wait(SECONDS)
        url = personal.variables["PGRAG_DATABASE_URL"]
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            statement = "select a.* from pgrag.answers as a order by a.at"
            eventually(
                lambda: connection.execute(statement).fetchall()[-1]["status"] == "cancelled"
            )
            rows = connection.execute(statement).fetchall()
    assert [row["status"] for row in rows][-3:] == ["answered", "answered", "cancelled"]
    assert str(rows[-2]["search_id"]) == search_id


def read(client, body):
    """The events of a stream as they come."""
    with client.stream("POST", "/v1/answer", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))


def test_an_answer_for_people_and_its_exit_codes(personal, server):
    shown = personal.run("answer", WHERE_HE_WORKED, "-l", "personal")
    answer, _, sources = shown.out.partition("\n\n")
    assert [name for name in NAMES if name not in answer] == []
    assert "personal › Lebenslauf Peter Kühne › Beruflicher Werdegang › Stadtwerke Halle" in sources
    assert sources.startswith("[")
    server.script = [says("Bei den Stadtwerken [1]. Er liebt Wale \x1b[31m[99].")]
    doubtful = personal.run("answer", WHERE_HE_WORKED, "-l", "personal")
    assert "\x1b" not in doubtful.out
    for word in ("the answer cites [99]", "without support in the sources", "Er liebt Wale"):
        assert word in doubtful.err
    server.script = [talk_on("Peter", " Kühne", " war ")]
    command = shlex.join(personal.command("answer", WHERE_HE_WORKED, "-l", "personal"))
    piped = subprocess.run(
        ["sh", "-c", f"{command} | head -c 5"],
        cwd=personal.folder, env=personal.environment, capture_output=True, timeout=SECONDS,
        check=True,
    )  # fmt: skip
    assert piped.stdout == b"Peter"
    assert b"Traceback" not in piped.stderr
    assert server.left.wait(SECONDS)
    asked = ("answer", WHERE_HE_WORKED, "-l", "personal")
    server.script = [says("NOT_IN_DOCUMENTATION\nDavon steht dort nichts.")]
    assert personal.run(*asked, "--json", code=1).json["status"] == "not_in_documentation"
    server.script = [status(500)]
    assert "error:" in personal.run(*asked, code=1).err
    assert "PGRAG_LLM_URL" in personal.with_variables(PGRAG_LLM_URL="").run(*asked, code=1).err
    wrong = personal.run(*asked, "--mode", "agentic", "-n", "3", "--tokens", "100", code=2)
    assert "no use for --tokens, --top-k" in " ".join(wrong.err.replace("│", "").split())


def test_a_language_model_that_searches_by_itself(personal, server):
    steps = [
        calls(("keyword_search", {"query": "Peter Kühne Beruflicher Werdegang", "top_k": 10})),
        calls(("keyword_search", {"query": "Nordlicht Medizintechnik Stadtwerke Brandt"})),
    ]
    server.script = [*steps, answer_from_context]
    asked = ("answer", WHERE_HE_WORKED, "-l", "personal", "--mode", "agentic", "--max-steps", "4")
    shown = personal.run(*asked, "--json")
    made = shown.json
    is_complete(made)
    assert [len(step["calls"]) for step in made["trace"]] == [1, 1, 0]
    assert made["mode"] == "agentic"
    assert '1. keyword_search {"query": "Peter Kühne' in shown.err
    assert "3. answers" in shown.err


def test_an_interrupt_ends_the_answer(personal, server):
    server.script = [hang_after("Peter", " Kühne")]
    process = personal.start("answer", WHERE_HE_WORKED, "-l", "personal")
    begun = process.stdout.read(11)
    assert server.hanging.wait(SECONDS)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert begun + out == "Peter Kühne\n"
    assert "Traceback" not in errors
    assert server.left.wait(SECONDS)
