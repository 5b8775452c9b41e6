"""Why a search has no hits, and which relaxed searches have some."""

import re
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.errors import PgragError
from pgrag.mcp.corpus import Documentation, shown
from pgrag.mcp.replies import on_one_line
from pgrag.search.result import Result

_MARKS = re.compile(r'"|(?<!\S)[+-](?=\S)')
"""Marks that make a term of a query required or forbidden."""

_RETRIEVERS = (
    ("keyword", "keyword_search", "those words"),
    ("vector", "semantic_search", "a vector near it"),
)


def explain(
    documentation: Documentation,
    function: str,
    query: str,
    *,
    scope: dict[str, Any],
    filters: dict[str, Any] | None,
) -> list[str]:
    """Say which retrievers have no hits, and which changes of the search lead to hits."""

    def find(search: str, words: str, **changed: Any) -> list[Row]:
        """The hits of a search, one unless `top_k` is changed; none if the search fails."""
        arguments = {"top_k": 1, "filters": filters} | scope | changed
        try:
            result: Result = getattr(documentation.unrecorded, search)(words, **arguments)
        except PgragError:
            return []
        return result.rows

    retrievers = [
        f"The {name} retriever alone has hits: call {search}."
        if find(search, query)
        else f"The {name} retriever has no hits: no passage in scope has {lacking}."
        for name, search, lacking in _RETRIEVERS
    ]
    said = []
    if filters and find(function, query, filters=None):
        said.append("Leave out `filters`: without them there are hits.")
    words = _words(documentation, query)
    if words != query and words and find(function, words):
        said.append(f"Leave out the conditions in the query: {on_one_line(words)!r} has hits.")
    plain = " ".join(_MARKS.sub(" ", words).split())
    if plain != words and plain and find(function, plain):
        said.append(f"Leave out quotation marks, + and -: {on_one_line(plain)!r} has hits.")
    if scope["version"] != "*":
        rows = find(function, query, version="*", top_k=20)
        labels = dict.fromkeys(shown(row["version"]) for row in rows)
        if labels:
            said.append(f"Other versions have hits: {', '.join(labels)}.")
    alone = plain or query
    if not said and find(function, alone, version="*", filters=None):
        shown_alone = f"{on_one_line(alone)!r} alone, in version '*'"
        said.append(f"Leave out all conditions at once: {shown_alone}, has hits.")
    return retrievers + (said or ["Other words may help: shorter, more general, as the"
        " documentation would put it. search_text finds exact text."])  # fmt: skip


def _words(documentation: Documentation, query: str) -> str:
    try:
        [row] = documentation.call("parse_query", query=query)
    except PgragError:
        return query
    return str(row["words"])
