"""What a model is shown of each reply, by what its client does with text and data."""

import json
import re

import pytest
from mcp_client import connected

from pgrag.mcp import replies
from pgrag.mcp.corpus import Documentation
from pgrag.mcp.tools import changes


def both(text, data):
    """As microsoft/agent-framework (issue 7866) and onyx (issue 14171) do."""
    return text if data is None else f"{text}\n{json.dumps(data)}"


def text_alone(text, _):
    """As kimi-code (pull request 3234) and hermes-agent (pull request 96807) do."""
    return text


def data_if_any(text, data):
    """As Claude Code 2.1.280 does (issue 79944): the text is dropped if there are data."""
    return text if data is None else json.dumps(data)


CLIENTS = pytest.mark.parametrize("client", [both, text_alone, data_if_any])
NEWEST = "the newest release"
#: Of each tool, a call of which more remains, and what a model must find in the reply besides a
#: cursor: ids, and the version with the reason why it was read.
CALLS = [
    ("search_docs", {"query": "harbour", "top_k": 2}, [r'<passage id="\d+">', NEWEST, "seen="]),
    ("search_docs", {"query": "harbour", "top_k": 2, "version": "1.9"},
     [r'<passage id="\d+">', r"1\.9 is not indexed"]),
    ("read_docs", {"page": "tides", "token_budget": 700}, [r'<passage page="\d+">', NEWEST]),
    ("read_docs", {"page": "tides", "expand": "outline", "token_budget": 390},
     [r"\(id=\d+\)", NEWEST]),
    ("query_pages", {"query": "LIST", "top_k": 2}, [r"\b\d{9,}\b", NEWEST, "services/moorings"]),
    ("search_text", {"pattern": "the", "top_k": 2},
     [r"<passage>", r"page=\d+", r"\(id=\d+\)", NEWEST]),
]  # fmt: skip


@CLIENTS
@pytest.mark.parametrize(("name", "given", "needed"), CALLS)
def test_a_model_gets_ids_version_and_cursor(mcp, monkeypatch, client, name, given, needed):
    monkeypatch.setattr(replies, "_BYTES_PER_TOKEN", 1)  # the handbook is short
    text, data = mcp.ok(name, library="harbour", **given)
    shown = client(text, data)
    if name == "query_pages":
        needed = [*needed[:2], "navigation/index"]
    for each in [*needed, r"cursor\"?[=:] ?\"[^\"]+\""]:
        assert re.search(each, shown), (each, shown)
    if "<passage" in text:
        assert shown.count("<passage") == shown.count("</passage>") >= (data is None)
    if data is None:
        # Prose is paid for once, and its budget is what it costs.
        assert replies.count_tokens(shown) <= given.get("token_budget", 2400)


@CLIENTS
def test_a_model_gets_every_change_once(mcp, monkeypatch, client):
    """Of as many pages as there are between two versions of a large documentation."""
    compared = changes.compared

    def many(*arguments, **more):
        found = compared(*arguments, **more)
        [page, *_] = found["pages"]
        pages = [page | {"key": f"{n}.md", "page_id": 2**40 + n} for n in range(40)]
        return found | {"pages": pages}

    monkeypatch.setattr(changes, "compared", many)
    asked = {"library": "harbour", "changed_since": "1.x", "token_budget": 200}
    shown = [client(*part) for part in mcp.parts("compare_versions", **asked)]
    assert len(shown) > 2
    for each in ("1.0 (the newest version in the range 1.x)", f"2.1 ({NEWEST})", "40 pages"):
        assert all(each in part for part in shown)
    keys = [key for part in shown for key in re.findall(r"^- added: (\S+) page=\d+$", part, re.M)]
    assert keys == [f"{number}.md" for number in range(40)]


@CLIENTS
def test_a_model_gets_the_history_and_diffs_in_their_quotation(mcp, client):
    found = mcp.search(library="harbour", query="depth over the sill")[1]
    [hit, *_] = (each for each in found if each.content.startswith("The depth over the sill"))
    for given in (
        {"library": "harbour", "changed_since": "1.0", "page": "navigation/tides.md"},
        {"id": hit.id},
    ):
        shown = client(*mcp.ok("compare_versions", **given))
        quoted = re.findall(r'<passage id="\d+">\n(.*?)\n</passage>', shown, re.S)
        assert any("+The depth over the sill" in each for each in quoted)


@CLIENTS
def test_a_model_gets_libraries_versions_and_reasons(mcp, client, harbour_url, monkeypatch):
    shown = client(*mcp.ok("find_library", library="harbour", version="1.x"))
    for each in ("1.0", "the newest version in the range 1.x", "2.1", "reference"):
        assert each in shown
    near = client(*mcp.ok("find_library", library="harbor docs"))
    assert "No library is called 'harbor docs'" in near
    assert "harbour" in near
    row = {"newest": "1.0", "versions": 2, "pages": 10, "language": "en"}
    rows = [row | {"library": f"library-{number:03}"} for number in range(99)]
    monkeypatch.setattr(Documentation, "call", lambda *_, **__: rows)
    shown = client(*mcp.ok("find_library", token_budget=200))
    assert "library-000" in shown
    assert re.search(r'cursor"?[=:] ?"library-\d+"', shown)


@CLIENTS
def test_a_model_gets_reasons_of_ranks_and_refusals(harbour_url, client):
    with connected(harbour_url, listed="all") as mcp:
        asked = {"library": "harbour", "query": "depth over the sill"}
        [hit, *_] = mcp.search(**asked)[1]
        shown = client(*mcp.ok("explain_search", **asked))
        for each in (str(hit.id), NEWEST, "words"):
            assert each in shown
        result = mcp.call("search_docs", {**asked, "library": "harbor"})
        text = client(result.content[0].text, result.structured_content)
        assert "Did you mean harbour" in text
        empty = client(*mcp.ok("search_docs", library="harbour", query="zzyzx quux"))
        assert "No good match in harbour 2.1" in empty
        assert re.search(r"\(page \d+\)", empty)


def test_the_server_says_that_data_are_quoted_too(mcp):
    said = " ".join(mcp.client.instructions.split())
    assert "every value of a property is quoted from the documentation" in said
