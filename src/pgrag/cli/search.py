"""`pgrag search`."""

from __future__ import annotations

from typing import Annotated

import typer

from pgrag.cli import options
from pgrag.cli.arguments import parse_filters, parse_levels
from pgrag.cli.hits import print_hit, say_nothing_found
from pgrag.cli.output import notice, print_json
from pgrag.cli.session import opened, say_version


def search(
    query: options.Query,
    *,
    library: options.Library = None,
    version: options.Version = None,
    limit: options.Limit = 10,
    alpha: options.Alpha = None,
    fusion: options.FusionMethod = None,
    min_score: options.MinScore = 0.0,
    levels: options.Levels = None,
    max_per_page: options.MaxPerPage = None,
    condition: options.Filter = None,
    filters: options.Filters = None,
    model: options.Model = None,
    keyword: Annotated[bool, typer.Option("--keyword", help="Search by words alone.")] = False,
    semantic: Annotated[bool, typer.Option("--semantic", help="Search by meaning alone.")] = False,
    snippets: Annotated[
        bool | None,
        typer.Option(
            "--snippets/--full",
            help="An excerpt or the whole text; default: an excerpt, with --json the text.",
            show_default=False,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what led to each score.")
    ] = False,
    intent: options.Intent = None,
    unit: Annotated[
        options.Unit | None, typer.Option(help="What a hit is; default: a document.")
    ] = None,
    aggregate: Annotated[
        options.Aggregate | None, typer.Option(help="What makes the score of a page; default: max.")
    ] = None,
    hierarchy: options.PreferredHierarchy = None,
    mmr_lambda: options.MmrLambda = None,
    query_expansion: options.QueryExpansion = None,
    graph: options.Graph = None,
    rerank: Annotated[
        bool, typer.Option("--rerank", help="Let the reranker score the best hits anew.")
    ] = False,
    rerank_depth: Annotated[
        int, typer.Option(min=1, max=1000, help="So many hits are scored anew.")
    ] = 50,
    after: Annotated[
        str | None,
        typer.Option(metavar="CURSOR", help="Go on after this hit of an earlier search."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Search the documentation by words and by meaning."""
    _refuse_contradictions(
        keyword=keyword,
        semantic=semantic,
        hybrid_only={"--alpha": alpha, "--fusion": fusion},
        model=model,
    )
    if rerank and after is not None:
        raise typer.BadParameter("a reranked list has one page.", param_hint="--after")
    name, wanted = options.scope(library, version)
    conditions = parse_filters(condition or (), filters)
    arguments = {
        "library": name,
        "version": wanted,
        "match_count": limit,
        "alpha": alpha,
        "fusion": fusion and fusion.value,
        "min_score": min_score,
        "levels": parse_levels(levels),
        "max_per_page": max_per_page,
        "filters": conditions,
        "model": model,
        "snippets": snippets if as_json else snippets is not False,
        "explain": explain,
        "after": after,
        "intent": intent,
        "unit": unit and unit.value,
        "aggregate": aggregate and aggregate.value,
        "hierarchy": hierarchy and hierarchy.value,
        "mmr_lambda": mmr_lambda,
        "query_expansion": query_expansion and query_expansion.value,
        **({} if graph is None else {"graph": graph}),
        "rerank": rerank,
        "rerank_depth": rerank_depth,
    }
    with opened() as app:
        say_version(app, name, wanted, conditions)
        functions = app.searching_as("cli")
        run = (
            functions.keyword_search
            if keyword
            else functions.semantic_search
            if semantic
            else functions.search
        )
        result = run(query, **arguments)
        for text in result.notices:
            notice(text)
        if as_json:
            print_json(result.rows)
            return
        for rank, hit in enumerate(result.rows, start=1):
            print_hit(rank, hit)
        if not result.rows:
            say_nothing_found(app, query)
        elif len(result.rows) == limit and result.rows[-1]["cursor"] is not None:
            notice(f"More: --after {result.rows[-1]['cursor']}")


def _refuse_contradictions(
    *, keyword: bool, semantic: bool, hybrid_only: dict[str, object], model: str | None
) -> None:
    if keyword and semantic:
        raise typer.BadParameter("goes without --semantic.", param_hint="--keyword")
    for option, value in hybrid_only.items():
        if value is not None and (keyword or semantic):
            raise typer.BadParameter("means nothing to one arm alone.", param_hint=option)
    if keyword and model is not None:
        raise typer.BadParameter("means nothing to --keyword.", param_hint="--model")
