"""The retriever for LlamaIndex, in query engines."""

import asyncio
import pickle

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
)  # fmt: skip

import pgrag
from pgrag.integrations.llamaindex import PgragRetriever

QUERY = "restore a backup"


def test_a_query_engine_reads_the_hits(url):
    retriever = PgragRetriever("kestrel", url=url, version="2.0", similarity_top_k=5)
    cutoff = SimilarityPostprocessor(similarity_cutoff=0.3)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM(), node_postprocessors=[cutoff])
    response = engine.query(QUERY)
    assert 0 < len(response.source_nodes) < 5
    best = response.source_nodes[0]
    assert best.score == best.node.metadata["score"]
    assert best.node.node_id == str(best.node.metadata["document_id"])
    # MockLLM repeats its prompt, which has what helps a model, and no numbers.
    prompt = best.node.get_content(MetadataMode.LLM)
    assert prompt in str(response)
    assert "heading_path: ['Restore a folder'" in prompt
    assert "confidence" not in prompt
    assert [each.node_id for each in asyncio.run(engine.aquery(QUERY)).source_nodes] == [
        each.node_id for each in response.source_nodes
    ]
    copied = pickle.loads(pickle.dumps(retriever))
    assert copied.retrieve(QUERY) == retriever.retrieve(QUERY)
    for each in (copied, retriever):
        each.close()


def test_a_service_and_a_token_budget(service):
    retriever = PgragRetriever("kestrel", url=service[0], key=service[1], token_budget=300)
    nodes = retriever.retrieve(QUERY)
    assert sum(each.node.metadata["tokens"] for each in nodes) <= 300
    retriever.close()
    with pytest.raises(pgrag.NotPermitted, match="not a key"):
        PgragRetriever("kestrel", url=service[0], key="wrong").retrieve(QUERY)


def test_filters_of_llamaindex_mean_the_same(url):
    def keys(*filters, condition=FilterCondition.AND):
        retriever = PgragRetriever(
            "kestrel", url=url, similarity_top_k=20,
            filters=MetadataFilters(filters=filters, condition=condition) if filters else None,
        )  # fmt: skip
        found = {each.node.metadata["key"] for each in retriever.retrieve(QUERY)}
        retriever.close()
        return found

    def of(key, operator, value):
        return MetadataFilter(key=key, operator=operator, value=value)

    every = keys()
    guide = of("type", FilterOperator.EQ, "guide")
    page = of("key", FilterOperator.EQ, "guide/restore.md")
    guides = keys(guide)
    assert set() < guides < every
    assert keys(of("type", FilterOperator.IN, ["guide"])) == guides
    assert keys(of("type", FilterOperator.NIN, ["guide"])) == every - guides
    assert keys(of("type", FilterOperator.NE, "guide")) == every - guides
    assert keys(of("type", FilterOperator.IS_EMPTY, None)) == {"index.md"}
    assert keys(guide, page) == {"guide/restore.md"}
    assert keys(guide, page, condition=FilterCondition.OR) == guides
    assert keys(guide, page, condition=FilterCondition.NOT) == every - {"guide/restore.md"}
    nested = MetadataFilters(filters=[page])
    assert keys(guide, nested) == {"guide/restore.md"}
    tags = keys(of("tags", FilterOperator.CONTAINS, "backup"))
    assert tags == keys(of("tags", FilterOperator.ANY, ["backup", "no such tag"]))
    assert keys(of("tags", FilterOperator.ALL, ["backup", "no such tag"])) == set()
    with pytest.raises(pgrag.InvalidFilter, match="no filter text_match on title"):
        keys(of("title", FilterOperator.TEXT_MATCH, "Restore"))
