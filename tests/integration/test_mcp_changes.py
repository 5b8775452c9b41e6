"""What changed between versions, through MCP."""

from __future__ import annotations

import pytest
from mcp_client import connected


@pytest.fixture(scope="module")
def mcp(harbour_url):
    with connected(harbour_url) as client:
        yield client


def test_pages_that_changed(mcp):
    text, content = mcp.ok("compare_versions", library="harbour", from_version="1")
    assert "From 1.0 (the newest version in the range 1) to 2.1 (the newest release)" in text
    assert [(page["change"], page["key"]) for page in content["pages"]] == [
        ("added", "navigation/index.md"),
        ("added", "navigation/tides.md"),
    ]
    page_id = content["pages"][1]["page_id"]
    assert f"- added: navigation/tides.md page_id={page_id}" in text
    assert content["cursor"] is None
    text, content = mcp.ok("compare_versions", library="harbour", from_version="2.1")
    assert content["pages"] == []
    assert "Nothing changed." in text


def test_a_page_with_its_diff(mcp):
    text, content = mcp.ok(
        "compare_versions",
        library="harbour", from_version="1.0", to_version="2.1", page="navigation/tides.md",
    )  # fmt: skip
    assert "+## Spring tides" in text
    assert [page["key"] for page in content["pages"]] == ["navigation/tides.md"]


def test_what_does_not_fit_comes_with_the_cursor(mcp):
    asked = {"library": "harbour", "from_version": "1.0", "token_budget": 200}
    keys, cursor = [], None
    while not keys or cursor is not None:
        more = {} if cursor is None else {"cursor": cursor}
        _, content = mcp.ok("compare_versions", **asked, **more)
        keys += [page["key"] for page in content["pages"]]
        cursor = content["cursor"]
    assert keys == ["navigation/index.md", "navigation/tides.md"]


def test_an_unknown_version_is_refused_with_those_that_exist(mcp):
    said = mcp.failed("compare_versions", library="harbour", from_version="0.1")
    assert "2.1, 1.0" in said


def test_what_changed_about_a_topic(mcp):
    asked = {"library": "harbour", "query": "the harbour in summer", "top_k": 20}
    text, content = mcp.ok("search_docs", **asked, changed_since="1.0", history=True)
    assert {hit["title"] for hit in content["passages"]} == {
        "Navigation", "Reading the tide table",
    }  # fmt: skip
    assert {(hit["since"], hit["changed_in"]) for hit in content["passages"]} == {("2.1", None)}
    assert "since 2.1" in text
    _, content = mcp.ok("search_docs", **asked)
    assert {hit["since"] for hit in content["passages"]} == {None}
