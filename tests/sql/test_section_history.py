"""Since when a section exists, when it changed, and searches of what changed."""

import random

import pytest
from changes import a_page, next_state, write
from library import document, ingest, page, refused, run, search, value

from pgrag.ground.values.passages import Hit

INSTALL = "# Install\n\nUnpack the archive.\n\n## Requirements\n\nA kernel of the {} series.\n"
BACKUP = "# Backup\n\nCopy the spool.\n\n## Restore\n\nStop the daemon, then copy back.\n"
PRUNE = "## Prune\n\nThe daemon deletes copies older than the retention period.\n"
RETENTION = "retention period of copies"


@pytest.fixture(scope="module")
def spool(module_connection) -> str:
    versions = {
        "1.4": {"install.md": INSTALL.format("second"), "backup.md": BACKUP},
        "1.10": {"install.md": INSTALL.format("third"), "backup.md": f"{BACKUP}\n{PRUNE}"},
        "2.0": {"install.md": INSTALL.format("third"), "guide/copy.md": f"{BACKUP}\n{PRUNE}"},
        "next": {"install.md": INSTALL.format("fourth"), "prune.md": f"# Cleaning\n\n{PRUNE}"},
    }
    # Neither by label nor by age: 1.10 is newer than 1.4, and comes last.
    for version in ("2.0", "1.4", "next", "1.10"):
        write(module_connection, "spool", version, versions[version])
    run(module_connection, "embed_pending", library="spool")
    return "spool"


def section_id(connection, library, version, key, heading):
    return value(
        connection,
        "select min(d.document_id) from pgrag.documents as d"
        " join pgrag.pages as p using (library_id, page_id)"
        " join pgrag.versions as v on v.version_id = p.version_id"
        " join pgrag.libraries as l on l.library_id = p.library_id"
        " where l.name = %s and v.label = %s and p.key = %s and d.heading = %s",
        library, version, key, heading,
    )  # fmt: skip


def history(connection, version, key, heading):
    document_id = section_id(connection, "spool", version, key, heading)
    rows = run(connection, "section_history", document_id=document_id)
    return [(row["version"], row["change"], row["key"]) for row in rows]


@pytest.mark.parametrize("version", ["1.4", "1.10", "2.0", "next"])
def test_a_section_is_followed_from_any_of_its_versions(connection, spool, version):
    assert history(connection, version, "install.md", "Requirements") == [
        ("1.4", "first", "install.md"),
        ("1.10", "changed", "install.md"),
        ("2.0", "unchanged", "install.md"),
        ("next", "changed", "install.md"),
    ]


def test_a_section_comes_moves_and_goes(connection, spool):
    came = [
        ("1.10", "added", "backup.md"),
        ("2.0", "moved", "guide/copy.md"),
        ("next", "moved", "prune.md"),
    ]
    assert history(connection, "1.10", "backup.md", "Prune") == came
    assert history(connection, "next", "prune.md", "Prune") == came
    assert history(connection, "2.0", "guide/copy.md", "Restore") == [
        ("1.4", "first", "backup.md"),
        ("1.10", "unchanged", "backup.md"),
        ("2.0", "moved", "guide/copy.md"),
        ("next", "removed", None),
    ]
    rows = run(
        connection, "section_history",
        document_id=section_id(connection, "spool", "2.0", "install.md", ""),
    )  # fmt: skip
    assert {row["section"] for row in rows} == {None}
    assert [row["change"] for row in rows] == ["first", "changed", "unchanged", "changed"]
    with refused(connection, "PGR05", "There is no passage -1"):
        run(connection, "section_history", document_id=-1)
    write(connection, "other", "1.4", {"install.md": INSTALL.format("third")})
    before = history(connection, "2.0", "install.md", "Requirements")
    run(connection, "remove_library", library="other")
    assert history(connection, "2.0", "install.md", "Requirements") == before


def test_a_copy_is_new_where_the_original_stays(connection):
    write(connection, "copies", "1", {"a.md": BACKUP})
    write(connection, "copies", "2", {"a.md": BACKUP, "b.md": BACKUP})
    document_id = section_id(connection, "copies", "2", "b.md", "Restore")
    rows = run(connection, "section_history", document_id=document_id)
    assert [(row["version"], row["change"]) for row in rows] == [("2", "added")]


@pytest.mark.parametrize("seed", range(3))
def test_histories_agree_with_comparisons(connection, seed):
    chance = random.Random(seed)
    files = {f"{n}.md": a_page(chance, f"Page {n}") for n in range(10)}
    for number in range(3):
        write(connection, "fleet", f"{number}.0", files)
        files = next_state(chance, files, number)
    for old, new in (("0.0", "1.0"), ("1.0", "2.0")):
        changes = run(
            connection, "compare_versions", library="fleet", from_version=old, to_version=new
        )
        rewritten = {row["page_id"] for row in changes if row["change"] == "moved"
                     and row["text_changed"] and row["section"] is None}  # fmt: skip
        sections = connection.execute(
            "select s.document_id, s.page_id from pgrag.section_texts as s"
            " join pgrag.libraries as l on l.library_id = s.library_id and l.name = 'fleet'"
            " join pgrag.versions as v on v.version_id = s.version_id where v.label = %s"
            " and s.text_hash is not null and s.headings <> '{}'",
            [new],
        ).fetchall()
        by_section = {
            row["document_id"]: row["change"] for row in changes if row["section"] is not None
        }
        of_page = {row["page_id"]: row["change"] for row in changes if row["section"] is None}
        for row in sections:
            if row["page_id"] in rewritten:
                continue  # A history does not compare pages line by line.
            states = run(connection, "section_history", document_id=row["document_id"])
            [state] = [each for each in states if each["version"] == new]
            page_change = of_page.get(row["page_id"], "unchanged")
            inherited = page_change if page_change in {"added", "moved"} else "unchanged"
            assert state["change"] == by_section.get(row["document_id"], inherited)


