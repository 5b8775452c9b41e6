"""Exports of other search engines become pages."""

import json

import frontmatter
import pytest

from pgrag.ingest.source.records import record_pages
from pgrag.ingest.source.sources import discover

LEVELS = ["Guide", "Restore a folder", "When the other machine is gone\u200b"]
AT = "https://kestrel.example/docs/restore/"


def lines(*records):
    return "\n".join(json.dumps(record) for record in records).encode()


def pages(data):
    """Each page by its key: its front matter with its body."""
    read = {key: frontmatter.loads(page.decode()) for key, page in record_pages(data).items()}
    return {key: {**page.metadata, "body": page.content} for key, page in read.items()}


def scraped(depth, content=None, anchor=None, *, is_flat=False):
    levels = {f"lvl{n}": LEVELS[n] if n <= depth else None for n in range(7)}
    flat = {f"hierarchy_{name}": heading for name, heading in levels.items()}
    return {
        **(flat if is_flat else {"hierarchy": levels}),
        "url": f"{AT}#{anchor}" if anchor else AT, "anchor": anchor, "content": content,
        "objectID": "1", "weight": {"level": 1}, "lang": "en", "_tags": [],
    }  # fmt: skip


@pytest.mark.parametrize("is_flat", [False, True])
def test_records_of_docsearch_are_a_page_with_its_headings_and_anchors(is_flat):
    records = [
        scraped(1, is_flat=is_flat),
        scraped(1, "Name the day &amp; the folder.", is_flat=is_flat),
        scraped(2, anchor="gone", is_flat=is_flat),
        scraped(2, "Nothing can be restored.", "gone", is_flat=is_flat),
        scraped(2, "Try it twice a year.", "gone", is_flat=is_flat),
    ]
    [(key, page)] = pages(json.dumps({"hits": records}).encode()).items()
    assert key == "docs/restore.md"
    assert page == {
        "title": "Restore a folder", "path": ["Guide", "Restore a folder"], "link": AT,
        "lang": "en",
        "body": "Name the day & the folder.\n\n## When the other machine is gone {#gone}\n\n"
        "Nothing can be restored.\n\nTry it twice a year.",
    }  # fmt: skip


def test_a_bulk_and_hits_of_elasticsearch_are_the_same_documents():
    restore = {"subject": "Restore", "body": "Name the day.", "views": 20, "vector": [0.1] * 40}
    bulk = lines(
        {"index": {"_index": "kb", "_id": "restore"}}, restore,
        {"delete": {"_index": "kb", "_id": "old"}},
        {"update": {"_id": "a b"}}, {"doc": {"subject": "Prune", "body": "Removes copies."}},
        {"create": {}}, {"subject": "Install", "body": "Unpack it.", "doc": "manual"},
    )  # fmt: skip
    found = pages(bulk)
    assert found == {
        "restore.md": {"title": "Restore", "views": 20, "body": "Name the day."},
        "a-b.md": {"title": "Prune", "body": "Removes copies."},
        "record-3.md": {"title": "Install", "doc": "manual", "body": "Unpack it."},
    }
    hits = {"hits": {"total": 1, "hits": [{"_id": "restore", "_source": restore}]}}
    assert pages(json.dumps(hits).encode()) == {"restore.md": found["restore.md"]}


def test_documents_of_meilisearch_keep_their_fields():
    film = {"id": 5, "title": "The: \"Sea\"", "overview": "A ship.\n\nAnd an island.",
            "genres": ["Drama"], "url": "https://films.example/the-sea.html?a=1",
            "_vectors": {"default": [1, 2]}, "year": None}  # fmt: skip
    expected = {
        "title": 'The: "Sea"', "link": film["url"], "url": film["url"], "id": 5,
        "genres": ["Drama"], "body": "A ship.\n\nAnd an island.",
    }  # fmt: skip
    for data in ([film], {"results": [film], "offset": 0, "total": 1}):
        assert pages(json.dumps(data).encode()) == {"the-sea.md": expected}


def test_overlapping_chunks_of_langchain_are_joined_by_their_source():
    text = "To restore a folder, name the day and the folder to restore. Files are put beside it."
    chunks = [
        {"page_content": text[:60], "metadata": {"source": "/srv/docs/restore.md", "page": 1}},
        {"page_content": "Alone.", "metadata": {}},
        {"page_content": text[30:], "metadata": {"source": "/srv/docs/restore.md", "page": 1}},
        {"page_content": "Another part.", "metadata": {"source": "/srv/docs/restore.md"}},
        {"page_content": None, "metadata": "none"},
    ]
    found = pages(lines(*chunks))
    assert found["srv/docs/restore.md"]["body"] == f"{text}\n\nAnother part."
    assert found["record-2.md"]["body"] == "Alone."


def test_equal_names_and_odd_ones_have_keys_of_their_own():
    names = ["a/../b", "a/b", "/", "..", "x.md", "ü ß", "http://[::1/c/d?e=/f"]
    keys = pages(lines(*({"id": name, "text": "x"} for name in names)))
    assert list(keys) == [
        "a/b.md", "a/b-2.md", "index.md", "index-2.md", "x.md", "ü-ß.md", "c/d.md",
    ]  # fmt: skip


def test_an_entity_of_thousands_of_digits_is_a_text():
    entity = f"&#{'1' * 5000};"
    [page] = pages(json.dumps([scraped(1, entity)]).encode()).values()
    assert page["body"] == entity


@pytest.mark.parametrize("data", [
    b'{"name": "left-pad", "version": "1.0"}', b"[1, 2]", b"[]", b"{", b'{"hits": 3}', b"\xff",
    b'{"a": 1}\n[2]',
])  # fmt: skip
def test_other_json_is_no_list_of_records(data):
    assert record_pages(data) == {}


def test_a_file_of_records_is_a_source_of_pages(tmp_path):
    file = tmp_path / "kb.ndjson"
    file.write_bytes(lines({"id": "b", "text": "Two."}, {"id": "a", "text": "One."}))
    assert [each.key for each in discover(str(file)).files()] == ["a.md", "b.md"]
    with discover(str(file), include=["b*"]) as source:
        assert [each.read() for each in source.files()] == [b'---\n"id": "b"\n---\n\nTwo.\n']
    file.write_bytes(lines({"id": "b", "text": "Two."}))
    assert [each.key for each in discover(str(file)).files()] == ["b.md"]
    (tmp_path / "package.json").write_text('{"name": "x"}')
    assert [each.key for each in discover(str(tmp_path / "package.json")).files()] == [
        "package.json"
    ]
