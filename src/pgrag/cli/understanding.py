"""`pgrag intent` and `pgrag synonyms`: what a query asks for, and what its words also mean."""

from __future__ import annotations

from typing import Annotated

import typer

from pgrag.cli import options
from pgrag.cli.config import read_file
from pgrag.cli.output import print_json, print_table, print_text
from pgrag.cli.session import opened


def intent(
    query: Annotated[str, typer.Argument(help="What somebody asks.", show_default=False)],
    as_json: options.Json = False,
) -> None:
    """Say what kind of question a query is, by which rule, and what that chooses for a search."""
    with opened() as app:
        [row] = app.database.call("detect_intent", query=query)
    if as_json:
        print_json(row)
        return
    alpha = "the library's" if row["alpha"] is None else f"{row['alpha']:g}"
    if row["alpha_offset"]:
        alpha += f" {row['alpha_offset']:+g}"
    lines = [
        ("intent", row["intent"]),
        ("  because", _because(row["rule"], row["matched"])),
        ("  confidence", f"{row['confidence']:g}"),
        ("query type", row["query_type"]),
        ("  because", _because(row["type_rule"], row["type_matched"])),
        ("levels", ", ".join(map(str, row["levels"]))),
        ("unit", row["unit"]),
        ("aggregate", row["aggregate"]),
        ("hierarchy", row["hierarchy"]),
        ("alpha", alpha),
    ]
    for name, value in lines:
        print_text(f"{name:<14}{value}")


def synonyms(
    library: options.LibraryName,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="YAML: terms with their synonyms, to be added or changed; null removes a term."
            " - reads stdin.",
        ),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="TERM", help="Remove a term; repeat it for more."),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the synonyms of a library, after adding or removing some.

    Queries use them where they ask for it: `--query-expansion synonyms`.
    """
    with opened() as app:
        if file is not None:
            given = read_file(file)
            with given.located_errors():
                app.database.call("set_synonyms", library=library, synonyms=given.value)
        if remove:
            app.database.call("remove_synonyms", library=library, terms=remove)
        rows = app.database.call("synonyms", library=library)
    if as_json:
        print_json(rows)
        return
    if not rows:
        print_text(f"{library} has no synonyms.")
        return
    print_table(
        ("term", "synonyms", "weight", "mutual"),
        [(row["term"], ", ".join(row["expansions"]), row["weight"], row["mutual"]) for row in rows],
    )


def _because(rule: str | None, matched: str | None) -> str:
    return "no rule matches" if rule is None else f"rule {rule}: {matched!r}"
