"""The OpenAPI document is complete, and true to the database."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from promised_shapes import assert_promised

#: Where there is nothing that could be missing.
COMPLETE = {
    "/v1/libraries", "/v1/intent", "/v1/configuration", "/v1/configuration/versions", "/v1/tools",
    "/v1/search/libraries", "/v1/service", "/v1/audit",
}  # fmt: skip


@pytest.fixture(scope="module")
def openapi(harbour):
    document: dict[str, Any] = harbour.ok("/openapi.json")
    return document


def operations(openapi: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, item in openapi["paths"].items():
        for method, operation in item.items():
            yield method.upper(), path, operation


def test_a_body_has_the_parameters_of_the_address(openapi):
    schemas = openapi["components"]["schemas"]
    for address, name in [
        ("/v1/search", "SearchBody"), ("/v1/context", "ContextBody"),
        ("/v1/search/pages", "PageSearchBody"), ("/v1/facets", "FacetBody"),
    ]:  # fmt: skip
        asked = {each["name"] for each in openapi["paths"][address]["get"]["parameters"]}
        fields = asked - {"q"} | {"query", "query_embedding"}
        assert set(schemas[name]["properties"]) == fields
        assert schemas[name]["additionalProperties"] is False


def test_every_operation_is_described(openapi):
    names = [operation["operationId"] for _, _, operation in operations(openapi)]
    assert len(set(names)) == len(names)
    tags = {tag["name"] for tag in openapi["tags"]}
    for method, path, operation in operations(openapi):
        assert operation["summary"], (method, path)
        assert operation["description"], (method, path)
        assert set(operation["tags"]) <= tags
        for parameter in operation.get("parameters", []):
            told = parameter.get("description") or parameter["schema"].get("description")
            assert told, (path, parameter["name"])


def test_every_operation_says_how_it_fails(openapi):
    reference = {"$ref": "#/components/schemas/Problem"}
    for method, path, operation in operations(openapi):
        responses = operation["responses"]
        success = (
            "202" if path.endswith("/upload") or (method, path) == ("POST", "/v1/jobs") else "200"
        )
        needed = {success, "422"}
        if path.startswith("/v1"):
            needed |= {"429", "500", "503"} | ({"404"} if path not in COMPLETE else set())
        if method == "POST":
            needed |= {"413"}
        assert needed <= set(responses), (method, path)
        for status, response in responses.items():
            if not status.startswith("2"):
                assert response["content"] == {"application/problem+json": {"schema": reference}}
            elif path.endswith("/events"):
                assert "text/event-stream" in response["content"]
            else:
                assert "$ref" in response["content"]["application/json"]["schema"]


def test_the_reader_of_the_document_may_send_a_key(openapi):
    scheme = openapi["components"]["securitySchemes"]["key"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    assert openapi["security"] == [{}, {"key": []}]


def test_every_reference_leads_somewhere(openapi):
    def references(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                yield part["$ref"]
            for value in part.values():
                yield from references(value)
        elif isinstance(part, list):
            for value in part:
                yield from references(value)

    schemas = openapi["components"]["schemas"]
    used = set(references(openapi))
    assert {name.removeprefix("#/components/schemas/") for name in used} == set(schemas)
    assert "HTTPValidationError" not in schemas
    assert not [name for name in schemas if "__" in name], "two models of one name"


@pytest.mark.parametrize(
    "address",
    [
        "/v1/search?q=tide&library=harbour&explain=1&snippets=1", "/v1/search?q=tide&mode=keyword",
        "/v1/search/pages?q=tide&library=harbour", "/v1/facets?q=tide",
        "/v1/context?q=tide&library=harbour&parents=1&siblings=1", "/v1/configuration",
        "/v1/configuration/versions", "/v1/evaluations", "/v1/libraries/harbour",
        "/v1/libraries/harbour/enrichment", "/v1/libraries/harbour/query?q=list",
        "/v1/libraries/harbour/synonyms", "/v1/libraries/harbour/tuning",
        "/v1/libraries/harbour/versions/2.1", "/v1/tools", "/healthz", "/readyz",
    ],
)  # fmt: skip
def test_answers_have_the_shape_that_is_promised(harbour, address):
    assert_promised(address, harbour.ok(address))


def test_the_reference_says_what_the_document_says():
    script = Path(__file__).parents[2] / "scripts" / "make_rest_reference.py"
    compared = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, encoding="utf-8", check=False
    )
    assert compared.returncode == 0, compared.stderr


@pytest.mark.parametrize(
    "address",
    ["/healthz", "/openapi.json", "/docs", "/v1/libraries", "/v1/search?q=tide", "/v1/pages/1x"],
)
def test_head_is_get_without_a_body(harbour, address):
    whole, head = harbour.get(address), harbour.request("HEAD", address)
    assert head.status_code == whole.status_code
    assert head.content == b""
    for name in ("content-type", "content-length"):
        if "search" not in address:
            assert head.headers.get(name) == whole.headers.get(name)


def test_head_is_refused_where_there_is_no_get(harbour):
    assert harbour.request("HEAD", "/v1/search/batch").status_code == 405
    assert harbour.request("HEAD", "/mcp").status_code == harbour.request("GET", "/mcp").status_code
