"""`pgrag tables`: tables of one's own that are searched."""

from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, Columns, listing, member, text
from pgrag.cli.notations import counted
from pgrag.cli.output import Output, Row, notice
from pgrag.cli.session import resumable

tables = typer.Typer(help="Tables of your own whose rows are searched: index, refresh, list.")

_Column = Annotated[str | None, Option(metavar="COLUMN")]
_COLUMNS: Columns = {
    "library": "library", "table": lambda row: row["source"] or "(dropped)",
    "text": lambda row: ", ".join(row["columns"]["text"]), "pages": "pages",
    "followed by": lambda row: "triggers" if row["watched"] else "comparison",
    "waiting": lambda row: "all rows" if row["waiting"] is None else row["waiting"],
}  # fmt: skip

tables.command()(
    listing(
        "list", "indexed_tables", "List the tables, with the changes that are not read yet.",
        {}, _COLUMNS, nothing="No table is indexed: pgrag tables index TABLE --text COLUMN.",
    )
)  # fmt: skip


@member(tables)
def index(
    app: App,
    table: Annotated[str, Argument(metavar="TABLE", help="public.tickets; a view is one, too.")],
    *,
    columns: Annotated[str, Option("--text", metavar="COLUMNS", help="Searched: body,notes.")],
    title: _Column = None,
    id: Annotated[str | None, Option(metavar="COLUMNS", help="Default: the primary key.")] = None,
    into: Annotated[
        str | None, Option("--library", "-l", metavar="NAME", help="Default: the table's name.")
    ] = None,
    form: Annotated[
        Literal["text", "markdown", "html"], Option("--format", help="How the text is read.")
    ] = "text",
    url: Annotated[
        str | None, Option(metavar="COLUMN", help="Or an address with {key} in it.")
    ] = None,
    kind: Annotated[str | None, Option("--type", metavar="COLUMN")] = None,
    tags: Annotated[
        str | None, Option(metavar="COLUMN", help="An array, or a text with commas.")
    ] = None,
    language: Annotated[
        str | None, Option(metavar="COLUMN", help="Or the language of all rows.")
    ] = None,
    created: _Column = None,
    modified: _Column = None,
    metadata: Annotated[
        str | None, Option(metavar="COLUMNS", help="For filters, as front matter; * is all others.")
    ] = None,
    no_watch: Annotated[bool, Option(help="Make no triggers.")] = False,
) -> Output:
    """Make the rows of a table pages of a library, and keep them so.

    Triggers note which rows change; a worker (pgrag serve, pgrag worker) reads them within seconds,
    or pgrag tables refresh. To end it, remove the library.
    """
    [row] = app.database.call(
        "index_table", source=table, text=columns, title=title, id=id, library=into,
        format=form, url=url, type=kind, tags=tags, language=language, created=created,
        modified=modified, metadata=metadata, watch=not no_watch,
    )  # fmt: skip
    return _refreshed(app, row["index_table"])


@member(tables)
def refresh(
    app: App,
    library: options.LibraryName,
    *,
    compare: Annotated[bool, Option(help="Compare all rows, not only those noted.")] = False,
) -> Output:
    """Read the rows that have changed."""
    return _refreshed(app, library, compare=compare)


def _refreshed(app: App, library: str, **arguments: Any) -> Output:
    def tell(row: Row) -> None:
        if row["waiting"]:
            notice(f"{library}: {row['written']:,} written, {row['waiting']:,} still to read.")

    with resumable():
        row = app.refresh_table(library, told=tell, **arguments)
    return text(
        {"library": library, **row},
        f"{library}: {counted(row['written'], 'page')} written, {row['unchanged']:,} unchanged,"
        f" {row['removed']:,} removed.",
        errors=[f"{counted(row['failed'], 'row')} cannot be stored."] if row["failed"] else [],
    )
