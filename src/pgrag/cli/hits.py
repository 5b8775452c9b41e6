"""Hits on a terminal, in a pipe or as JSON: what `pgrag search` and its like print."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pgrag.cli import texts
from pgrag.cli.explanation import explained
from pgrag.cli.notations import counted, label, misuse
from pgrag.cli.output import Output, Row, notice, print_indented, stdout
from pgrag.cli.rendered import excerpt, rendered
from pgrag.cli.session import read_versions
from pgrag.ground.printable import printable
from pgrag.search.result import is_unlikely, next_cursor

if TYPE_CHECKING:
    from pgrag.search.result import Result
    from pgrag.service.app import App

_INDENT = 8
#: Where confidence is not known, hits below this share of the best score are weak. In the labelled
#: sets of Kubernetes' and Obsidian's documentation, 0.2 % of the relevant hits of a first page are.
_WEAK_SHARE = 0.5
#: What --json prints of a method's result: the response of REST.
_RESPONSES: dict[str, Callable[[Result], dict[str, Any]]] = {
    "search": lambda result: result.listing("hits"),
    "pages": lambda result: result.listing("pages"),
    "facets": lambda result: result.facets(),
    "context": lambda result: result.context(),
}
#: Entries shown if there is no good match.
_NEAREST = 3


@dataclass(slots=True)
class _Entry:
    """An entry of a list: its best hit, and the other hits of the same page or section."""

    hit: Row
    others: list[Row] = field(default_factory=list)
    is_weak: bool = False


def found(
    app: App,
    query: str,
    arguments: dict[str, Any],
    *,
    keyword: bool = False,
    semantic: bool = False,
    snippets: bool | None = None,
    as_json: bool = False,
) -> Output:
    """Return what `pgrag search` prints."""
    if keyword and semantic:
        raise misuse("--keyword", "cannot be combined with --semantic.")
    if keyword or semantic:
        arguments["mode"] = "keyword" if keyword else "semantic"
    if arguments.get("rerank") and "after" in arguments:
        raise misuse("--after", "a reranked list has one page.")
    arguments["snippets"] = bool(snippets) if as_json else snippets is not False
    merged = not (snippets is False or arguments.get("explain"))
    added: list[str] = []
    if merged and not as_json and not {"group", "unit", "hierarchy"} & arguments.keys():
        # A cursor leads through lists of its own form only, so the next command names it.
        added, arguments["group"] = ["--group=page"], "page"
    show = partial(
        _print_hits, merged=merged, by_page=arguments.get("group") == "page",
        fusion=arguments.get("fusion"),
    )  # fmt: skip
    return output_of(app, "search", query, arguments, show, added=added)


def output_of(
    app: App,
    method: str,
    query: str,
    arguments: dict[str, Any],
    show: Callable[[list[Row]], None],
    *,
    added: Sequence[str] = (),
) -> Output:
    """Return what a method of `Search` found: with --json the response of REST.

    `added` are options in force that the command for the next hits must name.
    """
    result: Result = getattr(app.searching_as("cli"), method)(query, **arguments)
    rows = result.rows
    # Facets have a row for the total, and may have rows for chosen values.
    is_empty = not any(row.get("page_count", 1) for row in rows)
    nothing = (
        f"No hit for {query!r}."
        if not is_empty or app.database.call("libraries")
        else "No library is indexed yet: pgrag index LIBRARY SOURCE."
    )

    def show_rows() -> None:
        notice(*dict.fromkeys([*read_versions(result.resolved), *result.notices]))
        if is_empty:
            notice(nothing)
            return
        if result.no_good_match and method in {"search", "pages"}:
            nearest = list(dict.fromkeys(row["cursor"] for row in rows))[:_NEAREST]
            show([row for row in rows if row["cursor"] in nearest])
            return
        show(rows)
        if "cursor" in rows[0] and (cursor := next_cursor(rows, result.top_k, "cursor")):
            notice(
                f"More: {_next_command([*sys.argv[1:2], *added, *sys.argv[2:]], cursor)}",
                is_whole=True,
            )

    return Output(_RESPONSES[method](result), show_rows)


def _print_hits(hits: list[Row], *, merged: bool, by_page: bool, fusion: str | None) -> None:
    columns = ("page_id",) if by_page else ("page_id", "anchor") if merged else ()
    for rank, entry in _ranked(_entries(hits, columns, fusion=fusion)):
        hit = entry.hit
        path = hit["path"][1:] if hit["path"][:1] == [hit["library"]] else hit["path"]
        where = " › ".join([label(hit["library"], hit["version"]), *path])
        _print_entry(rank, hit, where, hit["anchor"])
        if hit["since"] is not None:
            print_indented(texts.Text(printable(_history(hit)), style="dim"), indent=_INDENT)
        same = [other for other in entry.others if other["anchor"] == hit["anchor"]]
        if same:
            more = f"and {counted(len(same), 'more passage')} of this section"
            print_indented(texts.Text(more, style="dim"), indent=_INDENT)
        others = {o["anchor"]: o["path"][-1] for o in entry.others if o["anchor"] != hit["anchor"]}
        for anchor, heading in others.items():
            also = f"also: {heading}" + (f"  #{anchor}" if anchor else "")
            print_indented(texts.Text(printable(also), style="dim"), indent=_INDENT)
        if hit["explanation"] is not None:
            print_indented(explained(hit["explanation"]), indent=_INDENT)


def _history(hit: Row) -> str:
    since = f"since {hit['since'] or '(unversioned)'}"
    if hit["changed_in"] is None:
        return since
    return f"{since}, changed in {hit['changed_in'] or '(unversioned)'}"


def print_pages(pages: list[Row], *, whole: bool, fusion: str | None) -> None:
    """Print pages like hits; `whole`: with their full text."""
    for rank, entry in _ranked(_entries(pages, (), fusion=fusion)):
        page = entry.hit
        where = f"{label(page['library'], page['version'])} › {page['key']}"
        if page["passage_count"]:
            where += f" ({counted(page['passage_count'], 'passage')})"
        shown = page | {"snippet": None} if whole else page
        _print_entry(rank, shown, where, None if whole else page["anchor"])


def _ranked(listed: list[_Entry]) -> Iterator[tuple[int, _Entry]]:
    """Yield entries with their ranks; a line sets the weak ones apart."""
    for rank, entry in enumerate(listed, start=1):
        if entry.is_weak and rank > 1 and not listed[rank - 2].is_weak:
            stdout().print(texts.Text("\nweak matches", style="dim"))
        yield rank, entry


def _print_entry(rank: int, row: Row, where: str, anchor: str | None) -> None:
    """Print one entry of a list: score and title, place, address, and excerpt or text."""
    console = stdout()
    if rank > 1:
        console.print()
    score, title = (f"{row['score']:.3f}  ", "cyan"), (printable(row["title"]), "bold")
    console.print(texts.Text.assemble(f"{rank:>3}  ", score, title), soft_wrap=True)
    address = row["url"] + (f"#{anchor}" if anchor else "")
    print_indented(texts.Text(printable(where), style="dim"), indent=_INDENT)
    # In one piece, so that a terminal can open it.
    console.print(texts.Text(f"{' ' * _INDENT}{printable(address)}", style="blue"), soft_wrap=True)
    width = console.width - _INDENT
    if row["snippet"] is None:
        lines = rendered(row["content"], width)
    else:
        lines = excerpt(row["snippet"], row["content"], width)
    for line in lines:
        console.print(texts.Text(" " * _INDENT if line else "").append_text(line), soft_wrap=True)


def _entries(
    hits: Sequence[Row], columns: Sequence[str], *, fusion: str | None = None
) -> list[_Entry]:
    """Return the entries of a list of hits, best first.

    Hits that are equal in these columns are one entry; without columns each is its own. Where
    confidence is not known, scores by the `fusion` "rrf" reflect only ranks, so none of them is
    weak.
    """
    best = max((hit["score"] for hit in hits), default=0.0)

    def is_strong(hit: Row) -> bool:
        if hit["confidence"] is not None:
            return not is_unlikely(hit)
        return fusion == "rrf" or bool(hit["score"] >= _WEAK_SHARE * best)

    strong = [n for n, hit in enumerate(hits) if is_strong(hit)]
    made: dict[object, _Entry] = {}
    for number, hit in enumerate(hits):
        address = tuple(hit[column] for column in columns) or number
        if address in made:
            made[address].others.append(hit)
        else:
            # Only the tail: `hierarchy` and `mmr_lambda` do not order by score.
            made[address] = _Entry(hit, is_weak=number > max(strong, default=-1))
    return list(made.values())


def _next_command(arguments: Sequence[str], cursor: str) -> str:
    """Return the command that was called with these arguments, for the hits after a cursor."""
    command, *rest = arguments
    return shlex.join(["pgrag", command, f"--after={cursor}", *_without_after(rest)])


def _without_after(arguments: Sequence[str]) -> Iterator[str]:
    parts = iter(arguments)
    for part in parts:
        if part == "--":
            yield part
            yield from parts
        elif part == "--after":
            next(parts, None)
        elif not part.startswith("--after="):
            yield part
