"""`pgrag searches`, `pgrag metrics` and `pgrag feedback`: what was searched, and what of it."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from pgrag.cli import options
from pgrag.cli.arguments import counted, label
from pgrag.cli.output import (
    json_line,
    notice,
    print_indented,
    print_json,
    print_table,
    print_text,
    printable,
)
from pgrag.cli.session import opened

searches = typer.Typer(help="Recorded searches: list, show, export and forget them.")
metrics = typer.Typer(help="What recorded searches tell: latency, relevance, popular queries.")

FOREVER = "forever"
NIL = UUID(int=0)

_Days = Annotated[int, typer.Option("--days", "-d", min=1, help="How many days to look back.")]
_OneLibrary = Annotated[
    str | None,
    typer.Option("--library", "-l", metavar="LIBRARY", help="Only searches in this one alone."),
]
_Rows = Annotated[int, typer.Option("--limit", "-n", min=1, help="Rows at most.")]


def _search_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no search_id, such as {NIL}.") from None


_SearchId = Annotated[
    UUID,
    typer.Argument(metavar="SEARCH", parser=_search_id, help="Its search_id.", show_default=False),
]


class Period(StrEnum):
    """How long a row of metrics is."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"


@searches.command("list")
def list_searches(
    days: _Days = 30,
    library: _OneLibrary = None,
    limit: _Rows = 20,
    as_json: options.Json = False,
) -> None:
    """List recorded searches, the latest first."""
    _print_history(days, library, limit, slowest=False, as_json=as_json)


@searches.command("show")
def show_search(search: _SearchId, as_json: options.Json = False) -> None:
    """Show one recorded search with its hits, their scores, and its feedback."""
    with opened() as app:
        [row] = app.database.call("search_record", search_id=search)
    record: dict[str, Any] = row["search_record"]
    if as_json:
        print_json(record)
        return
    for name in ("search_id", "at", "client", "query", "library", "version", "duration_ms"):
        if record[name] is not None:
            print_text(f"{name:<14}{record[name]}")
    for name in ("parameters", "timings"):
        if record[name]:
            print_text(f"{name:<14}{json.dumps(record[name], ensure_ascii=False)}")
    columns = (
        "rank", "document_id", "page_key", "score", "hybrid_score", "keyword_score",
        "semantic_score",
    )  # fmt: skip
    if record["hits"]:
        print_table(columns, [[hit[name] for name in columns] for hit in record["hits"]])
    for rating in record["feedback"]:
        place = f"document {rating['document_id']}" if rating["document_id"] else "whole answer"
        print_text(f"{rating['rating']} of 5, {place}, {rating['at']}")
        if rating["comment"]:
            print_indented(Text(printable(rating["comment"])))


@searches.command("export")
def export_searches(
    since: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", help="From then on; default: the first.", show_default=False),
    ] = None,
    until: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", help="Before then; default: now.", show_default=False),
    ] = None,
    library: _OneLibrary = None,
) -> None:
    """Write recorded searches to stdout as JSON Lines, with their hits and feedback."""
    with opened() as app:
        records = app.database.stream(
            "export_searches",
            since=since and since.astimezone(),
            until=until and until.astimezone(),
            library=library,
        )
        count = 0
        for row in records:
            sys.stdout.write(json_line(row["export_searches"]))
            count += 1
    notice(f"Exported: {count:,}.")


