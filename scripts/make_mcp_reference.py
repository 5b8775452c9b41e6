"""Write the tools for agents into docs/mcp.md, between two marks, from their definitions."""

import sys
from collections.abc import Iterator
from typing import Any, get_args

import reference_page

from pgrag.mcp.tool import Tool, schema_of
from pgrag.mcp.tools import offered

PAGE = reference_page.ROOT / "docs" / "mcp.md"


def kind(schema: dict[str, Any], shapes: dict[str, Any]) -> str:
    """Name the type of a value in a few words."""
    if "$ref" in schema:
        fields = shapes[schema["$ref"].rpartition("/")[2]]["properties"]
        return f"object of {', '.join(f'`{name}`' for name in fields)}"
    if "anyOf" in schema:
        return " or ".join(kind(choice, shapes) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'], shapes)}"
    if isinstance(schema.get("type"), list):
        return " or ".join(schema["type"])
    return str(schema.get("format") or schema.get("type") or "anything")


def argument(name: str, schema: dict[str, Any], *, is_required: bool) -> str:
    """Return one line about an argument."""
    told = ["required"] if is_required else []
    told.append(" or ".join(schema["enum"]) if "enum" in schema else kind(schema, {}))
    told += reference_page.bounds(schema)
    if "default" in schema:
        told.append(f"default {schema['default']}")
    return f"- `{name}` ({', '.join(told)}): {schema.get('description', '')}".rstrip(": ")


def tool(item: Tool[Any]) -> Iterator[str]:
    """Yield the lines about one tool."""
    yield from (f"### {item.name}", "", item.description, "")
    asked = item.schema
    for name, schema in asked.get("properties", {}).items():
        yield argument(name, schema, is_required=name in asked.get("required", ()))
    yield ""
    if item.output is None:
        return
    forms = []
    for output in get_args(item.output) or [item.output]:
        answer = schema_of(output, "serialization")
        shapes = answer.get("$defs", {})
        fields = [f"`{name}` ({kind(of, shapes)})" for name, of in answer["properties"].items()]
        forms.append(", ".join(fields))
    yield from (f"Data: {'; or '.join(forms)}.", "")


if __name__ == "__main__":
    every = offered(writes=True, read_only=False)
    listed = [item for item in every if item.is_default]
    lines = ["## Listed tools", ""]
    for item in listed:
        lines += tool(item)
    lines += ["## Other tools", ""]
    for item in every:
        if item not in listed:
            lines += tool(item)
    sys.exit(reference_page.write_part(PAGE, "tools", lines))
