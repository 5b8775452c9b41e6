"""Search: embed the query if its model runs outside the database, then call SQL.

`pgrag.ground.arguments` declares the arguments. An argument that is None gets its default from SQL.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack, cast, get_args
from uuid import UUID, uuid4

from pgrag.ground.arguments import (
    AnswerArguments,
    ContextArguments,
    FacetArguments,
    Group,
    KeywordArguments,
    PagesArguments,
    SearchArguments,
    SemanticArguments,
    named_and_options,
)
from pgrag.ground.callers import as_service
from pgrag.ground.errors import DatabaseError, EmbeddingError, InvalidInput, NotConfigured
from pgrag.ground.notices import collected_notices
from pgrag.ground.requests import note
from pgrag.search.result import Result, has_no_good_match, substitutions

if TYPE_CHECKING:
    from pgrag.ground.calls import Row
    from pgrag.ground.connections import Database
    from pgrag.models.embedding import Embedder
    from pgrag.models.reranking import Reranked

log = logging.getLogger(__name__)

#: Returns the embedder of a model by name, or None if the model is not configured here.
EmbedderByName: TypeAlias = "Callable[[str], Embedder | None]"

#: Reorders hits by their relevance to a query.
Reranking: TypeAlias = "Callable[[str, list[Row]], Reranked]"

_Recorded: TypeAlias = "tuple[list[Row], UUID | None]"

TOP_K = 10
"""Default number of hits."""

RERANK_DEPTH = 50
"""Default number of hits that the reranker scores."""

_RERANKED = {"search", "context", "answer_context"}
"""Functions whose hits a reranker may order."""

_RECORDED = {"context", "search_pages"}
"""Functions whose hits are recorded after the call; recorded_search records its own."""

_LOOKS = {"snippets", "explain"}
"""Arguments that do not change what is found."""

PAGE_HITS = 3
"""The maximum number of hits of a page in a list that is grouped by page."""

_AFTER_RERANKING = {
    "min_score", "mmr_lambda", "page_hits", "snippets", "history", "explain", "template",
    "inject_types", "expansion_threshold", "expansion_share", "max_documents_to_expand",
    "max_chunks_per_document",
}  # fmt: skip
"""Arguments that do not apply to the candidates of a reranker."""

_HITS_ALONE = {
    "score_share": 0, "expand": False, "parents": False, "siblings": 0, "overlap": False,
    "token_budget": 1_000_000, "inject_count": 0,
}  # fmt: skip
"""Arguments with which a context holds its hits only."""

_EVERY_VERSION = "every version"


class Search:
    """Calls the search functions of the database; thread-safe.

    Without `embedder_of` the database computes every query vector itself, so it is not asked for
    missing ones. `rerank` reorders hits. Searches are recorded under the name `client`, and not
    recorded if it is None. `is_last`: a request to a service ends with a call of these functions.
    """

    def __init__(
        self,
        database: Database,
        embedder_of: EmbedderByName | None,
        *,
        rerank: Reranking | None = None,
        client: str | None = None,
        is_last: bool = False,
    ) -> None:
        self._database = database
        self._embedder_of = embedder_of
        self._rerank = rerank
        self._client = client
        self._call_last = database.call_last if is_last else database.call

    def search(self, query: str, **arguments: Unpack[SearchArguments]) -> Result:
        """Rows of `pgrag.search`.

        With `rerank` the reranker scores the first `rerank_depth` hits (default 50); a reranked
        list has a single page of results. Raises `NotConfigured` without a reranker. The same holds
        for `context` and `answer_context`, which rerank before they expand.
        """
        # Only the other functions take options, whose names SQL checks.
        if unknown := sorted(_stated(arguments).keys() - SearchArguments.__annotations__.keys()):
            raise InvalidInput(
                f"search has no argument {', '.join(unknown)}.",
                hint=f"There are: {', '.join(SearchArguments.__annotations__)}.",
            )
        return self._run("search", query, arguments)

    def keyword_search(self, query: str, **arguments: Unpack[KeywordArguments]) -> Result:
        """Search with the keyword retriever alone."""
        return self.search(query, **cast(SearchArguments, {**arguments, "mode": "keyword"}))

    def semantic_search(self, query: str, **arguments: Unpack[SemanticArguments]) -> Result:
        """Search with the vector retriever alone."""
        return self.search(query, **cast(SearchArguments, {**arguments, "mode": "semantic"}))

    def context(self, query: str, **arguments: Unpack[ContextArguments]) -> Result:
        """Rows of `pgrag.context`; the context is their `block`s, joined by empty lines."""
        return self._run("context", query, arguments)

    def pages(self, query: str, **arguments: Unpack[PagesArguments]) -> Result:
        """Rows of `pgrag.search_pages`."""
        return self._run("search_pages", query, arguments)

    def facets(self, query: str | None = None, **arguments: Unpack[FacetArguments]) -> Result:
        """Rows of `pgrag.facets`; without a query for all pages."""
        return self._run("facets", query or "", arguments)

    def edges(self, query: str, **arguments: Any) -> Result:
        """Rows of `pgrag.search_edges`."""
        return self._run("search_edges", query, arguments)

    def answer_context(self, question: str, **arguments: Unpack[AnswerArguments]) -> Result:
        """The single row of `pgrag.answer_context`: sources and messages for a language model."""
        return self._run("answer_context", question, {"intent": "auto", **_stated(arguments)})

    def many(self, queries: Sequence[str], options: Sequence[SearchArguments]) -> Result:
        """Rows of `pgrag.search_many`; each query has its own arguments of `pgrag.search`."""
        stated = [_stated(own) for own in options]
        for own in stated:
            if own.pop("rerank", False) or "rerank_depth" in own:
                raise InvalidInput(
                    "A batch is not reranked.", hint="Search for one query at a time."
                )
            _grouped(own)
        with collected_notices() as notices:
            for query, own in zip(queries, stated, strict=True):
                notices.extend(self._pinned(own))
                notices.extend(self._teach(query, own))
            rows = self._database.call(
                "search_many", queries=list(queries), options=json.dumps(stated, default=_plain)
            )
            notices.extend(substitutions(self._resolved(rows, {})))
        return Result(rows, list(dict.fromkeys(notices)))

    def _run(self, function: str, query: str, arguments: Mapping[str, Any]) -> Result:
        stated = _stated(arguments)
        note(library=stated.get("library"))
        is_reranked, depth = False, RERANK_DEPTH
        if function in _RERANKED:
            is_reranked = stated.pop("rerank", False)
            if "rerank_depth" in stated and not is_reranked:
                raise InvalidInput(
                    "rerank_depth says how many hits rerank scores, but rerank is off.",
                    hint="Pass rerank, too, or leave out rerank_depth.",
                )
            depth = stated.pop("rerank_depth", RERANK_DEPTH)
        is_grouped = _grouped(stated)
        with collected_notices() as notices:
            notices.extend(self._pinned(stated))
            notices.extend(self._teach(query, stated))
            if is_reranked:
                notices.extend(self._reranked(function, query, stated, depth))
            if function == "search":
                rows, search_id = self._listed(query, stated, notices)
            else:
                rows, search_id = self._made(function, query, stated)
            resolved = self._resolved(rows, stated, query)
            notices.extend(substitutions(resolved))
        top_k = None if is_reranked else stated.get("top_k", TOP_K)
        decides = {"after", "min_confidence"} & stated.keys()
        no_good_match = not decides and has_no_good_match(rows)
        return Result(
            rows,
            list(dict.fromkeys(notices)),
            search_id,
            resolved,
            top_k,
            no_good_match,
            is_grouped,
        )

    def _listed(self, query: str, stated: dict[str, Any], notices: list[str]) -> _Recorded:
        """Hits in SQL's order; the SQL function records them, but for a standby that has them."""
        if self._client is None or self._database.replicas is not None:
            started = perf_counter()
            rows = self._call_last("search", query=query, **stated)
            facts = {"top_k": TOP_K, **stated}
            facts = {name: value for name, value in facts.items() if name not in _LOOKS}
            if search_id := self._kept(query, rows, facts, started):
                rows = [row | {"search_id": search_id} for row in rows]
        else:
            rows, search_id = self._recorded(self._client, query, stated)
            note(search_id=search_id)
        is_spelt = stated.get("mode") != "semantic"
        if is_spelt and not any(row["keyword_score"] for row in rows):
            notices.extend(self._suggestions(query, stated))
        return rows, search_id

    def _recorded(self, client: str, query: str, stated: dict[str, Any]) -> _Recorded:
        """Hits of a search that SQL records, and the id of its record."""
        new_id = uuid4()
        note(search_id=new_id)
        rows = self._call_last(
            "recorded_search", query=query, client=client, search_id=new_id,
            **named_and_options("recorded_search", stated),
        )  # fmt: skip
        if rows:
            return rows, rows[0]["search_id"]
        # No row tells whether the search was recorded.
        recorded = self._database.query("select from pgrag.searches where search_id = %s", [new_id])
        return rows, new_id if recorded else None

    def _made(self, function: str, query: str, stated: dict[str, Any]) -> _Recorded:
        """Rows of a function that builds on hits; those hits are recorded afterwards."""
        started = perf_counter()
        text = "question" if function == "answer_context" else "query"
        rows = self._database.call(function, **{text: query}, **named_and_options(function, stated))
        if function not in _RECORDED:
            return rows, None
        hits = [row for row in rows if row.get("relation", "hit") == "hit"]
        return rows, self._kept(query, hits, stated | {"function": function}, started)

    def _kept(
        self, query: str, hits: list[Row], facts: dict[str, Any], started: float
    ) -> UUID | None:
        """Record hits after the call that found them."""
        if self._client is None:
            return None
        from pgrag.search.recording import record

        if scores := facts.pop("reranked", None):
            facts |= {"rerank": True, "rerank_depth": len(scores)}
        spent = 1000 * (perf_counter() - started)
        return record(self._database, self._client, query, hits, facts, duration_ms=spent)

    def _reranked(self, function: str, query: str, stated: dict[str, Any], depth: int) -> list[str]:
        """Let the reranker score the candidates; SQL orders the hits by its scores."""
        if self._rerank is None:
            raise NotConfigured("No reranker is configured here.")
        wider = {name: value for name, value in stated.items() if name not in _AFTER_RERANKING}
        wider["top_k"] = max(stated.get("top_k", TOP_K), depth)
        if function != "search":
            function, wider = "context", named_and_options("context", wider | _HITS_ALONE)
        rows = self._database.call(function, query=query, **wider)
        [asked] = self._database.call("parse_query", query=query)
        ordered = self._rerank(asked["words"], rows)
        if ordered.applied and ordered.rows:
            stated["reranked"] = {str(row["document_id"]): row["score"] for row in ordered.rows}
        return ordered.notices

    def _resolved(
        self, rows: list[Row], stated: Mapping[str, Any], query: str | None = None
    ) -> list[Row]:
        """The version of each library that was searched, and why; [] for every version.

        Hits carry their version. Only without hits is the database asked.
        """
        if rows and "versions" in rows[0]:
            reasons = {(r["library"], r["version"]): r["reason"] for r in rows[0]["versions"]}
        else:
            reasons = {
                (row["library"], row["version"]): row["version_reason"]
                for row in rows
                if "version_reason" in row
            }
        filters = stated.get("filters") or {}
        wish = stated.get("version", filters.get("version"))
        library = stated.get("library", filters.get("library"))
        if not reasons and isinstance(library, str) and wish != "*":
            [row] = self._database.call(
                "resolve_version", library=library, wanted=wish, query=query,
                dependencies=stated.get("dependencies"),
            )  # fmt: skip
            reasons = {(library.strip().lower(), row["version"]): row["reason"]}
        return [
            {"library": name, "version": version, "reason": reason}
            for (name, version), reason in reasons.items()
            if reason != _EVERY_VERSION
        ]

    def _pinned(self, stated: dict[str, Any]) -> list[str]:
        """Put what a project pins of the indexed libraries in the place of its files; notes."""
        if not {"project", "dependencies"} & stated.keys():
            return []
        from pgrag.project import read, settled

        path = stated.pop("project", None)
        pinned = settled(stated.pop("dependencies", None) or {})
        if path is not None:
            of_files = read(path)
            pinned.dependencies = of_files.dependencies | pinned.dependencies
            pinned.notes[:0] = of_files.notes
        if not pinned.dependencies:
            return pinned.notes
        rows = self._database.call("pinned_versions", dependencies=pinned.dependencies)
        if rows:
            # Only what is indexed: a lock file names thousands of packages.
            names = {row["dependency"] for row in rows}
            stated["dependencies"] = {name: pinned.dependencies[name] for name in names}
        library = stated.get("library")
        known = {row["library"] for row in rows}
        if path is not None and isinstance(library, str) and library.strip().lower() not in known:
            pinned.notes.append(f"The project pins no version of {library}.")
        return pinned.notes

    def _suggestions(self, query: str, stated: Mapping[str, Any]) -> list[str]:
        """Spelling suggestions, for a query none of whose terms occurs in a passage."""
        scope = {name: stated.get(name) for name in ("library", "version")}
        rows = self._database.call("suggest", query=query, suggestion_count=1, **scope)
        return [f"Did you mean {row['suggestion']!r}?" for row in rows]

    def _teach(self, query: str, stated: dict[str, Any]) -> list[str]:
        """Store the query's vector by each model that the database cannot compute itself.

        If a model fails, the keyword retriever searches alone, and a notice says so.
        """
        needs_vector = stated.get("mode") != "keyword" and stated.get("alpha") != 0
        if (
            self._embedder_of is None
            or not needs_vector
            or not query.strip()
            or "query_embedding" in stated
        ):
            return []
        from pgvector import HalfVector

        notices = []
        scope = {name: stated.get(name) for name in ("library", "model", "filters")}
        for row in self._database.call("missing_query_models", query=query, **scope):
            embedder = self._embedder_of(row["model_name"])
            if embedder is None:
                continue
            try:
                vector = HalfVector(embedder.embed_query(row["words"]))
            except EmbeddingError as error:
                log.warning("query not embedded: %s", error)
                notices.append(str(error))
                continue
            try:
                with as_service():
                    self._database.call(
                        "remember_query_vector",
                        query=query,
                        model=embedder.name,
                        query_embedding=vector,
                    )
            except DatabaseError as error:
                # Read-only role or replica: pass the vector as an argument of the search.
                log.info("vector of the query not kept: %s", error)
                stated["query_embedding"] = vector
        return notices


def _stated(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are not None; a query vector given as a list becomes a `HalfVector`, and
    the library NAME@VERSION two arguments, as in SQL.
    """
    stated = {name: value for name, value in arguments.items() if value is not None}
    library = stated.get("library")
    if isinstance(library, str) and "version" not in stated and "," not in library:
        name, is_split, version = library.partition("@")
        stated |= {"library": name, "version": version} if is_split and version else {}
    vector = stated.get("query_embedding")
    if isinstance(vector, list | tuple):
        from pgvector import HalfVector

        stated["query_embedding"] = HalfVector(list(vector))
    return stated


def _grouped(stated: dict[str, Any]) -> bool:
    """Replace `group` by what it means to SQL; return whether hits come page by page."""
    group = stated.pop("group", "none")
    if group not in get_args(Group):
        raise InvalidInput(f"group must be one of {', '.join(get_args(Group))}, got {group!r}.")
    if group == "page":
        stated.setdefault("page_hits", PAGE_HITS)
    return "page_hits" in stated


def _plain(value: Any) -> Any:
    if hasattr(value, "to_list"):  # HalfVector
        return value.to_list()
    raise TypeError(f"{type(value).__name__} cannot be an argument of a search.")
