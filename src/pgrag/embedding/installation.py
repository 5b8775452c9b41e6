"""The built-in model into the database, where `pgrag.embed` reads it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from pgrag.embedding.model_file import (
    ModelDescription,
    StaticModel,
    read_description,
    read_model,
)
from pgrag.embedding.word_pieces import CONTINUATION


def install(connection: Connection[Any]) -> None:
    """Bring `pgrag.embedding_models` and `pgrag.model_tokens` up to the shipped model.

    Does nothing when the database has it already, judged by the checksum. Runs in a transaction
    (inside the connection's current one, if there is one) and takes about half a second. Needs the
    rights of the schema's owner.
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
    """Write the model's row; None if another session has just done so."""
    row = connection.execute(
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
            Jsonb(
                {
                    "characters": asdict(description.characters),
                    "provenance": description.provenance,
                }
            ),
        ),
    ).fetchone()
    return None if row is None else row[0]


def _load(connection: Connection[Any], model_id: int, model: StaticModel) -> None:
    """Write the tokens in the order of their index, and let the planner know of them."""
    connection.execute("delete from pgrag.model_tokens as t where t.model_id = %s", (model_id,))
    with connection.cursor().copy(
        "copy pgrag.model_tokens (model_id, token, prefix_lengths, embedding)"
        " from stdin (format binary)"
    ) as copy:
        # A halfvec is announced as bytea: both send their bytes as they are.
        copy.set_types(["int8", "text", "int2[]", "bytea"])
        for row in _rows(model):
            copy.write_row((model_id, *row))
    connection.execute("analyze pgrag.model_tokens")


def _rows(model: StaticModel) -> Iterator[tuple[str, list[int], bytes]]:
    """Token, lengths of the tokens that it starts with (longest first), halfvec as it is sent."""
    header = struct.pack(">hh", model.vectors.shape[1], 0)
    halves = model.vectors.astype(">f2")
    vocabulary = frozenset(model.tokens)
    # "C" collation is the order of code points, and so is Python's.
    for token, half in sorted(zip(model.tokens, halves, strict=True), key=lambda pair: pair[0]):
        shortest = len(CONTINUATION) if token.startswith(CONTINUATION) else 0
        prefix_lengths = [
            size for size in range(len(token), shortest, -1) if token[:size] in vocabulary
        ]
        yield token, prefix_lengths, header + half.tobytes()
