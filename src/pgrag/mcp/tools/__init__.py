"""The tools, a family a file; their order is that in which a model reads them."""

from __future__ import annotations

from typing import Any

from pgrag.mcp.tool import Tool
from pgrag.mcp.tools import (
    context7,
    documents,
    feedback,
    graph,
    libraries,
    lines,
    pages,
    searching,
    tables,
    writing,
)

_ALL: tuple[Tool[Any], ...] = (
    *searching.TOOLS,
    *libraries.TOOLS,
    *documents.TOOLS,
    *pages.TOOLS,
    *graph.TOOLS,
    *lines.TOOLS,
    *tables.TOOLS,
    *feedback.TOOLS,
    *context7.TOOLS,
    *writing.TOOLS,
)


def offered(*, writes: bool, read_only: bool) -> list[Tool[Any]]:
    """The tools of a server; see `create_server`."""
    return [
        tool
        for tool in _ALL
        if not (tool.writes and read_only) and (writes or not tool.needs_permission)
    ]
