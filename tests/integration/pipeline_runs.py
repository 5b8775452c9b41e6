"""A small guide in a folder, runs that index it, and what they left in the database."""

import ctypes
import threading
import time

from pgrag.ingest import pipeline
from pgrag.ingest.document import read_document
from pgrag.ingest.page import IndexTarget, PageOptions
from pgrag.ingest.reader import Reader
from pgrag.ingest.source.sources import discover
from pgrag.models.embedding import BuiltinEmbedder

GUIDE = {
    "index.md": "# Nodes\n\nEverything about nodes, from the first boot to the last.\n",
    "drain.md": "# Drain\n\nMove the work away before you upgrade the kernel of a node.\n",
    "fill.md": "# Fill\n\nLet the scheduler bring the work back to the node.\n",
    "deep/logs.md": "---\ntitle: Logs\ntags: [ops]\n---\n\n## Where\n\nThe journal keeps them.\n",
}


class Recorder:
    """The built-in model, and every text that it was asked for."""

    def __init__(self):
        self._model = BuiltinEmbedder()
        self.texts = []
        self.before = lambda: None

    @property
    def name(self):
        return self._model.name

    @property
    def dimensions(self):
        return self._model.dimensions

    def embed_documents(self, texts):
        self.before()
        self.texts += texts
        return self._model.embed_documents(texts)

    def embed_query(self, text):
        return self._model.embed_query(text)


def crashing_read_document(key, *others, **options):
    """Read a page, but end the whole process for one of them, as a broken parser would."""
    if key == "drain.md":
        ctypes.string_at(0)
    return read_document(key, *others, **options)


def slow_pages(monkeypatch, seconds):
    """Let every page take its time; the event is set when the first one is read."""
    begun = threading.Event()
    begin = Reader._begin

    def slowly(self, file):
        begun.set()
        time.sleep(seconds)
        return begin(self, file)

    monkeypatch.setattr(Reader, "_begin", slowly)
    return begun


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


def index(database, embedder, folder, version="", **options):
    dry_run = bool(options.pop("dry_run", False))
    progress = options.pop("progress", None)
    opened = options.pop("source", None)
    kept_pages = options.pop("kept_pages", None)
    with opened or discover(str(folder)) as source:
        return pipeline.index(
            database, embedder, source, IndexTarget("guide", version, PageOptions(**options)),
            kept_pages=kept_pages, dry_run=dry_run, progress=progress,
        )  # fmt: skip


def keys(database, version=""):
    return {
        row["key"] for row in database.call("_pgrag.stored_pages", library="guide", version=version)
    }


def stored(database):
    """Where every row stands on disk: equal places mean that nothing was written."""
    return {
        table: [
            tuple(row.values()) for row in database.query(f"select ctid, xmin from pgrag.{table}")
        ]
        for table in ("pages", "documents", "embeddings", "lexeme_statistics", "corpus_statistics")
    }


def found(database, query):
    rows = database.call("keyword_search", query=query, library="guide", options={"levels": [2]})
    return {row["key"] for row in rows}


def is_complete(database):
    """No text lacks its vector, no document its page, and the version can be the newest."""
    [version] = database.call("library_versions", library="guide")
    counted = database.query(
        "select count(*) as documents, count(e.document_id) as vectors from pgrag.documents as d"
        " left join pgrag.embeddings as e using (library_id, document_id) where d.covers > 0"
    )[0]
    return (
        version["status"] == "ready"
        and version["documents"] == counted["documents"] == counted["vectors"]
        and not database.call("pending_embeddings", library="guide")
    )
