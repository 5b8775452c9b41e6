"""Rerankers behind an HTTP endpoint: Cohere, Jina, Text Embeddings Inference, and what is alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import httpx

from pgrag.endpoint import Endpoint, Service
from pgrag.errors import RerankingError, SettingsError
from pgrag.reranking.scores import Scale

Shape = Literal["auto", "cohere", "tei"]

TEI_BATCH = 32
"""Texts that Text Embeddings Inference takes in one request, unless it is told otherwise."""

LONGEST_WAIT = 2.0
"""Seconds between two attempts at most: somebody waits for the search."""

_SERVICE = Service(
    "reranker",
    "PGRAG_RERANKER",
    RerankingError,
    address="it ends where /rerank begins",
    example="https://api.cohere.com/v2",
    demands="PGRAG_RERANKER_SHAPE",
)


class HttpReranker:
    """Sends a query with texts, and believes no answer unseen.

    `url` is the address up to where `/rerank` begins. `shape` says what the server speaks:
    "cohere" is `{"model", "query", "documents", "top_n"}` answered by `{"results": [{"index",
    "relevance_score"}]}`, as Cohere, Jina, vLLM and Infinity do; "tei" is `{"query", "texts"}`
    answered by `[{"index", "score"}]`, as Text Embeddings Inference does, which serves one model
    and takes no name. "auto" is the first where a `model` is given, else the second. `batch_size`
    counts texts; by default all go in one request, or 32 at a time in the second shape. `retries`,
    `timeout`, `transport` and `sleep` are those of `Endpoint`.
    """

    def __init__(
        self,
        *,
        url: str,
        model: str | None = None,
        api_key: str | None = None,
        shape: Shape = "auto",
        batch_size: int | None = None,
        retries: int = 1,
        timeout: float = 5.0,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        for label, number in {"batch size": batch_size, "timeout": timeout}.items():
            if number is not None and number <= 0:
                raise SettingsError(f"The reranker's {label} must be above 0, not {number}.")
        self._is_tei = shape == "tei" or (shape == "auto" and not model)
        if not self._is_tei and not model:
            raise SettingsError(
                "A reranker of the shape cohere needs the name of a model.",
                hint="Set PGRAG_RERANKER_MODEL.",
            )
        self._model = model
        self._batch_size = batch_size or (TEI_BATCH if self._is_tei else None)
        self._scale = Scale()
        self._endpoint = Endpoint(
            url.rstrip("/").removesuffix("/rerank") + "/rerank",
            _SERVICE,
            api_key=api_key,
            retries=retries,
            timeout=timeout,
            longest_wait=LONGEST_WAIT,
            transport=transport,
            sleep=sleep,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections and end every wait for another attempt."""
        self._endpoint.close()

    @property
    def name(self) -> str:
        """The model's name, else the server's address."""
        return self._model or str(self._endpoint)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score of 0 to 1 for each text, in their order.

        Raises `RerankingError` when the server refuses, keeps failing, or answers anything but one
        finite number for each text.
        """
        size = self._batch_size or max(1, len(texts))
        answers: list[float] = []
        for start in range(0, len(texts), size):
            batch = list(texts[start : start + size])
            answers += self._checked(self._endpoint.post(self._payload(query, batch)), len(batch))
        return self._scale.scores(answers)

    def _payload(self, query: str, texts: list[str]) -> dict[str, Any]:
        if self._is_tei:
            return {"query": query, "texts": texts, "truncate": True}
        return {"model": self._model, "query": query, "documents": texts, "top_n": len(texts)}

    def _checked(self, answer: Any, count: int) -> list[float]:
        """Bring the numbers of an answer, which come best first, into the order of the texts."""
        results = answer.get("results") if isinstance(answer, dict) else answer
        if not isinstance(results, list):
            raise self._unusable("holds no list of results")
        score_of: dict[int, float] = {}
        for result in results:
            index, score = _result(result)
            if index is None:
                raise self._unusable("holds a result without index or score")
            if not math.isfinite(score):
                raise self._unusable("holds a score that is not finite")
            score_of[index] = score
        if len(results) != count or score_of.keys() != set(range(count)):
            raise self._unusable(
                f"holds {len(results)} results for {count} texts, or wrong indexes"
            )
        return [score_of[place] for place in range(count)]

    def _unusable(self, reason: str) -> RerankingError:
        return RerankingError(
            f"{self._endpoint} gave an answer that {reason}.",
            hint="Check PGRAG_RERANKER_SHAPE: cohere for Cohere, Jina and vLLM, tei for Text"
            " Embeddings Inference.",
        )


def _result(result: Any) -> tuple[int | None, float]:
    """Read index and score of a result; no index where one of them is missing."""
    if not isinstance(result, dict):
        return None, 0.0
    index: Any = result.get("index")
    score: Any = result.get("relevance_score", result.get("score"))
    if type(index) is not int or type(score) not in (int, float):
        return None, 0.0
    try:
        return index, float(score)
    except OverflowError:
        return index, math.inf
