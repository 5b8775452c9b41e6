"""all-MiniLM-L6-v2 in the process: as sentence-transformers has it, and pooled from whole pages."""

import shutil

import numpy as np
import pytest
import sentence_transformers
from command_line import CommandLine

from pgrag.ground.errors import EmbeddingError
from pgrag.models.embedding import LateEmbedder, LocalEmbedder, LocalModel
from pgrag.models.embedding.late_chunking import windows

# Tokenizers and torch tell of what they will change.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

PAGE = [
    "Berlin is the capital of Germany.",
    "It has 3.85 million inhabitants, more than any other city of the European Union.",
    "The city is also one of the federal states.",
]


@pytest.fixture(scope="module")
def model(folder_of_model):
    return LocalModel(folder_of_model)


@pytest.fixture(scope="module")
def reference(folder_of_model):
    return sentence_transformers.SentenceTransformer(folder_of_model)


def token_vectors(reference, text):
    """Of a text without what the model puts around it."""
    found = reference.encode(text, output_value="token_embeddings", convert_to_numpy=False)
    return found.cpu().numpy()[1:-1]


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_texts_by_themselves_are_what_sentence_transformers_gives(model, reference):
    texts = [*PAGE, "", "tide " * 1000, "Überprüfung der Gezeitentafel", "🚀", *map(str, range(70))]
    embedder = LocalEmbedder(model, query_prefix="query: ", document_prefix="passage: ")
    assert embedder.dimensions == 384
    found = embedder.embed_documents(texts)
    cosines = (found * reference.encode([f"passage: {text}" for text in texts])).sum(axis=1)
    assert cosines[3] == 0
    assert not found[3].any()
    np.testing.assert_allclose(np.delete(cosines, 3), 1, atol=1e-5)
    query = embedder.embed_query("Where is the tide table?")
    assert query @ reference.encode("query: Where is the tide table?") == pytest.approx(1, abs=1e-5)
    assert not embedder.embed_query("  ").any()


def test_prompts_of_the_model_itself_are_used(folder_of_model, tmp_path):
    own = sentence_transformers.SentenceTransformer(
        folder_of_model, prompts={"query": "Find: ", "document": "Text: "}
    )
    own.save(str(tmp_path / "own"))
    embedder = LocalEmbedder(LocalModel(str(tmp_path / "own")))
    assert (embedder.query_prefix, embedder.document_prefix) == ("Find: ", "Text: ")
    expected = own.encode("Find: the harbour", prompt="")
    assert embedder.embed_query("the harbour") @ expected == pytest.approx(1, abs=1e-5)


def test_chunks_are_the_means_of_their_tokens_on_the_page(model, reference):
    late = LateEmbedder(model)
    assert late.name == f"{model.name}+late"
    [found] = late.embed_pages([[*PAGE, ""]])
    tokens = token_vectors(reference, "\n\n".join(PAGE))
    counts = [len(reference.tokenizer(text)["input_ids"]) - 2 for text in PAGE]
    assert sum(counts) == len(tokens)
    for vector, own in zip(found, np.split(tokens, np.cumsum(counts)), strict=True):
        expected = unit(own.mean(axis=0)) if len(own) else 0
        np.testing.assert_allclose(vector, expected * np.ones(384), atol=1e-5)
    # "It" is Berlin only on the page.
    berlin = late.embed_query("Berlin")
    assert berlin @ found[1] > berlin @ late.embed_documents(PAGE)[1] + 0.1


def test_pages_longer_than_the_window(model, reference):
    chunks = [
        f"Step {n}: tighten bolt {n} of the hull, then log it in book {n}." for n in range(60)
    ]
    [found] = LateEmbedder(model).embed_pages([chunks])
    tokens = [model.tokens(chunk) for chunk in chunks]
    ids = [token for chunk in tokens for token in chunk]
    assert model.window == 254
    assert len(ids) > 3 * model.window
    vectors = np.zeros((len(ids), 384), dtype=np.float32)
    for window in windows(len(ids), model.window):
        words = reference.tokenizer.decode(ids[window.start : window.stop])
        kept = slice(window.kept - window.start, window.kept_stop - window.start)
        vectors[window.kept : window.kept_stop] = token_vectors(reference, words)[kept]
    ends = np.cumsum([len(chunk) for chunk in tokens])[:-1]
    cosines = (found * [unit(own.mean(axis=0)) for own in np.split(vectors, ends)]).sum(axis=1)
    # A window may begin within a word: its decoded text is then not quite the same tokens.
    assert np.median(cosines) == pytest.approx(1, abs=1e-5)
    assert cosines.min() > 0.98


def test_what_cannot_be_used_is_told(folder_of_model, tmp_path):
    with pytest.raises(EmbeddingError, match="has 384 dimensions, not 256"):
        _ = LocalModel(folder_of_model, dimensions=256).dimensions
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        _ = LocalModel(str(tmp_path)).dimensions
    by_first = tmp_path / "cls"
    shutil.copytree(folder_of_model, by_first)
    [pooling] = by_first.glob("1_Pooling/config.json")
    pooling.write_text('{"word_embedding_dimension": 384, "pooling_mode_cls_token": true}')
    other = LocalModel(str(by_first))
    assert LocalEmbedder(other).dimensions == 384
    with pytest.raises(EmbeddingError, match="pools by cls: late chunking needs"):
        LateEmbedder(other).embed_pages([PAGE])


def test_index_and_search_by_the_command_line(folder_of_model, database_url, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "city.md").write_text("# Berlin\n\n" + "\n\n".join(PAGE))
    manual = "\n\n".join(
        f"## Part {n}\n\n{'Grease the winch and coil the rope. ' * 30}" for n in range(9)
    )
    (docs / "boat.md").write_text(f"# Winches\n\n{manual}\n")
    pgrag = CommandLine(
        tmp_path,
        {
            "PGRAG_DATABASE_URL": database_url,
            "PGRAG_EMBEDDING_MODEL": folder_of_model,
            "HF_HUB_OFFLINE": "1",
        },
    )
    report = pgrag.with_variables(PGRAG_EMBEDDING_LATE_CHUNKING="1").json("index", "handbook", docs)
    assert report["embedded"] > 9
    # Which model a library has stands in the database; the setting is for new ones.
    [library] = pgrag.json("libraries")
    assert library["model"] == f"{folder_of_model}+late"
    question = ("search", "How many live in the German capital?", "-l", "handbook", "--alpha", 1)
    [pooled, *_] = pgrag.json(*question)["hits"]
    assert pooled["key"] == "city.md"
    assert pooled["semantic_score"] > 0.4
    pgrag.run("embed", "handbook", "--model", folder_of_model, "--activate")
    assert folder_of_model in pgrag.run("doctor").out
