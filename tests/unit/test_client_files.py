"""What clients of MCP install pgrag from fits their schemas; the skill names what there is."""

import base64
import json
import re
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import yaml
from typer.main import get_command

from pgrag.cli.program import program
from pgrag.mcp.tools import offered

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PLUGIN = ROOT / "plugins" / "pgrag"
SERVER = {"command": "uvx", "args": ["pgrag-search", "mcp"]}


def read(path):
    return json.loads((ROOT / path).read_text("utf-8"))


def test_the_registry_would_take_the_server():
    server = read("server.json")
    # The published schema and its validator: https://static.modelcontextprotocol.io/schemas.
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", server["name"])
    assert 0 < len(server["description"]) <= 100
    assert len(server["title"]) <= 100
    [package] = server["packages"]
    assert {"registryType", "identifier", "version", "transport"} <= package.keys()
    assert package["identifier"] == PROJECT["name"]
    assert server["version"] == package["version"] == PROJECT["version"]
    # It reads the owner's name from the page of the package, which is the README.
    assert PROJECT["readme"] == "README.md"
    assert f"mcp-name: {server['name']} " in (ROOT / "README.md").read_text("utf-8")
    assert server["name"].split("/")[0].rpartition(".")[2] in PROJECT["urls"]["Repository"]
    # uvx starts the command that is called like the distribution.
    assert PROJECT["scripts"][package["identifier"]] == PROJECT["scripts"]["pgrag"]


def test_the_marketplace_leads_to_the_plugin_and_the_plugin_to_the_server():
    [listed] = read(".claude-plugin/marketplace.json")["plugins"]
    assert (ROOT / listed["source"]).resolve() == PLUGIN
    plugin = read("plugins/pgrag/.claude-plugin/plugin.json")
    assert [plugin[each] for each in ("name", "version")] == [listed["name"], listed["version"]]
    assert plugin["version"] == PROJECT["version"]
    assert read("plugins/pgrag/.mcp.json") == {"mcpServers": {"pgrag": SERVER}}


def test_the_links_start_the_same_server():
    page = (ROOT / "docs" / "agents.md").read_text("utf-8")
    [cursor] = re.findall(r"\]\((https://cursor\.com/[^)]+)\)", page)
    [config] = parse_qs(urlsplit(cursor).query)["config"]
    assert json.loads(base64.b64decode(config)) == SERVER
    [code] = re.findall(r"\]\((https://insiders\.vscode\.dev/[^)]+)\)", page)
    [config] = parse_qs(urlsplit(code).query)["config"]
    assert json.loads(config) == {"type": "stdio", **SERVER}


def test_the_skill_names_tools_and_arguments_that_there_are():
    [file] = PLUGIN.glob("skills/*/SKILL.md")
    _, front, text = file.read_text("utf-8").split("---\n", 2)
    about = yaml.safe_load(front)
    assert about["name"] == file.parent.name
    assert 50 < len(about["description"]) <= 1024
    tools = {tool.name: tool for tool in offered(writes=False, read_only=True)}
    told = re.findall(r"`(\w+_\w+)(?:\(([^`]*)\))?`", text)
    assert {name for name, _ in told} <= {tool.name for tool in tools.values() if tool.is_default}
    for name, arguments in told:
        given = set(re.findall(r"(\w+)=", arguments))
        assert given <= set(tools[name].schema["properties"]), (name, given)
    commands = get_command(program()).commands
    assert set(re.findall(r"`uvx pgrag-search (\w+)", text)) <= commands.keys()