def test_hits_say_since_when_and_when_it_changed(connection, spool):
    for query, version, expected in [
        ("kernel series", "2.0", ("1.4", "1.10")),
        ("kernel series", "next", ("1.4", "next")),
        ("kernel series", "1.4", ("1.4", None)),
        (RETENTION, "next", ("1.10", None)),
    ]:
        hits = search(connection, query, library=spool, version=version, levels=[1], history=True)
        assert (hits[0]["since"], hits[0]["changed_in"]) == expected, (query, version)
    assert {row["since"] for row in search(connection, "kernel", library=spool)} == {None}


@pytest.mark.parametrize(
    "function", ["search", "keyword_search", "semantic_search", "recorded_search"]
)
def test_every_way_of_searching_tells_the_history(connection, spool, function):
    rows = run(
        connection, function, query="archive", library=spool, version="2.0", top_k=3, history=True
    )
    assert {row["since"] for row in rows} <= {"1.4", "1.10"}
    [row, *_] = run(
        connection, "search_many", queries=["archive"], library=spool, options={"history": True}
    )
    assert row["since"] == "1.4"
    assert Hit.from_row(row | {"search_id": None}).since == "1.4"


def test_a_passage_of_several_sections_changes_with_each(connection):
    for version, words in (("1", "one"), ("2", "one"), ("3", "three")):
        text = f"# Tiny\n\n## A\n\nFirst.\n\n## B\n\nWord {words}.\n"
        write(connection, "tiny", version, {"a.md": text})
    hits = search(connection, "first", library="tiny", history=True, alpha=0)
    if "Word" in hits[0]["content"]:
        assert (hits[0]["since"], hits[0]["changed_in"]) == ("1", "3")
    else:
        assert (hits[0]["since"], hits[0]["changed_in"]) == ("1", None)


def keys(rows):
    return {row["key"] for row in rows}


def test_a_search_of_what_changed(connection, spool):
    asked = {"library": spool, "version": "2.0", "top_k": 50}
    words = "archive kernel spool daemon retention"
    assert keys(search(connection, words, **asked)) == {"install.md", "guide/copy.md"}
    hits = search(connection, words, **asked, changed_since="1.4")
    assert any("retention" in hit["content"] for hit in hits)
    assert any("third" in hit["content"] for hit in hits)
    for hit in hits:
        assert "retention" in hit["content"] or "third" in hit["content"], hit["content"]
    assert search(connection, words, **asked, changed_since="1.10") == []
    assert search(connection, words, **asked, changed_since="2.0") == []
    asked = {"library": spool, "version": "2.0", "changed_since": "1.4", "top_k": 50}
    assert keys(search(connection, "kernel daemon", **asked, filters={"page": "install.md"})) == {
        "install.md"
    }
    assert keys(search(connection, "page:guide/*", **asked)) == {"guide/copy.md"}
    assert keys(search(connection, "kernel daemon -retention", **asked)) == {"install.md"}
    assert search(connection, "daemon", **asked, filters={"page": "none.md"}) == []
    ingest(connection, "log", [page("a.md", document("A daemon."))], "7.0")
    with refused(connection, "PGR03", "'log' has no version that fits '1.4'"):
        search(connection, "daemon", changed_since="1.4")


@pytest.mark.parametrize("function", ["search_pages", "context", "facets"])
def test_pages_contexts_and_facets_are_of_what_changed(connection, spool, function):
    asked = {"query": "daemon kernel", "library": spool, "version": "2.0"}
    total = 1 if function == "facets" else 0
    assert len(run(connection, function, **asked, changed_since="1.4")) > total
    assert len(run(connection, function, **asked, changed_since="1.10")) == total


def test_everything_is_new_beside_a_version_without_text(connection):
    write(connection, "bare", "1.0", {"a.md": "# Install\n\n## Requirements\n"})
    write(connection, "bare", "2.0", {"a.md": INSTALL.format("second")})
    [hit, *_] = search(connection, "kernel", library="bare", version="2.0", changed_since="1.0")
    assert hit["heading"] == "Requirements"


def test_the_text_of_each_version_only_if_asked_for(connection, spool):
    document_id = section_id(connection, "spool", "2.0", "guide/copy.md", "Prune")
    told = run(connection, "section_history", document_id=document_id, texts=True)
    text = PRUNE.partition("\n\n")[2].strip()
    assert [row["text"] and row["text"].strip() for row in told] == [text] * 3
    gone = section_id(connection, "spool", "2.0", "guide/copy.md", "Restore")
    rows = run(connection, "section_history", document_id=gone, texts=True)
    assert [row["text"] and row["text"].strip() for row in rows] == [
        *["Stop the daemon, then copy back."] * 3, None,
    ]  # fmt: skip
    assert {row["text"] for row in run(connection, "section_history", document_id=gone)} == {None}
    whole = section_id(connection, "spool", "2.0", "install.md", "")
    rows = run(connection, "section_history", document_id=whole, texts=True)
    assert rows[0]["text"] == INSTALL.format("second")
