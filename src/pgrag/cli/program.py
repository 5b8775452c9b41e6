"""All commands, and their single exit."""

import gc
import inspect
import io
import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Annotated

import typer

from pgrag.cli.help import Command, Group
from pgrag.cli.notations import as_options
from pgrag.cli.output import complain
from pgrag.ground.errors import PgragError, disk_full, reason

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
        print(f"pgrag {version('pgrag-search')}")
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


def main() -> None:
    """Run; exit status 0: success, 1: failure or findings, 2: wrong usage, 130: interrupted."""
    # Imports create many objects that stay: scanning them for garbage takes a tenth of a search.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # "?" for characters that the locale lacks
    try:
        try:
            program(sys.argv[1:] or _completed())(prog_name="pgrag")
        finally:
            sys.stdout.flush()  # a full disk is told here, not by Python at exit
    except PgragError as error:
        _fail(error, as_options(error.message), error.hint and as_options(error.hint))
    except BrokenPipeError:
        # The reader has closed the output.
        _give_up_output()
        sys.exit(1)
    except Exception as error:
        if full := disk_full(error):
            _give_up_output()
            _fail(error, full.message, full.hint)
        message = f"Unexpected error: {reason(error)}."
        _fail(error, message, "Set PGRAG_LOG_LEVEL=debug to see where.")


def _give_up_output() -> None:
    """Let nothing more be written to stdout, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _completed() -> list[str]:
    """Return the words so far if a shell asks how to complete them."""
    words = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    return words.split()[1:] if "_PGRAG_COMPLETE" in os.environ else []


def _fail(error: Exception, message: str, hint: str | None) -> None:
    logging.getLogger(__name__).debug("the command failed", exc_info=error)
    complain(message, hint)
    sys.exit(1)
