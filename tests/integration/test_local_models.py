"""Models that run in the process: how they are chosen, and whole pages at a time."""

import numpy as np
import pytest
from pipeline_runs import GUIDE, Recorder, index, is_complete, write

from pgrag.ground.errors import EmbeddingError
from pgrag.ground.settings import Settings
from pgrag.models.embedding import local_model
from pgrag.models.embedding.embedder import normalized
from pgrag.service.app import App

MODEL = "models/of-mine"


class WholePages(Recorder):
    """The built-in model; a text on a page also takes a tenth of the page."""

    def __init__(self):
        super().__init__()
        self.pages = []

    @property
    def name(self):
        return "static+late"

    def embed_pages(self, pages):
        self.before()
        self.pages += [list(page) for page in pages]
        found = [self._model.embed_documents(page) for page in pages]
        return [normalized(vectors + 0.1 * vectors.mean(axis=0)) for vectors in found]


@pytest.fixture
def embedder(database):
    made = WholePages()
    database.call("register_model", name=made.name, dimensions=made.dimensions, provider="local")
    return made


LONG = "".join(f"\n## Step {n}\n\n{f'Tighten the bolt number {n}. ' * 30}\n" for n in range(4))


def test_pages_are_embedded_whole_and_again_when_they_change(database, embedder, tmp_path):
    files = {**GUIDE, "long.md": f"# Bolts\n{LONG}"}
    write(tmp_path, files)
    report = index(database, embedder, tmp_path)
    assert is_complete(database)
    assert len(embedder.pages) == len(files)
    [long] = [page for page in embedder.pages if len(page) > 1]
    assert [text.split("Step ")[1][0] for text in long] == ["0", "1", "2", "3"]
    assert embedder.texts, "summaries stand on no page"
    assert not set(embedder.texts) & {text for page in embedder.pages for text in page}
    assert report.embedded == sum(map(len, embedder.pages)) + len(embedder.texts)
    rows = database.query(
        "select e.embedding::real[] as vector, d.is_summary, e.page_hash is not null as pooled"
        " from pgrag.embeddings as e join pgrag.documents as d using (library_id, document_id)"
        " join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id"
        " where p.key = 'long.md' order by d.sort_order"
    )
    assert {(row["is_summary"], row["pooled"]) for row in rows} == {(True, False), (False, True)}
    [expected] = embedder.embed_pages([long])
    pooled = [row["vector"] for row in rows if row["pooled"]]
    np.testing.assert_allclose(pooled, expected, atol=2e-3)

    embedder.pages, embedder.texts = [], []
    index(database, embedder, tmp_path)
    assert (embedder.pages, embedder.texts) == ([], [])
    write(tmp_path, {"long.md": files["long.md"].replace("number 3", "number three")})
    index(database, embedder, tmp_path)
    [again] = embedder.pages
    assert again[:3] == long[:3]
    assert "number three" in again[3], "the others are pooled anew with it"
    assert is_complete(database)
    embedder.pages = []
    index(database, embedder, tmp_path, version="2.0")
    assert embedder.pages == [], "the same pages in another version are not pooled again"


def test_a_model_that_fails_leaves_pages_for_the_next_run(database, embedder, tmp_path):
    def fail():
        raise EmbeddingError("The model is out of memory.")

    write(tmp_path, GUIDE)
    embedder.before = fail
    with pytest.raises(EmbeddingError, match="out of memory"):
        index(database, embedder, tmp_path)
    embedder.before = lambda: None
    index(database, embedder, tmp_path)
    assert is_complete(database)
    assert database.call("pending_pages", library="guide", model=embedder.name) == []


def test_a_missing_package_is_named(database_url, connection, tmp_path, monkeypatch):
    monkeypatch.setattr(local_model, "_LIBRARY", "no_such_library")
    write(tmp_path, GUIDE)
    with App(Settings(database_url=database_url, embedding_model=MODEL)) as app:
        assert app.library_model("guide") == MODEL
        assert [embedder.name for embedder in app.providers.local] == [MODEL, f"{MODEL}+late"]
        with pytest.raises(
            EmbeddingError, match=r"not installed.*pip install sentence-transformers"
        ):
            app.index("guide", "", str(tmp_path))
        assert app.database.call("libraries") == []
        connection.execute("select pgrag.register_model(%s, 3, provider => 'local')", [MODEL])
        connection.execute(
            "select pgrag.ingest_pages('guide', %s)", ['[{"key": "a.md", "body": "Drain it."}]']
        )
        connection.execute("select pgrag.use_model('guide', %s)", [MODEL])
        result = app.search.search("drain", library="guide")
        assert [row["key"] for row in result.rows] == ["a.md"]
        assert any("pip install sentence-transformers" in notice for notice in result.notices)


@pytest.mark.parametrize(("settings", "names", "new"), [
    ({"embedding_model": MODEL}, [MODEL, f"{MODEL}+late"], MODEL),
    (
        {"embedding_model": MODEL, "embedding_late_chunking": True},
        [f"{MODEL}+late", MODEL],
        f"{MODEL}+late",
    ),
    ({"embedding_model": MODEL, "embedding_url": "http://127.0.0.1:9/v1"}, [], MODEL),
    ({"embedding_late_chunking": True}, [], "static-en-de-ru-256"),
])  # fmt: skip
def test_which_model_a_new_library_gets(database_url, settings, names, new):
    with App(Settings(database_url=database_url, **settings)) as app:
        assert [embedder.name for embedder in app.providers.local] == names
        assert app.library_model("new") == new
        for name in [*names, new, "static-en-de-ru-256"]:
            found = app.providers.embedder_of(name)
            assert found is not None
            assert found.name == name
        assert app.providers.embedder_of("another") is None
