"""Embed the texts that have no vector yet."""

from collections.abc import Callable, Iterable, Iterator
from math import inf
from time import monotonic
from typing import Literal, TypeVar

from pgvector import HalfVector

from pgrag.ground.connections import Database
from pgrag.ingest.vector_index import VectorIndex
from pgrag.models.embedding import Embedder, PageEmbedder

#: Texts that are embedded and stored per batch.
BATCH_TEXTS = 2000
#: Texts per batch when whole pages are embedded.
BATCH_PAGE_TEXTS = 500
_Item = TypeVar("_Item")


def embed_pending(
    database: Database,
    embedder: Embedder,
    library: str,
    *,
    page_ids: list[int] | None = None,
    kind: Literal["document", "edge"] = "document",
    vector_index: VectorIndex | None = None,
) -> int:
    """Embed the texts of a library (or of `page_ids`) that lack a vector by this model; return
    their number. A `PageEmbedder` embeds all texts of a changed page. Raises `EmbeddingError`.
    """
    embedded = 0
    target = {"library": library, "model": embedder.name}
    if isinstance(embedder, PageEmbedder) and kind == "document":
        embedded = _embed_pages(database, embedder, target, page_ids, vector_index)
    rows = database.call("pending_embeddings", **target, page_ids=page_ids, kind=kind)
    if vector_index is not None:
        vector_index.expect(len(rows))
    for start in range(0, len(rows), BATCH_TEXTS):
        batch = rows[start : start + BATCH_TEXTS]
        texts = list(dict.fromkeys(row["text"] for row in batch))
        vectors = dict(zip(texts, embedder.embed_documents(texts), strict=True))
        known = [row for row in batch if vectors[row["text"]].any()]
        if known:
            database.call(
                "store_embeddings",
                **target,
                text_hashes=[row["text_hash"] for row in known],
                vectors=[HalfVector(vectors[row["text"]]) for row in known],
                edge_ids=[row["edge_id"] for row in known] if kind == "edge" else None,
            )
        embedded += len(known)
    return embedded


def _embed_pages(
    database: Database,
    embedder: PageEmbedder,
    target: dict[str, str],
    page_ids: list[int] | None,
    vector_index: VectorIndex | None,
) -> int:
    pending = database.call("pending_pages", **target, page_ids=page_ids)
    if vector_index is not None:
        vector_index.expect(sum(row["documents"] for row in pending))
    embedded = 0
    for batch in batches(pending, lambda row: row["documents"], BATCH_PAGE_TEXTS):
        pages = {row["pages"][0]: row["pages"] for row in batch}
        rows = database.call("page_texts", library=target["library"], page_ids=list(pages))
        vectors_of_pages = embedder.embed_pages([row["texts"] for row in rows])
        for row, vectors in zip(rows, vectors_of_pages, strict=True):
            # One of these pages of equal text may have changed since: SQL compares the hash.
            database.call(
                "store_page_embeddings",
                **target,
                page_hash=row["page_hash"],
                page_ids=pages[row["page_id"]],
                # None for a text without a known word
                vectors=[HalfVector(vector) if vector.any() else None for vector in vectors],
            )
            embedded += int(vectors.any(axis=1).sum())
    return embedded


def batches(
    items: Iterable[_Item],
    size_of: Callable[[_Item], int],
    enough: int,
    seconds: float = inf,
) -> Iterator[list[_Item]]:
    """Yield batches of items in order; each but the last has at least the size `enough`, or has
    been waited for so many `seconds`.
    """
    batch: list[_Item] = []
    size, begun = 0, monotonic()
    for item in items:
        batch.append(item)
        size += size_of(item)
        if size >= enough or monotonic() - begun >= seconds:
            yield batch
            batch, size, begun = [], 0, monotonic()
    if batch:
        yield batch
