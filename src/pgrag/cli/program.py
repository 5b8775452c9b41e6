"""All commands, and the one door by which they leave."""

from __future__ import annotations

import io
import logging
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from pgrag.cli import (
    answer,
    browse,
    config,
    context,
    database,
    doctor,
    enrich,
    evaluate,
    graph,
    index,
    links,
    manage,
    mcp,
    observe,
    page_query,
    parse,
    results,
    search,
    serve,
    text,
    tune,
    understanding,
)
from pgrag.cli.output import complain
from pgrag.errors import PgragError

program = typer.Typer(
    name="pgrag",
    help="Documentation search inside PostgreSQL: index folders of Markdown, search them by words"
    " and by meaning.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Find": (
        search.search,
        text.grep,
        page_query.query,
        results.pages,
        results.facets,
        context.context,
        answer.answer,
        parse.parse,
        parse.suggest,
    ),
    "See what there is": (
        browse.libraries,
        browse.versions,
        browse.resolve,
        browse.outline,
        page_query.properties,
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
    "Run": (serve.serve, mcp.mcp, doctor.doctor),
}
for _panel, _commands in _PANELS.items():
    for _command in _commands:
        program.command(rich_help_panel=_panel)(_command)
program.command(rich_help_panel="Observe")(observe.feedback)
for _name, _group in {"searches": observe.searches, "metrics": observe.metrics}.items():
    program.add_typer(_group, name=_name, rich_help_panel="Observe", no_args_is_help=True)
program.command(rich_help_panel="Measure")(tune.tune)
program.add_typer(evaluate.commands, name="eval", rich_help_panel="Measure", no_args_is_help=True)
program.add_typer(
    config.commands, name="config", rich_help_panel="Bring in and take out", no_args_is_help=True
)
program.add_typer(database.commands, name="db", rich_help_panel="Run", no_args_is_help=True)


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
            # Better a question mark than no answer where the locale lacks a character.
            stream.reconfigure(errors="replace")
    try:
        program(prog_name="pgrag")
    except PgragError as error:
        _fail(error, error.message, error.hint)
    except BrokenPipeError:
        # Whoever read the output has had enough; nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        _fail(
            error,
            f"Something unforeseen happened: {type(error).__name__}: {error}",
            "Set PGRAG_LOG_LEVEL=debug to see where.",
        )


def _fail(error: Exception, message: str, hint: str | None) -> None:
    logging.getLogger(__name__).debug("the command failed", exc_info=error)
    complain(message, hint)
    sys.exit(1)
