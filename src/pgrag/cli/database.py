"""`pgrag db`: the database itself."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from pgrag.cli import options
from pgrag.cli.output import print_json, print_text
from pgrag.cli.session import opened

commands = typer.Typer(help="The database: bring it up to date, look into it, dump it, stop it.")
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@commands.command()
def upgrade() -> None:
    """Bring the schema, its functions and the built-in model up to date."""
    from pgrag import schema

    with opened() as app:
        before = schema.status(app.url)
        after = app.upgrade()
    if before.state == "current":
        print_text(f"The database is up to date (revision {after.revision}).")
    else:
        print_text(f"The database was {before.state}; now it has revision {after.revision}.")


@commands.command()
def status(as_json: options.Json = False) -> None:
    """Say where the database is, whether it runs, and what state its schema is in.

    Starts nothing.
    """
    from pgrag import schema
    from pgrag.settings import masked_url

    with opened() as app:
        facts: dict[str, Any] = {"embedded": app.is_embedded}
        if app.is_embedded:
            facts |= asdict(app.server.status())
        if not app.is_embedded or facts["running"]:
            facts["url"] = masked_url(app.url)
            facts |= asdict(schema.status(app.url))
    if as_json:
        print_json(facts)
        return
    for name, value in facts.items():
        if value is not None:
            print_text(f"{name:<16}{'yes' if value is True else 'no' if value is False else value}")


@commands.command()
def url(
    listen: Annotated[
        bool,
        typer.Option(
            "--listen", help="Let the embedded server listen on 127.0.0.1, for any program."
        ),
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Its port there; default: chosen once.")
    ] = None,
) -> None:
    """Print the database's URL, with its password, for other programs; starts the server."""
    with opened() as app:
        if app.is_embedded and (listen or port is not None):
            print_text(app.server.start(listen=True, port=port))
        else:
            print_text(app.url)


@commands.command(context_settings=_PASSED_ON)
def psql(context: typer.Context) -> None:
    """Open psql on the database; what follows goes to psql: pgrag db psql -- -c 'select …'."""
    from pgrag.embedded import binary

    with opened() as app:
        if app.is_embedded:
            app.require_schema()
        address = app.url
    # Functions and vector types are found without their schema, as well as with it.
    search_path = f"{os.environ.get('PGOPTIONS', '')} -c search_path=pgrag,public".strip()
    _become(binary("psql"), address, context.args, {"PGOPTIONS": search_path})


@commands.command(context_settings=_PASSED_ON)
def dump(context: typer.Context) -> None:
    """Write the schema pgrag and its data as SQL to stdout; what follows goes to pg_dump."""
    from pgrag.embedded import binary

    with opened() as app:
        address = app.url
    _become(binary("pg_dump"), address, ["--schema=pgrag", "--extension=vector", *context.args])


@commands.command()
def stop() -> None:
    """Stop the embedded server; it starts again when it is needed."""
    with opened() as app:
        stopped = app.server.stop()
        print_text(
            "The embedded server has stopped." if stopped else "The embedded server does not run."
        )


def _become(
    program: Path, address: str, arguments: list[str], environment: dict[str, str] | None = None
) -> NoReturn:
    """Let a PostgreSQL program take the place of this one.

    The password goes by the environment: arguments can be read by every user of the machine.
    """
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    from pgrag.embedded import binary_environment

    parameters = conninfo_to_dict(address)
    variables = binary_environment() | (environment or {})
    if password := parameters.pop("password", None):
        variables["PGPASSWORD"] = str(password)
    command = [program.name, f"--dbname={make_conninfo('', **parameters)}", *arguments]
    os.execve(program, command, variables)
