"""All commands, and their single exit."""

import inspect
import io
import logging
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from pgrag.cli import (
    access,
    answer,
    compare,
    config,
    database,
    enrich,
    evaluate,
    graph,
    index,
    jobs,
    links,
    manage,
    observe,
    pages,
    search,
    serve,
    understanding,
)
from pgrag.cli.output import complain
from pgrag.errors import PgragError

program = typer.Typer(
    name="pgrag",
    help="Documentation search inside PostgreSQL: index folders of Markdown, search them by words"
    " and by meaning.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Find": (
        search.search,
        pages.grep,
        pages.query,
        search.pages,
        search.facets,
        search.context,
        answer.answer,
        understanding.parse,
        understanding.suggest,
    ),
    "See what there is": (
        graph.libraries,
        graph.versions,
        graph.resolve,
        compare.compare,
        graph.outline,
        graph.read,
        pages.properties,
        links.links,
        graph.backlinks,
        graph.related,
        graph.neighbourhood,
        graph.path,
        graph.edges,
        understanding.intent,
    ),
    "Bring in and take out": (
        index.index,
        index.embed,
        enrich.enrich,
        manage.configure,
        understanding.synonyms,
        manage.remove,
    ),
    "Run": (serve.serve, serve.mcp, jobs.worker, database.doctor),
    "Observe": (observe.gaps, observe.feedback),
    "Measure": (manage.tune,),
}
_GROUPS = {
    "searches": ("Observe", observe.searches),
    "metrics": ("Observe", observe.metrics),
    "eval": ("Measure", evaluate.commands),
    "config": ("Bring in and take out", config.commands),
    "db": ("Run", database.commands),
    "jobs": ("Run", jobs.jobs),
    "keys": ("Run", access.keys),
    "audit": ("Observe", access.audit),
}
for _panel, _commands in _PANELS.items():
    for _command in _commands:
        program.command(rich_help_panel=_panel)(_command)
for _name, (_panel, _group) in _GROUPS.items():
    program.add_typer(_group, name=_name, rich_help_panel=_panel, no_args_is_help=True)
for _each in (program, *(_group for _, _group in _GROUPS.values())):
    for _info in _each.registered_commands:
        # Help is wrapped for the terminal: the source's own line breaks would break it again.
        _about = inspect.getdoc(_info.callback) or ""
        _info.help = "\n\n".join(" ".join(part.split()) for part in _about.split("\n\n"))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pgrag {version('pgrag')}")
        raise typer.Exit


@program.callback()
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
    """Run the command line.

    Exit status: 0 done; 1 it failed, or something is wrong; 2 it was called wrongly; 130 it was
    interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A question mark replaces characters that the locale lacks.
            stream.reconfigure(errors="replace")
    try:
        program(prog_name="pgrag")
    except PgragError as error:
        _fail(error, error.message, error.hint)
    except BrokenPipeError:
        # The reader of the output has closed it; nothing can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        _fail(
            error,
            f"Unexpected error: {type(error).__name__}: {error}",
            "Set PGRAG_LOG_LEVEL=debug to see where.",
        )


def _fail(error: Exception, message: str, hint: str | None) -> None:
    logging.getLogger(__name__).debug("the command failed", exc_info=error)
    complain(message, hint)
    sys.exit(1)
