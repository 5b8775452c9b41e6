"""Writing down a search whose order was made here, such as by a reranker."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pgrag.db import Database, Row
from pgrag.errors import PgragError

log = logging.getLogger(__name__)

_KEPT = (
    "library", "version", "key", "page_id", "document_id", "score", "hybrid_score",
    "keyword_score", "semantic_score",
)  # fmt: skip


def record(
    database: Database,
    client: str,
    query: str,
    rows: Sequence[Row],
    *,
    library: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    timings: Mapping[str, float] | None = None,
    duration_ms: float | None = None,
) -> UUID | None:
    """Record rows of `pgrag.search` in the order in which they were given to somebody.

    Returns the search's id, or None where nothing can be written: a search never fails by it. What
    `pgrag.recorded_search` returns is recorded already. `parameters` are what JSON can say, without
    vectors.
    """
    versions = {row["version"] for row in rows}
    try:
        [row] = database.call(
            "record_search",
            query=query,
            hits=[{name: row.get(name) for name in _KEPT} for row in rows],
            client=client,
            library=library,
            version=versions.pop() if library is not None and len(versions) == 1 else None,
            parameters=None if parameters is None else dict(parameters),
            timings=None if timings is None else dict(timings),
            duration_ms=duration_ms,
        )
    except PgragError as error:
        log.warning("search not recorded: %s", error)
        return None
    found: UUID | None = row["record_search"]
    return found
