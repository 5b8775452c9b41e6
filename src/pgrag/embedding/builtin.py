"""The built-in model: the mean of static token vectors, without a server or a network.

`BuiltinEmbedder` computes in Python; `install` loads the same model into the database, for
`pgrag.embed` in SQL. scripts/make_builtin_model.py generates the files: `builtin.json` describes
the model (name, origin, character classes, checksum); `builtin.npz` has the tokens, and their
vectors quantised in steps of 1/128 of each vector's length.
"""

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from pgrag.embedding.embedder import Vectors, normalized
from pgrag.embedding.word_pieces import CONTINUATION, CharacterClasses, WordPieces
from pgrag.errors import EmbeddingError

FOLDER = Path(__file__).parent
STEPS = 128


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """The description of the model, without its vectors."""

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


class BuiltinEmbedder:
    """The twin of `pgrag.embed` in SQL: both give equal texts equal vectors.

    Embeds 5,000 to 8,000 English texts of 1,000 characters per second on one core; keeps 30 MB of
    vectors and a cache of words in memory.
    """

    def __init__(self) -> None:
        description, model = read_description(), read_model()
        self.name = description.name
        self.dimensions = description.dimensions
        self._vectors = model.vectors
        self._word_pieces = WordPieces(model.tokens, description.characters)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle no vectors: every process has the model."""
        return _shared, ()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; returns shape `(len(texts), dimensions)`, zeros for text without a token."""
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            token_ids = np.asarray(self._word_pieces.token_ids(text), dtype=np.intp)
            self._vectors.take(token_ids, axis=0).sum(axis=0, out=sums[row])
        return normalized(sums)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query, exactly like a document; returns shape `(dimensions,)`."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector


@cache
def _shared() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def install(connection: Connection[Any]) -> None:
    """Load the shipped model into `pgrag.embedding_models` and `pgrag.model_tokens`.

    Does nothing if the database has a model with the same checksum. Atomic: on an autocommit
    connection in a separate transaction, otherwise within the current one. Takes about half a
    second and requires the rights of the schema's owner.
    """
    description = read_description()
    installed = connection.execute(
        "select from pgrag.embedding_models as m where m.name = %s and m.checksum = %s",
        (description.name, description.checksum),
    )
    if installed.rowcount == 1:
        return
    with connection.transaction():
        model_id = _register(connection, description)
        if model_id is not None:
            _load(connection, model_id, read_model())


def _register(connection: Connection[Any], description: ModelDescription) -> int | None:
    """Upsert the model's row; None if another session has just done so."""
    settings = {
        "characters": asdict(description.characters),
        "provenance": description.provenance,
    }
    cursor = connection.cursor(row_factory=tuple_row)
    row = cursor.execute(
        """
        insert into pgrag.embedding_models as m (name, provider, dimensions, checksum, settings)
        values (%s, 'builtin', %s, %s, %s)
        on conflict (name) do update set
            provider = excluded.provider,
            dimensions = excluded.dimensions,
            checksum = excluded.checksum,
            settings = excluded.settings
        where m.checksum is distinct from excluded.checksum
        returning m.model_id
        """,
        (
            description.name,
            description.dimensions,
            description.checksum,
            Jsonb(settings),
        ),
    ).fetchone()
    return None if row is None else row[0]


def _load(connection: Connection[Any], model_id: int, model: StaticModel) -> None:
    """Write the tokens in the order of their index, and analyse the table."""
    connection.execute("delete from pgrag.model_tokens as t where t.model_id = %s", (model_id,))
    with connection.cursor().copy(
        "copy pgrag.model_tokens (model_id, token, prefix_lengths, embedding)"
        " from stdin (format binary)"
    ) as copy:
        # Declare the halfvec as bytea, whose binary format is the bytes themselves.
        copy.set_types(["int8", "text", "int2[]", "bytea"])
        for row in _rows(model):
            copy.write_row((model_id, *row))
    connection.execute("analyze pgrag.model_tokens")


def _rows(model: StaticModel) -> Iterator[tuple[str, list[int], bytes]]:
    """Yield token, lengths of its prefixes that are tokens (longest first), binary halfvec."""
    header = struct.pack(">hh", model.vectors.shape[1], 0)
    halves = model.vectors.astype(">f2")
    vocabulary = frozenset(model.tokens)
    # Python sorts by code point, like the "C" collation.
    for token, half in sorted(zip(model.tokens, halves, strict=True), key=lambda pair: pair[0]):
        shortest = len(CONTINUATION) if token.startswith(CONTINUATION) else 0
        prefix_lengths = [
            size for size in range(len(token), shortest, -1) if token[:size] in vocabulary
        ]
        yield token, prefix_lengths, header + half.tobytes()


@cache
def read_description(folder: Path = FOLDER) -> ModelDescription:
    """Read the description of the model."""
    fields = json.loads((folder / "builtin.json").read_text(encoding="utf-8"))
    return ModelDescription(**fields | {"characters": CharacterClasses(**fields["characters"])})


@cache
def read_model(folder: Path = FOLDER) -> StaticModel:
    """Read the model; raises `EmbeddingError` if its files do not match their checksum."""
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
    """SHA-256 of everything that determines a vector, as stored in the files.

    `tokens` is UTF-8 with one token per line, `steps` has shape `(dimensions, len(tokens))`,
    `lengths` has the length of each token's vector.
    """
    digest = hashlib.sha256(tokens.tobytes())
    digest.update(np.ascontiguousarray(steps).tobytes())
    digest.update(lengths.astype("<f4").tobytes())
    digest.update(json.dumps(asdict(characters), sort_keys=True).encode())
    return digest.hexdigest()
