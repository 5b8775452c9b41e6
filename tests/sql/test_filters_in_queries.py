"""Filters written into the query: they narrow like those of the argument, and alone they list."""

import pytest
from library import document, ingest, keys, page, refused, run, search
from psycopg.types.json import Jsonb

PAGES = [
    page("backup.md", "Restore a backup at night.", "Backups are kept for a week.",
         title="Backup", type="guide", tags=["ops", "night"], created="2024-03-01"),
    page("restore.md", "Restore a single file.", title="Restore", type="guide", tags=["ops"],
         created="2025-01-10"),
    page("commands.md", "restore FILE brings a file back.", title="Commands", type="reference",
         tags=["cli"], created="2025-02-01"),
]  # fmt: skip


@pytest.fixture(scope="module")
def manual(module_connection):
    ingest(module_connection, "manual", PAGES, "1.0")
    ingest(module_connection, "manual", [*PAGES[:1]], "2.0")
    ingest(module_connection, "other", [page("restore.md", "Restore the other.")])
    return "manual"


def test_both_must_hold_in_every_function_and_agree(connection, manual):
    hits = search(connection, "restore type:guide", library=manual, version="1.0",
                  filters={"created": {">=": "2025-01-01"}})  # fmt: skip
    assert keys(hits) == ["restore.md"]
    ask = {"query": "restore type:reference", "library": manual, "version": "1.0"}
    for function in ("keyword_search", "semantic_search"):
        assert keys(run(connection, function, **ask)) == ["commands.md"]
    assert {b["title"] for b in run(connection, "context", **ask)} == {"Commands"}
    hit = search(connection, "restore type:guide", library=manual, explain=True)[0]
    assert hit["explanation"]["filters"] == {"type": "guide"}
    for query, arguments in [
        ("restore library:other", {"library": "manual"}),
        ("restore", {"library": "manual", "filters": {"library": "other"}}),
        ("restore version:1.0", {"library": "manual", "version": "2.0"}),
        ("restore", {"library": "manual", "version": "2.0", "filters": {"version": "1.0"}}),
        ("restore library:other", {"filters": {"library": ["manual"]}}),
    ]:
        given = {k: Jsonb(v) if isinstance(v, dict) else v for k, v in arguments.items()}
        with refused(connection, "PGR06", "is asked for as", "Name it once"):
            search(connection, query, **given)
    for written, filters in [
        ("restore type:guide", {"type": "guide"}),
        ("type:guide AND NOT #night restore", {"type": "guide", "not": {"tags": "night"}}),
        ("restore created:>=2025-01-01", {"created": {">=": "2025-01-01"}}),
        ("restore (type:reference OR #night)", {"or": [{"type": "reference"}, {"tags": "night"}]}),
    ]:
        ask = {"library": manual, "version": "1.0"}
        expected = search(connection, "restore", filters=filters, **ask)
        assert expected
        assert search(connection, written, **ask) == expected


def test_filters_alone_list_pages_or_passages(connection, manual):
    hits = search(connection, "type:guide", library=manual, version="1.0")
    assert keys(hits) == ["backup.md", "restore.md"]
    assert [hit["score"] for hit in hits] == [1, 1]
    assert all(hit["keyword_score"] is None for hit in hits)
    [first] = search(connection, "#ops", library=manual, version="1.0", top_k=1)
    rest = search(connection, "#ops", library=manual, version="1.0", after=first["cursor"])
    assert [first["key"], *keys(rest)] == ["backup.md", "restore.md"]
    hits = search(connection, "level:2 type:guide", library=manual, version="1.0")
    assert len(hits) == 3
    assert {hit["level"] for hit in hits} == {2}
    hits = search(connection, "level:2 type:guide -night", library=manual, version="1.0")
    assert sorted(hit["content"] for hit in hits) == [
        "Backups are kept for a week.", "Restore a single file.",
    ]  # fmt: skip
    with refused(connection, "PGR01", "has no words to search for", "or a filter"):
        search(connection, "-night", library=manual)


