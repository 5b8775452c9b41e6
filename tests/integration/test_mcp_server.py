"""The server around the tools: what it offers, failures of its own, and threads."""

import json
import logging
import re
import threading
import time

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_client import connected

from pgrag.ground import errors
from pgrag.mcp import failures
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.replies import count_tokens

READING = [
    "search_docs", "keyword_search", "semantic_search", "list_libraries", "find_version",
    "compare_versions", "read_document", "get_page", "get_outline", "get_related", "search_text",
    "query_pages", "explain_search",
]  # fmt: skip
CONTEXT7 = ["resolve-library-id", "query-docs"]
#: The definitions cost every agent these tokens in every conversation.
MOST_TOKENS = 6700


def test_definitions_are_plain_and_closed_and_do_not_fill_a_context(harbour_url):
    with connected(harbour_url, writes=True) as client:
        tools = client.tools()
        templates = client.portal.call(client.client.list_resource_templates).resource_templates
    # docs/mcp.md, made from the same definitions, holds the arguments and fields of each.
    assert list(tools) == [*READING, "send_feedback", *CONTEXT7, "index_docs", "remove_docs"]
    for name, tool in tools.items():
        schema = tool.input_schema
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        assert schema["additionalProperties"] is False
        assert tool.output_schema["type"] == schema["type"] == "object"
        assert "anyOf" not in json.dumps(schema)
        assert "$ref" not in json.dumps(schema)
        assert len(tool.description) > 40
        for argument in schema["properties"].values():
            assert "description" in argument or "default" in argument
        hints, is_read_only = tool.annotations, name in {*READING, *CONTEXT7}
        assert hints.read_only_hint is hints.idempotent_hint is is_read_only
        assert hints.destructive_hint is (name == "remove_docs")
        assert hints.open_world_hint is False
    asked = tools["search_docs"].input_schema
    assert asked["required"] == ["library", "query"]
    assert asked["properties"]["top_k"]["default"] == 5
    assert asked["properties"]["token_budget"] | {"description": ""} == {
        "default": 8000, "minimum": 200, "maximum": 20_000, "type": "integer", "description": "",
    }  # fmt: skip
    inputs = {"exclude": {"output_schema"}, "exclude_none": True}
    told = json.dumps([tool.model_dump(**inputs) for tool in tools.values()])
    assert count_tokens(told) < MOST_TOKENS
    assert [each.uri_template for each in templates] == [
        "pgrag://{library}/versions", "pgrag://{library}/{version}/pages",
        "pgrag://{library}/{version}/pages/{+key}",
    ]  # fmt: skip
    with connected(harbour_url, writes=True, read_only=True) as client:
        assert list(client.tools()) == [*READING, *CONTEXT7]


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
            said = mcp.failed("list_libraries")
        assert "secret" not in said
        assert "secret" in caplog.text
        return said

    assert "does not answer" in fail(errors.DatabaseUnavailable("host secret is down"))
    assert "pgrag db upgrade" in fail(errors.SchemaOutdated("secret"))
    assert "its log says why" in fail(errors.DatabaseError("secret"))
    assert "its log says why" in fail(ZeroDivisionError("secret"))
    assert "keyword_search" in fail(errors.EmbeddingError("secret at https://key@host"))


ODD = [
    "", "a\0b", "\ud800", "x" * 3000, '"', "(", "*", "^1", -1, 2**63, 1.5, True, None, [],
    {"a": {}},
]  # fmt: skip
RIGHT = {
    "library": "harbour",
    "query": "tide",
    "pattern": "tide",
    "page_id": 1,
    "id": 1,
    "search_id": "4f0c7d0e-3c0b-4d6a-9a53-1f2f6f1f4a11",
    "rating": 3,
}
RIGHT_SEARCH = {"library": "harbour", "query": "tide"}


def test_odd_arguments_are_refused_in_words_or_do_no_harm(mcp, caplog):
    for name in (*READING, "send_feedback"):
        arguments = list(mcp.tools()[name].input_schema["properties"])
        right = {argument: RIGHT[argument] for argument in arguments if argument in RIGHT}
        for index, argument in enumerate(arguments):
            for odd in ODD[index % 2 :: 2]:
                text = mcp.call(name, right | {argument: odd}).content[0].text
                assert "its log says why" not in text, (name, argument, odd)
                assert len(text) < 40_000
    assert not caplog.records
    for argument in ("query", "library", "version", "cursor"):
        said = mcp.failed("search_docs", **{**RIGHT_SEARCH, argument: "a\0b"})
        assert f"{argument}: must not hold the character U+0000" in said
    for filters in ({"type": "a\0b"}, {"a\0b": 1}, {"tags": ["a", {"b": "\0"}]}):
        said = mcp.failed("search_docs", **RIGHT_SEARCH, filters=filters)
        assert "filters: must not hold the character U+0000" in said


def test_what_says_nothing_is_not_given(mcp):
    given = {"version": "", "filters": None, "cursor": " ", "top_k": None, "token_budget": None}
    said, found = mcp.ok("search_docs", **RIGHT_SEARCH, **given)
    _, same = mcp.ok("search_docs", **RIGHT_SEARCH)
    assert found["passages"] == same["passages"]
    assert "the newest release" in said
    assert "query: it is required" in mcp.failed("search_docs", library="harbour", query=None)
    first = found["passages"][0]["page_id"]
    assert mcp.ok("get_page", page_id=first, library="", page=None, version="")


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
                    tasks.start_soon(client.client.call_tool, "list_libraries", {})
            with anyio.move_on_after(0.01) as scope:
                await client.client.call_tool("list_libraries", {})
            assert scope.cancelled_caught
            return await client.client.call_tool("list_libraries", {})

        assert not client.portal.call(many).is_error
        assert most == 2
    assert running == 0


def test_database_that_is_gone_is_told(caplog):
    url = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1"
    with caplog.at_level(logging.ERROR), connected(url) as client:
        said = client.failed("search_docs", library="harbour", query="tide")
        assert "does not answer" in said
        assert "127.0.0.1" not in said
        assert client.tools()
