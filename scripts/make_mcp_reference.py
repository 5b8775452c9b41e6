"""Write the tools for agents into docs/mcp.md, between two marks, from tools/list.

With --check the page is only compared; the exit status is 1 if it is out of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import reference_page

from pgrag.mcp.tool import Tool
from pgrag.mcp.tools import offered

PAGE = reference_page.ROOT / "docs" / "mcp.md"
BEGIN = "<!-- tools, made by `make docs` -->\n"
END = "<!-- end of tools -->\n"
_LARGEST = 1e12


def kind(schema: dict[str, Any], shapes: dict[str, Any]) -> str:
    """Name the type of a value in a few words."""
    if "$ref" in schema:
        fields = shapes[schema["$ref"].rpartition("/")[2]]["properties"]
        return f"object of {', '.join(f'`{name}`' for name in fields)}"
    if "anyOf" in schema:
        return " or ".join(kind(choice, shapes) for choice in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {kind(schema['items'], shapes)}"
    return str(schema.get("format") or schema.get("type") or "anything")


def argument(name: str, schema: dict[str, Any], *, is_required: bool) -> str:
    """Return one line about an argument."""
    told = ["required"] if is_required else []
    told.append(" or ".join(schema["enum"]) if "enum" in schema else kind(schema, {}))
    if "minimum" in schema and schema.get("maximum", _LARGEST) < _LARGEST:
        told.append(f"{schema['minimum']:,} to {schema['maximum']:,}")
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


def page(current: str) -> str:
    """Return the page with its tools regenerated."""
    lines = ["## Tools", ""]
    for item in offered(writes=True, read_only=False):
        if item.is_listed:
            lines += tool(item)
    return reference_page.between(current, BEGIN, END, "\n".join(lines))


if __name__ == "__main__":
    sys.exit(reference_page.main(PAGE, page, "the tools say"))
