"""Vectors for the texts that have none, and the index over them."""

from __future__ import annotations

from collections.abc import Iterator

from pgvector import HalfVector

from pgrag.db import Database, Row
from pgrag.embedding import Embedder, PageEmbedder, Vectors

#: Texts embedded and stored in one go.
BATCH_TEXTS = 2000
#: Of texts that are embedded page by page.
BATCH_PAGE_TEXTS = 500
_LOCK = 7_238_115_903


def embed_pending(
    database: Database,
    embedder: Embedder,
    library: str,
    *,
    page_ids: list[int] | None = None,
) -> int:
    """Embed every text of a library (of some of its pages) that has no vector by this model yet.

    Returns the number of texts embedded; each counts once, however many documents share it. A
    text in which the model knows no word stays without a vector. By a `PageEmbedder` all texts of
    a page are embedded anew when one of them has changed. Raises `EmbeddingError`.
    """
    embedded = 0
    if isinstance(embedder, PageEmbedder):
        embedded = _embed_pages(database, embedder, library, embedder.name, page_ids)
    rows = database.call(
        "pending_embeddings", library=library, model=embedder.name, page_ids=page_ids
    )
    for start in range(0, len(rows), BATCH_TEXTS):
        batch = rows[start : start + BATCH_TEXTS]
        vectors = embedder.embed_documents([row["text"] for row in batch])
        known = [place for place in range(len(batch)) if vectors[place].any()]
        if known:
            database.call(
                "store_embeddings",
                library=library,
                model=embedder.name,
                text_hashes=[batch[place]["text_hash"] for place in known],
                vectors=[HalfVector(vectors[place]) for place in known],
            )
        embedded += len(known)
    return embedded


def _embed_pages(
    database: Database,
    embedder: PageEmbedder,
    library: str,
    model: str,
    page_ids: list[int] | None,
) -> int:
    """Embed what pages say in full; summaries stand on none. Returns the number of texts."""
    pending = database.call("pending_pages", library=library, model=model, page_ids=page_ids)
    embedded = 0
    for batch in _page_batches(pending):
        pages = {row["pages"][0]: row["pages"] for row in batch}
        rows = database.call("page_texts", library=library, page_ids=list(pages))
        found = embedder.embed_pages([row["texts"] for row in rows])
        for row, vectors in zip(rows, found, strict=True):
            # If a page has changed since, its twins have not: the hash tells.
            database.call(
                "store_page_embeddings",
                library=library,
                model=model,
                page_hash=row["page_hash"],
                page_ids=pages[row["page_id"]],
                vectors=_half_vectors(vectors),
            )
            embedded += int(vectors.any(axis=1).sum())
    return embedded


def _page_batches(pending: list[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    texts = 0
    for row in pending:
        batch.append(row)
        texts += row["documents"]
        if texts >= BATCH_PAGE_TEXTS:
            yield batch
            batch, texts = [], 0
    if batch:
        yield batch


def _half_vectors(vectors: Vectors) -> list[HalfVector | None]:
    """In the form of the database; None where the model knew no word."""
    return [HalfVector(vector) if vector.any() else None for vector in vectors]


def embed_edges(database: Database, embedder: Embedder, library: str) -> int:
    """Embed the texts of a library's edges that have no vector by this model yet.

    Returns the number of edges that got one; a text that stands in several is embedded once. Raises
    `EmbeddingError`.
    """
    rows = database.call("pending_edge_embeddings", library=library, model=embedder.name)
    stored = 0
    for start in range(0, len(rows), BATCH_TEXTS):
        batch = rows[start : start + BATCH_TEXTS]
        texts = list({row["text"]: None for row in batch})
        vectors = dict(zip(texts, embedder.embed_documents(texts), strict=True))
        known = [row for row in batch if vectors[row["text"]].any()]
        if known:
            [row] = database.call(
                "store_edge_embeddings",
                library=library,
                model=embedder.name,
                edge_ids=[row["edge_id"] for row in known],
                text_hashes=[row["text_hash"] for row in known],
                vectors=[HalfVector(vectors[row["text"]]) for row in known],
            )
            stored += row["store_edge_embeddings"]
    return stored


def ensure_vector_index(database: Database, model: str) -> bool:
    """Build the HNSW index of a model once it has more vectors than are scanned exactly.

    Built without blocking readers or writers; one left unfinished by a crash is replaced; nothing
    is done while another process builds one. Returns whether it built one.
    """
    [state] = database.call("vector_index_state", model=model)
    if not state["wanted"] or state["valid"]:
        return False
    with database.connection() as connection:
        # Not waiting: "create index concurrently" waits for whoever waits, and would wait for ever.
        lock = connection.execute("select pg_try_advisory_lock(%s) as taken", [_LOCK]).fetchone()
        if not lock or not lock["taken"]:
            return False
        try:
            [state] = database.call("vector_index_state", model=model)
            if state["valid"]:
                return False
            connection.execute("set maintenance_work_mem = '512MB'")
            if state["valid"] is False:
                connection.execute(state["drop_statement"])
            connection.execute(state["create_statement"])
        finally:
            connection.execute("reset maintenance_work_mem")
            connection.execute("select pg_advisory_unlock(%s)", [_LOCK])
    return True
