"""Write the tools for agents into docs/mcp.md: what tools/list says, between two marks.

Without arguments the page is written; with --check it is compared, and the exit status is 1 where
it is not up to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pgrag.mcp.tool import Tool
from pgrag.mcp.tools import offered

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "mcp.md"
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
    """Return the page with its tools made anew."""
    before, begin, rest = current.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{PAGE.relative_to(ROOT)} lacks the mark {BEGIN.strip()} or its end.")
    lines = ["## Tools", ""]
    for item in offered(writes=True, read_only=False):
        if item.is_listed:
            lines += tool(item)
    return f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}"


def main() -> int:
    """Write the page, or compare it."""
    current = PAGE.read_text("utf-8")
    wanted = page(current)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(wanted, "utf-8")
        return 0
    if current == wanted:
        return 0
    print("docs/mcp.md is not what the tools say: run `make docs`.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
