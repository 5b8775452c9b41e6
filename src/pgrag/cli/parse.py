"""`pgrag parse` and `pgrag suggest`: how a query is read, and what else may have been meant."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from pgrag.cli import options
from pgrag.cli.output import notice, print_json, print_table, print_text
from pgrag.cli.session import opened

Query = Annotated[str, typer.Argument(help="As it is given to a search.", show_default=False)]


def parse(query: Query, as_json: options.Json = False) -> None:
    """Show which words and which filters a query holds."""
    with opened() as app:
        [row] = app.database.call("parse_query", query=query)
    if as_json:
        print_json(row)
        return
    print_text(f"words    {row['words']}")
    filters = row["filters"]
    print_text(f"filters  {'none' if filters is None else json.dumps(filters, ensure_ascii=False)}")


def suggest(
    query: Query,
    library: options.Library = None,
    version: options.Version = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Suggestions at most.")] = 3,
    as_json: options.Json = False,
) -> None:
    """Suggest near words for those of a query that no document has."""
    name, wanted = options.scope(library, version)
    with opened() as app:
        rows = app.database.call(
            "suggest", query=query, library=name, version=wanted, suggestion_count=limit
        )
    if as_json:
        print_json(rows)
    elif rows:
        columns = ("suggestion", "word", "replacement", "distance", "documents", "score")
        print_table(
            columns,
            [[row["document_count" if c == "documents" else c] for c in columns] for row in rows],
        )
    else:
        notice("Every word is known, or nothing is near.")
