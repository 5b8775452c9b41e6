"""Commands on records: `export`, `forget` and `retention`."""

import sys
from typing import Annotated, Any

import typer
from typer import Argument, Option

from pgrag.cli.command import App, command, text
from pgrag.cli.notations import counted, misuse
from pgrag.cli.options import Since, Until, moments
from pgrag.cli.output import Output, json_line, notice
from pgrag.cli.session import opened

FOREVER = "forever"


def export(function: str, since: Since, until: Until, **filters: Any) -> None:
    """Write the rows of an SQL function to stdout as JSON Lines."""
    count = 0
    with opened() as app:
        for row in app.database.stream(function, **moments(since, until), **filters):
            sys.stdout.write(json_line(row[function]))
            count += 1
    notice(f"Exported: {count:,}.")


def add_retention(
    commands: typer.Typer, *, forgetter: str, keeper: str, asker: str, removed: str, kept: str
) -> None:
    """Add `forget` and `retention`; `removed` and `kept` name the records: "Searches are"."""

    def forget(
        app: App,
        older_than: Annotated[
            int | None, Option(metavar="DAYS", min=0, help="Age in days; default: the retention.")
        ] = None,
    ) -> Output:
        interval = None if older_than is None else f"{older_than} days"
        [row] = app.database.query(
            f"select pgrag.{forgetter}(%s::interval) as forgotten", [interval]
        )
        return text(row, f"Forgotten: {row['forgotten']:,}.")

    def retention(
        app: App,
        days: Annotated[str | None, Argument(metavar="[DAYS]", help="1–36500, or forever.")] = None,
    ) -> Output:
        if days not in {None, FOREVER} and not str(days).isdecimal():
            raise misuse("DAYS", f"{days!r} is not a number of days; or give {FOREVER}.")
        if days is not None:
            number = None if days == FOREVER else int(days)
            app.database.query(f"select pgrag.{keeper}(%s::integer)", [number])
        [row] = app.database.query(f"select pgrag.{asker}() as days")
        told = "for ever" if row["days"] is None else f"for {counted(row['days'], 'day')}"
        return text(row, f"{kept} kept {told}.")

    forget.__doc__ = f"Remove {removed}."
    retention.__doc__ = f"Print how many days {kept.lower()} kept, or change it."
    for each in (forget, retention):
        commands.command()(command(each))