def test_words_after_tags_are_tags_and_one_that_no_page_has_is_said(connection, manual, notices):
    asked = {"library": manual, "version": "1.0"}
    assert keys(search(connection, "tags:ops night", **asked)) == ["backup.md"]
    assert {*keys(search(connection, "restore tags:ops night", **asked))} == {"backup.md"}
    assert notices == []
    assert search(connection, "tags:ops restore file", **asked) == []
    [notice] = notices
    assert notice == (
        "No page has these tags: restore, file. Words after tags: are tags, after tag: they are"
        " searched."
    )
    assert keys(search(connection, "tag:ops restore", **asked))[0] == "restore.md"


def test_library_and_version_in_the_text_may_repeat_the_argument(connection, manual):
    assert keys(search(connection, "restore library:other")) == ["restore.md"]
    assert keys(search(connection, "library:manual version:1.0 file")) != []
    assert {h["version"] for h in search(connection, "backup library:manual version:1.0")} == {
        "1.0"
    }
    assert keys(search(connection, "library:other")) == ["restore.md"]
    hits = search(
        connection, "restore library:manual", library=" Manual ", filters={"library": ["manual"]}
    )
    assert {hit["library"] for hit in hits} == {"manual"}


def test_filters_alone_list_the_levels_and_pages_asked_for(connection):
    for wish in [{"unit": "page"}, {"max_per_page": 1}]:
        rows = [document(f"Step {n}.", types=["list"], level=2, covers=4) for n in range(3)]
        ingest(connection, "steps", [page(f"{key}.md", *rows) for key in "abcd"])
        ask = {"query": "types:list", "library": "steps", "top_k": 2, **wish}
        first = search(connection, **ask)
        rest = search(connection, **ask, after=first[-1]["cursor"])
        assert keys([*first, *rest]) == ["a.md", "b.md", "c.md", "d.md"]
        assert search(connection, **ask, after=rest[-1]["cursor"]) == []
    rows = [
        document("What the tool is for.", level=0, covers=1, path=["Tool"]),
        document("How to start it.", level=1, covers=2, path=["Tool", "Start"]),
        document("Call start.", level=2, covers=4, path=["Tool", "Start"]),
    ]
    ingest(connection, "tool", [page("tool.md", *rows, type="guide")])
    for level, content in enumerate(("What the tool", "How to", "Call")):
        [hit] = search(connection, "type:guide", library="tool", levels=[level])
        assert hit["level"] == level
        assert hit["content"].startswith(content)
    ingest(connection, "tool", [page("flat.md", rows[2], type="guide")])
    assert keys(search(connection, "type:guide", library="tool", levels=[0])) == ["tool.md"]
    rows = [document(f"Step {n}.", types=["list"], level=2, covers=4) for n in range(3)]
    ingest(connection, "steps", [page(f"{key}.md", *rows) for key in "abcd"])
    found = run(connection, "search_pages", query="types:list", library="steps", top_k=3)
    assert keys(found) == ["a.md", "b.md", "c.md"]
    ingest(connection, "typed", [page("a.md", "One.", "Two.", title="A d.ts file")])
    for query in ('title:"A d.ts file"', 'title:"it\'s d.ts" OR title:*d.ts*'):
        assert len(search(connection, query, library="typed")) == 1


def test_the_corpus_of_a_labelled_set_is_searched_only_by_name(connection, manual):
    ingest(connection, "eval-questions", [page("restore.md", "Restore the questions.")])
    assert {hit["library"] for hit in search(connection, "restore questions")} == {
        "manual", "other",
    }  # fmt: skip
    assert keys(search(connection, "restore", library="eval-questions")) == ["restore.md"]
    assert keys(search(connection, "restore library:eval-questions")) == ["restore.md"]
