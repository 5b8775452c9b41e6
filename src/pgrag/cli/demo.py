"""`pgrag demo`: from nothing to a search, by the commands that a user would type."""

import shlex
import sys
from typing import Annotated

import typer
from typer import Argument, Option

from pgrag.cli.notations import parse_target
from pgrag.cli.output import notice
from pgrag.ground.tree import resource

_QUESTION = "how is a hybrid search ranked"


def demo(
    source: Annotated[
        str | None,
        Argument(
            metavar="[SOURCE]",
            help="A folder, a file, an archive, a repository or a website; default: the"
            " documentation of pgrag.",
        ),
    ] = None,
    *,
    library: Annotated[
        str | None,
        Option(metavar="NAME[@VERSION]", help="Default: demo; of pgrag's documentation: pgrag."),
    ] = None,
    query: Annotated[
        str | None,
        Option(metavar="WORDS", help="What is searched; default: in pgrag's documentation alone."),
    ] = None,
    port: Annotated[
        int, Option(min=0, max=65535, help="Where the page is served; 0: one that is free.")
    ] = 8000,
    serve: Annotated[bool, Option(help="Serve the page after the search, until Ctrl-C.")] = True,
) -> None:
    """Index a source, search it, and serve the page; each step is a command that is shown first.

    Exit status 1 means that the source cannot be read, or the port is taken.
    """
    target = parse_target(library or ("demo" if source else "pgrag"))
    _run("db", "upgrade")
    # Some pages of a real folder may fail; the others are searched.
    _run("index", str(target), "--", source or str(resource("docs")))
    if words := query or ("" if source else _QUESTION):
        _run("search", "--library", str(target), "--top-k", "5", "--", words)
    else:
        notice(f"Now: pgrag search --library {target} 'words of yours'", is_whole=True)
    if serve and (status := _run("serve", "--port", str(port))):
        raise typer.Exit(status)


def _run(*words: str) -> int:
    """Run a command of this program; return its exit status."""
    from pgrag.cli.program import program  # which loads this module

    notice(f"$ pgrag {shlex.join(word for word in words if word != '--')}", is_whole=True)
    sys.argv[1:] = words  # what the search says about its next hits begins with its own words
    return int(program(words)(words, prog_name="pgrag", standalone_mode=False) or 0)
