"""POST /v1/answer: JSON, streams of events, problems before and within them, who goes away."""

import json
import socket
import threading
from contextlib import suppress
from typing import Any

import httpx
import llm_server
import psycopg
import pytest
from api_client import problem, serving
from api_corpus import SOURCES, indexed
from llm_server import break_off, hang, hang_after, says, status
from mcp_service import eventually, mcp_service

from pgrag.api import delivery

ASKED = {"question": "When is the range of the tide largest?", "library": "harbour"}
WHOLE = ASKED | {"stream": False}


@pytest.fixture(scope="module")
def server():
    with llm_server.serving() as server:
        yield server


@pytest.fixture(scope="module")
def database_of_answers(clone, tmp_path_factory):
    with clone() as url:
        yield indexed(url, tmp_path_factory.mktemp("api_answers"), SOURCES[1:2])


@pytest.fixture(scope="module")
def client(database_of_answers, server):
    with serving(
        database_of_answers, llm_url=server.url, llm_model="small-chat", llm_retries=0
    ) as client:
        yield client


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream, read as a browser reads them."""
    assert text.endswith("\n\n")
    found = []
    for block in text.split("\n\n")[:-1]:
        if block.startswith(":"):
            continue
        name, data = block.split("\n")
        assert name.startswith("event: ")
        assert data.startswith("data: ")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_an_answer_as_json(client, server):
    server.script = [says("It is\u2028so,\nsays [1]. Nobody knows [9].")]
    response = client.post("/v1/answer", ASKED | {"top_k": 3, "token_budget": 2000})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    made = response.json()
    assert made["status"] == "answered"
    assert made["text"] == "It is\u2028so,\nsays [1]. Nobody knows [9]."
    assert made["citations"][0]["document_id"] == made["sources"][0]["document_id"]
    assert made["unknown_citations"] == [9]
    assert made["sentences"][1]["doubt"] == "unknown source"
    assert made["intent"]["decided_by"] in {"rule", "default"}
    feedback = {"search_id": made["search_id"], "rating": 4}
    assert client.post("/v1/feedback", feedback).status_code in {200, 201}

    schema = client.ok("/openapi.json")
    answer = schema["components"]["schemas"]["Answer"]
    assert set(answer["properties"]) == set(made)
    source = schema["components"]["schemas"]["Source"]["properties"]
    assert set(made["sources"][0]) == set(source)
    kinds = schema["paths"]["/v1/answer"]["post"]["responses"]["200"]["content"]
    assert set(kinds) == {"application/json", "text/event-stream"}


def test_an_answer_as_a_stream(client, server):
    server.script = [says("It is\u2028so,\nsays [1].")]
    response = client.post("/v1/answer", ASKED | {"stream": True})
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"
    told = events(response.text)
    names = [name for name, _ in told]
    assert names[:3] == ["intent", "sources", "token"]
    assert names[-1] == "done"
    assert names.count("citation") == 1
    text = "".join(data["text"] for name, data in told if name == "token")
    assert text == told[-1][1]["text"] == "It is\u2028so,\nsays [1]."
    accepted = client.request(
        "POST", "/v1/answer", json=ASKED, headers={"Accept": "text/event-stream"}
    )
    assert [name for name, _ in events(accepted.text)] == names


@pytest.mark.parametrize("stream", [False, True])
def test_problems_before_anything_is_sent(client, server, stream):
    server.script = [says("x [1].")]
    unknown = client.post("/v1/answer", ASKED | {"library": "nowhere", "stream": stream})
    problem(unknown, 404, "unknown-library")
    template = client.post("/v1/answer", ASKED | {"template": "nope", "stream": stream})
    assert "nope" in problem(template, 422, "invalid-input")["detail"]
    foreign = client.post("/v1/answer", ASKED | {"stream": stream, "mode": "agentic", "top_k": 3})
    assert "no use for top_k." in problem(foreign, 422, "invalid-input")["detail"]
    for body in ({}, {"question": " "}, ASKED | {"mode": "wild"}, ASKED | {"limitt": 1}):
        problem(client.post("/v1/answer", body | {"stream": stream}), 422, "invalid-request")


def test_a_model_that_fails(client, server):
    server.script = [status(500, {"error": {"message": "key sk-secret"}})]
    failed = client.post("/v1/answer", ASKED)
    assert "sk-secret" not in failed.text
    problem(failed, 502, "language-model-failed")
    server.script = [break_off("It is ", "so")]
    told = events(client.post("/v1/answer", ASKED | {"stream": True}).text)
    assert [name for name, _ in told] == ["intent", "sources", "token", "token", "error"]
    assert told[-1][1]["type"] == "/problems/language-model-failed"
    assert told[-1][1]["status"] == 502


def test_without_a_language_model_everything_else_works(database_of_answers):
    with serving(database_of_answers) as client:
        for stream in (False, True):
            missing = problem(
                client.post("/v1/answer", ASKED | {"stream": stream}), 501, "not-configured"
            )
            assert "PGRAG_LLM_URL" in missing["hint"]
        assert client.ok("/v1/search", q="tide")["hits"]


def asked(url: str, body: dict[str, object]) -> socket.socket:
    """A connection on which an answer was asked for and nothing is read."""
    content = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", httpx.URL(url).port or 0))
    connection.sendall(
        b"POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n%b" % (len(content), content)
    )
    return connection


def test_clients_that_go_away_leave_nothing(database_of_answers, server, monkeypatch, caplog):
    before = set(threading.enumerate())
    monkeypatch.setattr(delivery, "HEARTBEAT_SECONDS", 0.05)
    model = {"llm_url": server.url, "llm_model": "small-chat", "llm_concurrency": 2}
    with mcp_service(database_of_answers, pool_size=2, hosts=None, **model) as service:
        client, database = service.http, service.app.database
        assert client.get("/v1/search", params={"q": "tide"}).status_code == 200

        # A stream that is silent: comments come, and its end reaches the language model.
        server.script = [hang_after("It is", " so [1]")]
        server.left.clear()
        with client.stream("POST", "/v1/answer", json=ASKED | {"stream": True}) as response:
            read = ""
            for piece in response.iter_text():
                read += piece
                if "event: citation" in read and ": still here" in read:
                    break
        assert server.left.wait(120)

        # Clients that wait for a whole answer, more of them than may be asked at once.
        server.script = [hang]
        server.left.clear()
        server.hanging.clear()

        waiting = [asked(service.address, ASKED) for _ in range(4)]
        assert server.hanging.wait(120)
        # A slow language model keeps nobody from searching.
        for _ in range(5):
            assert client.get("/v1/search", params={"q": "tide"}).status_code == 200
        assert server.running <= 2
        for connection in waiting:
            connection.close()
        eventually(lambda: server.running == 0)

        server.script = [says("It is so [1].")]
        assert client.post("/v1/answer", json=WHOLE).json()["status"] == "answered"
        rows = database.query("select status, count(*) as n from pgrag.answers group by 1")
        assert {"cancelled", "answered"} <= {row["status"] for row in rows}
        pool = database._pool
        eventually(lambda: pool.get_stats()["pool_available"] == pool.get_stats()["pool_size"])
    eventually(lambda: set(threading.enumerate()) <= before)
    assert caplog.messages == []


def test_who_reads_nothing_keeps_no_place(database_of_answers, server, monkeypatch):
    monkeypatch.setattr(delivery, "PATIENCE_SECONDS", 0.2)
    model = {"llm_url": server.url, "llm_model": "small-chat", "llm_concurrency": 1}
    with mcp_service(database_of_answers, pool_size=2, hosts=None, **model) as service:
        server.script = [says("", pieces=["word " * 50_000] * 60), says("It is so [1].")]
        with asked(service.address, ASKED | {"stream": True}):
            eventually(lambda: len(server.script) == 1)
            assert service.http.post("/v1/answer", json=WHOLE).status_code == 200


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_stops_ends_what_hangs(database_of_answers, server, stream, caplog):
    model = {"llm_url": server.url, "llm_model": "small-chat"}
    before = set(threading.enumerate())
    server.script = [hang]
    server.hanging.clear()
    server.left.clear()

    told: list[int] = []

    def ask(url: str) -> None:
        with suppress(httpx.HTTPError):
            body = ASKED | {"stream": stream}
            answer = httpx.post(f"{url}/v1/answer", json=body, timeout=120, trust_env=False)
            told.append(answer.status_code)

    with mcp_service(database_of_answers, pool_size=2, grace=0, **model) as service:
        asking = threading.Thread(target=ask, args=[service.address])
        asking.start()
        assert server.hanging.wait(120)
    assert server.left.wait(120)
    asking.join(120)
    assert told in ([], [503])
    eventually(lambda: set(threading.enumerate()) <= before)
    assert [record for record in caplog.records if record.exc_info] == []


def test_a_key_asks_with_its_own_rights(client, database_of_answers, server):
    """The thread that answers searches as the caller, and the answer is recorded in its name."""
    with psycopg.connect(database_of_answers, autocommit=True) as connection:
        [own, other] = [
            connection.execute(
                "select pgrag.create_key(%s, 'search', array[%s])", [name, name]
            ).fetchone()
            for name in ("harbour", "elsewhere")
        ]
        server.script = [says("The range is largest two days after a full moon [1].")]
        statuses = [
            client.request(
                "POST", "/v1/answer", json=ASKED, headers={"Authorization": f"Bearer {secret}"}
            ).status_code
            for [secret] in (own, other)
        ]
        assert statuses == [200, 404]
        callers = "select distinct a.caller from pgrag.answers as a where a.caller = 'harbour'"
        assert connection.execute(callers).fetchall() == [("harbour",)]
        audited = (
            "select action from pgrag.audit where caller = 'harbour' and search_id is not null"
        )
        assert connection.execute(audited).fetchall() == [("answer",)]
