"""A retriever for LlamaIndex: `pip install 'pgrag-search[llamaindex]'`."""

from typing import Any

from pgrag.integrations.filters import of_llamaindex
from pgrag.integrations.source import Found, Source, needed

with needed("llama-index-core", "llamaindex"):
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
    from llama_index.core.vector_stores import MetadataFilters

_FOR_THE_MODEL = {"title", "heading_path", "url", "library", "version"}
"""Metadata that a prompt shows; the scores and ids are for programs."""


class PgragRetriever(BaseRetriever):
    """Finds passages by words and by meaning, in one library or all.

    `url` is of a database, else PGRAG_DATABASE_URL, else the embedded one; or of a service
    (http://…), with its `key`. With a `token_budget` the nodes are a context: hits and what belongs
    to them, ready to be joined. `search_kwargs` are any other arguments of `search`, or of
    `context`; `others` are those of `BaseRetriever`. `filters` are pgrag's or `MetadataFilters`. A
    node's `metadata` has `confidence`, `url`, `heading_path`, `version` and more.
    """

    def __init__(
        self,
        library: str | None = None,
        *,
        url: str | None = None,
        key: str | None = None,
        version: str | None = None,
        similarity_top_k: int | None = None,
        filters: dict[str, Any] | MetadataFilters | None = None,
        min_confidence: float | None = None,
        token_budget: int | None = None,
        search_kwargs: dict[str, Any] | None = None,
        **others: Any,
    ) -> None:
        self._source = Source(url, key)
        self._search_kwargs = search_kwargs
        self._own = {
            "library": library,
            "version": version,
            "top_k": similarity_top_k,
            "filters": of_llamaindex(filters) if isinstance(filters, MetadataFilters) else filters,
            "min_confidence": min_confidence,
            "token_budget": token_budget,
        }
        super().__init__(**others)

    def close(self) -> None:
        """Close the connections; a later search opens them again."""
        self._source.close()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._source.find(query_bundle.query_str, self._search_kwargs, self._own)
        return list(map(_node, found))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        found = await self._source.find_async(query, self._search_kwargs, self._own)
        return list(map(_node, found))


def _node(found: Found) -> NodeWithScore:
    hidden = [name for name in found.metadata if name not in _FOR_THE_MODEL]
    node = TextNode(
        id_=found.id,
        text=found.content,
        metadata=found.metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
    )
    return NodeWithScore(node=node, score=found.score)
