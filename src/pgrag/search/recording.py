"""Record searches and answers that no SQL function records itself."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pgrag.ground.calls import Row
from pgrag.ground.cancelling import uncancelled
from pgrag.ground.connections import Database
from pgrag.ground.errors import PgragError
from pgrag.ground.replicas import aside
from pgrag.ground.requests import note

log = logging.getLogger(__name__)

_KEPT = (
    "library", "version", "key", "page_id", "document_id", "score", "hybrid_score", "confidence",
    "keyword_score", "semantic_score", "keyword_rank", "semantic_rank",
)  # fmt: skip
_APART = ("library", "version", "query_embedding", "dependencies")
"""Arguments kept out of a record's parameters: two have their own columns, one is a vector, one is
of the reader's project.
"""


def record(
    database: Database,
    client: str | None,
    query: str,
    rows: Sequence[Row],
    arguments: Mapping[str, Any],
    *,
    timings: Mapping[str, float] | None = None,
    duration_ms: float | None = None,
) -> UUID | None:
    """Record rows of `pgrag.search` in the order that the client received.

    Returns the search's id, or None without a client or if writing fails: recording never makes
    a search fail. Do not pass rows of `pgrag.recorded_search`, which records them itself.
    `arguments` are those of the search, plus any further facts that JSON can express.
    """
    if client is None:
        return None
    library = arguments.get("library")
    versions = {row["version"] for row in rows}
    facts = {
        "query": query,
        "hits": [{name: row.get(name) for name in _KEPT} for row in rows],
        "client": client,
        "library": library,
        "version": versions.pop() if library is not None and len(versions) == 1 else None,
        "parameters": {name: arguments[name] for name in arguments if name not in _APART},
        "timings": None if timings is None else dict(timings),
        "duration_ms": duration_ms,
    }
    try:
        with uncancelled(), aside():
            [row] = database.call("record_search", **facts)
    except PgragError as error:
        log.warning("search not recorded: %s", error)
        return None
    search_id: UUID | None = row["record_search"]
    note(search_id=search_id)
    return search_id


def record_answer(database: Database, search_id: UUID | None, **facts: Any) -> None:
    """Record a complete or partial answer with its search, unless that was not recorded (None).

    `facts` are further arguments of `pgrag.record_answer`. Recording never makes an answer fail.
    """
    if search_id is None:
        return
    try:
        with uncancelled(), aside():
            database.call("record_answer", search_id=search_id, **facts)
    except PgragError as error:
        log.warning("answer not recorded: %s", error)


def give_feedback(database: Database, **facts: Any) -> int:
    """Keep a rating of a recorded search and return its id; see `pgrag.give_feedback`.

    A caller with fewer rights than the service may rate only its own searches.
    """
    [row] = database.call("give_feedback", **facts)
    note(search_id=facts["search_id"])
    return int(row["give_feedback"])
