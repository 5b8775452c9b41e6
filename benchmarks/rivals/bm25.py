"""tantivy: BM25 over title, path and content with English stemming, without vectors.

The words of a query are joined by OR, as its parser does by default; what the parser would take
for an operator is read as a word.
"""

import tantivy

from benchmarks.rivals.rival import Rival, Setup, Vector

FIELDS = ["title", "path", "content"]


class Tantivy(Rival):
    """An index in a folder."""

    def __init__(self, setup: Setup) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_integer_field("id", stored=True)
        schema.add_text_field("url", stored=True, tokenizer_name="raw")
        for field in FIELDS:
            schema.add_text_field(field, stored=True, tokenizer_name="en_stem")
        folder = setup.folder / "tantivy"
        folder.mkdir()
        self._index = tantivy.Index(schema.build(), str(folder))
        writer = self._index.writer(heap_size=256_000_000, num_threads=1)
        for passage in setup.passages:
            stored = tantivy.Document()
            stored.add_integer("id", passage.id)
            for field in ("url", *FIELDS):
                stored.add_text(field, getattr(passage, field))
            writer.add_document(stored)
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()
        self._searcher = self._index.searcher()

    def search(self, query: str, _: Vector, limit: int) -> list[int]:
        parsed, _errors = self._index.parse_query_lenient(query, FIELDS)
        hits = self._searcher.search(parsed, limit).hits
        rows = [self._searcher.doc(address) for _, address in hits]
        return [row["id"][0] for row in rows if row["content"] is not None]


make = Tantivy
