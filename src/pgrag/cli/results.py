"""`pgrag pages` and `pgrag facets`: whole pages, and what the pages found are."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.text import Text

from pgrag.cli import options
from pgrag.cli.arguments import counted, label, parse_filters, parse_levels
from pgrag.cli.hits import say_nothing_found
from pgrag.cli.output import (
    marked,
    notice,
    print_indented,
    print_json,
    print_table,
    printable,
    stdout,
)
from pgrag.cli.session import opened, say_version

_INDENT = 8


def pages(
    query: options.Query,
    *,
    library: options.Library = None,
    version: options.Version = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Pages at most.")] = 10,
    aggregate: Annotated[
        options.Aggregate | None,
        typer.Option(
            help="A page scores its best hit, the mean of its best three, or its share of the"
            " ranks; default: max."
        ),
    ] = None,
    hierarchy: options.PreferredHierarchy = None,
    mmr_lambda: options.MmrLambda = None,
    intent: options.Intent = None,
    graph: options.Graph = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="Print the whole pages instead of an excerpt.")
    ] = False,
    condition: options.Filter = None,
    filters: options.Filters = None,
    alpha: options.Alpha = None,
    fusion: options.FusionMethod = None,
    min_score: options.MinScore = 0.0,
    levels: options.Levels = None,
    model: options.Model = None,
    after: Annotated[
        str | None,
        typer.Option(metavar="CURSOR", help="Go on after this page of an earlier search."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Search for pages: one row each, with the passage that speaks for it."""
    name, wanted = options.scope(library, version)
    conditions = parse_filters(condition or (), filters)
    with opened() as app:
        say_version(app, name, wanted, conditions)
        result = app.searching_as("cli").pages(
            query,
            library=name,
            version=wanted,
            match_count=limit,
            filters=conditions,
            alpha=alpha,
            fusion=fusion and fusion.value,
            min_score=min_score,
            levels=parse_levels(levels),
            model=model,
            aggregate=aggregate and aggregate.value,
            hierarchy=hierarchy and hierarchy.value,
            mmr_lambda=mmr_lambda,
            intent=intent,
            graph=graph,
            whole=whole,
            after=after,
        )
        for text in result.notices:
            notice(text)
        if as_json:
            print_json(result.rows)
            return
        for rank, row in enumerate(result.rows, start=1):
            _print_page(rank, row, whole=whole)
        if not result.rows:
            say_nothing_found(app, query)
        elif len(result.rows) == limit:
            notice(f"More: --after {result.rows[-1]['cursor']}")


def facets(
    query: Annotated[
        str | None,
        typer.Argument(help="What to search for; without it all pages count.", show_default=False),
    ] = None,
    *,
    library: options.Library = None,
    version: options.Version = None,
    values: Annotated[
        int, typer.Option("--values", min=1, metavar="N", help="Values of each facet at most.")
    ] = 20,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="Count over so many best hits.")
    ] = 200,
    condition: options.Filter = None,
    filters: options.Filters = None,
    alpha: options.Alpha = None,
    min_score: options.MinScore = 0.0,
    levels: options.Levels = None,
    model: options.Model = None,
    as_json: options.Json = False,
) -> None:
    """Count what the pages of a search are; each value can be used as a --filter."""
    name, wanted = options.scope(library, version)
    conditions = parse_filters(condition or (), filters)
    with opened() as app:
        say_version(app, name, wanted, conditions)
        result = app.search.facets(
            query,
            library=name,
            version=wanted,
            value_count=values,
            match_count=limit,
            filters=conditions,
            alpha=alpha,
            min_score=min_score,
            levels=parse_levels(levels),
            model=model,
        )
        for text in result.notices:
            notice(text)
        if as_json:
            print_json(result.rows)
        elif result.rows:
            columns = ("facet", "value", "page_count")
            print_table(
                ("facet", "value", "pages"),
                [[row[column] for column in columns] for row in result.rows],
            )
        else:
            say_nothing_found(app, query or "")


def _print_page(rank: int, row: dict[str, Any], *, whole: bool) -> None:
    console = stdout()
    if rank > 1:
        console.print()
    console.print(
        Text.assemble(
            f"{rank:>3}  ",
            (f"{row['score']:.3f}  ", "cyan"),
            (printable(row["title"]), "bold"),
        ),
        soft_wrap=True,
    )
    place = f"{label(row['library'], row['version'])} › {row['key']}"
    if row["passage_count"]:
        place += f" ({counted(row['passage_count'], 'passage')})"
    print_indented(Text(printable(place), style="dim"), indent=_INDENT)
    anchor = f"#{row['anchor']}" if row["anchor"] and not whole else ""
    print_indented(Text(printable(row["url"] + anchor), style="blue"), indent=_INDENT)
    text = Text(printable(row["content"])) if whole else marked(row["snippet"])
    print_indented(text, indent=_INDENT)
