"""Write the routes into docs/rest.md, between two marks, from the OpenAPI document."""

import sys
from collections.abc import Container, Iterator
from typing import Any

import reference_page

from pgrag.api import create_app
from pgrag.ground.settings import Settings
from pgrag.service.access import Policy
from pgrag.service.app import App

PAGE = reference_page.ROOT / "docs" / "rest.md"
#: Schemas described by hand or with their routes.
_TOLD_ELSEWHERE = {
    "Problem", "FieldError", "SearchBody", "ContextBody", "PageSearchBody", "FacetBody",
    "BatchBody",
}  # fmt: skip


def kind(schema: dict[str, Any]) -> str:
    """Name the type of a value in one or two words."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in schema:
        return " or ".join(f"`{value}`" if value else "empty" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(kind(choice) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'])}"
    return str(schema.get("format") or schema.get("type") or "anything")


def limits(schema: dict[str, Any]) -> str:
    """Return the bounds of a value, and its default."""
    choices = [choice for choice in schema.get("anyOf", []) if choice.get("type") != "null"]
    of = {**schema, **choices[0]} if choices else schema
    told = reference_page.bounds(of)
    if "enum" in of:
        told.append(kind(of))
    if (default := schema.get("default")) not in (None, ""):
        told.append(f"default `{str(default).lower()}`")
    return f" ({'; '.join(told)})" if told else ""


def item(name: str, schema: dict[str, Any], description: str, *, with_kind: bool) -> str:
    """Return one line about a parameter or a field."""
    shown = f"- `{name}`{f', {kind(schema)}' if with_kind else limits(schema)}"
    return f"{shown}: {description}" if description else shown


def route(
    method: str, path: str, operations: dict[str, Any], schemas: dict[str, Any]
) -> Iterator[str]:
    """Yield the lines about one method of an address."""
    operation = operations[method]
    yield from (f"### {method.upper()} {path}", "", operation["description"], "")
    parameters = operation.get("parameters", [])
    asked = operations.get("get", {}) if method == "post" else {}
    for parameter in parameters:
        told = parameter.get("description", "")
        yield item(parameter["name"], parameter["schema"], told, with_kind=False)
    body_taken = operation.get("requestBody")
    if body_taken:
        known = {"query"}
        if any(parameter["name"] == "q" for parameter in asked.get("parameters", [])):
            yield "- the arguments of GET as a JSON object, with `query` for `q`, and"
            known |= {parameter["name"] for parameter in asked["parameters"]}
        yield from members(body_taken["content"], schemas, known)
    if parameters or body_taken:
        yield ""
    yield from answers(operation["responses"])
    yield ""


def members(
    contents: dict[str, Any], schemas: dict[str, Any], known: Container[str]
) -> Iterator[str]:
    """Yield the lines about a body: its media types, and the fields of its JSON."""
    if raw := [f"`{name}`" for name in contents if name != "application/json"]:
        yield f"- the body: {', '.join(raw)}"
    if json := contents.get("application/json"):
        body = json["schema"]
        if "$ref" in body:
            body = schemas[body["$ref"].rpartition("/")[2]]
        for name, schema in body["properties"].items():
            if name not in known:
                yield item(name, schema, schema["description"], with_kind=False)


def answers(responses: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about what a route answers if all is well."""
    for status, response in responses.items():
        contents = response.get("content", {}) if status.startswith("2") else {}
        if json := contents.get("application/json"):
            told = f" ({status})" if status != "200" else ""
            yield f"Answers {kind(json['schema'])}{told}."
        if stream := contents.get("text/event-stream"):
            yield f"As `text/event-stream`: {stream['schema']['description']}"


def shape(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """Yield the lines about the fields of one schema."""
    yield from (f"### {name}", "", schema["description"], "")
    for field, value in schema["properties"].items():
        yield item(field, value, value.get("description", ""), with_kind=True)
    yield ""


def chapters() -> Iterator[str]:
    """Yield the lines about all routes and schemas."""
    document = create_app(App(Settings()), policy=Policy()).openapi()
    schemas = document["components"]["schemas"]
    yield from ("## Routes", "")
    for path, operations in sorted(document["paths"].items()):
        for method in operations:
            yield from route(method, path, operations, schemas)
    yield from ("## Shapes", "")
    for name, schema in schemas.items():
        if name not in _TOLD_ELSEWHERE:
            yield from shape(name, schema)


if __name__ == "__main__":
    sys.exit(reference_page.write_part(PAGE, "routes", chapters()))
