"""The tools of a language model over REST, for those who run a loop of their own."""

import json

from api_client import problem

from pgrag.answer.tool_arguments import definitions

NAMES = ["keyword_search", "semantic_search", "read_chunk"]


def test_the_tools_are_in_openais_format(harbour):
    listed = harbour.ok("/v1/tools")["tools"]
    assert [tool["function"]["name"] for tool in listed] == NAMES
    assert listed == definitions()
    for tool in listed:
        assert tool["type"] == "function"
        parameters = tool["function"]["parameters"]
        assert parameters["required"]
        assert parameters["additionalProperties"] is False
    scoped = harbour.ok("/v1/tools", scoped="true")["tools"]
    assert all("library" not in tool["function"]["parameters"]["properties"] for tool in scoped)


def test_a_loop_of_ones_own_searches_and_reads(harbour):
    asked = {"arguments": {"query": "red light sill", "top_k": 1}, "library": "harbour"}
    found = harbour.post("/v1/tools/keyword_search", asked)
    assert found.status_code == 200, found.text
    first = found.json()
    [source] = first["sources"]
    assert first["outcome"] == "found"
    assert source["number"] == 1
    assert source["content"] in first["text"]
    assert first["search_id"]
    assert "db;dur=" in found.headers["server-timing"]
    chunk = {"chunk_id": source["document_id"], "before": 1}
    read = harbour.post(
        "/v1/tools/read_chunk",
        {"arguments": json.dumps(chunk), "library": "harbour", "first_number": 2},
    ).json()
    assert [source["number"] for source in read["sources"]] == [2, 3]
    assert read["search_id"] is None
    little = harbour.post("/v1/tools/keyword_search", {**asked, "token_budget": 1}).json()
    assert (little["outcome"], little["sources"]) == ("nothing", [])


def test_what_a_model_did_wrong_is_told_to_it(harbour):
    for arguments in ("{broken", {"colour": "x"}, {"query": 5}, {}):
        answer = harbour.post("/v1/tools/semantic_search", {"arguments": arguments})
        assert answer.status_code == 200, answer.text
        assert answer.json()["outcome"] == "unusable"
        assert answer.json()["text"].startswith("Nothing was done: ")


def test_what_its_caller_did_wrong_is_a_problem(harbour):
    problem(harbour.post("/v1/tools/drop_tables", {"arguments": {}}), 422, "invalid-request")
    problem(harbour.post("/v1/tools/read_chunk", {"arguments": [1]}), 422, "invalid-request")
    asked = {"arguments": {"query": "x"}, "library": "harbor"}
    problem(harbour.post("/v1/tools/keyword_search", asked), 404, "unknown-library")
