"""Errors and their remedies, worded for a model."""

import logging
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from pgrag.ground import errors
from pgrag.ground.cancelling import is_abandoned

log = logging.getLogger(__name__)

_MOST_ERRORS = 5
_RETRY = "The arguments are valid: try the same call again in a few seconds."
_FILTER_SYNTAX = (
    'Filters are like {"type": "guide", "tags": ["a", "b"], "created": {">=": "2024-12-01"}}:'
    " a value must be equal, a list holds alternatives, an object operators. Or leave them out."
)

#: The remedy for an error, or for its nearest ancestor.
_NEXT: dict[type[errors.PgragError], str] = {
    errors.UnknownLibrary: "Call find_library to see every library that is indexed.",
    errors.UnknownVersion: "Leave version out for the newest one, or see all of them with"
    " find_library(library).",
    errors.UnknownPage: "Take page from a reply, or give library and page (the path in the"
    " source or the url). Ids of pages that have been removed are gone.",
    errors.UnknownDocument: "Take ids from hits of search_docs; search again if the documentation"
    " has been indexed since.",
    errors.UnknownSearch: "Take search_id from the last lines of a search's reply; searches that"
    " were not recorded cannot be rated.",
    errors.InvalidFilter: _FILTER_SYNTAX,
    errors.InvalidCursor: "Pass the last reply's cursor unchanged, with the same other arguments;"
    " or leave it out to start over.",
    errors.InvalidQuery: "Correct the query at that column. An example: TABLE status, due FROM #tag"
    " WHERE priority > 3 SORT due DESC LIMIT 20.",
    errors.TimeExceeded: "Ask for less: a longer or literal pattern, a path, a lower top_k.",
    errors.ReadOnly: "Nothing can be changed here now; search and read without it.",
    errors.NotConfigured: "The operator of this server must set this up; continue without it.",
    errors.Busy: _RETRY,
    errors.DatabaseUnavailable: _RETRY,
    errors.PgragError: "",
}

#: Replacements for messages that reveal the server's internals.
_HIDDEN: dict[type[errors.PgragError], str] = {
    errors.Busy: "The server is busy.",
    errors.DatabaseUnavailable: "The database of this server does not answer.",
    errors.DatabaseFull: "The database of this server has no disk space or memory left for this"
    " call; its operator must free some.",
    errors.SchemaOutdated: "The database is older than this server; its operator must run"
    " `pgrag db upgrade`.",
    errors.SchemaTooNew: "The database is newer than this server; its operator must update pgrag.",
    errors.EmbeddingError: "The embedding model failed. Try again, or with mode='keyword'.",
    errors.RerankingError: "The reranker failed. Search without it.",
    errors.LanguageModelError: "The language model of this server failed. Try again later.",
}

_UNEXPECTED = "The server failed to answer; its log says why. Try again, or ask differently."


def tell(error: Exception, tool: str) -> str:
    """Describe an error to an agent; details that it must not see go to the log."""
    if is_abandoned():
        # Its statement was ended, and nobody reads the reply.
        return _UNEXPECTED
    if not isinstance(error, errors.PgragError):
        log.error("%s failed", tool, exc_info=error)
        return _UNEXPECTED
    for ancestor in type(error).__mro__:
        if ancestor in _HIDDEN:
            log.error("%s: %s", tool, error)
            return _sentences(_HIDDEN[ancestor], _NEXT.get(ancestor))
    caller = errors.NotFound | errors.InvalidInput | errors.NotConfigured | errors.TimeExceeded
    if not isinstance(error, caller | errors.SourceError | errors.LimitReached):
        log.error("%s: %s", tool, error)
        return _UNEXPECTED
    following = next(_NEXT[kind] for kind in type(error).__mro__ if kind in _NEXT)
    return _sentences(error.message, error.hint, following)


def tell_arguments(error: ValidationError, tool: str, known: list[str]) -> str:
    """Describe the invalid arguments of a call, and list the valid names."""
    items = error.errors(include_url=False, include_context=False)
    said = [_complaint(item, known) for item in items[:_MOST_ERRORS]]
    listing = f"{tool} takes: {', '.join(known)}." if known else f"{tool} takes no arguments."
    return _sentences("The arguments cannot be used.", *said, listing)


def unknown_tool(name: str, known: list[str]) -> str:
    """Say that a tool does not exist, and list the tools."""
    return f"There is no tool {name!r}.{_nearest(name, known)} There are: {', '.join(known)}."


def _complaint(item: Any, known: list[str]) -> str:
    name = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"{name}: there is no such argument.{_nearest(name, known)}"
    if item["type"] == "missing":
        return f"{name}: it is required."
    message = item["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    message = message.rstrip(".")
    value = item["input"]
    got = f", got {value!r}" if isinstance(value, str | int | float) and name else ""
    beginning = f"{name}: " if name else ""
    return f"{beginning}{message}{got if len(got) < 100 else ''}."


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def _sentences(*parts: str | None) -> str:
    """Join on one line: an error may quote file names, which must not look like pgrag's words."""
    return " ".join(" ".join(part.split()) for part in parts if part and part.strip())
