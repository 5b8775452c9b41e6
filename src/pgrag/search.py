"""Searching: the query's vector if a model outside the database needs one, then SQL."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID, uuid4

from pgvector import HalfVector

from pgrag.db import Database, Row, collected_notices
from pgrag.errors import DatabaseError, EmbeddingError, NotConfigured
from pgrag.recording import record

if TYPE_CHECKING:
    from pgrag.embedding import Embedder
    from pgrag.reranking import Reranked

log = logging.getLogger(__name__)

#: Gives the embedder of a model by name, or None where it is not configured here.
EmbedderByName: TypeAlias = "Callable[[str], Embedder | None]"

#: Orders hits by how well they answer a query.
Reranking: TypeAlias = "Callable[[str, list[Row]], Reranked]"

RERANK_DEPTH = 50
"""So many hits are scored anew, unless something else is asked for."""

#: Functions of a search, and what `pgrag.recorded_search` calls them.
_MODES = {"search": "hybrid", "keyword_search": "keyword", "semantic_search": "semantic"}


#: Functions whose rows are, or are made of, hits.
_MADE_OF_HITS = ("context", "search_pages")
#: Those that go by how words are spelt.
_SPELT = ("search", "keyword_search")
#: Arguments that `pgrag.recorded_search` takes by itself.
_SCOPE = ("library", "version", "query_embedding")


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a search function, and what it had to say besides them.

    `search_id` is what feedback is given to, None where the search was not recorded.
    """

    rows: list[Row] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    search_id: UUID | None = None


