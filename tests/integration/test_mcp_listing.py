"""What agents are offered is a promise: it changes only when somebody means it."""

from __future__ import annotations

import json
import re

import pytest
from mcp_listing import GOLDEN, listing

from pgrag.mcp.replies import count_tokens

#: So many tokens cost the definitions every agent in every conversation.
MOST_TOKENS = 6650


@pytest.fixture(scope="module")
def offered():
    return listing()


def test_the_offer_is_as_promised(offered):
    promised = json.loads(GOLDEN.read_text("utf-8"))
    how = "meant? Then: python tests/integration/mcp_listing.py, and a line in the changelog"
    for kind, items in offered.items():
        assert list(items) == list(promised[kind]), how
        for name, item in items.items():
            assert item == promised[kind][name], f"{kind} {name}: {how}"


def test_names_are_those_of_the_leading_servers(offered):
    assert offered["tools"].keys() >= {
        "search_docs", "list_libraries", "find_version", "get_page", "get_outline",
        "read_document", "get_related", "keyword_search", "semantic_search", "search_text",
        "query_pages", "explain_search", "send_feedback", "resolve-library-id", "query-docs",
        "index_docs", "remove_docs",
    }  # fmt: skip


def test_every_definition_says_what_a_model_needs(offered):
    for name, tool in offered["tools"].items():
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
        assert len(tool["description"]) > 40
        assert tool["inputSchema"]["additionalProperties"] is False
        assert tool["outputSchema"]["type"] == "object"
        for argument, schema in tool["inputSchema"].get("properties", {}).items():
            assert "description" in schema or "default" in schema, f"{name}.{argument}"


def test_definitions_do_not_fill_a_context(offered):
    told = [{**tool, "outputSchema": None} for tool in offered["tools"].values()]
    assert count_tokens(json.dumps(told)) < MOST_TOKENS


def test_read_only_offers_nothing_that_writes():
    for item in listing(read_only=True)["tools"].values():
        assert item["annotations"]["readOnlyHint"], item["name"]
