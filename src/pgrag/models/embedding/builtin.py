"""The built-in model: the mean of static token vectors, in Python, and by `install` in SQL.
scripts/model makes `builtin.json`, which describes it, and `builtin.npz`, its tokens with their
vectors in steps of 1/128 of their lengths, and the words near each word. Libraries keep the
built-in models of earlier versions; `stored` reads them.
"""

import hashlib
import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection
from psycopg.rows import tuple_row
from psycopg.types.json import Jsonb
from psycopg.types.numeric import Float4

from pgrag.ground.errors import EmbeddingError
from pgrag.ground.schema import lift_limits
from pgrag.models.embedding.embedder import Vectors, normalized
from pgrag.models.embedding.word_pieces import CONTINUATION, CharacterClasses, WordPieces

FOLDER = Path(__file__).parent
STEPS = 128
#: Cosines of related words have these steps.
COSINE_STEPS = 256
_HEADER = struct.Struct(">hh")


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
    related: tuple[tuple[tuple[str, float], ...], ...] = ()
    """Of each token that is a word the nearest words with their cosines, below 1, best first."""


class StaticEmbedder:
    """The twin of `pgrag.embed` in SQL: both give equal texts equal vectors."""

    def __init__(
        self,
        name: str,
        dimensions: int,
        characters: CharacterClasses,
        read: Callable[[], StaticModel],
    ) -> None:
        self.name = name
        self.dimensions = dimensions
        self._characters = characters
        self._read = read

    @cached_property
    def _model(self) -> StaticModel:
        """Read for the first text: a run that finds nothing new embeds none."""
        return self._read()

    @cached_property
    def _word_pieces(self) -> WordPieces:
        return WordPieces(self._model.tokens, self._characters)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; returns shape `(len(texts), dimensions)`, zeros for text without a token."""
        sums = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            token_ids = np.asarray(self._word_pieces.token_ids(text), dtype=np.intp)
            self._model.vectors.take(token_ids, axis=0).sum(axis=0, out=sums[row])
        return normalized(sums)

    def embed_query(self, text: str) -> Vectors:
        """Embed a query, exactly like a document; returns shape `(dimensions,)`."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector


