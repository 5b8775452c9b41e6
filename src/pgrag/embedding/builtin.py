"""The built-in model: the mean of static token vectors, without a server or a network.

`BuiltinEmbedder` computes in Python; `install` loads the same model into the database, for
`pgrag.embed` in SQL.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from psycopg import Connection
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb

from pgrag.embedding.embedder import Vectors, normalized
from pgrag.embedding.model_file import (
    ModelDescription,
    StaticModel,
    read_description,
    read_model,
)
from pgrag.embedding.word_pieces import CONTINUATION, WordPieces


class BuiltinEmbedder:
    """The twin of `pgrag.embed` in SQL: both give equal texts equal vectors.

    `scripts/make_builtin_model.py` builds the model. Embeds 5,000 to 8,000 English texts of 1,000
    characters per second on one core; keeps 30 MB of vectors and a cache of words in memory.
    """

    def __init__(self) -> None:
        self._description = read_description()
        model = read_model()
        self._vectors = model.vectors
        self._word_pieces = WordPieces(model.tokens, self._description.characters)

    @property
    def name(self) -> str:
        """The model's name, as in `pgrag.embedding_models`."""
        return self._description.name

    @property
    def dimensions(self) -> int:
        """The number of dimensions of every vector."""
        return self._description.dimensions

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
