"""`pgrag search`, `pages`, `facets` and `context`: hits, and what follows from them."""

from functools import partial
from typing import Annotated, Any

from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, listed, searching
from pgrag.cli.hits import found, output_of, print_pages
from pgrag.cli.output import Output, Row, print_text
from pgrag.ground.arguments import ContextArguments, FacetArguments, PagesArguments, SearchArguments


@searching(SearchArguments)
def search(
    app: App,
    query: options.Query,
    *,
    arguments: dict[str, Any],
    keyword: Annotated[bool, Option("--keyword", help="Only the keyword retriever.")] = False,
    semantic: Annotated[bool, Option("--semantic", help="Only the vector retriever.")] = False,
    snippets: Annotated[
        bool | None,
        Option(
            "--snippets/--full",
            help="An excerpt or the whole text; default: an excerpt, with --json the text.",
        ),
    ] = None,
    as_json: options.Json = False,
) -> Output:
    """Search the documentation by words and by meaning."""
    return found(
        app, query, arguments,
        keyword=keyword, semantic=semantic, snippets=snippets, as_json=as_json,
    )  # fmt: skip


@searching(PagesArguments)
def pages(app: App, query: options.Query, *, arguments: dict[str, Any]) -> Output:
    """Search for pages: one row each, with its best passage."""
    fusion = arguments.get("fusion")
    show = partial(print_pages, whole=arguments.get("whole", False), fusion=fusion)
    return output_of(app, "pages", query, arguments, show)


@searching(FacetArguments)
def facets(
    app: App,
    query: Annotated[str, Argument(help="Count only pages of this query.")] = "",
    *,
    arguments: dict[str, Any],
) -> Output:
    """Count the pages of a search by facet; each value can be used as a --filter."""
    columns = {"facet": "facet", "value": "value", "pages": "page_count"}
    return output_of(app, "facets", query, arguments, lambda rows: listed(rows, columns).show())


@searching(ContextArguments)
def context(
    app: App,
    question: Annotated[str, Argument(help="The question to answer.")],
    *,
    arguments: dict[str, Any],
) -> Output:
    """Print the passages that a reader or a language model needs for an answer."""

    def show(rows: list[Row]) -> None:
        print_text("\n\n".join(row["block"] for row in rows))

    return output_of(app, "context", question, arguments, show)
