"""A retriever for LangChain and LangGraph: `pip install 'pgrag-search[langchain]'`."""

from typing import Any

from pydantic import ConfigDict, Field, PrivateAttr, SecretStr

from pgrag.integrations.source import Found, Source, needed

with needed("langchain-core", "langchain"):
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever


class PgragRetriever(BaseRetriever):
    """Finds passages by words and by meaning, in one library or all.

    Each field is also an argument of `invoke` and `ainvoke` for that call, except the addresses.
    A document's `metadata` has `score`, `confidence`, `url`, `heading_path`, `version` and more.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    url: SecretStr | None = None
    """Of a database, else PGRAG_DATABASE_URL, else the embedded one; or of a service (http://)."""
    key: SecretStr | None = None
    """Of a service, if it asks for one."""
    library: str | None = None
    version: str | None = None
    """A label, a range (`^2`), `latest` or `*`; by default the newest release."""
    k: int | None = Field(default=None, ge=1, le=1000)
    """The maximum number of passages, by default 10, or 20 with a token budget."""
    filters: dict[str, Any] | None = None
    min_confidence: float | None = Field(default=None, ge=0, le=1)
    """Passages that are less likely to answer are left out."""
    token_budget: int | None = Field(default=None, ge=1)
    """Gather a context of this size: hits and what belongs to them, ready to be joined."""
    search_kwargs: dict[str, Any] = Field(default_factory=dict)
    """Any other arguments of `search`, or of `context` with a token budget."""

    _source: Source = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Note where to search; nothing is opened yet."""
        super().model_post_init(context)
        self._source = Source(_open(self.url), _open(self.key))

    def close(self) -> None:
        """Close the connections; a later search opens them again."""
        self._source.close()

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        **arguments: Any,
    ) -> list[Document]:
        found = self._source.find(query, *self._layers(k, arguments))
        return list(map(_document, found))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        k: int | None = None,
        **arguments: Any,
    ) -> list[Document]:
        found = await self._source.find_async(query, *self._layers(k, arguments))
        return list(map(_document, found))

    def _layers(self, k: int | None, of_call: dict[str, Any]) -> list[dict[str, Any]]:
        own = {
            "library": self.library,
            "version": self.version,
            "top_k": self.k,
            "filters": self.filters,
            "min_confidence": self.min_confidence,
            "token_budget": self.token_budget,
        }
        return [self.search_kwargs, own, of_call, {"top_k": k}]


def _open(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def _document(found: Found) -> Document:
    return Document(id=found.id, page_content=found.content, metadata=found.metadata)
