"""`pgrag serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from pgrag.cli.session import opened


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: one that is free.")] = 8000,
) -> None:
    """Serve the search over REST; /docs describes it."""
    import uvicorn

    from pgrag.api import create_app

    with opened() as app:
        uvicorn.run(
            create_app(app), host=host, port=port, log_level=app.settings.log_level, ws="none"
        )
