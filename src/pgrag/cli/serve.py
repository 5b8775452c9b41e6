"""`pgrag serve` and `pgrag mcp`: services for programs and agents."""

import gc
import logging
import os
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from pgrag.cli.at_start import indexing, parse_wanted
from pgrag.cli.notations import misuse
from pgrag.cli.output import notice
from pgrag.cli.session import opened
from pgrag.cli.sockets import listening, measured
from pgrag.ground.errors import DatabaseUnavailable, PgragError, SettingsError

if TYPE_CHECKING:
    from pgrag.service.access import Policy
    from pgrag.service.app import App

log = logging.getLogger(__name__)

GRACE_SECONDS = 30
"""Time for requests to end after a stop; a language model may be silent for longer."""


def serve(
    *,
    host: Annotated[str, Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(min=0, max=65535, help="0: one that is free.")] = 8000,
    allow_origin: Annotated[
        list[str] | None,
        Option(metavar="URL", help="Also allow pages of this origin: https://docs.example"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="Also allow this host name (see docs/agents.md)."),
    ] = None,
    allow_writes: Annotated[
        bool, Option("--allow-writes", help="Let callers without a key write over REST.")
    ] = False,
    require_keys: Annotated[
        bool, Option("--require-keys", help="Require keys on this machine, too.")
    ] = False,
    index: Annotated[
        list[str] | None,
        Option(
            metavar="LIBRARY[@VERSION]=SOURCE",
            help="Index it while serving: handbook@2.0=docs. Repeat it for more.",
        ),
    ] = None,
    worker: Annotated[
        bool, Option("--worker/--no-worker", help="Also work on jobs; see `pgrag jobs`.")
    ] = True,
    open_: Annotated[int, Option("--open", count=True, help="Given twice: no keys anywhere.")] = 0,
) -> None:
    """Serve REST (described at /docs), and MCP for agents at /mcp.

    Callers on this machine read without a key. Any other address requires keys; see `pgrag keys`.
    """
    import uvicorn

    from pgrag.api import create_app
    from pgrag.api.connections import configured
    from pgrag.api.origins import is_loopback
    from pgrag.service.worker import Worker

    wanted = parse_wanted(index or ())
    policy = _policy(host, allow_writes=allow_writes, require_keys=require_keys, times_open=open_)
    sockets = listening(host, port)
    with opened(in_log=True) as app, measured(app) as metrics:
        if policy.needs_key:
            _require_a_key(app, host)
        api = create_app(
            app,
            policy=policy,
            cors_origins=allow_origin or (),
            hosts=allow_host or () if allow_host or is_loopback(host) else None,
            worker=Worker(app) if worker else None,
            metrics=metrics,
        )
        is_json = app.settings.log_format == "json"
        configuration = configured(
            api, app.settings, host=host, port=port, log_level=app.settings.log_level,
            timeout_graceful_shutdown=GRACE_SECONDS,
            # In JSON each request has a line of its own, and all lines one form.
            log_config=None if is_json else uvicorn.config.LOGGING_CONFIG, access_log=not is_json,
        )  # fmt: skip
        server = uvicorn.Server(configuration)
        # uvicorn names the address only of sockets that it binds itself.
        shown = f"[{host}]" if ":" in host else host
        notice(f"Serving on http://{shown}:{sockets[0].getsockname()[1]} (Ctrl-C stops it).")
        # Keep the collector from scanning objects that stay for good.
        gc.collect()
        gc.freeze()
        with suppress(KeyboardInterrupt), indexing(app, wanted):
            server.run(sockets=sockets)
        if not server.started:
            raise typer.Exit(1)


def _policy(host: str, *, allow_writes: bool, require_keys: bool, times_open: int) -> "Policy":
    """Return who may call without a key, by the address that the service listens on."""
    from pgrag.api.origins import is_loopback
    from pgrag.service.access import Policy

    if require_keys and times_open:
        raise misuse("--open", "contradicts --require-keys.")
    if times_open == 1 and not is_loopback(host):
        raise misuse(
            "--open",
            f"lets everybody who reaches {host} read all libraries without a key; give it twice if"
            " that is meant.",
        )
    needs_key = require_keys or not (is_loopback(host) or times_open)
    if allow_writes and needs_key:
        raise misuse(
            "--allow-writes", "is for callers without a key, and here every caller needs one."
        )
    return Policy(needs_key=needs_key, allow_writes=allow_writes)


def _require_a_key(app: "App", host: str) -> None:
    """Raise `SettingsError` if there is no key, and so nobody could use the service."""
    from pgrag.service.access import is_any_key

    try:
        if is_any_key(app.database):
            return
    except DatabaseUnavailable as error:
        # The service refuses requests until the database answers.
        log.warning("%s", error)
        return
    raise SettingsError(
        f"Callers of {host} need a key, and there is none.",
        hint="Create one with `pgrag keys create NAME --libraries '*'`; or give --open twice to let"
        " everybody who reaches this address read.",
    )


def mcp(
    allow_writes: Annotated[
        bool, Option("--allow-writes", help="Offer tools that write (also PGRAG_MCP_WRITES).")
    ] = False,
    read_only: Annotated[
        bool,
        Option(
            "--read-only",
            help="Offer nothing that writes, and record no search (also PGRAG_MCP_READ_ONLY).",
        ),
    ] = False,
    tools: Annotated[
        str | None,
        Option(
            "--tools",
            help="Tools that agents are told of: default, all, or names (also PGRAG_MCP_TOOLS).",
        ),
    ] = None,
) -> None:
    """Serve an agent over the Model Context Protocol, on stdin and stdout.

    The agent's program starts it; `pgrag serve` offers the same at /mcp.
    """
    from pgrag.mcp.wire import take_wire

    if os.isatty(0):
        notice("This command speaks MCP to an agent's program, which starts it. Ctrl-C ends it.")
    wire = take_wire()
    with opened(in_log=True) as app:
        Thread(target=_open_database, args=[app], name="pgrag mcp: database", daemon=True).start()
        from pgrag.mcp import stdio
        from pgrag.mcp.server import create_server
        from pgrag.mcp.workplace import Workplace

        server = create_server(
            app,
            writes=allow_writes or app.settings.mcp_writes,
            read_only=read_only or app.settings.mcp_read_only,
            listed=tools or app.settings.mcp_tools,
            # Without roots, the agent may read what the user who started it may read.
            roots=app.settings.mcp_roots or None,
            workplace=Workplace(Path.cwd()),
        )
        ended_by = stdio.serve(server, wire)
    if ended_by is not None:
        raise typer.Exit(128 + ended_by)


def _open_database(app: "App") -> None:
    """Open the database before the first call; the agent connects even if that fails."""
    try:
        app.database.call("libraries")
    except PgragError as error:
        log.warning("%s", error)
