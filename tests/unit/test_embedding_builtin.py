"""The built-in model: its files, its vectors, its limits."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from pgrag.ground.errors import EmbeddingError
from pgrag.models.embedding import BuiltinEmbedder
from pgrag.models.embedding.builtin import FOLDER, read_description, read_model

REFERENCE = Path(__file__).parent.parent / "fixtures" / "embedding_reference.json"


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    return BuiltinEmbedder()


def test_shipped_files_match_their_checksum_and_tell_their_origin():
    model, description = read_model(), read_description()
    assert model.vectors.shape == (len(model.tokens), description.dimensions) == (65_521, 256)
    assert description.provenance["source_model"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert description.provenance["licence"] == "Apache-2.0"
    assert (FOLDER / "builtin.npz").stat().st_size < 12_300_000


def test_altered_files_are_refused(tmp_path):
    shutil.copy(FOLDER / "builtin.json", tmp_path)
    with np.load(FOLDER / "builtin.npz") as arrays:
        altered = dict(arrays)
    altered["steps"][100, 5000] += 1
    np.savez(tmp_path / "builtin.npz", **altered)
    with pytest.raises(EmbeddingError, match="do not match their checksum"):
        read_model(tmp_path)
    shutil.copytree(FOLDER, other := tmp_path / "other")
    fields = json.loads((FOLDER / "builtin.json").read_text())
    fields["characters"]["removed"] = "[x]"
    (other / "builtin.json").write_text(json.dumps(fields))
    with pytest.raises(EmbeddingError, match="do not match their checksum"):
        read_model(other)


def test_vectors_are_those_of_the_teacher_of_length_one_and_in_order(embedder):
    """The fixture was computed with a tokenizer that is not ours, and the shipped vectors."""
    reference = json.loads(REFERENCE.read_text(encoding="utf-8"))
    vectors = embedder.embed_documents(list(reference))
    np.testing.assert_allclose(vectors[:, :8], list(reference.values()), atol=2e-5)
    texts = ["install the server", "the color of an element", "", "§¶ \u0f00", "install the server"]
    vectors = embedder.embed_documents(texts)
    assert vectors.shape == (5, embedder.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1)[[0, 1, 4]], 1, atol=1e-6)
    assert not vectors[2].any()
    np.testing.assert_array_equal(vectors[0], vectors[4])
    np.testing.assert_array_equal(vectors[1], embedder.embed_query(texts[1]))
    assert embedder.embed_documents([]).shape == (0, 256)


def test_meaning_is_near_and_the_rest_is_far(embedder):
    query = embedder.embed_query("remove a directory")
    near, far = embedder.embed_documents(["delete a folder", "the colour of the sky at dawn"])
    assert query @ near > 0.5 > 0.3 > query @ far
    for text in ["", " \t\n", "\x00", "\u0301", "z" * 101, "\ue000\uf8ff"]:
        assert not embedder.embed_query(text).any()


@pytest.mark.parametrize(("left", "right"), [
    ("CAFÉ Straße", "cafe\u0301 straße"),
    ("İSTANBUL", "istanbul"),
    ("ΚΌΣΜΟΣ", "κοσμοσ"),
    ("МОСКВА", "москва"),
    ("soft\u00adhyphen", "softhyphen"),
    ("東京都", "東 京 都"),
    ("a\u3000b\u2028c\x1cd", "a b c d"),
    ("fetch()", "fetch ( )"),
    ("nul\x00byte", "nulbyte"),
])  # fmt: skip
def test_texts_that_are_the_same_to_the_model(embedder, left, right):
    vector = embedder.embed_query(left)
    assert vector.any()
    np.testing.assert_array_equal(vector, embedder.embed_query(right))


def test_threads_share_an_embedder(embedder):
    texts = [f"word{number} of thread {number % 7} größer" for number in range(400)]
    expected = BuiltinEmbedder().embed_documents(texts)
    with ThreadPoolExecutor(4) as executor:
        vectors = list(executor.map(embedder.embed_query, texts))
    np.testing.assert_array_equal(vectors, expected)


def test_the_model_is_read_when_the_first_text_is_embedded(monkeypatch):
    def read():
        raise AssertionError("read")

    monkeypatch.setattr("pgrag.models.embedding.builtin.read_model", read)
    embedder = BuiltinEmbedder()
    assert (embedder.name, embedder.dimensions) == (read_description().name, 256)
    with pytest.raises(AssertionError, match="read"):
        embedder.embed_query("pump")
