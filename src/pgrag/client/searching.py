"""Searches, contexts and answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from pgrag.client.part import Part
from pgrag.client.signatures import explained
from pgrag.ground.arguments import (
    AnswerArguments,
    AnswerOptions,
    ContextArguments,
    ContextOptions,
    FacetArguments,
    FacetOptions,
    PagesArguments,
    PagesOptions,
    SearchArguments,
    SearchOptions,
)
from pgrag.ground.values import searches
from pgrag.ground.values.answers import Answer
from pgrag.ground.values.base import described
from pgrag.ground.values.libraries import TextLine

if TYPE_CHECKING:
    from pgrag.answer import AnswerStream


class SearchResult(searches.SearchResult):
    """Hits, the best first; `next()` returns the next page of hits.

    With `group` page they come page by page, and `pages` has an entry for each page.
    """

    _continued: Callable[[str], SearchResult] = described(hidden=True)

    @property
    def version(self) -> str | None:
        """The version that was searched; None for several versions or none."""
        return self.resolved[0].version if len(self.resolved) == 1 else None

    @property
    def reason(self) -> str | None:
        """Why that version was chosen; None for several versions or none."""
        return self.resolved[0].reason if len(self.resolved) == 1 else None

    def next(self) -> SearchResult | None:
        """The next page of hits; None after the last page."""
        return None if self.cursor is None else self._continued(self.cursor)


class Searching(Part):
    """Finds passages and pages, and answers with them."""

    @explained(SearchArguments)
    def search(
        self, query: str, library: str | None = None, **arguments: Unpack[SearchOptions]
    ) -> SearchResult:
        """Find passages by keywords and by meaning."""

        def continued(cursor: str) -> SearchResult:
            onwards: SearchOptions = {**arguments, "after": cursor}
            return self.search(query, library, **onwards)

        result = self._app.search.search(query, library=library, **arguments)
        listing = {**result.listing("hits"), "hits": result.rows}
        return SearchResult.from_row({**listing, "_continued": continued})

    @explained(PagesArguments)
    def search_pages(
        self, query: str, library: str | None = None, **arguments: Unpack[PagesOptions]
    ) -> searches.PageResult:
        """Find pages: one result per page, with its best passage."""
        return searches.PageResult.from_row(
            self._app.search.pages(query, library=library, **arguments).listing("pages")
        )

    @explained(SearchArguments)
    def search_many(
        self,
        queries: Sequence[str],
        library: str | None = None,
        **arguments: Unpack[SearchOptions],
    ) -> searches.BatchResult:
        """Run many queries in one call; a query that fails does not affect the others."""
        each: SearchArguments = {"library": library, **arguments}
        result = self._app.search.many(queries, [each] * len(queries))
        top_k = arguments.get("top_k") or 10
        return searches.BatchResult.from_row(result.batch(queries, [top_k] * len(queries)))

    def search_text(
        self,
        pattern: str,
        library: str,
        version: str | None = None,
        *,
        mode: Literal["literal", "regex", "word"] = "literal",
        case: Literal["sensitive", "ignore", "smart"] = "sensitive",
        context: int = 0,
        path: str | None = None,
        top_k: int = 100,
    ) -> list[TextLine]:
        """List the source lines that match a pattern, as ripgrep does; `path` is a glob."""
        return self._rows(
            TextLine, "search_text", pattern=pattern, library=library, version=version,
            mode=mode, case_mode=case, context=context, path=path, top_k=top_k,
        )  # fmt: skip

    @explained(FacetArguments)
    def facets(
        self,
        query: str | None = None,
        library: str | None = None,
        **arguments: Unpack[FacetOptions],
    ) -> searches.Facets:
        """Count the pages of a search by library, version, topic, type, tag and language."""
        return searches.Facets.from_row(
            self._app.search.facets(query, library=library, **arguments).facets()
        )

    def suggest(
        self, query: str, library: str | None = None, version: str | None = None
    ) -> list[searches.Suggestion]:
        """Corrected queries: what the user may have meant."""
        return self._rows(
            searches.Suggestion, "suggest", query=query, library=library, version=version
        )

    def parse_query(self, query: str) -> searches.ParsedQuery:
        """The words of a query and the filters written in it."""
        return self._row(searches.ParsedQuery, "parse_query", query=query)

    def detect_intent(self, query: str) -> searches.Intent:
        """The intent of a query, and the search parameters that it selects."""
        return self._row(searches.Intent, "detect_intent", query=query)

    @explained(ContextArguments)
    def context(
        self, query: str, library: str | None = None, **arguments: Unpack[ContextOptions]
    ) -> searches.Context:
        """The context for a question: hits and their surroundings, within a token budget."""
        return searches.Context.from_row(
            self._app.search.context(query, library=library, **arguments).context()
        )

    def tools(
        self, library: str | None = None, version: str | None = None
    ) -> list[Callable[..., str]]:
        """Functions for the model of an agent, with types and docstrings: the default tools of the
        MCP server. Their replies are text. A `library` or `version` given here is fixed.
        """
        from pgrag.client.tools import functions

        fixed = {"library": library, "version": version}
        return functions(
            self._app, {name: value for name, value in fixed.items() if value is not None}
        )

    @explained(AnswerArguments)
    def answer(
        self, question: str, library: str | None = None, **arguments: Unpack[AnswerOptions]
    ) -> Answer:
        """Let the language model answer a question; its sentences are checked against the sources.

        Raises `NotConfigured` without a language model.
        """
        return self._app.answering("python").answer(question, library=library, **arguments)

    @explained(AnswerArguments)
    def answer_stream(
        self, question: str, library: str | None = None, **arguments: Unpack[AnswerOptions]
    ) -> AnswerStream:
        """Stream an answer: iterate over the events; `answer` is complete at the end."""
        return self._app.answering("python").stream(question, library=library, **arguments)
