"""The house rules that no linter knows: who may import what, and what is public."""

import ast
import importlib
import pkgutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pgrag

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(pgrag.__path__, "pgrag.")
    if module.name != "pgrag.__main__"
)
#: One owner per dependency: nobody else needs to change when it does.
OWNERS = {
    "psycopg": {
        "pgrag.cli.database", "pgrag.ground", "pgrag.ingest.pipeline", "pgrag.ingest.writer",
        "pgrag.models.embedding.builtin", "pgrag.service.configuration", "pgrag.service.connected",
        "pgrag.service.doctor",
    },
    "psycopg_pool": {"pgrag.ground.connections"},
    "sqlalchemy": {"pgrag.ground.orm", "pgrag.ground.schema", "pgrag.sqlalchemy"},
    "alembic": {"pgrag.ground.schema"},
    "httpx": {
        "pgrag.client.remote", "pgrag.ground.outgoing", "pgrag.ingest.source.web", "pgrag.models",
    },
    "httpcore": {"pgrag.ground.outgoing"},
    "watchfiles": {"pgrag.ingest.source.watching"},
    "fastapi": {"pgrag.api"},
    "starlette": {"pgrag.api"},
    "uvicorn": {"pgrag.api", "pgrag.cli"},
    "mcp": {"pgrag.api.application", "pgrag.mcp"},
    "mcp_types": {"pgrag.mcp"},
    "typer": {"pgrag.cli"},
    "rich": {"pgrag.cli"},
    "markdown_it": {"pgrag.ingest.text", "pgrag.rendering.blocks"},
    "nh3": {"pgrag.rendering.clean"},
    "selectolax": {
        "pgrag.ingest.formats.epub", "pgrag.ingest.formats.html", "pgrag.ingest.source.web.signals",
    },
    "docutils": {"pgrag.ingest.formats.rst"},
    "protego": {"pgrag.ingest.source.web.robots"},
    "yaml": {"pgrag.ingest.matter.yaml_values", "pgrag.service.configuration"},
    "frontmatter": {"pgrag.ingest.matter.front_matter"},
    "pydantic_settings": {"pgrag.ground.settings"},
    "mkdocs": {"pgrag.generators.mkdocs"},
    "sphinx": {"pgrag.generators.sphinx"},
    "haystack": {"pgrag.integrations.haystack"},
    "langchain_core": {"pgrag.integrations.langchain"},
    "llama_index": {"pgrag.integrations.llamaindex"},
}  # fmt: skip
#: What turns text into values knows no database, network or clock.
PURE = {
    "pgrag.answer.citations", "pgrag.answer.claims", "pgrag.answer.text",
    "pgrag.ground.errors", "pgrag.ingest.chunks", "pgrag.ingest.edges", "pgrag.ingest.formats",
    "pgrag.ingest.document", "pgrag.ingest.globs", "pgrag.ingest.matter", "pgrag.ingest.page",
    "pgrag.ingest.report", "pgrag.ingest.text", "pgrag.ingest.values",
    "pgrag.models.reranking.order",
    "pgrag.rendering.blocks", "pgrag.rendering.clean", "pgrag.rendering.links",
    "pgrag.rendering.marking", "pgrag.rendering.window",
}  # fmt: skip
#: The one reader that leaves the reading to a program: mandoc or groff.
RUNS_PROGRAMS = "pgrag.ingest.formats.man"


@cache
def tree(module: str) -> ast.Module:
    path = SOURCE / module.replace(".", "/")
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text("utf-8"))


@cache
def imported(module: str) -> set[str]:
    """The top packages that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add((node.module or "").partition(".")[0])
    return found


def is_within(module: str, owners: set[str]) -> bool:
    return any(module == owner or module.startswith(f"{owner}.") for owner in owners)


def test_dependencies_stay_with_their_owners_and_pure_modules_know_nothing_outside():
    outside = {"os", "time", "socket", "subprocess", "threading", "psycopg", "httpx"}
    pure = [module for module in MODULES if is_within(module, PURE) and module != RUNS_PROGRAMS]
    assert {m: known for m in pure if (known := outside & imported(m))} == {}
    for dependency, owners in OWNERS.items():
        users = {module for module in MODULES if dependency in imported(module)}
        assert users, "a rule that nothing follows any more"
        assert {module for module in users if not is_within(module, owners)} == set()


def test_only_settings_read_settings():
    """Others may hand the whole environment on to a process, and look up nothing of ours."""
    readers = {
        module
        for module in MODULES
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Constant) and str(node.value).startswith(("PGRAG_", "HYBRID_"))
        if "os" in imported(module)
    }
    assert readers <= {"pgrag.ground.settings", "pgrag.ground.plain_settings"}


def test_layers_of_imports_are_kept_and_hold_every_module():
    linter = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    layers = {name.strip() for layer in contract["layers"] for name in layer.split("|")}
    packages = {
        f"pgrag.{name}"
        for name in ("evaluation", "ground", "ingest", "models", "search", "service")
    }
    assert [m for m in MODULES if not is_within(m, layers) and m not in packages] == []


def test_public_names_exist_and_are_sorted():
    wrong = []
    for name in MODULES:
        # `make test-frameworks` and `make test-generators` import them.
        if is_within(name, {"pgrag.integrations", "pgrag.generators"}):
            continue
        module = importlib.import_module(name)
        names = getattr(module, "__all__", [])
        if names != sorted(names) or not all(hasattr(module, each) for each in names):
            wrong.append(name)
    assert wrong == []
