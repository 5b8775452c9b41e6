"""`pgrag db` and `pgrag doctor`: the database itself, and what is wrong with it."""

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, command, listed, member, text
from pgrag.cli.dump import is_archive, portable, restore
from pgrag.cli.notations import counted, misuse, parse_target
from pgrag.cli.output import Output, notice, print_facts, print_indented, print_text, stdout
from pgrag.cli.progress import shown_step
from pgrag.cli.session import library_names, opened
from pgrag.ground.errors import DatabaseError, ReadOnly, SchemaOutdated
from pgrag.ground.printable import printable

commands = typer.Typer(help="The database: upgrade, inspect, dump, restore and stop it.")
_PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@commands.command()
def upgrade() -> None:
    """Bring the schema, its functions and the built-in model up to date."""
    from pgrag.ground import schema

    with opened() as app:
        before = schema.status(app.url)
        after = app.upgrade()
        with suppress(ReadOnly):
            [roles] = app.database.call("secure_tables")
            if not roles["secured"]:
                notice(roles["message"])
    if before.state == "current":
        print_text(f"The database is up to date (revision {after.revision}).")
    else:
        print_text(f"The database was {before.state}; now it has revision {after.revision}.")


@member(commands)
def status(app: App) -> Output:
    """Print where the database is, whether it runs, and the state of its schema; start nothing."""
    from pgrag.ground import schema
    from pgrag.ground.settings import masked_url

    facts: dict[str, Any] = {"embedded": app.is_embedded}
    if app.is_embedded:
        facts |= asdict(app.server.status())
    if not app.is_embedded or facts["running"]:
        facts["url"] = masked_url(app.url)
        state = schema.status(app.url)
        facts |= {**asdict(state), "message": state.message, "remedy": state.remedy or None}
    if app.read_url is not None:
        from pgrag.ground.standbys import standings

        facts["replicas"] = [each.finding.message for each in standings(app.url, app.read_url)]

    def shown(fact: Any) -> Any:
        if isinstance(fact, bool):
            return "yes" if fact else "no"
        return " ".join(fact) if isinstance(fact, list) else fact

    lines = [(name, shown(fact)) for name, fact in facts.items()]
    return Output(facts, lambda: print_facts(lines, width=16))


@commands.command()
def url(
    listen: Annotated[bool, Option("--listen", help="Listen on 127.0.0.1, too.")] = False,
    port: Annotated[int | None, Option(min=1, max=65535, help="Default: chosen once.")] = None,
) -> None:
    """Print the database's URL, with its password, for other programs; starts the server."""
    with opened() as app:
        is_opened = app.is_embedded and (listen or port is not None)
        print_text(app.server.start(listen=True, port=port) if is_opened else app.url)


@commands.command(context_settings=_PASSED_ON)
def psql(context: typer.Context) -> None:
    """Open psql on the database; type :pgrag there for commands of pgrag.

    Further arguments go to psql, which then has none of them: pgrag db psql -- -c 'select …'.
    """
    from pgrag.ground.poolers import pooling

    with opened() as app:
        if app.is_embedded:
            # psql must also open a database that no upgrade can bring up to date: to remove it.
            with suppress(SchemaOutdated):
                app.require_schema()
        address = app.url
    # The context of an error is a stack of pgrag's functions: no help to users. Wrapped columns
    # are for terminals only.
    arguments = ["--variable=SHOW_CONTEXT=never", "--pset=format=wrapped"]
    program, command, variables = _program("psql", address, [*arguments, *context.args])
    if not context.args:
        # It reads the user's own file last, as psql would have done.
        own = Path(variables.get("PSQLRC") or "~/.psqlrc").expanduser()
        command += [f"--variable=own_psqlrc={own}"] if own.is_file() else []
        variables["PSQLRC"] = str(Path(__file__).with_name("psqlrc"))
    # The search path finds functions and vector types with and without their schema. A pooler
    # refuses it, or leaves it to the next client.
    if pooling(address) == "none":
        search_path = f"{variables.get('PGOPTIONS', '')} -c search_path=pgrag,public".strip()
        variables["PGOPTIONS"] = search_path
    os.execve(program, command, variables)


@commands.command(context_settings=_PASSED_ON)
def dump(context: typer.Context) -> None:
    """Write the schema pgrag and its data as SQL to stdout; further arguments go to pg_dump."""
    from pgrag.ground.poolers import pooling

    with opened() as app:
        address = app.url
        if (kind := pooling(address)) in {"transaction", "statement"}:
            raise DatabaseError(
                f"pg_dump needs a session of its own, but PGRAG_DATABASE_URL is a pooler in {kind}"
                " mode.",
                hint="Run it with the direct address of the server:"
                " PGRAG_DATABASE_URL=postgresql://… pgrag db dump …",
            )
    # The roles of owners and privileges may not exist where the dump is restored.
    schemas = ["--schema=pgrag", "--schema=_pgrag", "--extension=vector"]
    anywhere = ["--no-owner", "--no-privileges"]
    # Nor may the tables of the user whose rows are searchable, without which these cannot be read.
    own = ("indexed_tables", "changed_rows")
    anywhere += [f"--exclude-table-data=pgrag.{name}" for name in own]
    program, command, variables = _program("pg_dump", address, [*schemas, *anywhere, *context.args])
    with subprocess.Popen(
        command, executable=program, env=variables, stdout=subprocess.PIPE
    ) as dumping:
        sys.stdout.buffer.writelines(portable(dumping.stdout or ()))
    raise typer.Exit(dumping.returncode)


