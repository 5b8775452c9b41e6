"""A model in this process, run by sentence-transformers (an optional dependency)."""

import importlib
import importlib.util
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgrag.ground.errors import EmbeddingError, reason
from pgrag.models.embedding.embedder import Vectors, normalized

_LIBRARY = "sentence_transformers"
#: Seconds before a retry after a model could not be loaded.
_PATIENCE = 60.0


class LocalModel:
    """A model from the Hugging Face hub, or a folder, loaded on first use; code shipped with it is
    never executed. A query waits for one batch. Every method raises `EmbeddingError`.
    """

    def __init__(self, name: str, *, dimensions: int | None = None, batch_size: int = 32) -> None:
        self.name = name
        self._wanted_dimensions = dimensions
        self._batch_size = batch_size
        self._model: Any = None
        self._around: tuple[list[int], list[int]] = ([], [])
        self._dimensions = 0
        self._failure: tuple[float, EmbeddingError] | None = None
        self._lock = Lock()

    def close(self) -> None:
        """Release the model."""
        with self._lock:
            self._model = None

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector; loads the model."""
        with self._loaded():
            return self._dimensions

    def prompt(self, *kinds: str) -> str:
        """The prompt of the first of these kinds that the model's configuration defines."""
        with self._loaded() as model:
            prompts = dict(model.prompts or {})
            return next((prompts[kind] for kind in kinds if prompts.get(kind)), "")

    def encode(self, texts: Sequence[str], prefix: str) -> Vectors:
        """Embed each text separately; blank texts get zeros."""
        indexes = [index for index, text in enumerate(texts) if text.strip()]
        indexes.sort(key=lambda index: len(texts[index]))
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(indexes), self._batch_size):
            batch = indexes[start : start + self._batch_size]
            with self._loaded() as model:
                vectors_of_batch = model.encode(
                    [texts[index] for index in batch],
                    prompt=prefix,
                    batch_size=self._batch_size,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
            vectors[batch] = self._checked(vectors_of_batch, len(batch))
        return vectors

    @property
    def window(self) -> int:
        """The maximum number of tokens of a text, not counting the special tokens around it."""
        with self._loaded() as model:
            longest = model.max_seq_length or model.tokenizer.model_max_length
            return int(longest) - sum(len(part) for part in self._around)

    def require_mean_pooling(self) -> None:
        """Raise `EmbeddingError` unless the model uses mean pooling."""
        with self._loaded() as model:
            mode = _pooling_mode(model)
        if mode != "mean":
            raise EmbeddingError(
                f"The model {self.name} pools by {mode or 'a method of its own'}: late chunking"
                " needs the mean of the tokens.",
                hint="Unset PGRAG_EMBEDDING_LATE_CHUNKING, or choose another model.",
            )

    def tokens(self, text: str) -> list[int]:
        """All tokens of a text, untruncated, without special tokens."""
        with self._loaded() as model:
            return _ids(model, text)

    def token_vectors(self, windows: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """One array of shape `(tokens, width)` per window."""
        torch = importlib.import_module("torch")
        with self._loaded() as model, torch.inference_mode():
            before, after = self._around
            rows = [[*before, *tokens, *after] for tokens in windows]
            longest = max(map(len, rows))
            padding = model.tokenizer.pad_token_id or 0
            ids = [row + [padding] * (longest - len(row)) for row in rows]
            mask = [[1] * len(row) + [0] * (longest - len(row)) for row in rows]
            features = {
                "input_ids": torch.tensor(ids, device=model.device),
                "attention_mask": torch.tensor(mask, device=model.device),
            }
            embeddings = model[0](features)["token_embeddings"].float().cpu().numpy()
        return [
            embeddings[index, len(before) : len(before) + len(tokens)]
            for index, tokens in enumerate(windows)
        ]

    def finished(self, pooled: NDArray[np.float32]) -> Vectors:
        """Apply the model's layers after pooling, if any, and normalise to length 1."""
        torch = importlib.import_module("torch")
        if not pooled.any():
            return np.zeros((len(pooled), self.dimensions), dtype=np.float32)
        with self._loaded() as model, torch.inference_mode():
            features = {"sentence_embedding": torch.tensor(pooled, device=model.device)}
            for layer in list(model)[2:]:
                features = layer(features)
            vectors = features["sentence_embedding"].float().cpu().numpy()
        vectors[~pooled.any(axis=1)] = 0
        return self._checked(vectors, len(pooled), zeros=True)

    @contextmanager
    def _loaded(self) -> Iterator[Any]:
        """Lock the loaded model; any error within the block becomes `EmbeddingError`."""
        with self._lock:
            if self._model is None:
                self._load()
            try:
                yield self._model
            except EmbeddingError:
                raise
            # Model libraries raise arbitrary exceptions.
            except Exception as error:
                raise EmbeddingError(f"The model {self.name} failed: {reason(error)}.") from error

    def _load(self) -> None:
        if self._failure is not None and time.monotonic() - self._failure[0] < _PATIENCE:
            failure = self._failure[1]
            raise EmbeddingError(failure.message, hint=failure.hint)
        try:
            self._try_to_load()
        except EmbeddingError as error:
            self._failure = (time.monotonic(), error)
            raise
        self._failure = None

    def _try_to_load(self) -> None:
        if importlib.util.find_spec(_LIBRARY) is None:
            raise EmbeddingError(
                f"The model {self.name} needs sentence-transformers, which is not installed.",
                hint="Run pip install sentence-transformers, or set PGRAG_EMBEDDING_URL.",
            )
        try:
            library = importlib.import_module(_LIBRARY)
            if transformers := sys.modules.get("transformers"):
                # Hides the progress bar of loading weights; downloads keep theirs.
                transformers.utils.logging.disable_progress_bar()
            model = library.SentenceTransformer(self.name)
            model.eval()
            dimensions = model.encode(["a"], prompt="", show_progress_bar=False).shape[1]
            around = _around(model)
        except Exception as error:
            raise EmbeddingError(
                f"The model {self.name} cannot be loaded: {reason(error)}.",
                hint="PGRAG_EMBEDDING_MODEL is a model of the Hugging Face hub or a folder, and"
                " must be one of sentence-transformers.",
            ) from error
        if self._wanted_dimensions not in {None, dimensions}:
            raise EmbeddingError(
                f"The model {self.name} has {dimensions} dimensions, not"
                f" {self._wanted_dimensions}.",
                hint="Unset PGRAG_EMBEDDING_DIMENSIONS, or set it to what the model has.",
            )
        self._dimensions, self._around, self._model = dimensions, around, model

    def _checked(self, answer: Any, count: int, *, zeros: bool = False) -> Vectors:
        vectors = np.asarray(answer, dtype=np.float32)
        if vectors.shape != (count, self._dimensions) or not np.isfinite(vectors).all():
            raise EmbeddingError(
                f"The model {self.name} gave vectors of shape {vectors.shape} for {count} texts of"
                f" {self._dimensions} dimensions, or numbers that are not finite."
            )
        if not zeros and not vectors.any(axis=1).all():
            raise EmbeddingError(f"The model {self.name} gave a vector of zeros.")
        return normalized(vectors)


def _ids(model: Any, text: str, **options: Any) -> list[int]:
    arguments = {"add_special_tokens": False, "truncation": False, "verbose": False, **options}
    return [int(token) for token in model.tokenizer(text, **arguments)["input_ids"]]


def _around(model: Any) -> tuple[list[int], list[int]]:
    bare, whole = _ids(model, "a"), _ids(model, "a", add_special_tokens=True)
    for start in range(len(whole) - len(bare) + 1):
        if whole[start : start + len(bare)] == bare:
            return whole[:start], whole[start + len(bare) :]
    return [], []


def _pooling_mode(model: Any) -> str | None:
    """The pooling mode of the second layer: "mean", "cls" …; None if it does not pool."""
    layers: list[Any] = list(model)
    layer: Any = layers[1] if len(layers) > 1 else None
    mode = getattr(layer, "pooling_mode", None)
    if mode is None and hasattr(layer, "get_pooling_mode_str"):
        mode = layer.get_pooling_mode_str()
    return mode if isinstance(mode, str) else None
