"""The words near each word of the model, which `pgrag.search` takes for the word in its last step.

    related.py

Writes them to src/pgrag/models/embedding/builtin.npz again, with the checksum of builtin.json.
`write.py` does the same for a new model.
"""

import json
import string
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pgrag.models.embedding.builtin import (
    COSINE_STEPS,
    FOLDER,
    content_checksum,
    read_description,
    read_model,
)
from pgrag.models.embedding.word_pieces import CONTINUATION

#: Words below it lost nDCG of pages: .770 of Kubernetes' questions, .767 from .6, .755 from .5.
LEAST_COSINE = 0.7
MOST_LATIN, MOST_OTHERS = 12, 8
_AT_ONCE = 1000


def related_words(
    tokens: Sequence[str], vectors: NDArray[np.float32]
) -> dict[str, NDArray[np.generic]]:
    """The nearest words of each word, best first: counts by token, then ids and cosines in steps.

    Words in Latin script and in others are chosen apart, because a passage has one language.
    """
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    words = [
        index
        for index, token in enumerate(tokens)
        if token.isalnum() and not token.startswith(CONTINUATION)
    ]
    is_latin = np.array([tokens[index][0] in string.printable for index in words])
    counts = np.zeros(len(tokens), dtype=np.uint8)
    ids: list[int] = []
    steps: list[int] = []
    scripts = [
        (np.array(words)[is_latin == latin], most)
        for latin, most in ((True, MOST_LATIN), (False, MOST_OTHERS))
    ]
    for start in range(0, len(words), _AT_ONCE):
        rows = words[start : start + _AT_ONCE]
        near: list[list[tuple[float, int]]] = [[] for _ in rows]
        for candidates, most in scripts:
            cosines = units[rows] @ units[candidates].T
            # One more, since the nearest of a word is the word.
            best = np.argpartition(cosines, -most - 1, axis=1)[:, -most - 1 :]
            for row, index in enumerate(rows):
                near[row] += [
                    (-float(cosines[row, column]), int(candidates[column]))
                    for column in best[row]
                    if candidates[column] != index and cosines[row, column] >= LEAST_COSINE
                ]
        for index, found in zip(rows, near, strict=True):
            counts[index] = len(found)
            for negative, other in sorted(found):
                ids.append(other)
                steps.append(min(round(-negative * COSINE_STEPS), COSINE_STEPS - 1))
    return {
        "related_counts": counts,
        "related_ids": np.array(ids, dtype=np.uint16),
        "related_cosines": np.array(steps, dtype=np.uint8),
    }


def main() -> None:
    """Write the words near those of the shipped model."""
    model = read_model()
    with np.load(FOLDER / "builtin.npz") as arrays:
        kept = {name: arrays[name] for name in ("tokens", "steps", "lengths")}
    related = related_words(model.tokens, model.vectors)
    np.savez_compressed(FOLDER / "builtin.npz", **kept, **related)
    description = json.loads((FOLDER / "builtin.json").read_text("utf-8"))
    description["checksum"] = content_checksum(
        kept["tokens"], kept["steps"], kept["lengths"], read_description().characters, related
    )
    (FOLDER / "builtin.json").write_text(json.dumps(description, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
