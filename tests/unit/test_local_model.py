"""What is asked of a library of models, and that none of its answers is believed unseen."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from pgrag.ground.errors import EmbeddingError
from pgrag.models.embedding import LocalEmbedder, LocalModel, local_model


class Library(ModuleType):
    """In place of sentence-transformers: models of two dimensions, and their troubles."""

    def __init__(self):
        super().__init__("sentence_transformers")
        self.__spec__ = ModuleSpec("sentence_transformers", None)
        self.loads = []
        self.batches = []
        self.trouble = None
        self.answer = None

    def SentenceTransformer(self, name):
        self.loads.append(name)
        if self.trouble is not None:
            raise self.trouble
        return SimpleNamespace(
            eval=lambda: None, encode=self.encode, tokenizer=self.tokenize, prompts=None
        )

    def tokenize(self, text, *, add_special_tokens, **_):
        tokens = list(map(ord, text))
        return {"input_ids": [1, *tokens, 2] if add_special_tokens else tokens}

    def encode(self, texts, *, prompt, **_):
        self.batches.append((prompt, texts))
        if isinstance(self.answer, Exception):
            raise self.answer
        return np.array([[3.0, 4.0]] * len(texts)) if self.answer is None else self.answer


@pytest.fixture
def library(monkeypatch):
    made = Library()
    monkeypatch.setitem(sys.modules, "sentence_transformers", made)
    return made


def test_a_model_is_loaded_once_and_when_it_is_needed(library):
    embedder = LocalEmbedder(LocalModel("mini", batch_size=2), document_prefix="text: ")
    assert embedder.name == "mini"
    assert library.loads == []
    found = embedder.embed_documents(["ccc", "", "b", "aa"])
    np.testing.assert_allclose(found, [[0.6, 0.8], [0, 0], [0.6, 0.8], [0.6, 0.8]])
    assert embedder.embed_query("q") == pytest.approx([0.6, 0.8])
    assert library.loads == ["mini"]
    assert library.batches[1:] == [("text: ", ["b", "aa"]), ("text: ", ["ccc"]), ("", ["q"])], (
        "texts of like length together; blank ones not at all; no prompt where there is none"
    )


def test_a_model_that_cannot_be_loaded_is_tried_again_after_a_while(library, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(local_model, "time", SimpleNamespace(monotonic=lambda: now[0]))
    library.trouble = OSError("mini is no folder\nand much more")
    embedder = LocalEmbedder(LocalModel("mini"))
    for _ in range(3):
        with pytest.raises(EmbeddingError, match="cannot be loaded: mini is") as caught:
            embedder.embed_query("q")
        assert "much more" not in str(caught.value)
        assert "PGRAG_EMBEDDING_MODEL" in str(caught.value)
    assert library.loads == ["mini"]
    library.trouble = None
    now[0] += 61
    assert embedder.embed_query("q").any()
    assert library.loads == ["mini", "mini"]


@pytest.mark.parametrize(("answer", "message"), [
    (np.ones((1, 3)), r"gave vectors of shape \(1, 3\) for 1 texts of 2 dimensions"),
    (np.ones((2, 2)), r"gave vectors of shape \(2, 2\)"),
    (np.array([[1.0, np.nan]]), "not finite"),
    (np.zeros((1, 2)), "a vector of zeros"),
    (RuntimeError("out of memory\nTraceback"), r"mini failed: out of memory\.$"),
])  # fmt: skip
def test_what_a_model_gives_is_checked(library, answer, message):
    embedder = LocalEmbedder(LocalModel("mini"))
    assert embedder.dimensions == 2
    library.answer = answer
    with pytest.raises(EmbeddingError, match=message):
        embedder.embed_query("q")
    library.answer = None
    assert embedder.embed_query("q").any(), "the next text is tried"
