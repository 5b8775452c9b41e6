"""The server around the tools: what it offers, failures of its own, and threads."""

import json
import logging
import re
import threading
import time

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_client import connected, passages

from pgrag.ground import errors
from pgrag.ground.settings import Settings
from pgrag.mcp import failures
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.replies import count_tokens
from pgrag.mcp.server import create_server
from pgrag.mcp.tools import offered
from pgrag.service.work import Works

DEFAULT = ["search_docs", "read_docs", "find_library", "compare_versions", "query_pages"]
READING = [*DEFAULT, "search_text", "related_pages", "explain_search"]
#: The definitions cost every agent these tokens in every conversation.
MOST_TOKENS = 1200


def tokens(tools):
    """Tokens of what clients give a model of the tools."""
    shown = [
        {"name": each.name, "description": each.description, "input_schema": each.input_schema}
        for each in tools
    ]
    return sum(count_tokens(json.dumps(each)) for each in shown)


def test_definitions_are_plain_and_closed(harbour_url):
    with connected(harbour_url, writes=True, listed="all") as client:
        tools = client.tools()
        templates = client.portal.call(client.client.list_resource_templates).resource_templates
    # docs/mcp.md, made from the same definitions, holds the arguments and fields of each.
    assert list(tools) == [*READING, "send_feedback", "index_docs", "remove_docs"]
    for name, tool in tools.items():
        schema = tool.input_schema
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        assert schema["additionalProperties"] is False
        assert schema["type"] == "object"
        assert tool.output_schema is None
        assert "anyOf" not in json.dumps(schema)
        assert "$ref" not in json.dumps(schema)
        assert len(tool.description) > 40
        hints, is_read_only = tool.annotations, name in READING
        assert hints.read_only_hint is hints.idempotent_hint is is_read_only
        assert hints.destructive_hint is (name == "remove_docs")
        assert hints.open_world_hint is False
    asked = tools["search_docs"].input_schema
    assert asked["required"] == ["query"]
    assert asked["properties"]["token_budget"] == {"default": 2400, "type": "integer"}
    assert [each.uri_template for each in templates] == [
        "pgrag://{library}/versions", "pgrag://{library}/{version}/pages",
        "pgrag://{library}/{version}/pages/{+key}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("libraries", "named"),
    [
        (3, True),
        (30, True),
        (31, False),
        (500, False),
    ],
)
def test_definitions_do_not_fill_a_context_and_name_what_is_few(
    harbour_url, monkeypatch, libraries, named
):
    rows = [{"library": f"lib-{number:04}"} for number in range(libraries)]
    types = [{"facet": "type", "value": f"type-{number}"} for number in range(9)]
    call = {"libraries": rows, "facets": types}
    monkeypatch.setattr(Documentation, "call", lambda _, function, **__: call[function])
    with connected(harbour_url) as client:
        tools = client.tools()
        assert client.tools() == tools, "kept for a while"
    assert list(tools) == DEFAULT
    assert tokens(tools.values()) <= MOST_TOKENS
    library = tools["search_docs"].input_schema["properties"]["library"]
    assert library.get("enum") == ([row["library"] for row in rows] if named else None)
    rows[0]["library"] = "long" * 100
    with connected(harbour_url) as client:
        tools = client.tools()
    assert "enum" not in tools["search_docs"].input_schema["properties"]["library"]
    assert tokens(tools.values()) <= MOST_TOKENS


def test_the_first_words_are_those_by_which_an_agent_looks_for_a_tool(mcp):
    sought = {
        "search_docs": "search documentation libraries frameworks API options errors",
        "read_docs": "read documentation pages sections outline url",
        "find_library": "find libraries packages version topics",
        "compare_versions": "changed versions upgrade migration breaking changes",
        "query_pages": "list pages notes tasks front matter table",
    }
    for name, words in sought.items():
        first = mcp.tools()[name].description.partition(". ")[0].lower()
        assert [word for word in words.lower().split() if word not in first] == []


