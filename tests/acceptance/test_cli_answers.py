"""R14 to its end: the question about a person is answered in words, by `pgrag answer` and REST."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import llm_server
import psycopg
import pytest
from command_line import SECONDS, CommandLine
from llm_server import answer_from_context, calls, hang_after, says, status, talk_on
from psycopg.rows import dict_row
from service import eventually, served
from test_curriculum_vitae import EMPLOYERS, WHERE_HE_WORKED

NAMES = {"Nordlicht Logistik GmbH", "Medizintechnik Saale AG", "Stadtwerke Halle", "Brandt & Söhne"}


@pytest.fixture(scope="module")
def server() -> Iterator[llm_server.Server]:
    with llm_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def personal(
    clone: Callable[[], AbstractContextManager[str]],
    tmp_path_factory: pytest.TempPathFactory,
    fixtures_folder: Path,
    server: llm_server.Server,
) -> Iterator[CommandLine]:
    """The curriculum vitae among other German pages, and a language model."""
    folder = tmp_path_factory.mktemp("answers")
    source = shutil.copytree(fixtures_folder / "wegweiser", folder / "pages")
    shutil.copy(fixtures_folder / "curriculum_vitae.md", source)
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
        yield pgrag


@pytest.fixture(autouse=True)
def _from_the_sources(server: llm_server.Server) -> None:
    server.script = [answer_from_context]
    server.hanging.clear()
    server.left.clear()


def is_complete(made: dict[str, Any]) -> None:
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


def test_every_employer_is_in_the_answer_over_http(
    personal: CommandLine, server: llm_server.Server
) -> None:
    body = {"question": WHERE_HE_WORKED, "library": "personal"}
    with served(personal) as (client, _):
        response = client.post("/v1/answer", json=body)
        assert response.status_code == 200, response.text
        is_complete(response.json())
        told = list(read(client, body | {"stream": True}))
        is_complete(told[-1][1])
        assert [name for name, _ in told[:2]] == ["intent", "sources"]
        assert (
            "".join(data["text"] for name, data in told if name == "token") == (told[-1][1]["text"])
        )
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


def read(client: httpx.Client, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events of a stream as they come."""
    with client.stream("POST", "/v1/answer", json=body) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        for line in response.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))


def test_an_answer_for_people(personal: CommandLine, server: llm_server.Server) -> None:
    shown = personal.run("answer", WHERE_HE_WORKED, "-l", "personal")
    answer, _, sources = shown.out.partition("\n\n")
    assert [name for name in NAMES if name not in answer] == []
    assert "personal › Lebenslauf Peter Kühne › Beruflicher Werdegang › Stadtwerke Halle" in sources
    assert sources.startswith("[")
    server.script = [says("Bei den Stadtwerken [1]. Er liebt Wale \x1b[31m[99].")]
    doubtful = personal.run("answer", WHERE_HE_WORKED, "-l", "personal")
    assert "\x1b" not in doubtful.out
    assert "the answer cites [99]" in doubtful.err
    assert "without support in the sources" in doubtful.err
    assert "Er liebt Wale" in doubtful.err
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


def test_a_language_model_that_searches_by_itself(
    personal: CommandLine, server: llm_server.Server
) -> None:
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


def test_exit_codes(personal: CommandLine, server: llm_server.Server) -> None:
    asked = ("answer", WHERE_HE_WORKED, "-l", "personal")
    server.script = [says("NOT_IN_DOCUMENTATION\nDavon steht dort nichts.")]
    denied = personal.run(*asked, "--json", code=1)
    assert denied.json["status"] == "not_in_documentation"
    server.script = [status(500)]
    failed = personal.run(*asked, code=1)
    assert "error:" in failed.err
    missing = personal.with_variables(PGRAG_LLM_URL="").run(*asked, code=1)
    assert "PGRAG_LLM_URL" in missing.err
    wrong = personal.run(*asked, "--mode", "agentic", "-n", "3", "--tokens", "100", code=2)
    assert "no use for --tokens, --top-k" in " ".join(wrong.err.replace("│", "").split())


def test_an_interrupt_ends_the_answer(personal: CommandLine, server: llm_server.Server) -> None:
    server.script = [hang_after("Peter", " Kühne")]
    process = personal.start("answer", WHERE_HE_WORKED, "-l", "personal")
    assert process.stdout is not None
    begun = process.stdout.read(11)
    assert server.hanging.wait(SECONDS)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert begun + out == "Peter Kühne\n"
    assert "Traceback" not in errors
    assert server.left.wait(SECONDS)
