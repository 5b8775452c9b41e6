"""What is made of hits: pages, counts, and many searches at once; rows as SQL returns them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pgvector import HalfVector

from pgrag.db import collected_notices
from pgrag.search import Result, Search


class Results(Search):
    """The search functions, and those that make something else of what they find."""

    def pages(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.search_pages`."""
        return self._run("search_pages", query, arguments, needs_vector=arguments.get("alpha") != 0)

    def facets(self, query: str | None = None, **arguments: Any) -> Result:
        """Rows of `pgrag.facets`; without a query those of all pages."""
        wants_vector = bool(query and query.strip()) and arguments.get("alpha") != 0
        return self._run("facets", query or "", arguments, needs_vector=wants_vector)

    def edges(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.search_edges`."""
        return self._run("search_edges", query, arguments, needs_vector=True)

    def answer_context(self, question: str, **arguments: Any) -> Result:
        """The one row of `pgrag.answer_context`: sources and messages for a language model."""
        with collected_notices() as notices:
            if arguments.get("alpha") != 0 and arguments.get("query_embedding") is None:
                notices.extend(self._teach(question, arguments))
            rows = self._database.call("answer_context", question=question, **arguments)
        return Result(rows, list(dict.fromkeys(notices)))

    def many(self, queries: Sequence[str], arguments: Sequence[dict[str, Any]]) -> Result:
        """Rows of `pgrag.search_many`: for each query its own arguments of `pgrag.search`.

        Models outside the database are asked for the vector of each query first.
        """
        own = [dict(given) for given in arguments]
        with collected_notices() as notices:
            for query, given in zip(queries, own, strict=True):
                if given.get("alpha") != 0 and given.get("query_embedding") is None:
                    notices.extend(self._teach(query, given))
            rows = self._database.call(
                "search_many",
                queries=list(queries),
                arguments=json.dumps(own, default=_plain),
            )
        return Result(rows, list(dict.fromkeys(notices)))


def _plain(value: Any) -> Any:
    if isinstance(value, HalfVector):
        return value.to_list()
    raise TypeError(f"{type(value).__name__} cannot be an argument of a search.")