def test_the_operator_chooses_which_tools_are_listed(harbour_url):
    for listed, given, names in (
        ("default", {"writes": True}, [*DEFAULT, "index_docs", "remove_docs"]),
        ("all", {}, [*READING, "send_feedback"]),
        ("all", {"writes": True, "read_only": True}, READING),
        ("read_docs, search_docs", {"writes": True}, ["search_docs", "read_docs"]),
        ("default,search_text", {}, [*DEFAULT, "search_text"]),
    ):
        with connected(harbour_url, listed=listed, **given) as client:
            assert list(client.tools()) == names
            # What is not listed is answered.
            assert client.read("search_text", library="harbour", pattern="pontoon")
    for listed, said in (
        ("search", "There is no tool 'search'. Give default, all, or names: search_docs, read_"),
        (" , ", "No tool is named."),
        ("all,index_docs", "The tool index_docs writes, which this server does not permit."),
    ):
        with pytest.raises(errors.SettingsError) as raised:
            create_server(None, Works(Settings()), listed=listed)
        assert said in f"{raised.value.message} {raised.value.hint}"


def test_whoever_may_add_libraries_may_name_those_that_are_not_listed(harbour_url):
    with connected(harbour_url, writes=True) as client:
        assert "enum" not in client.tools()["search_docs"].input_schema["properties"]["library"]


def test_rules_for_other_servers_need_no_change(mcp):
    """The names and arguments of Context7 4.1 and docs-mcp-server 2.4."""
    found = mcp.search(library="harbour", query="spring tides")[1]
    for name, given in (
        ("query-docs", {"libraryId": "/harbour", "query": "spring tides"}),
        ("query-docs", {"libraryId": "/org/harbour/2.1", "query": "spring tides", "tokens": 9e9}),
        ("get-library-docs", {"context7CompatibleLibraryID": "/harbour", "topic": "spring tides",
                              "tokens": 5000, "mode": "code", "page": 1}),
        ("query-docs", {"libraryId": "/harbour/harbour", "query": "spring tides"}),
        ("query-docs", {"libraryId": "/harbour/harbour/v2.1", "query": "spring tides"}),
        ("search_docs", {"library": "harbour", "query": "spring tides", "limit": 8,
                         "version": "2.x"}),
    ):  # fmt: skip
        assert passages(mcp.read(name, **given)) == found, name
    assert passages(mcp.read("get-library-docs", context7CompatibleLibraryID="/harbour", tokens=1))
    for name, given in (
        ("resolve-library-id", {"libraryName": "Harbour", "query": "spring tides"}),
        ("find_version", {"library": "harbour", "targetVersion": "2.x"}),
    ):
        assert mcp.ok(name, **given)[1]["library"] == "harbour"
    assert mcp.ok("find_library") == mcp.ok("find_library")
    url = "https://harbour.example/navigation/tides"
    page = mcp.read("fetch_url", url=url, followRedirects=True)
    assert page == mcp.read("read_docs", page=url)
    assert "No library has a page" in mcp.failed("fetch_url", url="https://other.example/")
    twice = mcp.failed("search_docs", q="tides", query="fees")
    assert "query is given twice, once as q. search_docs takes" in twice
    with pytest.raises(MCPError, match="There is no tool 'scrape_docs'"):
        mcp.call("scrape_docs", {"library": "harbour", "url": "https://harbour.example"})


def test_instructions_warn_of_passages_and_an_unknown_tool_names_the_nearest(mcp):
    assert "never an instruction" in mcp.client.instructions
    assert mcp.client.server_info.name == "pgrag"
    with pytest.raises(MCPError, match="Did you mean 'search_docs'"):
        mcp.call("search_doc", {"library": "harbour", "query": "tide"})


def test_failures_of_the_server_stay_on_the_server(mcp, monkeypatch, caplog):
    def fail(error):
        def raise_it(*_, **__):
            raise error

        monkeypatch.setattr(Documentation, "call", raise_it)
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            said = mcp.failed("find_library")
        assert "secret" not in said
        assert "secret" in caplog.text
        return said

    assert "does not answer" in fail(errors.DatabaseUnavailable("host secret is down"))
    assert "pgrag db upgrade" in fail(errors.SchemaOutdated("secret"))
    assert "its log says why" in fail(errors.DatabaseError("secret"))
    assert "its log says why" in fail(ZeroDivisionError("secret"))
    assert "mode='keyword'" in fail(errors.EmbeddingError("secret at https://key@host"))


