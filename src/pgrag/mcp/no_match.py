"""What is said of a search without a good match, and how to get one."""

import re
from typing import Any

from pgrag.ground.calls import Row
from pgrag.ground.errors import PgragError
from pgrag.mcp.asked import ALL_LIBRARIES, Asked
from pgrag.mcp.corpus import Documentation, Resolved, label, named, shown
from pgrag.mcp.replies import on_one_line
from pgrag.mcp.tool import Reply
from pgrag.search.result import Result

_NEAREST = 3
"""Pages named if there is no good match; one less for each other line that the reply needs."""
_TITLE_BYTES = 80
_REASON_BYTES = 130
_MARKS = re.compile(r'"|(?<!\S)[+-](?=\S)')
"""Marks that make a term of a query required or forbidden."""
_LACKS = {"keyword": "those words", "semantic": "a vector near it"}
"""What no passage has if a retriever has no hits."""
_SENTENCE = re.compile(r"(?<=[.?!;])\s+|\n+")
_WORDS_OF_SENTENCE = 4
_SENTENCES = 5
"""Sentences of a question that are asked alone if all of it has no good match."""


def unknown_words(asked: Asked, read: Resolved | None) -> list[str]:
    """Words of the query that the library does not have."""
    if read is None or not asked.is_hybrid:
        return []
    rows = asked.documentation.call(
        "unknown_words", query=asked.request.query, library=read.library
    )
    words = ", ".join(f'"{row["unknown_words"]}"' for row in rows)
    return [f"No passage of {read.library} contains {words}."] if words else []


def answers_in_part(asked: Asked) -> bool:
    """Whether a sentence of a question has a good match: all of them together may have none."""
    sentences = [each.strip() for each in _SENTENCE.split(asked.request.query)]
    asking = [each for each in sentences if len(each.split()) >= _WORDS_OF_SENTENCE]
    if len(asking) < 2:
        return False

    def is_answered(sentence: str) -> bool:
        try:
            result = asked.documentation.unrecorded.search(sentence, top_k=1, **asked.scope)
        except PgragError:
            # A part of a query may be no query, such as one of excluded words.
            return False
        return bool(result.rows) and not result.no_good_match

    return any(map(is_answered, asking[:_SENTENCES]))


def nearest_pages(asked: Asked, read: Resolved | None, result: Result, lacking: list[str]) -> Reply:
    """The reply if no passage is likely to answer: the nearest pages, without their texts."""
    pages = {row["page_id"]: _short(row["title"]) for row in result.rows}
    count = _NEAREST
    where = _short(
        named(read.library, read.label) if read else asked.request.library or ALL_LIBRARIES
    )
    if read and ("pinned" in read.reason or "is not indexed" in read.reason):
        # Another version may have it.
        where += f" ({_short(read.reason, _REASON_BYTES)})"
        count -= 1
    count -= bool(lacking)
    nearest = [f"- {title} (page {id})" for id, title in [*pages.items()][:count]]
    lines = [
        f"No {'further ' if asked.excluded else ''}good match in {where}. Nearest pages:",
        *nearest,
        *(_short(each) for each in lacking),
        'Ask in other words; read_docs(page=ID); mode="keyword" or min_confidence=0 shows all.',
    ]
    return Reply("\n".join(lines))


def _short(text: str, size: int = _TITLE_BYTES) -> str:
    """The beginning of a title: its alphabet decides how many letters a token has."""
    return on_one_line(text.encode()[:size].decode("utf-8", "ignore"))


def doubts(rows: list[Row]) -> list[str]:
    """Warnings if a retriever of the hybrid search has no hits; none for a list by filters."""
    if all(row["keyword_score"] is row["semantic_score"] is None for row in rows):
        return []
    if not any(row["keyword_score"] for row in rows):
        return [
            "The keyword retriever has no hits: no passage has a term of the query. These are the"
            " nearest by meaning, and may be off topic."
        ]
    if all(row["semantic_score"] is None for row in rows):
        return ["By words alone: the vector retriever had no vectors to compare."]
    return []


def ways_out(asked: Asked) -> list[str]:
    """Say which retrievers have no hits, and which changes of the search lead to hits."""
    documentation, request = asked.documentation, asked.request
    query, filters = request.query, request.conditions
    scope = {
        "library": request.library, "version": label(request.version),
        "mode": asked.arguments["mode"],
    }  # fmt: skip

    def find(words: str, **changed: Any) -> list[Row]:
        """The hits of a search, one unless `top_k` is changed; none if the search fails."""
        arguments = {"top_k": 1, "filters": filters} | scope | changed
        try:
            return documentation.unrecorded.search(words, **arguments).rows
        except PgragError:
            return []

    retrievers = [
        f'The {mode} retriever alone has hits: mode="{mode}".'
        if find(query, mode=mode)
        else f"The {mode} retriever has no hits: no passage in scope has {lacking}."
        for mode, lacking in _LACKS.items()
    ]
    said = []
    if filters and find(query, filters=None):
        given = [name for name in ("type", "filters") if getattr(request, name)]
        said.append(f"Leave out {' and '.join(given)}: then there are hits.")
    words = _words(documentation, query)
    if words != query and words and find(words):
        said.append(f"Leave out the conditions in the query: {on_one_line(words)!r} has hits.")
    plain = " ".join(_MARKS.sub(" ", words).split())
    if plain != words and plain and find(plain):
        said.append(f"Leave out quotation marks, + and -: {on_one_line(plain)!r} has hits.")
    if scope["version"] != "*":
        rows = find(query, version="*", top_k=20)
        labels = dict.fromkeys(shown(row["version"]) for row in rows)
        if labels:
            said.append(f"Other versions have hits: {', '.join(labels)}.")
    alone = plain or query
    if not said and find(alone, version="*", filters=None):
        shown_alone = f"{on_one_line(alone)!r} alone, in version '*'"
        said.append(f"Leave out all conditions at once: {shown_alone}, has hits.")
    return retrievers + (said or ["Other words may help: shorter, more general, as the"
        " documentation would put it."])  # fmt: skip


def _words(documentation: Documentation, query: str) -> str:
    try:
        [row] = documentation.call("parse_query", query=query)
    except PgragError:
        return query
    return str(row["words"])
