"""/mcp of the service: who may call, what is refused, and that nothing is left of any call."""

import json
import threading

import anyio
import anyio.to_thread
import httpx
import pipeline_runs
import psycopg
import pytest
from mcp import Client
from mcp_client import HELLO, passages
from mcp_service import LOCAL, PATIENCE, eventually, mcp_service

from pgrag.api import create_app
from pgrag.ground.errors import SettingsError
from pgrag.ground.settings import Settings
from pgrag.service.app import App

ERAS = ["legacy", "auto"]
SEARCH = {"name": "search_docs", "arguments": {"library": "harbour", "query": "spring tides"}}


@pytest.fixture(scope="module")
def service(harbour_url):
    with mcp_service(harbour_url, origins=("https://chat.example",)) as service:
        yield service


def said(response):
    """The message of an answer to an older client."""
    assert response.status_code == 200, response.text
    if response.headers["content-type"] == "application/json":
        return response.json()
    assert response.headers["content-type"] == "text/event-stream"
    [data] = [line for line in response.text.splitlines() if line.startswith("data: ")]
    return json.loads(data.removeprefix("data: "))


def test_a_call_needs_no_session_and_keeps_to_the_protocol(service):
    hello = service.post("initialize", **HELLO)
    assert said(hello)["result"]["serverInfo"]["name"] == "pgrag"
    assert "mcp-session-id" not in hello.headers
    assert "Spring tides" in service.post("tools/call", **SEARCH).text
    for method in ("GET", "DELETE", "PUT"):
        refused = service.http.request(method, "/mcp")
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
    slashed = service.http.get("/mcp/")
    assert (slashed.status_code, slashed.headers["allow"]) == (405, "POST")
    plain = service.http.post("/mcp", content=b"{}", headers={"Content-Type": "text/plain"})
    assert plain.status_code == 400
    assert service.post("ping", headers={"Accept": "text/html"}).status_code == 406
    assert service.post("ping", headers={"MCP-Protocol-Version": "2999-01-01"}).status_code == 400
    assert said(service.post("no/such/method"))["error"]["code"] == -32601

    def pieces():
        for _ in range(30):
            yield b" " * 50_000

    answer = service.http.post(
        "/mcp", content=pieces(), headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 413
    preflight = {
        "Origin": "https://chat.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,mcp-protocol-version,mcp-method",
    }
    answer = service.http.options("/mcp", headers=preflight)
    assert answer.headers["access-control-allow-origin"] == "https://chat.example"


@pytest.mark.parametrize(("body", "status"), [
    (b"no JSON", 400),
    (b'{"jsonrpc": "1.0"}', 400),
    (b"[]", 400),
    (b'{"jsonrpc": "2.0", "method": "notifications/initialized"}', 202),
    (b"[" * 900_000, 400),
    (b'{"a":' * 150_000, 400),
    (b"\xff\xfe", 400),
    (b"x" * 1_000_001, 413),
])  # fmt: skip
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_bodies_that_are_no_request(service, body, status, version):
    headers = {"Content-Type": "application/json", "MCP-Protocol-Version": version}
    answer = service.http.post("/mcp", content=body, headers=headers)
    assert answer.status_code == status, answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(("origin", "status"), [
    (None, 200),
    ("http://localhost:6274", 200),
    ("http://127.0.0.1", 200),
    ("http://[::1]:8000", 200),
    ("https://chat.example", 200),
    ("https://elsewhere.example", 403),
    ("https://localhost.elsewhere.example", 403),
    ("https://chat.example.elsewhere.example", 403),
    ("null", 403),
    ("http://[", 403),
])  # fmt: skip
def test_pages_of_other_origins_are_refused(service, origin, status):
    answer = service.post("ping", headers={} if origin is None else {"Origin": origin})
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["type"] == "/problems/forbidden-origin"
        assert "--allow-origin" in answer.json()["hint"]


@pytest.mark.parametrize(("host", "status"), [
    ("localhost", 200),
    ("127.0.0.1:8000", 200),
    ("[::1]:8000", 200),
    ("evil.example", 421),
    ("evil.example:8000", 421),
    ("evil.example@127.0.0.1", 400),
    ("evil.example:x@localhost:8000", 400),
    ("localhost.evil.example", 421),
    ("[", 400),
])  # fmt: skip
def test_a_server_for_this_machine_has_no_other_name(service, host, status):
    answer = service.post("ping", headers={"Host": host})
    assert answer.status_code == status
    if status == 421:
        assert "--allow-host" in answer.json()["hint"]
    assert service.http.get("/v1/libraries", headers={"Host": host}).status_code == status
    # Probes may use any name, if it is one.
    probe = service.http.get("/healthz", headers={"Host": host})
    assert probe.status_code == (400 if status == 400 else 200)


def test_names_that_are_allowed_writes_and_limits(database_url):
    with mcp_service(
        database_url, hosts=("Docs.Intranet",), mcp_writes=True, rate_limit=60, rate_limit_burst=4
    ) as service:
        listed = said(service.post("tools/list", headers={"Host": "docs.intranet:80"}))
        assert {"index_docs", "remove_docs"} <= {t["name"] for t in listed["result"]["tools"]}
        assert [service.post("ping").status_code for _ in range(5)] == [200, 200, 200, 429, 429]
        assert service.http.get("/healthz").status_code == 200
    with mcp_service(database_url, hosts=None, mcp_writes=True, mcp_read_only=True) as service:
        listed = said(service.post("tools/list", headers={"Host": "any.example"}))
        assert "index_docs" not in {tool["name"] for tool in listed["result"]["tools"]}


@pytest.mark.parametrize(("era", "writes"), [("legacy", False), ("auto", False), ("legacy", True)])
def test_clients_that_leave_in_the_middle_of_a_call(database_url, connection, era, writes):
    def sessions(kind):
        row = connection.execute(
            "select count(*) as n from pg_stat_activity where datname = current_database()"
            " and application_name = 'pgrag' and wait_event_type = %s",
            [kind],
        ).fetchone()
        return int(row["n"])

    async def call_and_leave(client):
        for _ in range(4):
            with anyio.move_on_after(0.15):
                await client.call_tool("find_library", {})

    with mcp_service(database_url, pool_size=2, mcp_writes=writes) as service:
        service.session(lambda client: client.call_tool("find_library", {}), era=era)
        service.post("ping")
        eventually(lambda: service.http.get("/healthz").status_code == 200)
        calm, before = service.tasks, threading.active_count()
        with psycopg.connect(database_url) as locking:
            locking.execute("lock table pgrag.libraries in access exclusive mode")
            service.session(call_and_leave, era=era)
            with pytest.raises(httpx.ReadTimeout):
                service.http.post(
                    "/mcp",
                    json={
                        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                        "params": {"name": "find_library", "arguments": {}},
                    },
                    timeout=2,
                )  # fmt: skip
            eventually(lambda: sessions("Lock") == 0)
            assert service.http.get("/healthz").status_code == 200
        eventually(lambda: sessions("Lock") == 0)
        eventually(lambda: service.tasks <= calm)
        assert threading.active_count() <= before + 3, "two more to cancel"
        answer = service.session(lambda client: client.call_tool("find_library", {}), era=era)
        assert not answer.is_error
    eventually(lambda: sessions("Client") == 0)


@pytest.mark.parametrize("era", ERAS)
def test_an_indexing_run_tells_its_progress_and_ends_with_its_client(
    database_url, tmp_path, monkeypatch, era
):
    for number in range(50):
        (tmp_path / f"{number}.md").write_text(f"# Buoy {number}\n\nIt marks the channel.\n")
    arguments = {"library": "buoys", "source": str(tmp_path)}
    told = []

    async def hear(done, total, message):
        told.append(done)

    with mcp_service(database_url, mcp_writes=True, mcp_roots=(tmp_path,)) as service:

        async def leave():
            async with anyio.create_task_group() as tasks:

                async def session():
                    async with Client(service.mcp, mode=era) as client:
                        await client.call_tool("index_docs", arguments, progress_callback=hear)

                tasks.start_soon(session)
                await anyio.to_thread.run_sync(begun.wait, PATIENCE)
                tasks.cancel_scope.cancel()

        begun = pipeline_runs.slow_pages(monkeypatch, 0.1)
        anyio.run(leave)
        with psycopg.connect(database_url, autocommit=True) as connection:
            states = "select state from pgrag.jobs()"
            eventually(lambda: connection.execute(states).fetchone() == ("cancelled",))
        monkeypatch.undo()
        told.clear()

        async def run(client):
            return await client.call_tool("index_docs", arguments, progress_callback=hear)

        done = service.session(run, era=era)
        assert done.structured_content["failed"] == {}
        assert told[-1] == 50


@pytest.mark.parametrize("era", ERAS)
def test_many_sessions_at_once(service, era):
    found = []

    async def searches(_):
        async def session(number):
            async with Client(service.mcp, mode=era) as client:
                for query in ("spring tides", "mooring card"):
                    answer = await client.call_tool(
                        "search_docs", {"library": "harbour", "query": f"{query} {number}"}
                    )
                    assert not answer.is_error
                    found.append(answer.content[0].text)

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(session, number)

    service.session(searches, era=era)
    assert len(found) == 20
    assert {passages(text)[0].url.partition("#")[0].rpartition("/")[2] for text in found} == {
        "tides", "moorings",
    }  # fmt: skip


@pytest.mark.parametrize(
    "params", ['"name": "a", "name": "b"', '"arguments": {"query": "a", "query": "b"}', '"a": NaN']
)
def test_a_message_has_one_meaning(service, params):
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {{{params}}}}}'
    answer = service.http.post("/mcp", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == -32700
    assert "more than once" in error["message"] or "NaN" in error["message"]


def test_the_operator_chooses_the_tools_of_a_service(harbour_url):
    with mcp_service(harbour_url, mcp_tools="search_docs,search_text") as service:
        tools = service.post("tools/list").json()["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["search_docs", "search_text"]
        assert tools[0]["inputSchema"]["properties"]["library"]["enum"] == [
            "harbour", "port/authority",
        ]  # fmt: skip
    with pytest.raises(SettingsError, match="There is no tool 'serach_docs'"):
        create_app(App(Settings(database_url=harbour_url, mcp_tools="serach_docs")), policy=LOCAL)