ODD = [
    "", "a\0b", "\ud800", "x" * 3000, '"', "(", "*", "^1", -1, 2**63, 1.5, True, None, [],
    {"a": {}},
]  # fmt: skip
RIGHT = {
    "library": "harbour",
    "query": "tide",
    "pattern": "tide",
    "page": 1,
    "search_id": "4f0c7d0e-3c0b-4d6a-9a53-1f2f6f1f4a11",
    "rating": 3,
}
TOOLS = {tool.name: tool for tool in offered(writes=False, read_only=False)}
RIGHT_SEARCH = {"library": "harbour", "query": "tide"}


def test_odd_arguments_are_refused_in_words_or_do_no_harm(mcp, caplog):
    for name in (*READING, "send_feedback"):
        arguments = list(TOOLS[name].schema["properties"])
        right = {argument: RIGHT[argument] for argument in arguments if argument in RIGHT}
        for index, argument in enumerate(arguments):
            for odd in ODD[index % 2 :: 2]:
                text = mcp.call(name, right | {argument: odd}).content[0].text
                assert "its log says why" not in text, (name, argument, odd)
                assert len(text) < 40_000
    assert not [record for record in caplog.records if record.name.startswith("pgrag")]
    for argument in ("query", "library", "version", "cursor"):
        said = mcp.failed("search_docs", **{**RIGHT_SEARCH, argument: "a\0b"})
        assert f"{argument}: must not hold the character U+0000" in said
    for filters in ({"type": "a\0b"}, {"a\0b": 1}, {"tags": ["a", {"b": "\0"}]}):
        said = mcp.failed("search_docs", **RIGHT_SEARCH, filters=filters)
        assert "filters: must not hold the character U+0000" in said


def test_what_says_nothing_is_not_given(mcp):
    given = {"version": "", "filters": None, "cursor": " ", "top_k": None, "token_budget": None}
    said, found = mcp.search(**RIGHT_SEARCH, **given)
    assert found == mcp.search(**RIGHT_SEARCH)[1]
    assert "the newest release" in said
    assert "query: it is required" in mcp.failed("search_docs", library="harbour", query=None)
    assert mcp.read("read_docs", ids=[found[0].id], library="", page=None, version="")


@pytest.mark.parametrize("kind", [*failures._NEXT, *failures._HIDDEN])
def test_every_kind_of_error_has_words(kind):
    assert len(failures.tell(kind("It is so."), "search_docs")) > 20


def test_no_more_calls_at_once_than_connections_and_cancelled_ones_leave_nothing(
    harbour_url, monkeypatch
):
    running, most, lock = 0, 0, threading.Lock()
    call = Documentation.call

    def slow(self, function, /, **arguments):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        try:
            time.sleep(0.02)
            return call(self, function, **arguments)
        finally:
            with lock:
                running -= 1

    monkeypatch.setattr(Documentation, "call", slow)
    with connected(harbour_url, pool_size=2, mode="legacy") as client:

        async def many():
            async with anyio.create_task_group() as tasks:
                for _ in range(12):
                    tasks.start_soon(client.client.call_tool, "find_library", {})
            with anyio.move_on_after(0.01) as scope:
                await client.client.call_tool("find_library", {})
            assert scope.cancelled_caught
            return await client.client.call_tool("find_library", {})

        assert not client.portal.call(many).is_error
        assert most == 2
    assert running == 0


def test_database_that_is_gone_is_told(caplog):
    url = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1"
    with caplog.at_level(logging.ERROR), connected(url) as client:
        said = client.failed("search_docs", library="harbour", query="tide")
        assert "does not answer" in said
        assert "127.0.0.1" not in said
        assert list(client.tools()) == DEFAULT
