"""A retriever for Haystack: `pip install 'pgrag-search[haystack]'`."""

from threading import Lock
from typing import Any, Self

from pgrag.client.asynchronous import in_thread
from pgrag.ground.errors import InvalidFilter, SettingsError
from pgrag.ground.settings import masked_url
from pgrag.integrations.source import Found, Source, needed

with needed("haystack-ai", "haystack"):
    from haystack import Document, component, default_to_dict
    from haystack.core.serialization import allow_deserialization_module
    from haystack.utils import Secret

# Who imports this module wants its component, also from YAML.
allow_deserialization_module(__name__)

_WARMING = Lock()
"""Of all components, which must stay without one: pipelines are copied."""


@component
class PgragRetriever:
    """Finds passages by words and by meaning, in one library or all.

    `url` is of a database, else PGRAG_DATABASE_URL, else the embedded one; or of a service
    (http://…), whose `key` is a Secret. With a `token_budget` the documents are a context: hits and
    what belongs to them, ready to be joined. `search_kwargs` are any other arguments of `search`,
    or of `context`. `filters` are Haystack's or pgrag's. A document's `meta` has `confidence`,
    `url`, `heading_path`, `version` and more.
    """

    def __init__(
        self,
        library: str | None = None,
        *,
        url: str | Secret | None = None,
        key: Secret | None = None,
        version: str | None = None,
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        min_confidence: float | None = None,
        token_budget: int | None = None,
        search_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.library, self.url, self.key, self.version = library, url, key, version
        self.top_k, self.filters, self.min_confidence = top_k, filters, min_confidence
        self.token_budget, self.search_kwargs = token_budget, search_kwargs
        self._source: Source | None = None

    def warm_up(self) -> None:
        """Connect, so that a wrong address is told before the first run."""
        with _WARMING:
            if self._source is None:
                source = Source(_resolved(self.url), _resolved(self.key))
                try:
                    source.open().libraries()
                except BaseException:
                    source.close()
                    raise
                self._source = source

    async def warm_up_async(self) -> None:
        """`warm_up`, in a worker thread."""
        await in_thread(self.warm_up)

    def close(self) -> None:
        """Close the connections; a later run opens them again."""
        if self._source is not None:
            self._source.close()

    def to_dict(self) -> dict[str, Any]:
        """The component as data for YAML. Raises `SettingsError` for a password in the url."""
        if isinstance(self.url, str) and masked_url(self.url) != self.url:
            raise SettingsError(
                "The url of PgragRetriever has a password, which YAML would show.",
                hint='Use url=Secret.from_env_var("PGRAG_DATABASE_URL").',
            )
        data: dict[str, Any] = default_to_dict(
            self, library=self.library, url=self.url, key=self.key, version=self.version,
            top_k=self.top_k, filters=self.filters, min_confidence=self.min_confidence,
            token_budget=self.token_budget, search_kwargs=self.search_kwargs,
        )  # fmt: skip
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The component of `to_dict`. Haystack's own way takes a filter by type for a class."""
        given = dict(data.get("init_parameters", {}))
        secrets = {
            name: given[name] for name in ("url", "key") if isinstance(given.get(name), dict)
        }
        return cls(**given | {name: Secret.from_dict(value) for name, value in secrets.items()})

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        version: str | None = None,
    ) -> dict[str, list[Document]]:
        """Search; what is given here replaces what the component was made with."""
        self.warm_up()
        assert self._source is not None
        found = self._source.find(query, self._arguments(filters, top_k, version))
        return {"documents": list(map(_document, found))}

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        version: str | None = None,
    ) -> dict[str, list[Document]]:
        """`run`, in a worker thread; cancelling it cancels its statement."""
        return await in_thread(lambda: self.run(query, filters, top_k, version))

    def _arguments(
        self, filters: dict[str, Any] | None, top_k: int | None, version: str | None
    ) -> dict[str, Any]:
        chosen = self.filters if filters is None else filters
        return (self.search_kwargs or {}) | {
            "library": self.library,
            "version": version or self.version,
            "top_k": self.top_k if top_k is None else top_k,
            "filters": chosen and translated(chosen),
            "min_confidence": self.min_confidence,
            "token_budget": self.token_budget,
        }


def translated(filters: dict[str, Any]) -> dict[str, Any]:
    """Filters of Haystack as pgrag's; those of pgrag stay as they are."""
    match filters:
        case {"operator": "AND" | "OR" as operator, "conditions": list(conditions)}:
            return {operator.lower(): list(map(translated, conditions))}
        case {"operator": "NOT", "conditions": list(conditions)}:
            return {"not": {"and": list(map(translated, conditions))}}
        case {"field": str(field), "operator": "not in", "value": value}:
            return {"not": {field.removeprefix("meta."): {"in": value}}}
        case {"field": str(field), "operator": str(operator), "value": value}:
            return {field.removeprefix("meta."): {operator.replace("==", "="): value}}
        case {"conditions": _} | {"field": _}:
            raise InvalidFilter(
                f"This is no filter of Haystack: {repr(filters)[:200]}.",
                hint="It has operator (AND, OR, NOT) and conditions; or field, operator and value.",
            )
    return filters


def _resolved(given: str | Secret | None) -> str | None:
    return given.resolve_value() if isinstance(given, Secret) else given


def _document(found: Found) -> Document:
    return Document(id=found.id, content=found.content, meta=found.metadata, score=found.score)
