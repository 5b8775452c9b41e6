"""What the retrievers have in common: where they search, for what, and what a passage becomes."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from pgrag.client import Client, connect
from pgrag.client.addresses import is_service
from pgrag.client.asynchronous import in_thread
from pgrag.client.remote import ServiceClient, connect_service
from pgrag.ground.errors import InvalidInput
from pgrag.ground.values.passages import ContextBlock, Hit

_OF_BOTH = (
    "title", "library", "version", "version_reason", "score", "keyword_score", "semantic_score",
    "confidence", "document_id", "page_id",
)  # fmt: skip
_OF_A_HIT = (
    "key", "chunk_key", "types", "line_start", "line_end", "since", "changed_in", "snippet",
    "explanation", "link",
)  # fmt: skip
_OF_A_BLOCK = ("relation", "tokens")


@contextmanager
def needed(package: str, extra: str) -> Iterator[None]:
    """Imports within the block name the extra to install if there is no such package."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{package} is not installed: pip install 'pgrag-search[{extra}]'", name=error.name
        ) from error


@dataclass(frozen=True, slots=True)
class Found:
    """A passage for a framework; `id` is its document_id as text, `metadata` can become JSON."""

    id: str
    content: str
    score: float
    metadata: dict[str, Any]


@dataclass
class Source:
    """A database or a service, opened by the first search. Thread-safe.

    `url` is of a database (None: PGRAG_DATABASE_URL, else the embedded one) or of a service, which
    may want a `key`. A copy has connections of its own, and so has a process that was forked.
    """

    url: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    _client: Client | ServiceClient | None = field(default=None, init=False, repr=False)
    _process: int = field(default=0, init=False, repr=False, compare=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[type["Source"], tuple[str | None, str | None]]:
        return type(self), (self.url, self.key)

    def open(self) -> Client | ServiceClient:
        """The client; the first call makes it."""
        with self._lock:
            if self._client is None or self._process != os.getpid():
                self._client, self._process = self._opened(), os.getpid()
            return self._client

    def _opened(self) -> Client | ServiceClient:
        if self.url is not None and is_service(self.url):
            return connect_service(self.url, self.key)
        if self.key is not None:
            raise InvalidInput(
                "A key is for a service, and the url is that of a database.",
                hint="Give the service's url, such as http://127.0.0.1:8000, or no key.",
            )
        return connect(self.url)

    def close(self) -> None:
        """Close the connections; a later search opens them again."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None and self._process == os.getpid():
            client.close()

    def find(self, query: str, *layers: Mapping[str, Any] | None) -> list[Found]:
        """Search; with a `token_budget`, gather a context, whose passages joined are its text.

        An argument that is not None replaces that of the layers before.
        """
        stated = {
            name: value
            for layer in layers
            for name, value in (layer or {}).items()
            if value is not None
        }
        client = self.open()
        if "token_budget" in stated:
            blocks = client.context(query, **stated)
            return [_found(each, each.block, each.url, _OF_A_BLOCK) for each in blocks]
        hits = client.search(query, **stated).hits
        return [_found(each, each.content, _address(each), _OF_A_HIT) for each in hits]

    async def find_async(self, query: str, *layers: Mapping[str, Any] | None) -> list[Found]:
        """`find`, in a worker thread; cancelling it cancels its statement."""
        return await in_thread(lambda: self.find(query, *layers))


def _address(hit: Hit) -> str:
    has_anchor = hit.url and hit.anchor and "#" not in hit.url
    return f"{hit.url}#{hit.anchor}" if has_anchor else hit.url


def _found(
    passage: Hit | ContextBlock, content: str, address: str, further: tuple[str, ...]
) -> Found:
    values = {name: getattr(passage, name) for name in (*_OF_BOTH, *further)}
    metadata = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value is not None
    }
    where = {"url": address, "heading_path": list(passage.path)}
    return Found(str(passage.document_id), content, passage.score, where | metadata)
