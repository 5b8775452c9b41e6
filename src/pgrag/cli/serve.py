"""`pgrag serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from pgrag.cli.session import opened

GRACE_SECONDS = 30
"""What requests get to end after a stop; a language model may be silent for longer."""


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: one that is free.")] = 8000,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Pages of this origin may call too: https://docs.example"),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="It may be called by this name, too (see docs/agents.md)."
        ),
    ] = None,
) -> None:
    """Serve the search over REST (/docs describes it), and to agents over MCP at /mcp."""
    import uvicorn

    from pgrag.api import create_app
    from pgrag.api.callers import is_loopback

    with opened() as app:
        api = create_app(
            app,
            cors_origins=allow_origin or (),
            hosts=allow_host or () if allow_host or is_loopback(host) else None,
        )
        uvicorn.run(
            api,
            host=host,
            port=port,
            log_level=app.settings.log_level,
            ws="none",
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
