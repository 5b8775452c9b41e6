"""`pgrag libraries`, `versions`, `resolve` and `outline`: what there is."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from pgrag.cli import options
from pgrag.cli.arguments import parse_target
from pgrag.cli.output import notice, print_json, print_table, print_text, printable, stdout
from pgrag.cli.session import opened, say_version


def libraries(as_json: options.Json = False) -> None:
    """List the libraries."""
    with opened() as app:
        rows = app.database.call("libraries")
    if as_json:
        print_json(rows)
    elif rows:
        columns = ("library", "newest", "versions", "pages", "documents", "language", "model")
        print_table(columns, [[row[column] for column in columns] for row in rows])
    else:
        notice("No library is indexed yet: pgrag index LIBRARY SOURCE.")


def versions(library: options.LibraryName, as_json: options.Json = False) -> None:
    """List the versions of a library, the newest on top."""
    with opened() as app:
        rows = app.database.call("library_versions", library=library)
    if as_json:
        print_json(rows)
        return
    columns = ("version", "newest", "pages", "documents", "status", "updated", "source")
    print_table(
        columns,
        [
            (
                row["version"] or "(unversioned)",
                row["is_newest"],
                row["pages"],
                row["documents"],
                row["status"],
                row["updated_at"],
                row["source"].get("location", ""),
            )
            for row in rows
        ],
    )


def resolve(
    library: options.LibraryName,
    wanted: Annotated[
        str | None,
        typer.Argument(
            metavar="[WANTED]", help="A label, a range such as ^1.2, or latest.", show_default=False
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say which version a wish stands for, and why."""
    with opened() as app:
        [row] = app.database.call("resolve_version", library=library, wanted=wanted)
    if as_json:
        print_json(row)
    else:
        print_text(f"{row['version'] or '(unversioned)'}\t{row['reason']}")


def outline(
    target: options.LibraryVersion,
    page: Annotated[str, typer.Argument(help="Its key, url or id.", show_default=False)],
    as_json: options.Json = False,
) -> None:
    """Show the headings of a page as a tree."""
    place = parse_target(target)
    with opened() as app:
        say_version(app, place.library, place.version)
        [found] = app.database.call(
            "find_page", library=place.library, page=page, version=place.version
        )
        rows = app.database.call("outline", page_id=found["page_id"])
    if as_json:
        print_json(rows)
        return
    stdout().print(_tree(rows))
    print_text(f"{found['key']}  {found['url']}  (page {found['page_id']})")


def _tree(rows: list[dict[str, Any]]) -> Tree:
    branches: dict[int | None, Tree] = {}
    root: Tree | None = None
    for row in rows:
        shown = Text(printable(row["heading"]))
        if row["paragraphs"]:
            shown.append(f"  lines {row['line_start']}–{row['line_end']}", style="dim")
        if row["anchor"]:
            shown.append(f"  #{printable(row['anchor'])}", style="blue")
        above = branches.get(row["parent_id"], root)
        branch = Tree(shown) if above is None else above.add(shown)
        root = root or branch
        branches[row["document_id"]] = branch
    return root or Tree(Text("(no headings)"))
