"""Why a search found nothing, and what to relax: each proposal has been tried."""

from __future__ import annotations

import re
from typing import Any

from pgrag.db import Row
from pgrag.errors import PgragError
from pgrag.mcp.documentation import Documentation, label, shown
from pgrag.mcp.replies import on_one_line

_MARKS = re.compile(r'"|(?<!\S)[+-](?=\S)')
"""What makes a word of a query required or forbidden."""


def explain(
    documentation: Documentation,
    function: str,
    query: str,
    *,
    library: str | None,
    version: str | None,
    filters: dict[str, Any] | None,
) -> list[str]:
    """Say which arm found nothing, and what finds something instead.

    `function`: the search that found nothing, which is also what proposals are tried by.
    """
    scope: dict[str, Any] = {"library": library, "version": label(version)}
    find = _Finder(documentation)
    said = []
    if not find.any("keyword_search", query, scope | {"filters": filters}):
        said.append("The keyword arm found nothing: no passage in reach has the words asked for.")
    else:
        said.append("The keyword arm alone finds something: call keyword_search.")
    if not find.any("semantic_search", query, scope | {"filters": filters}):
        said.append("The semantic arm found nothing: no passage in reach has a vector near it.")
    else:
        said.append("The semantic arm alone finds something: call semantic_search.")
    relaxed = _relaxed(find, function, query, scope, filters)
    return said + (relaxed or ["Other words may help: shorter, more general, as the"
        " documentation would put it. search_text finds exact text."])  # fmt: skip


def _relaxed(
    find: _Finder, function: str, query: str, scope: dict[str, Any], filters: dict[str, Any] | None
) -> list[str]:
    """What of the search can be left out so that there are hits."""
    said = []
    if filters and find.any(function, query, scope):
        said.append("Leave out `filters`: without them there are hits.")
    words = find.words(query)
    if words != query and words and find.any(function, words, scope | {"filters": filters}):
        said.append(f"Leave out the conditions in the query: {on_one_line(words)!r} has hits.")
    plain = " ".join(_MARKS.sub(" ", words).split())
    if plain != words and plain and find.any(function, plain, scope | {"filters": filters}):
        said.append(f"Leave out quotation marks, + and -: {on_one_line(plain)!r} has hits.")
    if scope["version"] != "*":
        rows = find.rows(function, query, scope | {"version": "*", "filters": filters}, count=20)
        labels = dict.fromkeys(shown(row["version"]) for row in rows)
        if labels:
            said.append(f"Other versions have hits: {', '.join(labels)}.")
    alone = plain or query
    if not said and find.any(function, alone, {**scope, "version": "*"}):
        shown_alone = f"{on_one_line(alone)!r} alone, in version '*'"
        said.append(f"Leave out all conditions at once: {shown_alone}, has hits.")
    return said


class _Finder:
    """Tries searches out; one that fails finds nothing."""

    def __init__(self, documentation: Documentation) -> None:
        self._search = documentation.unrecorded
        self._documentation = documentation

    def rows(
        self, function: str, query: str, arguments: dict[str, Any], *, count: int = 1
    ) -> list[Row]:
        try:
            found = getattr(self._search, function)(query, match_count=count, **arguments)
        except PgragError:
            return []
        rows: list[Row] = found.rows
        return rows

    def any(self, function: str, query: str, arguments: dict[str, Any]) -> bool:
        return bool(self.rows(function, query, arguments))

    def words(self, query: str) -> str:
        try:
            [row] = self._documentation.call("parse_query", query=query)
        except PgragError:
            return query
        return str(row["words"])
