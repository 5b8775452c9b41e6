"""`pgrag searches`, `pgrag metrics` and `pgrag feedback`: recorded searches and their metrics."""

import json
from typing import Annotated, Any, Literal
from uuid import UUID

import typer
from rich.text import Text
from typer import Argument, Option

from pgrag.cli import options
from pgrag.cli.command import App, Arguments, Columns, command, listing, member, text
from pgrag.cli.notations import label
from pgrag.cli.output import Output, Row, print_facts, print_indented, print_table, print_text
from pgrag.cli.retention import add_retention, export
from pgrag.ground.printable import printable
from pgrag.search.result import NO_MATCH

searches = typer.Typer(help="Recorded searches: list, show, export and forget them.")
metrics = typer.Typer(help="Figures from recorded searches: latency, relevance, popular queries.")

Days = Annotated[int, Option("--days", "-d", min=1, help="How many days to look back.")]
Rows = Annotated[int, Option(*options.LIMIT, min=1, help="Maximum number of rows.")]
_Weak = Annotated[
    float, Option(min=0, max=1, help="Searches whose best hit has a lower confidence found little.")
]
Period = Annotated[Literal["day", "week", "month", "all"], Option(help="What one row covers.")]


def _search_id(argument: str) -> UUID:
    try:
        return UUID(argument)
    except ValueError:
        raise typer.BadParameter(
            f"{argument!r} is not a search_id, such as {UUID(int=0)}."
        ) from None


SearchId = Annotated[UUID, Argument(metavar="SEARCH", parser=_search_id, help="Its search_id.")]


_NOTHING = "No search is recorded here."
Rated = Annotated[bool, Option("--rated", help="Only those that were rated.")]
_LIST: Arguments = {"days": (Days, 30), "library": (options.OneLibrary, None), "top_k": (Rows, 20)}
_SERIES: Arguments = {
    "days": (Days, 30),
    "library": (options.OneLibrary, None),
    "period": (Period, "day"),
}
_HISTORY: Columns = {
    "search": "search_id", "at": "at", "client": "client",
    "library": lambda row: label(row["library_name"] or "", row["version"] or ""),
    "query": "query", "hits": "hit_count", "ms": "duration_ms", "rating": "mean_rating",
    "steps": lambda row: " ".join(f"{step} {ms:g}" for step, ms in row["timings"].items()),
}  # fmt: skip

_LISTINGS: tuple[tuple[typer.Typer, str, str, dict[str, Any], str, Arguments, Columns], ...] = (
    (
        searches, "list", "search_history", {},
        "List recorded searches, the latest first.", {**_LIST, "rated": (Rated, False)}, _HISTORY,
    ),
    (
        metrics, "searches", "search_metrics", {},
        "Show number, share without hits, latency and relevance of searches by period and library.",
        _SERIES,
        {
            "from": "starts_on", "library": "library_name", "searches": "searches",
            "empty": "empty_share", "p50 ms": "p50_ms", "p95 ms": "p95_ms", "max ms": "max_ms",
            "hits": "mean_hits", "top score": "mean_top_score", "rating": "mean_rating",
            "rated": "feedback_share",
        },
    ),
    (
        metrics, "answers", "answer_metrics", {},
        "Show number, outcome, latency and tokens of answers by period and library.", _SERIES,
        {
            "from": "starts_on", "library": "library_name", "answers": "answers",
            "answered": "answered_share", "not in docs": "not_in_documentation_share",
            "failed": "failed_share", "cancelled": "cancelled_share", "p50 ms": "p50_ms",
            "p95 ms": "p95_ms", "tokens in": "mean_prompt_tokens",
            "out": "mean_completion_tokens", "rating": "mean_rating",
        },
    ),
    (
        metrics, "popular", "popular_queries", {},
        "List the queries asked most often.", _LIST,
        {
            "query": "query", "searches": "searches", "last": "last_at", "empty": "empty_share",
            "top score": "mean_top_score", "rating": "mean_rating", "median ms": "median_ms",
        },
    ),
    (
        metrics, "empty", "empty_queries", {},
        "List the queries without hits, those asked most often first.", _LIST,
        {
            "query": "query", "library": "library_name", "searches": "searches", "last": "last_at",
        },
    ),
    (
        metrics, "slow", "search_history", {"slowest": True},
        "List the slowest searches, with the milliseconds of each step.", _LIST, _HISTORY,
    ),
)  # fmt: skip
for _group, _name, _function, _fixed, _about, _arguments, _columns in _LISTINGS:
    _group.command()(
        listing(_name, _function, _about, _arguments, _columns, nothing=_NOTHING, **_fixed)
    )

