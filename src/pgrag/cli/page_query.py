"""`pgrag query` and `pgrag properties`: tables over the properties of pages."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer

from pgrag.cli import options
from pgrag.cli.arguments import counted, parse_target
from pgrag.cli.output import notice, print_json, print_table, print_text
from pgrag.cli.session import opened, say_version

_LINK = re.compile(r"\[\[([^][|]*)(?:\|([^][]*))?\]\]")


def query(
    target: options.LibraryVersion,
    text: Annotated[
        str,
        typer.Argument(
            metavar="QUERY",
            help="TABLE a, b FROM #tag WHERE a > 3 SORT b DESC; LIST …; TASK …, as in Dataview.",
            show_default=False,
        ),
    ],
    *,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, help="Rows at most; default: all.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=0.001, max=3600, help="Seconds after which it gives up.")
    ] = 30.0,
    as_json: options.Json = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV with a line of names.")] = False,
) -> None:
    """Ask for pages or tasks by the properties of their front matter."""
    from pgrag.db import collected_notices

    if as_json and as_csv:
        raise typer.BadParameter("is JSON already asked for.", param_hint="--csv")
    place = parse_target(target)
    with opened() as app, collected_notices() as notices:
        say_version(app, place.library, place.version)
        rows = app.database.call_within(
            max(1, round(1000 * timeout)),
            "query_pages",
            query=text,
            library=place.library,
            version=place.version,
            match_count=limit,
        )
    for said in notices:
        notice(said)
    if as_json:
        print_json(rows)
    elif as_csv:
        _print_csv(rows)
    elif not rows:
        notice("Nothing is like this.")
    else:
        columns = [*_place(rows[0]), *rows[0]["columns"]]
        values = [[*_place(row).values(), *map(_shown, row["values"])] for row in rows]
        print_table(columns, values)
        notice(f"{counted(len(rows), 'row')}.")


def properties(
    target: options.LibraryVersion,
    *,
    page: Annotated[
        str | None,
        typer.Option(metavar="PAGE", help="Those of this page: its key, url or id."),
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Examples of values.")] = 3,
    as_json: options.Json = False,
) -> None:
    """List the properties of pages with their types as they are found."""
    place = parse_target(target)
    with opened() as app:
        say_version(app, place.library, place.version)
        if page is not None:
            [found] = app.database.call(
                "find_page", library=place.library, page=page, version=place.version
            )
            rows = app.database.call("page_properties", page_id=found["page_id"])
            _print_page(rows, as_json=as_json)
            return
        rows = app.database.call(
            "properties",
            library=place.library,
            version=place.version,
            example_count=examples,
        )
    if as_json:
        print_json(rows)
        return
    columns = ("property", "type", "pages", "share", "values", "examples")
    print_table(
        columns,
        [
            (
                row["name"],
                _types(row),
                row["pages"],
                f"{row['share']:.0%}",
                row["distinct_values"],
                "; ".join(_short(_shown(value)) for value in row["examples"]),
            )
            for row in rows
        ],
    )
    mixed = sum(row["is_mixed"] for row in rows)
    if mixed:
        noun = "property has" if mixed == 1 else "properties have"
        notice(f"{mixed} {noun} values of different types; the counts are of pages.")


def _print_page(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print_json([{name: row[name] for name in ("name", "type", "value")} for row in rows])
    else:
        print_table(
            ("property", "type", "value"),
            [(row["name"], row["type"], _shown(row["value"])) for row in rows],
        )


def _place(row: dict[str, Any]) -> dict[str, str]:
    """Where a task stands; a page is named by its own column."""
    return {} if row["line"] is None else {"Where": f"{row['key']}:{row['line']}"}


def _shown(value: Any) -> str:
    """Return a value as queries write it: false is not what is missing."""
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and (link := _LINK.fullmatch(value)):
        return link[2] or link[1]
    # Years and lines are no amounts: no thousands are marked off.
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


def _types(row: dict[str, Any]) -> str:
    if not row["is_mixed"]:
        return ", ".join(row["types"])
    return "mixed: " + ", ".join(f"{type_} {row['type_counts'][type_]}" for type_ in row["types"])


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= 40 else words[:39] + "…"


def _print_csv(rows: list[dict[str, Any]]) -> None:
    import csv
    import io

    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    if rows:
        writer.writerow([*_place(rows[0]), *rows[0]["columns"]])
    for row in rows:
        writer.writerow([*_place(row).values(), *map(_shown, row["values"])])
    if rows:
        print_text(written.getvalue().removesuffix("\n"))