@member(commands, "restore")
def restore_dump(
    app: App,
    file: Annotated[
        Path, Argument(metavar="FILE", help="What `pgrag db dump` wrote: SQL or an archive.")
    ],
    *,
    yes: Annotated[bool, Option("--yes", "-y", help="Replace what is there, do not ask.")] = False,
    as_json: options.Json = False,
) -> Output:
    """Replace the schema pgrag and its data by those of a dump, in one transaction.

    Views and other objects of yours that depend on the schema are dropped with it.
    """
    from pgrag.ground.embedded import binary

    is_archive(file)
    if (present := _contents(app)) and not yes and not _may_replace(present):
        return text(None, "Nothing was restored.", failed=True)
    program, command, variables = _program("psql", app.url, [])
    with shown_step(f"restoring {file}", hidden=as_json):
        restore(file, [str(program), *command[1:]], binary("pg_restore"), variables)
    app.upgrade()
    restored = _contents(app)
    return text({"restored": restored}, f"Restored {restored or 'a database without libraries'}.")


def _contents(app: App) -> str | None:
    """Return what a database of any revision holds; None without libraries."""
    from pgrag.ground import schema

    libraries, pages = schema.contents(app.url)
    noun = "library" if libraries == 1 else "libraries"
    return f"{libraries:,} {noun} with {counted(pages, 'page')}" if libraries else None


def _may_replace(present: str) -> bool:
    if not sys.stdin.isatty():
        raise misuse("--yes", f"there is no terminal to ask on; give --yes to replace {present}.")
    return typer.confirm(f"Replace {present}?", err=True)


@commands.command()
def stop() -> None:
    """Stop the embedded server; it starts again when needed."""
    outcomes = {
        None: "The embedded server does not run.",
        "fast": "The embedded server has stopped.",
        "immediate": "The embedded server ignored the request to stop, so it was ended at once (an"
        " immediate shutdown). It recovers at its next start; nothing committed is lost.",
    }
    with opened() as app:
        print_text(outcomes[app.server.stop()])


def _program(
    name: str, address: str, arguments: list[str]
) -> tuple[Path, list[str], dict[str, str]]:
    """Return a PostgreSQL program, its command for a database, and its environment.

    The environment passes the password: every user of the machine can read arguments.
    """
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    from pgrag.ground.embedded import binary, binary_environment

    parameters = conninfo_to_dict(address)
    variables = binary_environment()
    if password := parameters.pop("password", None):
        variables["PGPASSWORD"] = str(password)
    command = [name, f"--dbname={make_conninfo('', **parameters)}", *arguments]
    return binary(name), command, variables


CHECKS = ("documents", "pages", "vectors", "links", "statistics")
"""The checks of `pgrag.check_library`, one call each to show progress."""


@command
def doctor(
    app: App,
    library: Annotated[
        str | None,
        Argument(
            metavar="[LIBRARY[@VERSION]]",
            help="Check the ids, links, vectors and statistics of this library.",
            autocompletion=library_names,
        ),
    ] = None,
    *,
    repair: Annotated[bool, Option(help="With LIBRARY: repair what can be repaired.")] = False,
    settings: Annotated[bool, Option(help="List every setting and where it comes from.")] = False,
    as_json: options.Json = False,
) -> Output:
    """Check the database, its schema and the models, or one library, and print remedies.

    Exit status 1 means that something is wrong (with --repair: still is); warnings leave it at 0.
    """
    if library is not None:
        return _examine(app, library, repair=repair, as_json=as_json)
    if repair:
        raise misuse("--repair", "needs a library.")
    if settings:
        from pgrag.ground.settings import describe_settings, load_settings

        return listed(
            [asdict(setting) for setting in describe_settings(load_settings())],
            {"setting": "name", "value": "value", "source": "source", "meaning": "description"},
        )
    findings = app.findings()
    styles = {"ok": "green", "warning": "yellow", "wrong": "bold red"}

    def show() -> None:
        for finding in findings:
            mark = (f"{finding.level:<8}", styles[finding.level])
            _print(mark, f"{finding.name:<14} {finding.message}", finding.remedy, indent=22)

    healthy = all(finding.ok for finding in findings)
    return Output([asdict(finding) for finding in findings], show, failed=not healthy)


def _examine(app: App, library: str, *, repair: bool, as_json: bool) -> Output:
    target = parse_target(library)
    rows: list[dict[str, Any]] = []
    if repair:
        with shown_step("repairing", hidden=as_json):
            rows = app.database.call("repair_library", **target.scope)
    else:
        for check in CHECKS:
            with shown_step(f"checking {check}", hidden=as_json):
                rows += app.database.call("check_library", checks=[check], **target.scope)

    def show() -> None:
        for row in rows:
            _print_finding(row, str(target))
        if not rows:
            notice(f"{target}: nothing is wrong.")

    return Output(rows, show, failed=not all(row.get("repaired", False) for row in rows))


def _print(mark: tuple[str, str], message: str, *details: str | None, indent: int) -> None:
    stdout().print(Text.assemble(mark, printable(message)), soft_wrap=True)
    for detail in filter(None, details):
        print_indented(Text(printable(detail)), indent=indent)


def _print_finding(row: dict[str, Any], target: str) -> None:
    repaired = row.get("repaired")
    mark = ("repaired", "green") if repaired else ("wrong   ", "bold red")
    remedy = f"Run `{row['remedy'] or f'pgrag doctor {target} --repair'}`."
    is_open = repaired is None or (repaired is False and row["remedy"])
    problem = f"  {row['check']:<11} {row['count']:,} × {row['problem']}"
    _print(mark, problem, "; ".join(row["examples"]), remedy if is_open else None, indent=8)
