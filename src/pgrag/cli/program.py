"""All commands."""

import inspect
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Annotated

import typer

from pgrag.cli.help import Command, Group
from pgrag.cli.version import version

#: Commands and groups by panel of the help, with their modules, where they have the same name; a
#: group that is its whole module is called `commands`.
_PANELS = {
    "Find": {
        "search": "search", "grep": "pages", "query": "pages", "pages": "search",
        "facets": "search", "context": "search", "answer": "answer", "parse": "understanding",
        "suggest": "understanding",
    },
    "See what there is": {
        "libraries": "graph", "versions": "graph", "losses": "graph", "resolve": "graph",
        "pinned": "pinned", "compare": "compare", "outline": "graph", "read": "graph",
        "properties": "pages",
        "links": "links", "backlinks": "graph", "related": "graph", "neighbourhood": "graph",
        "path": "graph", "edges": "graph", "intent": "understanding",
    },
    "Bring in and take out": {
        "index": "index", "embed": "index", "tables": "tables", "enrich": "enrich",
        "configure": "manage", "config": "config", "synonyms": "understanding", "remove": "manage",
    },
    "Run": {
        "demo": "demo", "serve": "serve", "mcp": "serve", "worker": "jobs", "jobs": "jobs",
        "doctor": "database", "db": "database", "keys": "access",
    },
    "Observe": {
        "searches": "observe", "metrics": "observe", "gaps": "observe", "feedback": "observe",
        "audit": "access",
    },
    "Measure": {"tune": "manage", "eval": "evaluate"},
}  # fmt: skip


def program(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the command line with the named command alone, which is fast, else with all."""
    made = typer.Typer(
        name="pgrag",
        help="Documentation search inside PostgreSQL: index folders of Markdown, search them by"
        " words and by meaning.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        cls=Group,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    made.callback()(_options)
    all_names = [name for commands in _PANELS.values() for name in commands]
    names = [name for name in arguments[:1] if name in all_names] or all_names
    for panel, commands in _PANELS.items():
        for name in [name for name in commands if name in names]:
            _add(made, name, import_module(f"pgrag.cli.{commands[name]}"), panel)
    return made


def _add(made: typer.Typer, name: str, module: ModuleType, panel: str) -> None:
    command = getattr(module, name, None) or module.commands
    if isinstance(command, typer.Typer):
        made.add_typer(command, name=name, cls=Group, rich_help_panel=panel, no_args_is_help=True)
        added = command.registered_commands
    else:
        made.command(rich_help_panel=panel)(command)
        added = made.registered_commands[-1:]
    for each in added:
        each.cls = Command
        # Typer wraps help for the terminal: drop the line breaks of the source.
        about = inspect.getdoc(each.callback) or ""
        each.help = "\n\n".join(" ".join(part.split()) for part in about.split("\n\n"))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pgrag {version()}")
        raise typer.Exit


def _options(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass
