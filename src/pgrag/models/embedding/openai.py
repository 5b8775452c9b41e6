"""Models behind an endpoint with OpenAI's embeddings protocol, which most servers support."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Unpack

import numpy as np

from pgrag.ground.errors import EmbeddingError, SettingsError
from pgrag.models.embedding.embedder import Vectors, normalized
from pgrag.models.endpoint import Client, Connection, Endpoint, Service

_SERVICE = Service(
    "embedding",
    "PGRAG_EMBEDDING",
    EmbeddingError,
    path="/embeddings",
    address="it ends where /embeddings begins, often in /v1",
    example="https://api.openai.com/v1",
    demands="its dimensions",
)


class OpenAIEmbedder(Client):
    """Sends batches of texts in concurrent requests, and validates every response. `url` is the
    address without `/embeddings`. `dimensions`, if given, is sent with every request and required
    of every response; otherwise the first response sets the number. The prefixes are put before
    queries and documents. `batch_size` counts texts, `concurrency` requests. `connection` is that
    of `Endpoint`. Blank texts are not sent; their vectors are zeros.
    """

    def __init__(
        self,
        *,
        url: str,
        model: str,
        dimensions: int | None = None,
        query_prefix: str = "",
        document_prefix: str = "",
        batch_size: int = 64,
        concurrency: int = 4,
        **connection: Unpack[Connection],
    ) -> None:
        numbers = {
            "dimensions": dimensions,
            "batch size": batch_size,
            "concurrency": concurrency,
            "timeout": connection.get("timeout"),
        }
        for label, number in numbers.items():
            if number is not None and number <= 0:
                raise SettingsError(f"The embedding {label} must be above 0, not {number}.")
        if not model:
            raise SettingsError(
                "The embedding endpoint needs the name of a model.",
                hint="Set PGRAG_EMBEDDING_MODEL.",
            )
        self.query_prefix = query_prefix
        self.document_prefix = document_prefix
        self.name = model
        self._wanted_dimensions = dimensions
        self._dimensions = dimensions
        self._dimensions_lock = Lock()
        self._batch_size = batch_size
        self._endpoint = Endpoint(url, _SERVICE, **connection)
        self._executor = ThreadPoolExecutor(concurrency, thread_name_prefix="embedding")

    def close(self) -> None:
        """Cancel queued requests, wait for running ones, and disconnect."""
        self._endpoint.close()
        self._executor.shutdown(cancel_futures=True)

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector; asks the server if it is not known.

        Raises `EmbeddingError` if that request fails.
        """
        if self._dimensions is None:
            self._request(["dimensions"])
        assert self._dimensions is not None
        return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`; the server must return one finite vector of the right size per text."""
        return self._embed(texts, self.document_prefix)

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        vector: Vectors = self._embed([text], self.query_prefix)[0]
        return vector

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        indexes = [index for index, text in enumerate(texts) if text.strip()]
        batches = [
            indexes[start : start + self._batch_size]
            for start in range(0, len(indexes), self._batch_size)
        ]
        requests = [
            self._executor.submit(self._request, [prefix + texts[index] for index in batch])
            for batch in batches
        ]
        try:
            answers = [request.result() for request in requests]
        finally:
            for request in requests:
                request.cancel()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for batch, answer in zip(batches, answers, strict=True):
            vectors[batch] = answer
        return vectors

    def _request(self, texts: list[str]) -> Vectors:
        payload: dict[str, Any] = {"model": self.name, "input": texts, "encoding_format": "float"}
        if self._wanted_dimensions is not None:
            payload["dimensions"] = self._wanted_dimensions
        try:
            return self._checked(self._endpoint.post(payload), len(texts))
        except EmbeddingError as error:
            raise EmbeddingError(f"Model {self.name}: {error.message}", hint=error.hint) from error

    def _checked(self, answer: Any, count: int) -> Vectors:
        try:
            vector_of = {item["index"]: item["embedding"] for item in answer["data"]}
            total = len(answer["data"])
        except (KeyError, TypeError) as error:
            raise self._unusable("holds no list of vectors with their indexes") from error
        if total != count or vector_of.keys() != set(range(count)):
            raise self._unusable(f"holds {total} vectors for {count} texts, or wrong indexes")
        try:
            vectors = np.array([vector_of[index] for index in range(count)], dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._unusable("holds vectors of unequal length or not of numbers") from error
        if vectors.ndim != 2:
            raise self._unusable("holds no vectors but single numbers")
        self._check_dimensions(vectors.shape[1])
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(vectors, axis=1)
        if not np.isfinite(lengths).all():
            raise self._unusable("holds numbers that are not finite")
        if not lengths.all():
            raise self._unusable("holds a vector of zeros")
        return normalized(vectors)

    def _check_dimensions(self, dimensions: int) -> None:
        with self._dimensions_lock:
            if self._dimensions is None and dimensions > 0:
                self._dimensions = dimensions
        if dimensions != self._dimensions:
            raise EmbeddingError(
                f"{self._endpoint} answered with vectors of {dimensions} dimensions, not of"
                f" {self._dimensions}.",
                hint="Set PGRAG_EMBEDDING_DIMENSIONS to what the model has.",
            )

    def _unusable(self, reason: str) -> EmbeddingError:
        return EmbeddingError(
            f"{self._endpoint} gave an answer that {reason}.",
            hint="Check that PGRAG_EMBEDDING_URL speaks OpenAI's embeddings protocol.",
        )
