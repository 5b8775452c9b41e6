"""A retriever for Haystack: `pip install 'pgrag-search[haystack]'`."""

from threading import Lock
from typing import Any, Self

from pgrag.client.asynchronous import in_thread
from pgrag.ground.errors import SettingsError
from pgrag.ground.settings import masked_url
from pgrag.integrations.filters import of_haystack
from pgrag.integrations.source import Source, needed

with needed("haystack-ai", "haystack"):
    from haystack import Document, component, default_to_dict
    from haystack.core.serialization import allow_deserialization_module
    from haystack.utils import Secret

# Who imports this module wants its component, also from YAML.
allow_deserialization_module(__name__)

_WARMING = Lock()  # of all components: one that had its own could not be copied


@component
class PgragRetriever:
    """Finds passages by words and by meaning, in one library or all.

    `url` is of a database, else PGRAG_DATABASE_URL, else the embedded one; or of a service
    (http://…), whose `key` is a Secret. With a `token_budget` the documents are a context: hits and
    what belongs to them, ready to be joined. `search_kwargs` are any other arguments of `search`,
    or of `context`. `filters` are Haystack's or pgrag's.
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
        self._source: Source | None = None
        self._url, self._key, self._search_kwargs = url, key, search_kwargs
        self._own: dict[str, Any] = {
            "library": library, "version": version, "top_k": top_k, "filters": filters,
            "min_confidence": min_confidence, "token_budget": token_budget,
        }  # fmt: skip

    def warm_up(self) -> None:
        """Connect, so that a wrong address is told before the first run."""
        with _WARMING:
            if self._source is None:
                source = Source(_open(self._url), _open(self._key))
                source.open().libraries()
                self._source = source

    async def warm_up_async(self) -> None:
        """`warm_up`, in a worker thread."""
        await in_thread(self.warm_up)

    def close(self) -> None:
        """Close the connections; a later run opens them again."""
        if self._source is not None:
            self._source.close()

    def to_dict(self) -> dict[str, Any]:
        """The component as data for YAML. Raises `SettingsError` for a secret as a text."""
        if isinstance(self._url, str) and masked_url(self._url) != self._url:
            raise SettingsError(
                "The url of PgragRetriever has a password, which YAML would show.",
                hint='Use url=Secret.from_env_var("PGRAG_DATABASE_URL").',
            )
        if isinstance(self._key, str):
            raise SettingsError(
                "The key of PgragRetriever is a text, which YAML would show.",
                hint='Use key=Secret.from_env_var("PGRAG_KEY").',
            )
        given = {"url": self._url, "key": self._key, "search_kwargs": self._search_kwargs}
        return default_to_dict(self, **self._own, **given)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """The component of `to_dict`. Haystack's own way takes a filter by type for a class."""
        given = dict(data.get("init_parameters", {}))
        for name in ("url", "key"):
            if isinstance(given.get(name), dict):
                given[name] = Secret.from_dict(given[name])
        return cls(**given)

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
        chosen = of_haystack(filters or self._own["filters"])
        asked = {"filters": chosen, "top_k": top_k, "version": version}
        found = self._source.find(query, self._search_kwargs, self._own, asked)
        made = [Document(id=f.id, content=f.content, meta=f.metadata, score=f.score) for f in found]
        return {"documents": made}

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


def _open(given: str | Secret | None) -> str | None:
    return given.resolve_value() if isinstance(given, Secret) else given
