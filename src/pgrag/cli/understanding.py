"""`pgrag parse`, `suggest`, `intent` and `synonyms`: the meaning of queries."""

import json
from typing import Annotated

from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, Columns, command, listed, text
from pgrag.cli.config import read_file
from pgrag.cli.output import Output, print_facts

Query = Annotated[str, Argument(help="A query as a search takes it.")]


@command
def parse(app: App, query: Query) -> Output:
    """Show the words and the filters of a query."""
    [row] = app.database.call("parse_query", query=query)
    filters = row["filters"]
    conditions = "none" if filters is None else json.dumps(filters, ensure_ascii=False)
    return text(row, f"words    {row['words']}", f"filters  {conditions}")


@command
def suggest(
    app: App,
    query: Query,
    library: options.Library = None,
    version: options.Version = None,
    top_k: options.Limit = 3,
) -> Output:
    """Suggest similar words for those of a query that no passage has."""
    name, wanted = options.scope(library, version)
    rows = app.database.call(
        "suggest", query=query, library=name, version=wanted, suggestion_count=top_k
    )
    columns = {
        "suggestion": "suggestion", "word": "word", "replacement": "replacement",
        "distance": "distance", "passages": "document_count", "score": "score",
    }  # fmt: skip
    return listed(rows, columns, nothing="Every word is known, or no word is similar.")


@command
def intent(app: App, query: Annotated[str, Argument(help="A question.")]) -> Output:
    """Print the intent of a query, the rule that matched, and the search arguments it sets."""
    [row] = app.database.call("detect_intent", query=query)
    alpha = "the library's" if row["alpha"] is None else f"{row['alpha']:g}"
    if row["alpha_offset"]:
        alpha += f" {row['alpha_offset']:+g}"
    facts = [
        ("intent", row["intent"]),
        ("  because", _because(row["rule"], row["matched"])),
        ("  confidence", f"{row['confidence']:g}"),
        ("query type", row["query_type"]),
        ("  because", _because(row["type_rule"], row["type_matched"])),
        ("levels", ", ".join(map(str, row["levels"]))),
        *((name, str(row[name])) for name in ("unit", "aggregate", "hierarchy")),
        ("alpha", alpha),
        ("arguments", json.dumps(row["arguments"])),
    ]
    return Output(row, lambda: print_facts(facts))


@command
def synonyms(
    app: App,
    library: options.LibraryName,
    file: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="YAML: terms with their synonyms, to be added or changed; null removes a term."
            " - reads stdin.",
        ),
    ] = None,
    remove: Annotated[
        list[str] | None, Option(metavar="TERM", help="Remove a term; repeat it for more.")
    ] = None,
) -> Output:
    """List the synonyms of a library, after adding or removing some.

    A query is expanded with synonyms only on request: `--query-expansion synonyms`.
    """
    if file is not None:
        terms = read_file(file)
        with terms.located_errors():
            app.database.call("set_synonyms", library=library, synonyms=terms.value)
    if remove:
        app.database.call("remove_synonyms", library=library, terms=remove)
    rows = app.database.call("synonyms", library=library)
    if not rows:
        return text(rows, f"{library} has no synonyms.")
    columns: Columns = {
        "term": "term", "synonyms": lambda row: ", ".join(row["expansions"]), "weight": "weight",
        "mutual": "mutual",
    }  # fmt: skip
    return listed(rows, columns)


def _because(rule: str | None, matched: str | None) -> str:
    return "no rule matches" if rule is None else f"rule {rule}: {matched!r}"