class BuiltinEmbedder(StaticEmbedder):
    """The model that ships with the package."""

    def __init__(self) -> None:
        description = read_description()
        super().__init__(
            description.name, description.dimensions, description.characters, read_model
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle no vectors: every process has the model."""
        return _shared, ()


@cache
def _shared() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def install(connection: Connection[Any]) -> None:
    """Load the shipped model into `pgrag.embedding_models` and `pgrag.model_tokens`. Does nothing
    if the database has a model with the same checksum. Another built-in model stays if a library
    uses it or has vectors by it. Atomic: on an autocommit connection in a transaction of its own,
    else within the current one. Takes a second, and the rights of the schema's owner.
    """
    if is_installed(connection):
        return
    description = read_description()
    with connection.transaction():
        lift_limits(connection)
        model_id = _register(connection, description)
        if model_id is not None:
            _load(connection, model_id, read_model())
            _remove_unused(connection, model_id)


def is_installed(connection: Connection[Any]) -> bool:
    """Whether the database has the shipped model."""
    description = read_description()
    installed = connection.execute(
        "select from pgrag.embedding_models as m where m.name = %s and m.checksum = %s",
        (description.name, description.checksum),
    )
    return installed.rowcount == 1


def _register(connection: Connection[Any], description: ModelDescription) -> int | None:
    settings = {"characters": asdict(description.characters), "provenance": description.provenance}
    cursor = connection.cursor(row_factory=tuple_row)
    cursor.execute(
        "select pgrag.register_model(%s, %s, 'builtin')", (description.name, description.dimensions)
    )
    row = cursor.execute(
        """
        update pgrag.embedding_models as m
        set provider = 'builtin', checksum = %(checksum)s, settings = %(settings)s
        where m.name = %(name)s and m.checksum is distinct from %(checksum)s
        returning m.model_id
        """,
        {"name": description.name, "checksum": description.checksum, "settings": Jsonb(settings)},
    ).fetchone()
    return None if row is None else row[0]


def _load(connection: Connection[Any], model_id: int, model: StaticModel) -> None:
    connection.execute("delete from pgrag.model_tokens as t where t.model_id = %s", (model_id,))
    with connection.cursor().copy(
        "copy pgrag.model_tokens (model_id, token, prefix_lengths, embedding, related, cosines)"
        " from stdin (format binary)"
    ) as copy:
        # Declare the halfvec as bytea, whose binary format is the bytes themselves.
        copy.set_types(["int8", "text", "int2[]", "bytea", "text[]", "float4[]"])
        for row in _rows(model):
            copy.write_row((model_id, *row))
    connection.execute("analyze pgrag.model_tokens")


def _remove_unused(connection: Connection[Any], current_id: int) -> None:
    """Remove built-in models of earlier versions that no library uses or has vectors by."""
    removed = connection.cursor(row_factory=tuple_row).execute(
        r"""
        delete from pgrag.embedding_models as m
        where m.provider = 'builtin'
            and m.model_id <> %s
            and exists (select from pgrag.model_tokens as t where t.model_id = m.model_id)
            and not exists (select from pgrag.libraries as l where l.model_id = m.model_id)
            and not exists (select from pgrag.embeddings as e where e.model_id = m.model_id)
            and not exists (select from pgrag.edge_embeddings as e where e.model_id = m.model_id)
        returning array(
            select format('drop index pgrag.%%I', c.relname)
            from pg_class as c
            where c.relnamespace = 'pgrag'::regnamespace
                and c.relname ~ format('^embeddings_hnsw_%%s(_\d+)?$', m.model_id)
        )
        """,
        (current_id,),
    )
    for (statements,) in removed.fetchall():
        for statement in statements:
            connection.execute(statement)


def stored(connection: Connection[Any], name: str) -> StaticEmbedder | None:
    """Read a built-in model from the database, in about a second; None if it has none so named."""
    cursor = connection.cursor(row_factory=tuple_row)
    row = cursor.execute(
        "select m.model_id, m.settings -> 'characters' from pgrag.embedding_models as m"
        " where m.name = %s and m.provider = 'builtin'",
        (name,),
    ).fetchone()
    if row is None or row[1] is None:
        return None
    model_id, characters = row
    with cursor.copy(
        "copy (select t.token, t.embedding from pgrag.model_tokens as t where t.model_id = "
        f"{model_id:d}) to stdout (format binary)"
    ) as copy:
        # The binary halfvec is a header and the numbers; see `_rows`.
        copy.set_types(["text", "bytea"])
        rows = list(copy.rows())
    halves = b"".join(embedding[_HEADER.size :] for _, embedding in rows)
    vectors = np.frombuffer(halves, ">f2").reshape(len(rows), -1).astype(np.float32)
    model = StaticModel(tuple(token for token, _ in rows), vectors)
    return StaticEmbedder(name, vectors.shape[1], CharacterClasses(**characters), lambda: model)


def _rows(model: StaticModel) -> Iterator[tuple[object, ...]]:
    """Yield token, lengths of its prefixes that are tokens (longest first), binary halfvec, related
    words and their cosines.
    """
    header = _HEADER.pack(model.vectors.shape[1], 0)
    halves = model.vectors.astype(">f2")
    vocabulary = frozenset(model.tokens)
    # Python sorts by code point, like the "C" collation.
    for token, half, related in sorted(
        zip(model.tokens, halves, model.related, strict=True), key=lambda row: row[0]
    ):
        shortest = len(CONTINUATION) if token.startswith(CONTINUATION) else 0
        prefix_lengths = [
            size for size in range(len(token), shortest, -1) if token[:size] in vocabulary
        ]
        words, cosines = zip(*related, strict=True) if related else ((), ())
        yield (
            token, prefix_lengths, header + half.tobytes(), list(words) or None,
            [Float4(cosine) for cosine in cosines] or None,
        )  # fmt: skip


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
        near = {name: arrays[name] for name in arrays.files if name.startswith("related_")}
    checksum = content_checksum(tokens, steps, lengths, description.characters, near)
    if checksum != description.checksum:
        raise EmbeddingError(
            f"The files of the embedding model {description.name} do not match their checksum.",
            hint="Install pgrag again.",
        )
    vectors = np.ascontiguousarray(steps.T, dtype=np.float32) * (lengths / STEPS)[:, np.newaxis]
    names = tuple(tokens.tobytes().decode().split("\n"))
    return StaticModel(names, vectors, _related(names, **near))


def _related(
    tokens: Sequence[str],
    related_counts: NDArray[np.uint8],
    related_ids: NDArray[np.uint16],
    related_cosines: NDArray[np.uint8],
) -> tuple[tuple[tuple[str, float], ...], ...]:
    pairs = iter(
        [
            (tokens[token_id], steps / COSINE_STEPS)
            for token_id, steps in zip(related_ids.tolist(), related_cosines.tolist(), strict=True)
        ]
    )
    return tuple(tuple(islice(pairs, count)) for count in related_counts.tolist())


def content_checksum(
    tokens: NDArray[np.uint8],
    steps: NDArray[np.int8],
    lengths: NDArray[np.float32],
    characters: CharacterClasses,
    related: Mapping[str, NDArray[np.generic]],
) -> str:
    """Return the SHA-256 of what is loaded: tokens (one a line), `(dimensions, tokens)` steps,
    lengths, related words.
    """
    digest = hashlib.sha256(tokens.tobytes())
    digest.update(np.ascontiguousarray(steps).tobytes())
    digest.update(lengths.astype("<f4").tobytes())
    digest.update(json.dumps(asdict(characters), sort_keys=True).encode())
    for name in sorted(related):
        digest.update(related[name].astype(related[name].dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()
