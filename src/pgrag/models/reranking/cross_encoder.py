"""A cross-encoder in this process, by sentence-transformers, an optional dependency."""

import importlib
import importlib.util
import math
from collections.abc import Sequence
from threading import Lock
from typing import Any

from pgrag.ground.errors import RerankingError, SettingsError, reason
from pgrag.models.reranking.order import Scale

_LIBRARY = "sentence_transformers"


class CrossEncoderReranker:
    """Scores with a model of the Hugging Face hub, or from a folder, loaded on first use. Raises
    `SettingsError` if sentence-transformers is not installed. Calls are serialised; `batch_size`
    texts are scored together.
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
            library = importlib.import_module(_LIBRARY)
            self._model = library.CrossEncoder(self.name)
        return self._model
