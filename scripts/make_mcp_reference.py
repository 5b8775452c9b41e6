"""Write the tools for agents into docs/mcp.md, between two marks, from tools/list."""

import sys
from collections.abc import Iterator
from typing import Any

import reference_page

from pgrag.mcp.tool import Tool
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
    definition = item.definition
    yield from (f"### {item.name}", "", item.description.replace("\n- ", "\n\n- ", 1), "")
    asked = definition.input_schema
    for name, schema in asked.get("properties", {}).items():
        yield argument(name, schema, is_required=name in asked.get("required", ()))
    if asked.get("properties"):
        yield ""
    answer = definition.output_schema or {}
    shapes = answer.get("$defs", {})
    fields = [f"`{name}` ({kind(of, shapes)})" for name, of in answer["properties"].items()]
    yield from (f"Answers {', '.join(fields)}.", "")


if __name__ == "__main__":
    lines = ["## Tools", ""]
    for item in offered(writes=True, read_only=False):
        if item.is_listed:
            lines += tool(item)
    sys.exit(reference_page.write_part(PAGE, "tools", lines))
