"""The hybrid search of LanceDB: its own full-text index, vectors, and its RRF reranker.

As its documentation advises: the full-text index with stemming and stop words of English, and no
vector index below about 100,000 rows, where it compares every vector. Quotation marks in a query
are no phrase: those take an index of positions.
"""

import lancedb
import pyarrow as pa
from lancedb.index import FTS, HnswSq
from lancedb.query import MatchQuery
from lancedb.rerankers import RRFReranker

from benchmarks.rivals.rival import RRF_K, Rival, Setup, Vector

INDEX_FROM = 100_000


class Lance(Rival):
    """A table in a folder."""

    def __init__(self, setup: Setup) -> None:
        known = [passage for passage in setup.passages if passage.vector is not None]
        vectors = pa.array(
            [passage.vector for passage in known], pa.list_(pa.float32(), setup.dimensions)
        )
        columns = {
            "id": pa.array([passage.id for passage in known], pa.int64()),
            **{
                field: pa.array([getattr(passage, field) for passage in known], pa.string())
                for field in ("url", "title", "content", "text")
            },
            "vector": vectors,
        }
        self._table = lancedb.connect(setup.folder / "lance").create_table(
            "passages", pa.table(columns)
        )
        self._table.create_index("text", config=FTS())
        if len(known) >= INDEX_FROM:
            self._table.create_index("vector", config=HnswSq(distance_type="cosine"))
        self._table.optimize()
        self._reranker = RRFReranker(K=RRF_K)

    def search(self, query: str, vector: Vector, limit: int) -> list[int]:
        hits = (
            self._table.search(query_type="hybrid")
            .vector(vector)
            .text(MatchQuery(query, "text"))
            .distance_type("cosine")
            .rerank(self._reranker)
            .limit(limit)
            .to_arrow()
        )
        rows = hits.select(["id", "url", "title", "content"]).to_pylist()
        return [row["id"] for row in rows]


make = Lance
