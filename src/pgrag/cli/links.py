"""`pgrag links`: where every link leads, and which lead nowhere."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import counted, parse_target
from pgrag.cli.output import complain, notice, print_json, print_table, print_text
from pgrag.cli.session import opened, say_version, warn_of_missing_links

#: More links than any library has.
_EVERY = 2**40
#: Candidates that are named to people; --json has them all.
_LISTED = 4


class State(StrEnum):
    """What becomes of a link."""

    RESOLVED = "resolved"
    UNRESOLVED = "unresolved"
    AMBIGUOUS = "ambiguous"
    EXTERNAL = "external"
    ASSET = "asset"
    TAG = "tag"
    FRAGMENT = "fragment"
    BROKEN = "broken"
    ORPHAN = "orphan"


def links(
    target: options.LibraryVersion,
    *,
    state: Annotated[
        State | None,
        typer.Option(
            help="Only these; fragment: the page has no such heading; broken: unresolved,"
            " ambiguous or fragment; orphan: pages that no link leads to.",
            show_default=False,
        ),
    ] = None,
    page: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="Only those of this page: its key, url or id."),
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only these: links_to, embeds, …")
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Print what is broken as FILE:LINE: MESSAGE; exit status 1 if any is."
        ),
    ] = False,
    as_json: options.Json = False,
) -> None:
    """List the links of a version with where they lead.

    For CI: --check counts links that lead to no page or could lead to several, and fragments that
    their page does not have. Links to other sites and to files that are no pages are not looked at.
    Exit status 1 also if pages were indexed before links were read: nothing is known of theirs.
    """
    if check and state is not None:
        raise typer.BadParameter("chooses the states itself.", param_hint="--check")
    place = parse_target(target)
    with opened() as app:
        say_version(app, place.library, place.version)
        all_read = warn_of_missing_links(app, place.library, place.version)
        rows = app.database.call(
            "links",
            library=place.library,
            version=place.version,
            state="broken" if check else state and state.value,
            page=page,
            kind=kind,
            match_count=_EVERY,
        )
    if as_json:
        print_json(rows)
    elif check:
        for row in rows:
            print_text(f"{row['source_page']}:{row['line']}: {fault(row)}")
    elif state is State.ORPHAN:
        for row in rows:
            print_text(row["target_page"])
        notice(f"{counted(len(rows), 'page')} without a link from another page.")
    else:
        columns = ("where", "kind", "link", "leads to")
        print_table(
            columns,
            [
                (f"{row['source_page']}:{row['line']}", row["kind"], written(row), _leads_to(row))
                for row in rows
            ],
        )
        notice(f"{counted(len(rows), 'link')}.")
    if check and rows:
        complain(f"{counted(len(rows), 'link')} broken.")
    if check and (rows or not all_read):
        raise typer.Exit(1)


def written(row: dict[str, Any]) -> str:
    """Return target and fragment as they are written."""
    return f"{row['target']}#{row['fragment']}" if row["fragment"] else str(row["target"])


def fault(row: dict[str, Any]) -> str:
    """Return what is wrong with a broken link, in words."""
    if row["state"] == "unresolved":
        return f"{written(row)} leads to no page"
    if row["state"] == "ambiguous":
        return f"{written(row)} could be {_candidates(row, ' or ')}"
    return f"{row['target_page']} has no heading or block #{row['fragment']}"


def _leads_to(row: dict[str, Any]) -> str:
    if row["state"] == "ambiguous":
        return f"ambiguous: {_candidates(row, ', ')}"
    if row["target_page"] is None:
        return str(row["state"])
    return str(row["target_page"]) + ("" if row["fragment_found"] is not False else " (no heading)")


def _candidates(row: dict[str, Any], separator: str) -> str:
    pages = row["candidates"]
    more = [f"{len(pages) - _LISTED} more"] if len(pages) > _LISTED else []
    return separator.join([*pages[:_LISTED], *more])
