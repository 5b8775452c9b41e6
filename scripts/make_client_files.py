"""Write what clients of MCP install pgrag from, by the project's name, version and description: the
plugin and marketplace of Claude, the registry's server.json, and the links in the pages.
"""

import base64
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from reference_page import ROOT, write

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
REPOSITORY = PROJECT["urls"]["Repository"]
OWNER, NAME = REPOSITORY.removeprefix("https://github.com/").split("/")
#: The registry takes at most 100 characters.
DESCRIPTION = "Search the documentation of your libraries, in the versions that your project uses"
ABOUT = {"name": "pgrag", "version": PROJECT["version"], "description": DESCRIPTION}
#: How any client starts the server: uvx installs the distribution and runs it.
SERVER = {"command": "uvx", "args": [PROJECT["name"], "mcp"]}
REGISTRY_NAME = f"io.github.{OWNER}/{NAME}"
MARK = f"<!-- mcp-name: {REGISTRY_NAME} -->"
FIRST, LAST = "<!-- made by scripts/make_client_files.py -->", "<!-- end -->"


def files() -> dict[str, Any]:
    """The JSON files by their paths."""
    shared = {"license": PROJECT["license"], "keywords": PROJECT["keywords"]}
    return {
        ".claude-plugin/marketplace.json": {
            "name": "pgrag",
            "owner": {"name": "pgrag", "url": REPOSITORY},
            "metadata": {"description": DESCRIPTION, "version": PROJECT["version"]},
            "plugins": [{**ABOUT, "source": "./plugins/pgrag", "category": "documentation"}],
        },
        "plugins/pgrag/.claude-plugin/plugin.json": {
            **ABOUT,
            "author": {"name": "pgrag", "url": REPOSITORY},
            "repository": REPOSITORY,
            **shared,
        },
        "plugins/pgrag/.mcp.json": {"mcpServers": {"pgrag": SERVER}},
        "server.json": {
            "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/"
            "server.schema.json",
            **ABOUT,
            "name": REGISTRY_NAME,
            "title": "pgrag documentation search",
            "repository": {"url": REPOSITORY, "source": "github"},
            "packages": [
                {
                    "registryType": "pypi",
                    "identifier": PROJECT["name"],
                    "version": PROJECT["version"],
                    "runtimeHint": "uvx",
                    "transport": {"type": "stdio"},
                    "packageArguments": [{"type": "positional", "value": "mcp"}],
                    "environmentVariables": [
                        {
                            "name": "PGRAG_DATABASE_URL",
                            "description": "A PostgreSQL with pgvector; without it, one is started",
                            "isSecret": True,
                        },
                        {
                            "name": "PGRAG_HOME",
                            "description": "The folder of the database that is started",
                            "format": "filepath",
                        },
                    ],
                }
            ],
        },
    }


def links() -> str:
    """The links that install the server, for a page."""
    packed = base64.b64encode(json.dumps(SERVER).encode()).decode()
    cursor = f"https://cursor.com/en/install-mcp?{urlencode({'name': 'pgrag', 'config': packed})}"
    config = quote(json.dumps({"type": "stdio", **SERVER}))
    code = f"https://insiders.vscode.dev/redirect/mcp/install?name=pgrag&config={config}"
    return "\n".join(
        [
            "```text",
            f"/plugin marketplace add {OWNER}/{NAME}",
            "/plugin install pgrag@pgrag",
            "```",
            "",
            f"[Add to Cursor]({cursor}) · [Add to VS Code]({code})",
        ]
    )


def texts() -> Iterator[tuple[Path, str]]:
    """Each file with what it must hold."""
    for path, content in files().items():
        yield ROOT / path, json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    agents = ROOT / "docs" / "agents.md"
    before, _, rest = agents.read_text("utf-8").partition(FIRST)
    yield agents, f"{before}{FIRST}\n{links()}\n{LAST}{rest.partition(LAST)[2]}"
    readme = ROOT / "README.md"
    kept = [each for each in readme.read_text("utf-8").splitlines() if "mcp-name:" not in each]
    yield readme, "\n".join([*kept, MARK, ""])


if __name__ == "__main__":
    sys.exit(max([write(path, text, "pyproject.toml says") for path, text in [*texts()]]))
