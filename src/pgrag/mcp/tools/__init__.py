"""The tools, one family per file, in the order in which a model reads them."""

from collections.abc import Collection
from importlib import import_module
from typing import Any

from pgrag.ground.errors import SettingsError
from pgrag.mcp.tool import Tool

DEFAULT = "default"
ALL = "all"

_FAMILIES = (
    "searching", "reading", "libraries", "changes", "tables", "lines", "related", "feedback",
    "writing",
)  # fmt: skip
_TOOLS: dict[str, Tool[Any]] = {
    member.name: member
    for family in _FAMILIES
    for member in vars(import_module(f"{__name__}.{family}")).values()
    if isinstance(member, Tool)
}


def offered(*, writes: bool, read_only: bool) -> list[Tool[Any]]:
    """The tools that a server answers, listed or not; see `create_server`."""
    return [
        tool
        for tool in _TOOLS.values()
        if not (tool.writes and read_only) and (writes or not tool.needs_permission)
    ]


def chosen(wish: str, tools: Collection[Tool[Any]]) -> list[Tool[Any]]:
    """Those of the tools that are listed: `default` with what the operator permitted to write,
    `all`, or some by name. Raises `SettingsError` for a name that is not among the tools.
    """
    names = set(wish.replace(",", " ").split())
    unknown = sorted(names - {DEFAULT, ALL} - _TOOLS.keys())
    if unknown or not names:
        raise SettingsError(
            f"There is no tool {unknown[0]!r}." if unknown else "No tool is named.",
            hint=f"Give {DEFAULT}, {ALL}, or names: {', '.join(_TOOLS)}.",
        )
    withheld = sorted(names & _TOOLS.keys() - {tool.name for tool in tools})
    if withheld:
        raise SettingsError(
            f"The tool {withheld[0]} writes, which this server does not permit.",
            hint="Allow writes, too (PGRAG_MCP_WRITES), and not only reading.",
        )
    return [
        tool
        for tool in tools
        if ALL in names
        or tool.name in names
        or (DEFAULT in names and (tool.is_default or tool.needs_permission))
    ]
