"""Rerankers: a local cross-encoder, and endpoints like those of Cohere, Jina and TEI."""

import importlib
import importlib.util
import math
from collections.abc import Sequence
from threading import Lock
from typing import Any, Literal, Unpack

from pgrag.ground.errors import RerankingError, SettingsError, reason
from pgrag.models.endpoint import Client, Connection, Endpoint, Service
from pgrag.models.reranking.order import Scale

_LIBRARY = "sentence_transformers"


class CrossEncoderReranker:
    """Scores with a model of the Hugging Face hub, or from a folder, loaded on first use. Raises
    `SettingsError`.
    """

    def __init__(self, model: str, *, batch_size: int = 32) -> None:
        if importlib.util.find_spec(_LIBRARY) is None:
            raise SettingsError(
                f"The reranker {model!r} needs sentence-transformers, which is not installed.",
                hint="Run pip install sentence-transformers, or set PGRAG_RERANKER_URL.",
            )
        self.name = model
        self._batch_size = batch_size
        self._model: Any = None
        self._scale = Scale()
        self._lock = Lock()

    def close(self) -> None:
        """Release the model."""
        self._model = None

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Reranker`."""
        if not texts:
            return []
        with self._lock:
            try:
                scores = self._loaded().predict(
                    [(query, text) for text in texts],
                    batch_size=self._batch_size,
                    show_progress_bar=False,
                )
                answers = [float(score) for score in scores]
            except Exception as error:  # of the model library: the search continues
                raise RerankingError(
                    f"The model {self.name} failed: {reason(error)}.",
                    hint="Check PGRAG_RERANKER_MODEL: it must be a cross-encoder with one score.",
                ) from error
            if len(answers) != len(texts) or not all(map(math.isfinite, answers)):
                raise RerankingError(
                    f"The model {self.name} gave {len(answers)} scores for {len(texts)} texts, or"
                    " some that are not finite."
                )
            return self._scale.scores(answers)

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = importlib.import_module(_LIBRARY).CrossEncoder(self.name)
        return self._model


Shape = Literal["auto", "cohere", "tei"]

#: Default limit of texts per request in Text Embeddings Inference.
TEI_BATCH = 32
#: Longest wait between two attempts, in seconds: the search waits for it.
LONGEST_WAIT = 2.0

_DEFAULTS: Connection = {"retries": 1, "timeout": 5.0}
_SERVICE = Service(
    "reranker",
    "PGRAG_RERANKER",
    RerankingError,
    path="/rerank",
    address="it ends where /rerank begins",
    example="https://api.cohere.com/v2",
    demands="PGRAG_RERANKER_SHAPE",
)


class HttpReranker(Client):
    """Sends a query with texts, and validates every response. `url` is the address up to `/rerank`.
    `shape` is the server's protocol: "cohere" is `{"model", "query", "documents", "top_n"}`
    answered by `{"results": [{"index", "relevance_score"}]}`, as Cohere, Jina, vLLM and Infinity
    do; "tei" is `{"query", "texts"}` answered by `[{"index", "score"}]`, as Text Embeddings
    Inference does, which serves one model and takes no name. "auto" is the first if a `model` is
    given, else the second. `batch_size` counts texts; by default all go in one request, or 32 at a
    time in the second shape. The `connection` is that of `Endpoint`, by default with one retry and
    a timeout of 5 s.
    """

    def __init__(
        self,
        *,
        url: str,
        model: str | None = None,
        shape: Shape = "auto",
        batch_size: int | None = None,
        **connection: Unpack[Connection],
    ) -> None:
        for label, number in {
            "batch size": batch_size,
            "timeout": connection.get("timeout"),
        }.items():
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
            url, _SERVICE, longest_wait=LONGEST_WAIT, **(_DEFAULTS | connection)
        )
        self.name = model or str(self._endpoint)

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        """See `Reranker`; a response must hold one finite number for each text."""
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
        """Return the scores of a response, which come best first, in the order of the texts."""
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
        return [score_of[index] for index in range(count)]

    def _unusable(self, reason: str) -> RerankingError:
        return RerankingError(
            f"{self._endpoint} gave an answer that {reason}.",
            hint="Check PGRAG_RERANKER_SHAPE: cohere for Cohere, Jina and vLLM, tei for Text"
            " Embeddings Inference.",
        )


def _result(result: Any) -> tuple[int | None, float]:
    """Read index and score of a result; no index if either is missing."""
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
