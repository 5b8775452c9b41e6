"""A client of a pgrag service, for programs that may not reach its database."""

import json
import weakref
from collections.abc import Mapping
from typing import Any, Self, TypeVar, Unpack

import httpx

from pgrag.client.addresses import service_key, service_url
from pgrag.client.searching import SearchResult
from pgrag.client.signatures import explained
from pgrag.ground import errors
from pgrag.ground.arguments import (
    ContextArguments,
    ContextOptions,
    PagesArguments,
    PagesOptions,
    SearchArguments,
    SearchOptions,
)
from pgrag.ground.calls import json_of
from pgrag.ground.settings import masked_url
from pgrag.ground.values import searches
from pgrag.ground.values.base import Value
from pgrag.ground.values.libraries import Library

V = TypeVar("V", bound=Value)

_SECONDS = 60.0
"""How long a request may take; a service ends a search after 30 s by itself."""

#: Errors by the last part of a problem's `type`, where it is not the name of the class.
_BY_PROBLEM: dict[str, type[errors.PgragError]] = {
    "took-too-long": errors.TimeExceeded,
    "forbidden": errors.NotPermitted,
    "key-required": errors.NotPermitted,
    "invalid-key": errors.NotPermitted,
    "invalid-request": errors.InvalidInput,
    "too-many-requests": errors.Busy,
    "stopping": errors.Busy,
    "not-ready": errors.DatabaseUnavailable,
    "embedding-failed": errors.EmbeddingError,
    "reranking-failed": errors.RerankingError,
    "language-model-failed": errors.LanguageModelError,
}


class ServiceClient:
    """The searches of a service, by the methods of `Client`. A context manager, thread-safe.

    They return the values of `Client` and raise its errors; a service that does not answer raises
    `ServiceUnavailable`.
    """

    def __init__(self, url: str, key: str | None = None) -> None:
        self._url = service_url(url)
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers["Authorization"] = f"Bearer {service_key(key)}"
        self._http = httpx.Client(headers=headers, timeout=_SECONDS)
        weakref.finalize(self, self._http.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @explained(SearchArguments)
    def search(
        self, query: str, library: str | None = None, **arguments: Unpack[SearchOptions]
    ) -> SearchResult:
        """Find passages by keywords and by meaning."""

        def continued(cursor: str) -> SearchResult:
            onwards: SearchOptions = {**arguments, "after": cursor}
            return self.search(query, library, **onwards)

        found = self._ask("search", query, library, arguments)
        # Over REST a list by pages has the hits inside the pages alone.
        found["hits"] = found["hits"] or [hit for page in found["pages"] for hit in page["hits"]]
        return SearchResult.from_row({**found, "_continued": continued})

    @explained(PagesArguments)
    def search_pages(
        self, query: str, library: str | None = None, **arguments: Unpack[PagesOptions]
    ) -> searches.PageResult:
        """Find pages: one result per page, with its best passage."""
        return searches.PageResult.from_row(self._ask("search/pages", query, library, arguments))

    @explained(ContextArguments)
    def context(
        self, query: str, library: str | None = None, **arguments: Unpack[ContextOptions]
    ) -> searches.Context:
        """The context for a question: hits and their surroundings, within a token budget."""
        return searches.Context.from_row(self._ask("context", query, library, arguments))

    def libraries(self) -> list[Library]:
        """The libraries by name."""
        answer = self._send("GET", "libraries")
        return [Library.from_row(row) for row in answer["libraries"]]

    def _ask(
        self, path: str, query: str, library: str | None, arguments: Mapping[str, Any]
    ) -> dict[str, Any]:
        body = {"query": query, "library": library, **arguments}
        stated = {name: value for name, value in body.items() if value is not None}
        return self._send("POST", path, stated)

    def _send(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            sent = None if body is None else json_of(body).encode()
            answer = self._http.request(method, f"{self._url}/{path}", content=sent)
        except httpx.HTTPError as error:
            raise errors.ServiceUnavailable(
                f"The service {masked_url(self._url)} does not answer: {errors.reason(error)}.",
                hint="Check its address, and that `pgrag serve` runs there.",
            ) from error
        try:
            document = answer.json()
        except ValueError:
            document = None
        if answer.is_success and isinstance(document, dict):
            return document
        raise _error(answer, document if isinstance(document, dict) else {}, masked_url(self._url))


def _error(answer: httpx.Response, problem: dict[str, Any], url: str) -> errors.PgragError:
    """The error that a problem document describes."""
    slug = str(problem.get("type", "")).rpartition("/")[2]
    name = "".join(word.title() for word in slug.split("-"))
    kind = _BY_PROBLEM.get(slug) or getattr(errors, name, None)
    if kind is None and not slug:
        return errors.ServiceUnavailable(
            f"{url} answered with status {answer.status_code}, and not as a pgrag service does.",
            hint="The address is that of `pgrag serve`, such as http://127.0.0.1:8000.",
        )
    said = problem.get("detail") or problem.get("title") or json.dumps(problem)
    return (kind or errors.PgragError)(str(said), hint=problem.get("hint"))


def connect_service(url: str, key: str | None = None) -> ServiceClient:
    """Search over the REST interface of a service, such as http://127.0.0.1:8000, with its key if
    it asks for one. This does not connect; the first call does.
    """
    return ServiceClient(url, key)
