"""`pgrag mcp`."""

from __future__ import annotations

import logging
import os
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer

from pgrag.cli.output import notice
from pgrag.cli.session import opened
from pgrag.errors import PgragError

if TYPE_CHECKING:
    from pgrag.app import App

log = logging.getLogger(__name__)


def mcp(
    allow_writes: Annotated[
        bool,
        typer.Option(
            "--allow-writes", help="Offer tools that index and remove (also PGRAG_MCP_WRITES)."
        ),
    ] = False,
    read_only: Annotated[
        bool,
        typer.Option(
            "--read-only",
            help="Offer nothing that writes, and record no search (also PGRAG_MCP_READ_ONLY).",
        ),
    ] = False,
) -> None:
    """Serve an agent over the Model Context Protocol, on stdin and stdout.

    It is started by the agent's program, not by hand; `pgrag serve` has the same at /mcp.
    """
    from pgrag.mcp.wire import take_wire

    if os.isatty(0):
        notice("This speaks to an agent's program, which starts it by itself. Ctrl-C ends it.")
    wire = take_wire()
    with opened() as app:
        Thread(target=_open_database, args=[app], name="pgrag mcp: database", daemon=True).start()
        from pgrag.mcp import stdio
        from pgrag.mcp.server import create_server

        server = create_server(
            app,
            writes=allow_writes or app.settings.mcp_writes,
            read_only=read_only or app.settings.mcp_read_only,
            # Without any, the agent may read what the user who started it may.
            roots=app.settings.mcp_roots or None,
        )
        ended_by = stdio.serve(server, wire)
    if ended_by is not None:
        raise typer.Exit(128 + ended_by)


def _open_database(app: App) -> None:
    """Have the database at hand when the first question comes; the agent still says hello."""
    try:
        app.database.call("libraries")
    except PgragError as error:
        log.warning("%s", error)