class Search:
    """Calls the search functions of the database; arguments are theirs, by name.

    Without `embedder_of` the database computes the vectors of all queries, and is not asked
    whether it lacks one. `rerank` orders hits anew, and raises `NotConfigured` where no reranker
    is configured. `client` is under what name searches are recorded; None: they are not. The three
    searches also take `rerank`, whether the reranker scores the first `rerank_depth` hits anew
    (default 50); such a list has one page.
    """

    def __init__(
        self,
        database: Database,
        embedder_of: EmbedderByName | None,
        *,
        rerank: Reranking | None = None,
        client: str | None = None,
    ) -> None:
        self._database = database
        self._embedder_of = embedder_of
        self._rerank = rerank
        self._client = client

    def search(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.search`."""
        return self._run("search", query, arguments, needs_vector=arguments.get("alpha") != 0)

    def keyword_search(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.keyword_search`."""
        return self._run("keyword_search", query, arguments, needs_vector=False)

    def semantic_search(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.semantic_search`."""
        return self._run("semantic_search", query, arguments, needs_vector=True)

    def context(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.context`; their `block`s, joined by empty lines, are the text."""
        return self._run("context", query, arguments, needs_vector=arguments.get("alpha") != 0)

    def _run(
        self, function: str, query: str, arguments: dict[str, Any], *, needs_vector: bool
    ) -> Result:
        with collected_notices() as notices:
            if needs_vector and arguments.get("query_embedding") is None:
                notices.extend(self._teach(query, arguments))
            if arguments.pop("rerank", False):
                rows, search_id = self._reranked(function, query, arguments, notices)
            elif self._client is not None and function in _MODES:
                arguments.pop("rerank_depth", None)
                rows, search_id = self._recorded(function, query, arguments)
            else:
                arguments.pop("rerank_depth", None)
                rows, search_id = self._called(function, query, arguments)
            if function in _SPELT and not any(row["keyword_score"] for row in rows):
                notices.extend(self._suggestions(query, arguments))
        return Result(rows, list(dict.fromkeys(notices)), search_id)

    def _called(
        self, function: str, query: str, arguments: dict[str, Any]
    ) -> tuple[list[Row], UUID | None]:
        """Rows of any function; if it makes something of hits, those are recorded after it."""
        started = perf_counter()
        rows = self._database.call(function, query=query, **arguments)
        if self._client is None or function not in _MADE_OF_HITS:
            return rows, None
        search_id = record(
            self._database,
            self._client,
            query,
            [row for row in rows if row.get("relation", "hit") == "hit"],
            library=arguments.get("library"),
            parameters={
                "function": function,
                **{name: value for name, value in arguments.items() if name not in _SCOPE},
            },
            duration_ms=1000 * (perf_counter() - started),
        )
        return rows, search_id

    def _suggestions(self, query: str, arguments: dict[str, Any]) -> list[str]:
        """What else may have been meant, where no document has a word of the query."""
        scope = {name: arguments.get(name) for name in ("library", "version")}
        rows = self._database.call("suggest", query=query, suggestion_count=1, **scope)
        return [f"Did you mean {row['suggestion']!r}?" for row in rows]

    def _reranked(
        self, function: str, query: str, arguments: dict[str, Any], notices: list[str]
    ) -> tuple[list[Row], UUID | None]:
        """Hits in the reranker's order; what comes after it (difference, limit) is done then."""
        if self._rerank is None:
            raise NotConfigured("No reranker is at hand here.")
        started = perf_counter()
        limit = arguments.get("match_count") or 10
        depth = max(limit, arguments.pop("rerank_depth", None) or RERANK_DEPTH)
        mmr_lambda = arguments.pop("mmr_lambda", None)
        found = self._database.call(function, query=query, **(arguments | {"match_count": depth}))
        [asked] = self._database.call("parse_query", query=query)
        ordered = self._rerank(asked["words"], found)
        notices.extend(ordered.notices)
        rows = ordered.rows
        if mmr_lambda is not None and rows:
            by_id = {row["document_id"]: row for row in rows}
            diverse = self._database.call(
                "diversify",
                document_ids=list(by_id),
                scores=[row["score"] for row in rows],
                mmr_lambda=mmr_lambda,
                match_count=limit,
            )
            rows = [by_id[row["document_id"]] for row in diverse]
        rows = rows[:limit]
        if self._client is None:
            return rows, None
        search_id = record(
            self._database,
            self._client,
            query,
            rows,
            library=arguments.get("library"),
            parameters={
                "mode": _MODES[function], "rerank_depth": depth, "reranked": ordered.applied,
                **{name: value for name, value in arguments.items() if name not in _SCOPE},
            },
            duration_ms=1000 * (perf_counter() - started),
        )  # fmt: skip
        return [{**row, "search_id": search_id} for row in rows], search_id

    def _recorded(
        self, function: str, query: str, arguments: dict[str, Any]
    ) -> tuple[list[Row], UUID | None]:
        search_id = uuid4()
        rows = self._database.call(
            "recorded_search",
            query=query,
            mode=_MODES[function],
            client=self._client,
            search_id=search_id,
            arguments={name: value for name, value in arguments.items() if name not in _SCOPE},
            **{name: arguments[name] for name in _SCOPE if name in arguments},
        )
        if rows:
            return rows, rows[0]["search_id"]
        # No row says whether nothing was written down, or nothing could be.
        [record] = self._database.query("select pgrag._may_record() as is_written")
        return rows, search_id if record["is_written"] else None

    def _teach(self, query: str, arguments: dict[str, Any]) -> list[str]:
        """Give the database the query's vector by each model that it cannot compute itself.

        A model that fails leaves the search to the keywords, and a word about it.
        """
        if self._embedder_of is None:
            return []
        said = []
        scope = {name: arguments.get(name) for name in ("library", "model", "filters")}
        for row in self._database.call("missing_query_models", query=query, **scope):
            embedder = self._embedder_of(row["model_name"])
            if embedder is None:
                continue
            try:
                vector = HalfVector(embedder.embed_query(row["words"]))
            except EmbeddingError as error:
                log.warning("query not embedded: %s", error)
                said.append(str(error))
                continue
            try:
                self._database.call(
                    "remember_query_vector",
                    query=query,
                    model=embedder.name,
                    query_embedding=vector,
                )
            except DatabaseError as error:
                # A role or a replica that only reads: the vector goes along with the search.
                log.info("vector of the query not kept: %s", error)
                arguments["query_embedding"] = vector
        return said
