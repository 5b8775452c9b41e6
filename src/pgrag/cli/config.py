"""`pgrag config`: what holds for all libraries, as one YAML file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import counted, label
from pgrag.cli.output import notice, print_json, print_table, print_text
from pgrag.cli.session import opened
from pgrag.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from pgrag.configuration import Configuration
    from pgrag.db import Row

commands = typer.Typer(
    help="What holds for all libraries: intents, query types, the rules that find them, synonyms,"
    " types of pages and kinds of edges."
)
_SIGNS = {"add": "+", "change": "~", "remove": "-"}

File = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A YAML file; - reads stdin.", show_default=False),
]
Exact = Annotated[
    bool,
    typer.Option("--exact", help="A section in the file is all there is of it: others go."),
]


@commands.command()
def show(
    sections: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SECTION]…",
            help="query_types, intents, rules, synonyms, page_types, edge_kinds, templates;"
            " default: all.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(metavar="ID", help="As it was: an id of `pgrag config history`."),
    ] = None,
    shipped: Annotated[
        bool, typer.Option("--shipped", help="As this release of pgrag ships it.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Print the configuration as YAML that `pgrag config apply` takes."""
    from pgrag import configuration

    if shipped:
        whole = configuration.shipped().value
    else:
        with opened() as app:
            if version is None:
                [row] = app.database.call("configuration")
                whole = row["configuration"]
            else:
                rows = app.database.call("configuration_history", match_count=10_000)
                found = [row for row in rows if row["version_id"] == version]
                if not found:
                    raise NotFound(
                        f"There is no version {version} of the configuration.",
                        hint="`pgrag config history` lists them.",
                    )
                whole = found[0]["configuration"]
    unknown = [section for section in sections or () if section not in whole]
    if unknown:
        raise InvalidInput(
            f"There is no section {unknown[0]!r}.", hint=f"Sections: {', '.join(sorted(whole))}."
        )
    shown = {name: whole[name] for name in sections or whole}
    if as_json:
        print_json(shown)
    else:
        print_text(configuration.to_yaml(shown).rstrip())


@commands.command()
def diff(file: File, exact: Exact = False, as_json: options.Json = False) -> None:
    """Say what `pgrag config apply` would change."""
    wanted = read_file(file)
    with opened() as app, wanted.located_errors():
        rows = app.database.call("compare_configuration", entries=wanted.value, exact=exact)
    _print_changes(rows, as_json, "Nothing would change.")


@commands.command()
def apply(
    file: File,
    exact: Exact = False,
    note: Annotated[str, typer.Option(help="Why; kept with the version.")] = "",
    as_json: options.Json = False,
) -> None:
    """Bring in a YAML file: all of it, or, where something in it is wrong, nothing.

    Entries that it does not name stay as they are; an entry that is null is removed. The state
    that follows is kept as a version. Pages that other page types would read otherwise are counted:
    they stay as they are until `pgrag index --changed-config` reads them again.
    """
    wanted = read_file(file)
    with opened() as app, wanted.located_errors():
        rows = app.database.call(
            "apply_configuration", entries=wanted.value, exact=exact, note=note
        )
        outdated = (
            app.database.call("outdated_pages")
            if any(row["section"] == "page_types" for row in rows)
            else []
        )
    _print_changes(rows, as_json, "Nothing has changed.")
    for row in outdated:
        notice(
            f"{label(row['library'], row['version'])}: {row['pages']:,} of"
            f" {counted(row['total'], 'page')} must be read again."
        )
    if outdated:
        notice("`pgrag index --changed-config` does that.")


@commands.command()
def history(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Versions at most.")] = 20,
    as_json: options.Json = False,
) -> None:
    """List the versions of the configuration, the newest first."""
    with opened() as app:
        rows = app.database.call("configuration_history", match_count=limit)
    for row in rows:
        del row["configuration"]
    if as_json:
        print_json(rows)
        return
    print_table(
        ("version", "from", "note", "time"),
        [(str(row["version_id"]), row["origin"], row["note"], row["created_at"]) for row in rows],
    )


def read_file(file: str) -> Configuration:
    """Read a YAML file, or stdin. Raises `SourceError`, or `InvalidInput` with the line."""
    from pgrag import configuration

    if file == "-":
        return configuration.read_configuration(sys.stdin.read(), "stdin")
    return configuration.read_file(file)


def _print_changes(rows: list[Row], as_json: bool, nothing: str) -> None:
    if as_json:
        print_json(rows)
        return
    if not rows:
        print_text(nothing)
        return
    for row in rows:
        print_text(f"{_SIGNS[row['change']]} {row['section']}/{row['name']}")
        if row["change"] == "change":
            for field, before, after in _fields(row["before"], row["after"]):
                print_text(f"    {field}: {before} → {after}")
    print_text(counted(len(rows), "entry").replace("entrys", "entries") + ".")


def _fields(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    return [
        (field, before.get(field, "-"), after.get(field, "-"))
        for field in sorted(before.keys() | after.keys())
        if before.get(field) != after.get(field)
    ]
