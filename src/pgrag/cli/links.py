"""`pgrag links`: where links lead, and which are broken."""

from typing import Annotated

import typer
from typer import Option

from pgrag.cli import options
from pgrag.cli.command import App, Output, Row, command, listed, text
from pgrag.cli.notations import counted
from pgrag.cli.session import resolved, told, warn_of_missing_links
from pgrag.ground.values.graph import LinkState

_ALL = 2**40
_LISTED = 4
"""The maximum number of candidates in the table; --json lists all."""


@command
def links(
    app: App,
    target: options.LibraryVersion,
    *,
    state: Annotated[
        LinkState | None,
        Option(
            help="Only links in this state; fragment: the page lacks the heading; broken:"
            " unresolved, ambiguous or fragment; orphan: pages without a link to them."
        ),
    ] = None,
    page: options.Page = None,
    kind: Annotated[
        str | None, Option(metavar="KIND", help="Only links of this kind: references, embeds, …")
    ] = None,
    check: Annotated[
        bool,
        Option(help="Print broken links as FILE:LINE: MESSAGE; exit status 1 if there are any."),
    ] = False,
) -> Output:
    """List the links of a version with where they lead.

    For CI: --check reports links that lead to no page or could lead to several, and fragments that
    their page does not have. Links to other sites and to files that are not pages are not checked.
    """
    if check and state is not None:
        raise typer.BadParameter("chooses the states itself.", param_hint="--check")
    library = resolved(app, target)
    warn_of_missing_links(app, library)
    states = "broken" if check else state
    rows = told(app, "links", **library.scope, state=states, page=page, kind=kind, top_k=_ALL)
    total = counted(len(rows), "link")
    if check:
        lines = [f"{row['source_page']}:{row['line']}: {_fault(row)}" for row in rows]
        errors = [f"{total} broken."] if rows else []
        notices = [] if rows else ["No link is broken."]
        return text(rows, *lines, notices=notices, errors=errors)
    if state == "orphan":
        total = f"{counted(len(rows), 'page')} without a link from another page."
        return text(rows, *(row["target_page"] for row in rows), notices=[total])
    return listed(
        rows,
        {
            "where": lambda row: f"{row['source_page']}:{row['line']}", "kind": "kind",
            "link": _written, "leads to": _leads_to,
        },
        total=f"{total}.",
    )  # fmt: skip


def _written(row: Row) -> str:
    """Return target and fragment as written in the source."""
    return f"{row['target']}#{row['fragment']}" if row["fragment"] else str(row["target"])


def _fault(row: Row) -> str:
    """Return what is wrong with a broken link."""
    if row["state"] == "unresolved":
        return f"{_written(row)} leads to no page"
    if row["state"] == "ambiguous":
        return f"{_written(row)} could be {_candidates(row, ' or ')}"
    return f"{row['target_page']} has no heading or block #{row['fragment']}"


def _leads_to(row: Row) -> str:
    if row["state"] == "ambiguous":
        return f"ambiguous: {_candidates(row, ', ')}"
    if row["target_page"] is None:
        return str(row["state"])
    return str(row["target_page"]) + ("" if row["fragment_found"] is not False else " (no heading)")


def _candidates(row: Row, separator: str) -> str:
    pages = row["candidates"]
    more = [f"{len(pages) - _LISTED} more"] if len(pages) > _LISTED else []
    return separator.join([*pages[:_LISTED], *more])
