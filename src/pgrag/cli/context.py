"""`pgrag context`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from pgrag.cli import options
from pgrag.cli.arguments import parse_filters, parse_levels
from pgrag.cli.hits import say_nothing_found
from pgrag.cli.output import notice, print_json, print_text
from pgrag.cli.session import opened, say_version


class Format(StrEnum):
    """How the passages are laid out."""

    GROUPED = "grouped"
    SIMPLE = "simple"


def context(
    question: Annotated[
        str, typer.Argument(help="What the text shall help to answer.", show_default=False)
    ],
    *,
    library: options.Library = None,
    version: options.Version = None,
    limit: options.Limit = 10,
    token_budget: Annotated[
        int,
        typer.Option("--tokens", min=1, help="Length at most; a token is counted as 4 bytes."),
    ] = 4000,
    layout: Annotated[
        Format,
        typer.Option("--format", help="Below a heading for each root section, or one by one."),
    ] = Format.GROUPED,
    expand: Annotated[bool, typer.Option(help="Take in more of the best pages.")] = True,
    expansion_threshold: Annotated[
        float, typer.Option(min=0, help="Least score of a page that is expanded.")
    ] = 0.3,
    max_documents_to_expand: Annotated[
        int, typer.Option(min=0, help="Pages that are expanded at most.")
    ] = 3,
    max_chunks_per_document: Annotated[
        int, typer.Option(min=1, help="Paragraphs of an expanded page at most.")
    ] = 20,
    score_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave out hits below this share of the best score."),
    ] = 0.5,
    expansion_share: Annotated[
        float,
        typer.Option(min=0, max=1, help="Expand no page below this share of the best score."),
    ] = 0.8,
    parents: Annotated[
        bool, typer.Option("--parents", help="Add the summary of the section above each hit.")
    ] = False,
    siblings: Annotated[
        int, typer.Option(min=0, metavar="N", help="Add N neighbours before and after each hit.")
    ] = 0,
    overlap: Annotated[
        bool, typer.Option("--overlap", help="Begin with the end of the paragraph before.")
    ] = False,
    condition: options.Filter = None,
    filters: options.Filters = None,
    alpha: options.Alpha = None,
    fusion: options.FusionMethod = None,
    min_score: options.MinScore = 0.0,
    levels: options.Levels = None,
    max_per_page: options.MaxPerPage = None,
    model: options.Model = None,
    intent: options.Intent = None,
    hierarchy: options.PreferredHierarchy = None,
    mmr_lambda: options.MmrLambda = None,
    query_expansion: options.QueryExpansion = None,
    graph: options.Graph = None,
    as_json: options.Json = False,
) -> None:
    """Print the text that a reader or a language model needs for an answer."""
    name, wanted = options.scope(library, version)
    conditions = parse_filters(condition or (), filters)
    arguments = {
        "library": name,
        "version": wanted,
        "match_count": limit,
        "token_budget": token_budget,
        "format": layout.value,
        "expand": expand,
        "expansion_threshold": expansion_threshold,
        "max_documents_to_expand": max_documents_to_expand,
        "max_chunks_per_document": max_chunks_per_document,
        "score_share": score_share,
        "expansion_share": expansion_share,
        "parents": parents,
        "siblings": siblings,
        "overlap": overlap,
        "filters": conditions,
        "alpha": alpha,
        "fusion": fusion and fusion.value,
        "min_score": min_score,
        "levels": parse_levels(levels),
        "max_per_page": max_per_page,
        "model": model,
        "intent": intent,
        "hierarchy": hierarchy and hierarchy.value,
        "mmr_lambda": mmr_lambda,
        "query_expansion": query_expansion and query_expansion.value,
        "graph": graph,
    }
    with opened() as app:
        say_version(app, name, wanted, conditions)
        result = app.searching_as("cli").context(question, **arguments)
        for text in result.notices:
            notice(text)
        if as_json:
            print_json(result.rows)
        elif result.rows:
            print_text("\n\n".join(row["block"] for row in result.rows))
        else:
            say_nothing_found(app, question)
