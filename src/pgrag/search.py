"""Searching: the query's vector if a model outside the database needs one, then SQL."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pgvector import HalfVector

from pgrag.db import Database, Row, collected_notices
from pgrag.errors import DatabaseError, EmbeddingError

if TYPE_CHECKING:
    from pgrag.embedding import Embedder

log = logging.getLogger(__name__)

#: Gives the embedder of a model by name, or None where it is not configured here.
EmbedderByName: TypeAlias = "Callable[[str], Embedder | None]"


@dataclass(frozen=True, slots=True)
class Result:
    """Rows of a search function, and what it had to say besides them."""

    rows: list[Row] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


class Search:
    """Calls the search functions of the database; arguments are theirs, by name."""

    def __init__(self, database: Database, embedder_of: EmbedderByName) -> None:
        self._database = database
        self._embedder_of = embedder_of

    def search(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.search`."""
        return self._run("search", query, arguments, needs_vector=arguments.get("alpha") != 0)

    def keyword_search(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.keyword_search`."""
        return self._run("keyword_search", query, arguments, needs_vector=False)

    def semantic_search(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.semantic_search`."""
        return self._run("semantic_search", query, arguments, needs_vector=True)

    def explain_search(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.explain_search`."""
        return self._run(
            "explain_search", query, arguments, needs_vector=arguments.get("alpha") != 0
        )

    def context(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.context`; their `block`s, joined by empty lines, are the text."""
        return self._run("context", query, arguments, needs_vector=arguments.get("alpha") != 0)

    def _run(
        self, function: str, query: str, arguments: dict[str, Any], *, needs_vector: bool
    ) -> Result:
        with collected_notices() as notices:
            if needs_vector and arguments.get("query_embedding") is None:
                notices.extend(self._teach(query, arguments))
            rows = self._database.call(function, query=query, **arguments)
        return Result(rows, list(dict.fromkeys(notices)))

    def _teach(self, query: str, arguments: dict[str, Any]) -> list[str]:
        """Give the database the query's vector by each model that it cannot compute itself.

        A model that fails leaves the search to the keywords, and a word about it.
        """
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