gaps = listing(
    "gaps", "gaps",
    "List the topics that readers looked for and did not find, with the nearest pages.",
    {**_LIST, "weak_confidence": (_Weak, NO_MATCH)},
    {
        "topic": "topic", "library": "library_name", "searches": "searches",
        "nothing": "found_nothing", "little": "found_little", "rephrased": "rephrased",
        "rated badly": "rated_badly", "also asked": lambda row: "; ".join(row["examples"][1:]),
        "nearest pages": lambda row: "; ".join(page["key"] for page in row["pages"]),
    },
    nothing="No recorded search failed.",
)  # fmt: skip


_HIT = (
    "rank", "document_id", "page_key", "score", "hybrid_score", "keyword_score", "keyword_rank",
    "passage_score", "page_score", "semantic_score", "semantic_rank", "section_score",
    "type_weight", "edge", "centrality",
)  # fmt: skip
"""The columns of a recorded hit; the last three are parts of a score with links."""


@member(searches, "show")
def show_search(app: App, search: SearchId) -> Output:
    """Show one recorded search with its hits, the parts of their scores, and its feedback."""
    [row] = app.database.call("search_record", search_id=search)
    record: Row = row["search_record"]
    return Output(record, lambda: _print_record(record))


def _print_record(record: Row) -> None:
    names = ("search_id", "at", "client", "query", "library", "version", "duration_ms")
    documents = ((name, record[name]) for name in ("parameters", "timings") if record[name])
    print_facts((name, record[name]) for name in names)
    print_facts((name, json.dumps(value, ensure_ascii=False)) for name, value in documents)
    hits = [hit | (hit["graph"] or {}) for hit in record["hits"]]
    columns = [name for name in _HIT if any(hit.get(name) is not None for hit in hits)]
    if hits:
        print_table(columns, [[hit.get(name) for name in columns] for hit in hits])
    for rating in record["feedback"]:
        rated = f"passage {rating['document_id']}" if rating["document_id"] else "whole answer"
        print_text(f"{rating['rating']} of 5, {rated}, {rating['at']}")
        if rating["comment"]:
            print_indented(Text(printable(rating["comment"])))


@searches.command("export")
def export_searches(
    since: options.Since = None, until: options.Until = None, library: options.OneLibrary = None
) -> None:
    """Write recorded searches to stdout as JSON Lines, with their hits and feedback."""
    export("export_searches", since, until, library=library)


add_retention(
    searches, forgetter="forget_searches", keeper="keep_searches", asker="search_retention",
    removed="old searches with their hits and feedback", kept="Searches are",
)  # fmt: skip


@command
def feedback(
    app: App,
    search: SearchId,
    rating: Annotated[
        int, Argument(metavar="RATING", min=1, max=5, help="1 useless, 5 exactly right.")
    ],
    document: Annotated[
        str | None, Option(metavar="ID", help="Of one hit, or its key; default: the whole answer.")
    ] = None,
    comment: Annotated[str | None, Option(help="Why.")] = None,
) -> Output:
    """Rate a recorded search, or one hit of it."""
    [row] = app.database.call(
        "give_feedback", search_id=search, rating=rating, document_id=document, comment=comment
    )
    return text({"feedback_id": row["give_feedback"]}, "Thank you.")