@searches.command("forget")
def forget_searches(
    older_than: Annotated[
        int | None,
        typer.Option(metavar="DAYS", min=0, help="Default: the retention.", show_default=False),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Remove old searches with their hits and feedback."""
    with opened() as app:
        interval = None if older_than is None else f"{older_than} days"
        [row] = app.database.query(
            "select pgrag.forget_searches(%s::interval) as forgotten", [interval]
        )
    if as_json:
        print_json(row)
    else:
        print_text(f"Forgotten: {row['forgotten']:,}.")


@searches.command("retention")
def retention(
    days: Annotated[
        str | None,
        typer.Argument(metavar="[DAYS]", help="1 to 36500, or forever.", show_default=False),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Say for how many days searches are kept, or change it."""
    wanted = _days(days)
    with opened() as app:
        if days is not None:
            app.database.query("select pgrag.keep_searches(%s::integer)", [wanted])
        [row] = app.database.query("select pgrag.search_retention() as days")
    if as_json:
        print_json(row)
    else:
        kept = "for ever" if row["days"] is None else f"for {counted(row['days'], 'day')}"
        print_text(f"Searches are kept {kept}.")


@metrics.command("searches")
def search_metrics(
    days: _Days = 30,
    library: _OneLibrary = None,
    period: Annotated[Period, typer.Option(help="What one row is about.")] = Period.DAY,
    as_json: options.Json = False,
) -> None:
    """Show number, empty share, latency and relevance of searches by period and library."""
    with opened() as app:
        rows = app.database.call("search_metrics", days=days, library=library, period=period.value)
    columns = {
        "from": "starts_on", "library": "library_name", "searches": "searches",
        "empty": "empty_share", "p50 ms": "p50_ms", "p95 ms": "p95_ms", "max ms": "max_ms",
        "hits": "mean_hits", "top score": "mean_top_score", "rating": "mean_rating",
        "rated": "feedback_share",
    }  # fmt: skip
    _print_rows(rows, columns, as_json=as_json)


@metrics.command("answers")
def answer_metrics(
    days: _Days = 30,
    library: _OneLibrary = None,
    period: Annotated[Period, typer.Option(help="What one row is about.")] = Period.DAY,
    as_json: options.Json = False,
) -> None:
    """Show number, outcome, latency and tokens of answers by period and library."""
    with opened() as app:
        rows = app.database.call("answer_metrics", days=days, library=library, period=period.value)
    columns = {
        "from": "starts_on", "library": "library_name", "answers": "answers",
        "answered": "answered_share", "not in docs": "not_in_documentation_share",
        "failed": "failed_share", "cancelled": "cancelled_share", "p50 ms": "p50_ms",
        "p95 ms": "p95_ms", "tokens in": "mean_prompt_tokens", "out": "mean_completion_tokens",
        "rating": "mean_rating",
    }  # fmt: skip
    _print_rows(rows, columns, as_json=as_json)


@metrics.command("popular")
def popular_queries(
    days: _Days = 30,
    library: _OneLibrary = None,
    limit: _Rows = 20,
    as_json: options.Json = False,
) -> None:
    """List the queries that are asked most."""
    with opened() as app:
        rows = app.database.call("popular_queries", days=days, library=library, match_count=limit)
    columns = {
        "query": "query", "searches": "searches", "last": "last_at", "empty": "empty_share",
        "top score": "mean_top_score", "rating": "mean_rating", "median ms": "median_ms",
    }  # fmt: skip
    _print_rows(rows, columns, as_json=as_json)


@metrics.command("empty")
def empty_queries(
    days: _Days = 30,
    library: _OneLibrary = None,
    limit: _Rows = 20,
    as_json: options.Json = False,
) -> None:
    """List the queries that found nothing, those asked most often first."""
    with opened() as app:
        rows = app.database.call("empty_queries", days=days, library=library, match_count=limit)
    columns = {
        "query": "query", "library": "library_name", "searches": "searches", "last": "last_at"
    }  # fmt: skip
    _print_rows(rows, columns, as_json=as_json)


@metrics.command("slow")
def slow_searches(
    days: _Days = 30,
    library: _OneLibrary = None,
    limit: _Rows = 20,
    as_json: options.Json = False,
) -> None:
    """List the searches that took longest, with the milliseconds of each step."""
    _print_history(days, library, limit, slowest=True, as_json=as_json)


def feedback(
    search: _SearchId,
    rating: Annotated[
        int,
        typer.Argument(
            metavar="RATING", min=1, max=5, help="1 useless, 5 exactly right.", show_default=False
        ),
    ],
    document: Annotated[
        int | None,
        typer.Option(metavar="ID", help="Of one hit; default: the whole answer."),
    ] = None,
    comment: Annotated[str | None, typer.Option(help="Why.")] = None,
    as_json: options.Json = False,
) -> None:
    """Rate a recorded search, or one hit of it."""
    with opened() as app:
        [row] = app.database.call(
            "give_feedback", search_id=search, rating=rating, document_id=document, comment=comment
        )
    if as_json:
        print_json({"feedback_id": row["give_feedback"]})
    else:
        print_text("Thank you.")


def _print_history(
    days: int, library: str | None, limit: int, *, slowest: bool, as_json: bool
) -> None:
    with opened() as app:
        rows = app.database.call(
            "search_history", days=days, library=library, match_count=limit, slowest=slowest
        )
    if as_json:
        print_json(rows)
    elif rows:
        print_table(
            ("search", "at", "client", "library", "query", "hits", "ms", "steps"),
            [
                (
                    row["search_id"],
                    row["at"],
                    row["client"],
                    label(row["library_name"] or "", row["version"] or ""),
                    row["query"],
                    row["hit_count"],
                    row["duration_ms"],
                    " ".join(f"{step} {ms:g}" for step, ms in row["timings"].items()),
                )
                for row in rows
            ],
        )
    else:
        _say_nothing()


def _print_rows(rows: list[dict[str, Any]], columns: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        print_json(rows)
    elif rows:
        print_table(list(columns), [[row[name] for name in columns.values()] for row in rows])
    else:
        _say_nothing()


def _say_nothing() -> None:
    notice("No such search is recorded.")


def _days(text: str | None) -> int | None:
    if text is None or text == FOREVER:
        return None
    if not text.isdecimal():
        raise typer.BadParameter(
            f"{text!r} is no number of days; or say {FOREVER}.", param_hint="DAYS"
        )
    return int(text)
