"""The built-in model as it is shipped: two files beside this one, made by a script.

`builtin.json` describes the model (name, origin, classes of characters, checksum) and
`builtin.npz` holds it: the tokens, and their vectors in steps of 1/128 of each vector's length.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgrag.embedding.embedder import Vectors
from pgrag.embedding.word_pieces import CharacterClasses
from pgrag.errors import EmbeddingError

FOLDER = Path(__file__).parent
STEPS = 128


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """What is known of the model without reading its vectors."""

    name: str
    dimensions: int
    checksum: str
    characters: CharacterClasses
    provenance: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class StaticModel:
    """Tokens and their vectors, row for row, `(len(tokens), dimensions)`."""

    tokens: tuple[str, ...]
    vectors: Vectors


@cache
def read_description(folder: Path = FOLDER) -> ModelDescription:
    """Read what describes the model."""
    fields = json.loads((folder / "builtin.json").read_text(encoding="utf-8"))
    return ModelDescription(**fields | {"characters": CharacterClasses(**fields["characters"])})


@cache
def read_model(folder: Path = FOLDER) -> StaticModel:
    """Read the model itself; raises `EmbeddingError` if its files were altered."""
    description = read_description(folder)
    with np.load(folder / "builtin.npz") as arrays:
        tokens, steps, lengths = arrays["tokens"], arrays["steps"], arrays["lengths"]
    if content_checksum(tokens, steps, lengths, description.characters) != description.checksum:
        raise EmbeddingError(
            f"The files of the embedding model {description.name} do not match their checksum.",
            hint="Install pgrag again.",
        )
    vectors = np.ascontiguousarray(steps.T, dtype=np.float32) * (lengths / STEPS)[:, np.newaxis]
    return StaticModel(tuple(tokens.tobytes().decode().split("\n")), vectors)


def content_checksum(
    tokens: NDArray[np.uint8],
    steps: NDArray[np.int8],
    lengths: NDArray[np.float32],
    characters: CharacterClasses,
) -> str:
    """SHA-256 over all that decides a vector, as it lies in the files.

    `tokens` is UTF-8 with a line each, `steps` is `(dimensions, len(tokens))`, `lengths` the
    length of each token's vector.
    """
    digest = hashlib.sha256(tokens.tobytes())
    digest.update(np.ascontiguousarray(steps).tobytes())
    digest.update(lengths.astype("<f4").tobytes())
    digest.update(json.dumps(asdict(characters), sort_keys=True).encode())
    return digest.hexdigest()
