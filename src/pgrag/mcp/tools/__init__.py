"""The tools, one family per file, in the order in which a model reads them."""

from importlib import import_module
from typing import Any

from pgrag.mcp.tool import Tool

_FAMILIES = (
    "searching", "libraries", "changes", "documents", "pages", "lines", "tables", "feedback",
    "context7", "writing",
)  # fmt: skip
_ALL: dict[str, Tool[Any]] = {
    member.name: member
    for family in _FAMILIES
    for member in vars(import_module(f"{__name__}.{family}")).values()
    if isinstance(member, Tool)
}


def offered(*, writes: bool, read_only: bool) -> list[Tool[Any]]:
    """The tools of a server; see `create_server`."""
    return [
        tool
        for tool in _ALL.values()
        if not (tool.writes and read_only) and (writes or not tool.needs_permission)
    ]
