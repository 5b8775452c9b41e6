"""The hybrid search of langchain-postgres in the server of pgrag: full text and HNSW, fused by RRF.

As its documentation advises: a column and a GIN index for the full text, an HNSW index, reciprocal
rank fusion with k = 60; a hundred rows of each retriever, and `ef_search` to match. A
configuration keeps the first query that it is used with, so each search has its own.
"""

import psycopg
from langchain_core.embeddings import Embeddings
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion
from langchain_postgres.v2.indexes import HNSWIndex, HNSWQueryOptions

from benchmarks.rivals.rival import CANDIDATES, RRF_K, Rival, Setup, Vector

SCHEMA = "langchain"
TABLE = "passages"
BATCH = 1000


class Precomputed(Embeddings):
    """Returns the vector that was computed before."""

    def __init__(self) -> None:
        self.vector: list[float] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Not used: passages come with their vectors."""
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        """The vector of the query."""
        return self.vector


class LangChain(Rival):
    """A vector store on one table."""

    def __init__(self, setup: Setup) -> None:
        with psycopg.connect(setup.url, autocommit=True) as connection:
            connection.execute(f"drop schema if exists {SCHEMA} cascade".encode())
            connection.execute(f"create schema {SCHEMA}".encode())
        self._engine = PGEngine.from_connection_string(
            setup.url.replace("postgresql://", "postgresql+psycopg://", 1)
        )
        self._engine.init_vectorstore_table(
            TABLE, setup.dimensions, schema_name=SCHEMA, hybrid_search_config=_hybrid()
        )
        self._precomputed = Precomputed()
        self._store = PGVectorStore.create_sync(
            self._engine, self._precomputed, TABLE, schema_name=SCHEMA,
            hybrid_search_config=_hybrid(),
            index_query_options=HNSWQueryOptions(ef_search=CANDIDATES),
        )  # fmt: skip
        known = [passage for passage in setup.passages if passage.vector is not None]
        for first in range(0, len(known), BATCH):
            part = known[first : first + BATCH]
            self._store.add_embeddings(
                texts=[passage.text for passage in part],
                embeddings=[passage.vector.tolist() for passage in part],
                metadatas=[
                    {"id": passage.id, "url": passage.url, "title": passage.title}
                    for passage in part
                ],
            )
        self._store.apply_hybrid_search_index()
        self._store.apply_vector_index(HNSWIndex())
        with psycopg.connect(setup.url, autocommit=True) as connection:
            connection.execute(f"vacuum (analyze) {SCHEMA}.{TABLE}".encode())

    def search(self, query: str, vector: Vector, limit: int) -> list[int]:
        self._precomputed.vector = vector.tolist()
        hits = self._store.similarity_search(query, k=limit, hybrid_search_config=_hybrid())
        return [document.metadata["id"] for document in hits]

    def close(self) -> None:
        self._engine._run_as_sync(self._engine.close())


def _hybrid() -> HybridSearchConfig:
    return HybridSearchConfig(
        tsv_column="content_tsv",
        fusion_function=reciprocal_rank_fusion,
        fusion_function_parameters={"rrf_k": RRF_K},
        primary_top_k=CANDIDATES,
        secondary_top_k=CANDIDATES,
    )


make = LangChain
