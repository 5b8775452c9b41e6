"""`pgrag backlinks`, `related`, `neighbourhood`, `path` and `edges`: what links say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import counted, parse_target
from pgrag.cli.output import notice, print_json, print_table
from pgrag.cli.session import opened, say_version, warn_of_missing_links

if TYPE_CHECKING:
    from pgrag.app import App


class Direction(StrEnum):
    """Which way edges are followed."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


PageName = Annotated[
    str, typer.Argument(metavar="PAGE", help="Its key, url or id.", show_default=False)
]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", metavar="KIND", help="Only edges of this kind; repeat it for more."),
]


def backlinks(
    target: options.LibraryVersion,
    page: PageName,
    kind: Kinds = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Links at most.")] = 100,
    as_json: options.Json = False,
) -> None:
    """List who links to a page, where, and in which sentence."""
    with _asked(target) as app:
        rows = app.database.call(
            "backlinks", page_id=_page_id(app, target, page), kinds=kind, match_count=limit
        )
    _show(
        rows,
        ("page", "line", "kind", "sentence"),
        lambda row: (row["key"], row["line"], row["kind"], row["sentence"]),
        "No page links there.",
        as_json,
    )


def related(
    target: options.LibraryVersion,
    page: PageName,
    limit: options.Limit = 10,
    as_json: options.Json = False,
) -> None:
    """List the pages that have most to do with a page, and why."""
    with _asked(target) as app:
        rows = app.database.call(
            "related_pages", page_id=_page_id(app, target, page), match_count=limit
        )
    _show(
        rows,
        ("score", "page", "title", "why"),
        lambda row: (row["score"], row["key"], row["title"], row["reason"]),
        "Nothing has to do with this page.",
        as_json,
    )


def neighbourhood(
    target: options.LibraryVersion,
    page: PageName,
    *,
    depth: Annotated[int, typer.Option("--depth", "-d", min=1, help="Steps at most.")] = 1,
    direction: Annotated[
        Direction, typer.Option(help="out: along links; in: against them.")
    ] = Direction.BOTH,
    kind: Kinds = None,
    fan_out: Annotated[
        int, typer.Option(min=1, metavar="N", help="From each page the strongest so many.")
    ] = 50,
    total: Annotated[int, typer.Option(min=1, metavar="N", help="Pages at most.")] = 500,
    as_json: options.Json = False,
) -> None:
    """List the pages around a page, as far as links lead in so many steps."""
    with _asked(target) as app:
        rows = app.database.call(
            "neighbourhood",
            page_id=_page_id(app, target, page),
            depth=depth,
            direction=direction.value,
            kinds=kind,
            fan_out=fan_out,
            total=total,
        )
    _show(
        rows,
        ("depth", "weight", "from", "by", "page", "sentence"),
        lambda row: (
            row["depth"], row["weight"], row["via_page"],
            f"{'→' if row['forward'] else '←'} {row['kind']}", row["key"], row["sentence"],
        ),
        "No link leads from this page or to it.",
        as_json,
    )  # fmt: skip


def path(
    target: options.LibraryVersion,
    from_page: Annotated[
        str, typer.Argument(metavar="FROM", help="Key, url or id.", show_default=False)
    ],
    to_page: Annotated[
        str, typer.Argument(metavar="TO", help="Key, url or id.", show_default=False)
    ],
    *,
    max_depth: Annotated[int, typer.Option(min=1, metavar="N", help="Steps at most.")] = 8,
    direction: Annotated[
        Direction, typer.Option(help="out: along links; in: against them.")
    ] = Direction.OUT,
    kind: Kinds = None,
    as_json: options.Json = False,
) -> None:
    """Show a shortest way from a page to another along links, with the sentence of each."""
    with _asked(target) as app:
        rows = app.database.call(
            "shortest_path",
            from_page=_page_id(app, target, from_page),
            to_page=_page_id(app, target, to_page),
            max_depth=max_depth,
            direction=direction.value,
            kinds=kind,
        )
    _show(
        rows,
        ("step", "page", "by", "line", "sentence"),
        lambda row: (
            row["step"], row["key"],
            row["kind"] and f"{'→' if row['forward'] else '←'} {row['kind']}",
            row["line"], row["sentence"],
        ),
        f"No way of at most {counted(max_depth, 'step')} leads from {from_page} to {to_page}.",
        as_json,
    )  # fmt: skip


def edges(
    target: options.LibraryVersion,
    query: Annotated[
        str | None, typer.Argument(help="What the edges shall say.", show_default=False)
    ] = None,
    *,
    page: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="Without a query: those of this page only."),
    ] = None,
    kind: Kinds = None,
    structure: Annotated[
        bool,
        typer.Option("--structure", help="With --page: also belongs_to, next and prev."),
    ] = False,
    min_score: options.MinScore = 0.0,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Edges at most.")] = 10,
    as_json: options.Json = False,
) -> None:
    """Search the edges between pages by meaning, or list them.

    `pgrag embed LIBRARY --edges` gives them vectors; without, words decide.
    """
    place = parse_target(target)
    if query is not None and (page is not None or structure):
        raise typer.BadParameter("--page and --structure are for a list, without a query.")
    if structure and page is None:
        raise typer.BadParameter("needs --page.", param_hint="--structure")
    with _asked(target) as app:
        if query is None:
            rows = app.database.call(
                "edges",
                library=place.library,
                version=place.version,
                page_id=None if page is None else _page_id(app, target, page),
                kinds=kind,
                structure=structure,
                match_count=limit,
            )
            said = []
        else:
            result = app.searching_as("cli").edges(
                query,
                library=place.library,
                version=place.version,
                kinds=kind,
                min_score=min_score,
                match_count=limit,
            )
            rows, said = result.rows, result.notices
    for word in said:
        notice(word)
    _show(
        rows,
        ("score", "page", "line", "kind", "target", "sentence"),
        lambda row: (
            row.get("score"), row["source_page"], row["line"], row["kind"],
            row["target_page"] or row["target"], row["sentence"],
        ),
        "No such edge.",
        as_json,
    )  # fmt: skip


@contextmanager
def _asked(target: str) -> Iterator[App]:
    """Open the app, and say which version is asked if it is not the one named."""
    place = parse_target(target)
    with opened() as app:
        say_version(app, place.library, place.version)
        warn_of_missing_links(app, place.library, place.version)
        yield app


def _page_id(app: App, target: str, page: str) -> int:
    """Return the id of a page that is named by key, url or id."""
    place = parse_target(target)
    [found] = app.database.call(
        "find_page", library=place.library, page=page, version=place.version
    )
    return int(found["page_id"])


def _show(
    rows: list[dict[str, Any]],
    columns: tuple[str, ...],
    shown: Callable[[dict[str, Any]], Sequence[Any]],
    nothing: str,
    as_json: bool,
) -> None:
    if as_json:
        print_json(rows)
    elif rows:
        print_table(columns, [shown(row) for row in rows])
    else:
        notice(nothing)
