"""What a server offers to agents, as JSON. `python tests/integration/mcp_listing.py` keeps it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from mcp import Client

from pgrag.ground.settings import Settings
from pgrag.mcp.server import create_server
from pgrag.service.app import App

GOLDEN = Path(__file__).parents[1] / "fixtures" / "mcp_listing.json"


def listing(*, writes: bool = True, read_only: bool = False) -> dict[str, Any]:
    """Tools, prompts and templates of resources as a client gets them; needs no database."""

    async def ask() -> dict[str, Any]:
        with App(Settings(database_url="postgresql://127.0.0.1:9/nothing")) as app:
            server = create_server(app, writes=writes, read_only=read_only)
            async with Client(server) as client:
                tools = (await client.list_tools()).tools
                prompts = (await client.list_prompts()).prompts
                templates = (await client.list_resource_templates()).resource_templates
        found = {"tools": tools, "prompts": prompts, "resource_templates": templates}
        return {
            kind: {
                item.name: item.model_dump(mode="json", by_alias=True, exclude_none=True)
                for item in items
            }
            for kind, items in found.items()
        }

    return asyncio.run(ask())


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(listing(), indent=2, ensure_ascii=False) + "\n", "utf-8")
