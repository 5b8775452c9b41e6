"""`pgrag config`: the configuration shared by all libraries, as one YAML file."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, Columns, listed, member, text
from pgrag.cli.notations import counted, label
from pgrag.cli.output import Output, Row, notice
from pgrag.ground.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from pgrag.service.configuration import Configuration

commands = typer.Typer(
    help="The configuration of all libraries: intents, query types, the rules that detect them,"
    " synonyms, types of pages and kinds of edges."
)
_SIGNS = {"add": "+", "change": "~", "remove": "-"}

File = Annotated[str, Argument(metavar="FILE", help="A YAML file; - reads stdin.")]
Exact = Annotated[bool, Option(help="Remove entries that are not in their section of the file.")]


@member(commands)
def show(
    app: App,
    sections: Annotated[
        list[str] | None,
        Argument(
            metavar="[SECTION]…",
            help="query_types, intents, rules, synonyms, page_types, edge_kinds, templates;"
            " default: all.",
        ),
    ] = None,
    version: Annotated[
        int | None, Option(metavar="ID", help="A former version: an id of `pgrag config history`.")
    ] = None,
    shipped: Annotated[bool, Option(help="As this release of pgrag ships it.")] = False,
) -> Output:
    """Print the configuration as YAML that `pgrag config apply` takes."""
    from pgrag.service import configuration

    whole = configuration.shipped().value if shipped else _stored(app, version)
    unknown = [section for section in sections or () if section not in whole]
    if unknown:
        raise InvalidInput(
            f"There is no section {unknown[0]!r}.", hint=f"Sections: {', '.join(sorted(whole))}."
        )
    chosen = {name: whole[name] for name in sections or whole}
    return text(chosen, configuration.to_yaml(chosen).rstrip())


def _stored(app: App, version: int | None) -> dict[str, Any]:
    if version is None:
        rows = app.database.call("configuration")
    else:
        history = app.database.call("configuration_history", top_k=10_000)
        rows = [row for row in history if row["version_id"] == version]
    if not rows:
        raise NotFound(
            f"There is no version {version} of the configuration.",
            hint="`pgrag config history` lists them.",
        )
    configuration: dict[str, Any] = rows[0]["configuration"]
    return configuration


@member(commands)
def diff(app: App, file: File, exact: Exact = False) -> Output:
    """Print what `pgrag config apply` would change."""
    entries = read_file(file)
    with entries.located_errors():
        rows = app.database.call("compare_configuration", entries=entries.value, exact=exact)
    return text(rows, *_changes(rows, "Nothing would change."))


@member(commands)
def apply(
    app: App,
    file: File,
    exact: Exact = False,
    note: Annotated[str, Option(help="Why; kept with the version.")] = "",
) -> Output:
    """Apply a YAML file: all of it or, if anything in it is invalid, nothing.

    Entries that the file does not name are unchanged; an entry that is null is removed. The
    resulting state is stored as a version. Pages that the new page types would read differently
    are counted: they stay unchanged until `pgrag index --changed-config` reads them again.
    """
    entries = read_file(file)
    with entries.located_errors():
        rows = app.database.call(
            "apply_configuration", entries=entries.value, exact=exact, note=note
        )
        has_page_types = any(row["section"] == "page_types" for row in rows)
        outdated = app.database.call("outdated_pages") if has_page_types else []
    for row in outdated:
        notice(
            f"{label(row['library'], row['version'])}: {row['pages']:,} of"
            f" {counted(row['total'], 'page')} must be read again."
        )
    if outdated:
        notice("`pgrag index --changed-config` does that.")
    return text(rows, *_changes(rows, "Nothing has changed."))


@member(commands)
def history(
    app: App,
    top_k: Annotated[int, Option(*options.LIMIT, min=1, help="Maximum number of versions.")] = 20,
) -> Output:
    """List the versions of the configuration, the newest first."""
    rows = app.database.call("configuration_history", top_k=top_k)
    for row in rows:
        del row["configuration"]
    columns: Columns = {
        "version": lambda row: str(row["version_id"]), "from": "origin", "note": "note",
        "time": "created_at",
    }  # fmt: skip
    return listed(rows, columns)


def read_file(file: str) -> "Configuration":
    """Read a YAML file, or stdin. Raises `SourceError`, or `InvalidInput` with the line."""
    from pgrag.service import configuration

    if file == "-":
        return configuration.read_configuration(sys.stdin.read(), "stdin")
    return configuration.read_file(file)


def _changes(rows: list[Row], nothing: str) -> list[str]:
    """Return a line for each entry, and for each field of an entry that is changed."""
    lines = []
    for row in rows:
        lines.append(f"{_SIGNS[row['change']]} {row['section']}/{row['name']}")
        if row["change"] == "change":
            before, after = row["before"], row["after"]
            lines += [
                f"    {field}: {before.get(field, '-')} → {after.get(field, '-')}"
                for field in sorted(before.keys() | after.keys())
                if before.get(field) != after.get(field)
            ]
    entries = "1 entry" if len(rows) == 1 else f"{len(rows):,} entries"
    return [*lines, f"{entries}."] if rows else [nothing]
