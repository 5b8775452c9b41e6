"""`pgrag mcp` and /mcp of `pgrag serve` as processes, by the official client and by hand."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import psycopg
import pytest
from command_line import SECONDS, CommandLine
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_client import HELLO
from service import eventually, served

from pgrag.ground.embedded import EmbeddedServer
from pgrag.mcp.resources import LIBRARIES, PAGE, PAGES, VERSIONS


@pytest.mark.parametrize(("era", "option", "writing"), [
    ("legacy", "--allow-writes", {"index_docs", "remove_docs"}),
    ("auto", "--read-only", set()),
])  # fmt: skip
def test_the_official_client_over_stdio(indexed, era, option, writing):
    command, *arguments = indexed.command("mcp", option)
    server = StdioServerParameters(
        command=command, args=arguments, env=indexed.environment, cwd=indexed.folder
    )
    right = {"library": "kestrel", "query": "restore a folder"}

    async def session():
        async with Client(server, mode=era) as client:
            assert (client.protocol_version < "2026") == (era == "legacy")
            tools = (await client.list_tools()).tools
            found = await client.call_tool("search_docs", right)
            failed = await client.call_tool("search_docs", right | {"library": "kestral"})
            return tools, found, failed

    tools, found, failed = anyio.run(session)
    assert {"search_docs", "find_library"} <= {tool.name for tool in tools}
    assert {tool.name for tool in tools if not tool.annotations.read_only_hint} == writing
    assert found.structured_content is None
    assert "guide/restore" in found.content[0].text
    assert failed.is_error
    assert "kestrel" in failed.content[0].text


@pytest.fixture(scope="module")
def address(indexed):
    with served(indexed) as (client, _):
        yield f"{client.base_url}/mcp".replace("//mcp", "/mcp")


def test_the_guide_is_true(address, capsys):
    guide = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")
    configurations = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", guide, re.S)]
    for configuration in configurations:
        [servers] = configuration.values()
        assert (servers["pgrag"]["command"], servers["pgrag"]["args"]) == ("pgrag", ["mcp"])
    assert [*configurations[0], *configurations[1]] == ["mcpServers", "servers"]
    for template in (LIBRARIES, VERSIONS, PAGES, PAGE):
        assert f"| `{template.replace('{+', '{')}` |" in guide
    [program] = re.findall(r"```python\n(.*?)```", guide, re.S)
    program = program.replace("http://127.0.0.1:8000/mcp", address).replace('"react"', '"kestrel"')
    program = program.replace("useId", "restore a folder")
    exec(program, {})
    assert "\nhttps://kestrel.example/" in capsys.readouterr().out


class Conversation:
    """Lines to and from `pgrag mcp`."""

    def __init__(self, pgrag, *options):
        self.process = pgrag.start("mcp", *options, stdin=subprocess.PIPE)
        self.number = 0

    def write(self, text):
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()

    def send(self, method, **parameters):
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        self.write(json.dumps(request))
        return self.number

    def answer(self):
        answer = json.loads(self.process.stdout.readline())
        assert answer["jsonrpc"] == "2.0"
        return answer

    def ask(self, method, **parameters):
        number = self.send(method, **parameters)
        answer = self.answer()
        assert answer["id"] == number
        return answer

    def hello(self):
        answer = self.ask("initialize", **HELLO)
        self.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return answer

    def end(self):
        """What is left on stdout and stderr when the process has ended."""
        out, err = self.process.communicate(timeout=SECONDS)
        assert "Traceback" not in err, err
        return out, err


def test_stdout_carries_only_the_protocol(tmp_path):
    home = tmp_path / "home"
    pgrag = CommandLine(tmp_path, {"PGRAG_HOME": str(home), "PGRAG_LOG_LEVEL": "debug"})
    try:
        conversation = Conversation(pgrag)
        assert conversation.hello()["result"]["serverInfo"]["name"] == "pgrag"
        for noise in ("no JSON", '{"a": 1}', "", "[]", "[" * 200_000, '{"jsonrpc": "2.0", "id": "'):
            conversation.write(noise)
        assert conversation.ask("no/such/method")["error"]["code"] == -32601
        listed = conversation.ask("tools/call", name="find_library", arguments={})
        assert "No library is indexed yet" in listed["result"]["content"][0]["text"]
        unknown = conversation.ask("tools/call", name="search", arguments={})
        assert "search_docs" in unknown["error"]["message"]
        half = conversation.ask(
            "tools/call", name="find_library", arguments={"library": "a \ud83d"}
        )
        assert "no library 'a ?'" in half["result"]["content"][0]["text"]
        deep = {}
        for _ in range(300):
            deep = {"and": deep}
        refused = conversation.ask(
            "tools/call", name="search_docs", arguments={"library": "a", "filters": deep}
        )
        assert refused["error"] == {
            "code": -32700,
            "message": "The request cannot be read: It is nested more than 200 levels deep.",
        }
        conversation.write('{"jsonrpc": "2.0", "id": 99, "method": "ping", "method": "tools/list"}')
        twice = conversation.answer()
        assert twice["id"] == 99
        assert '"method" is given more than once' in twice["error"]["message"]
        out, err = conversation.end()
        assert out == ""
        assert conversation.process.returncode == 0
        assert "Making a database" in err, "it is told beside the protocol"
    finally:
        EmbeddedServer(home).remove()


def test_every_way_to_end_leaves_no_connection(pgrag, connection):
    def sessions(kind="%"):
        row = connection.execute(
            "select count(*) as n from pg_stat_activity where datname = current_database()"
            " and application_name = 'pgrag' and coalesce(wait_event_type, '') like %s",
            [kind],
        ).fetchone()
        return int(row["n"])

    closed, interrupted, terminated, deaf, busy = (Conversation(pgrag) for _ in range(5))
    for conversation in (closed, interrupted, terminated, deaf, busy):
        conversation.hello()
        conversation.ask("tools/call", name="find_library", arguments={})
    assert sessions() >= 5
    with psycopg.connect(pgrag.variables["PGRAG_DATABASE_URL"]) as locking:
        locking.execute("lock table pgrag.libraries in access exclusive mode")
        busy.send("tools/call", name="find_library", arguments={})
        eventually(lambda: sessions("Lock") == 1)
        interrupted.process.send_signal(signal.SIGINT)
        terminated.process.send_signal(signal.SIGTERM)
        deaf.process.stdout.close()
        deaf.send("ping")
        busy.process.stdin.close()
        assert closed.end()[0] == ""
        assert interrupted.process.wait(SECONDS) == 130
        assert terminated.process.wait(SECONDS) == 143
        assert deaf.process.wait(SECONDS) == 1
        assert busy.process.wait(SECONDS) == 0, "it does not wait for what nobody waits for"
    for conversation in (interrupted, terminated, deaf, busy):
        assert "Traceback" not in conversation.process.stderr.read()
        with conversation.process:  # closes its pipes
            pass
    eventually(lambda: sessions() == 0)


def test_a_database_that_is_not_there_is_told_by_the_tools(tmp_path):
    nowhere = "postgresql://nobody:secret@127.0.0.1:9/nothing"
    conversation = Conversation(CommandLine(tmp_path, {"PGRAG_DATABASE_URL": nowhere}))
    conversation.hello()
    answer = conversation.ask("tools/call", name="find_library", arguments={})["result"]
    assert answer["isError"]
    assert "database" in answer["content"][0]["text"]
    out, err = conversation.end()
    assert "secret" not in json.dumps(answer) + out + err
    assert sys.executable not in json.dumps(answer)
