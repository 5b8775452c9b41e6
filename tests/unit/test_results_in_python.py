"""Results as lists, in notebooks and data frames; signatures of the methods that return them."""

import inspect
import pydoc
from dataclasses import fields
from typing import Any

import pytest

import pgrag
from pgrag.ground.arguments import FUNCTIONS, declared
from pgrag.ground.values.passages import Hit
from pgrag.ground.values.properties import PageQueryResult, PageQueryRow
from pgrag.ground.values.searches import SearchResult

METHODS = {
    "search": "search", "search_many": "search", "search_pages": "search_pages",
    "facets": "facets", "context": "context", "answer": "answer_context",
    "answer_stream": "answer_context",
}  # fmt: skip


NAMES = [each.name for each in fields(Hit)]


def hit(**values: Any) -> Hit:
    return Hit(**(dict.fromkeys(NAMES) | {"path": (), "types": ()} | values))


HITS = (
    hit(score=0.5, title="A <b>bold</b> title", url="https://a.example/?a=1&b=2"),
    hit(score=0.25, title="Other", url="javascript:alert(1)"),
)


def found(hits: tuple[Hit, ...] = HITS, *notices: str) -> SearchResult:
    return SearchResult(
        hits=hits, cursor=None, notices=notices, resolved=(), search_id=None, no_good_match=False
    )  # fmt: skip


def test_a_result_is_a_list():
    result = found()
    assert (len(result), bool(result), bool(found(()))) == (2, True, False)
    assert [*result] == [*result.hits]
    assert (result[0], result[-1], result[1:]) == (HITS[0], HITS[1], HITS[1:])
    with pytest.raises(IndexError):
        result[2]
    assert HITS[1] in result
    assert result.to_dicts()[0]["title"] == HITS[0].title
    assert [*result.to_dicts()[0]] == NAMES


def test_its_text_is_short_and_its_table_is_escaped():
    shown = repr(found(HITS * 20))
    assert shown.splitlines()[:2] == [
        "<SearchResult: 40 hits>",
        "  1  0.500  A <b>bold</b> title  https://a.example/?a=1&b=2",
    ]
    assert shown.splitlines()[-1].strip() == "… and 30 more"
    assert repr(found(HITS[:1])).startswith("<SearchResult: 1 hit>")
    table = found(HITS, "Is <this> it?")._repr_html_()
    assert "A &lt;b&gt;bold&lt;/b&gt; title" in table
    assert '<a href="https://a.example/?a=1&amp;b=2"' in table
    assert "<td>javascript:alert(1)</td>" in table, "only addresses of the web are links"
    assert "<p>Is &lt;this&gt; it?</p>" in table
    row = PageQueryRow(
        page_id=1, key="a.md", title="A", line=None, document_id=None, fields={}, values=("x",)
    )
    rows = PageQueryResult(library="a", version="", columns=("x",), rows=(row,), notices=())
    assert repr(rows).splitlines() == ["<PageQueryResult: 1 row>", "  1  A  a.md  x"]


@pytest.mark.parametrize(("method", "function"), METHODS.items())
@pytest.mark.parametrize("client", [pgrag.Client, pgrag.AsyncClient])
def test_signatures_and_help_name_each_argument(client, method, function):
    if (client, method) == (pgrag.AsyncClient, "answer_stream"):
        pytest.skip("it has no asynchronous twin")
    parameters = inspect.signature(getattr(client, method)).parameters
    shown = [one for one in declared(FUNCTIONS[function]) if one.argument.faces]
    assert [*parameters][2] == "library"
    assert {one.name for one in shown} == {*parameters} - {"self", "query", "queries", "question"}
    assert not any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    told = " ".join(pydoc.render_doc(getattr(client, method), renderer=pydoc.plaintext).split())
    assert "**arguments" not in told
    for one in shown:
        assert f"{one.name} (" in told
        assert one.argument.meaning.split(".")[0] in told
