"""What is kept beside the rows, spoilt piece by piece: each piece is found, and mended."""

import pytest
from library import document, ingest, page, refused, run, value
from psycopg.types.json import Jsonb

SECTIONS = [
    document("", level=0, covers=0, depth=0, line_start=1, line_end=40, heading="Note"),
    document("", level=1, covers=0, depth=1, parent=0, line_start=5, line_end=20, heading="First",
             anchor="first"),
    document("Copper pipes are cut with a saw.", parent=1, depth=1, line_start=6, line_end=9),
    document("", level=1, covers=0, depth=2, parent=1, line_start=10, line_end=20, heading="Deep",
             anchor="deep"),
    document("Brass fittings are turned by hand.", parent=3, depth=2, line_start=11, line_end=20),
    document("", level=1, covers=0, depth=1, parent=0, line_start=21, line_end=40, heading="Last",
             anchor="last"),
    document("The kettle whistles at noon, and a saw sings.", parent=5, depth=1, line_start=22,
             line_end=40),
]  # fmt: skip


def note(key, *targets, words=""):
    edges = [
        {"rule": "explicit:wikilink", "kind": "references", "confidence": 1.0, "target": target,
         "fragment": fragment or None, "text": target, "sentence": target, "line": 12,
         "document": 4}
        for target, _, fragment in (t.partition("#") for t in targets)
    ]  # fmt: skip
    documents = [dict(d) for d in SECTIONS]
    documents[2]["content"] += f" {words}"
    return page(key, *documents, path=["Workshop", key], edges=edges, aliases=[f"alias {key}"])


@pytest.fixture(scope="module")
def module_connection(module_connection):
    """A library with a history: written, changed, partly removed, in two versions."""
    connection = module_connection
    for version in ("1.0", "2.0"):
        ingest(connection, "shop", [
            note("pipes.md", "fittings", "kettle#deep", "nowhere"),
            note("fittings.md", "pipes#first", words="washers"),
            note("kettle.md", "fittings#none", words="steam and whistles"),
            note("gone.md", "pipes"),
        ], version)  # fmt: skip
    ingest(connection, "shop", [note("kettle.md", "gone", words="steam alone")], "2.0")
    run(connection, "remove_pages", library="shop", keys=["gone.md"], version="2.0")
    run(connection, "finish_version", library="shop", version="2.0")
    ingest(connection, "other", [note("pipes.md", "pipes")])
    assert found(connection) == {}
    return connection


def found(connection, **arguments):
    rows = run(connection, "check_library", **{"library": "shop", **arguments})
    return {row["problem"]: row for row in rows}


def test_a_library_with_a_history_has_no_findings(connection):
    assert found(connection) == {}
    assert found(connection, version="2.0") == {}
    assert run(connection, "repair_library", library="shop") == []
    with refused(connection, "PGR01", "check 'colour'", "documents, pages"):
        found(connection, checks=["pages", "colour"])
    with refused(connection, "PGR02"):
        found(connection, library="shopp")
    with refused(connection, "PGR03"):
        found(connection, version="9")
    assert (
        value(connection, "select count(*) from pgrag.check_library('shop', checks => '{}')") == 0
    )


PARAGRAPH = """(
    select d.document_id from pgrag.documents as d
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
    join pgrag.libraries as l on l.library_id = p.library_id
    where l.name = 'shop' and v.label = '2.0' and p.key = 'pipes.md' and d.sort_order = {place}
)"""
SHOP = "library_id = (select l.library_id from pgrag.libraries as l where l.name = 'shop')"


def the(place):
    """The document at a place of the first page."""
    return f"document_id = {PARAGRAPH.format(place=place)}"


#: What spoils a library, and what is said of it.
DAMAGE = {
    "a passage without its page":
        "update pgrag.documents set page_id = 999999 where " + the(6),
    "a passage of another version than its page":
        "update pgrag.documents set version_id = version_id - 1 where " + the(4),
    "a parent that is gone":
        "update pgrag.documents set parent_id = 999999 where " + the(4),
    "a parent on another page":
        "update pgrag.documents set parent_id = (select min(document_id) from pgrag.documents)"
        " where " + the(2),
    "parents in a circle":
        f"update pgrag.documents set parent_id = {PARAGRAPH.format(place=3)} where {the(1)}",
    "a gap or a repetition in the order of a page":
        "update pgrag.documents set sort_order = 17 where " + the(6),
    "words without a full-text vector, or the other way round":
        "update pgrag.documents set search = null where " + the(2),
    "the hash of another text":
        f"update pgrag.documents set text_hash = gen_random_uuid() where {the(2)}",
    "a page with another number of passages":
        f"update pgrag.pages set document_count = 99 where {SHOP} and key = 'pipes.md'",
    "a page without weights of its words":
        f"update pgrag.pages set weights = null where {SHOP} and key = 'pipes.md'",
    "a page without the weights of its title":
        f"update pgrag.pages set title_weights = null where {SHOP} and key = 'kettle.md'",
    "a version with other numbers of pages or passages":
        f"update pgrag.versions set page_count = 7 where {SHOP}",
    "a vector without a searched passage":
        f"update pgrag.embeddings set document_id = 999999 where {the(4)}",
    "a vector of another page, version or level than its passage":
        f"update pgrag.embeddings set page_id = page_id + 1, covers = 1 where {the(4)}",
    "a vector in the index of other libraries, or the other way round":
        f"update pgrag.embeddings set own_index = true where {the(4)}",
    "a text without a vector of the library's model":
        f"delete from pgrag.embeddings where {SHOP}",
    "a page name that is missing or wrong":
        f"delete from pgrag.page_names where {SHOP} and how = 'alias';"
        f" update pgrag.page_names set name = 'else' where {SHOP} and how = 'title'",
    "an edge from a page of another version, or from none":
        f"update pgrag.edges set source_page_id = 999999 where {SHOP} and target = 'kettle'",
    "an edge without the passage that it stands in":
        f"update pgrag.edges set source_document_id = 999999 where {SHOP} and target = 'kettle'",
    "an edge with another target than stored":
        "update pgrag.edges set target_page_id = source_page_id, state = 'resolved', how = 'name'"
        f" where {SHOP} and target = 'fittings';"
        f" update pgrag.edges set fragment_found = true where {SHOP} and fragment = 'none'",
    "links that wait to be resolved":
        "insert into pgrag.pending_names select library_id, version_id, 'x' from pgrag.versions"
        f" where {SHOP}",
    "page ranks from before the last change":
        f"delete from pgrag.page_ranks where {SHOP}",
    "a corpus with other numbers or lengths of its passages":
        f"update pgrag.corpus_statistics set document_count = document_count + 1 where {SHOP}",
    "a corpus with wrong numbers or lengths of pages":
        f"update pgrag.corpus_statistics set total_page_length = 1 where {SHOP}",
    "a term with a wrong document frequency":
        "update pgrag.lexeme_statistics set document_count = document_count + 1"
        f" where {SHOP} and lexeme = 'saw';"
        f" delete from pgrag.lexeme_statistics where {SHOP} and lexeme = 'noon'",
    "a term whose largest impact is too small: searches may miss passages":
        f"update pgrag.lexeme_statistics set largest_impact = 0.01 where {SHOP} and lexeme = 'saw'",
    "a passage with wrong weights of its terms":
        f"update pgrag.impacts set weights = (select weights from pgrag.impacts as i"
        f" where i.{the(6)}) where {the(2)};"
        f" update pgrag.impacts set weights = null where {the(4)}",
    "a passage that searches find elsewhere or not at all":
        f"delete from pgrag.impacts where {the(2)};"
        f" update pgrag.impacts set title_weights = null where {the(4)};"
        f" update pgrag.impacts set covers = 1, sort_order = sort_order + 1 where {the(6)}",
}  # fmt: skip


@pytest.mark.parametrize("problem", DAMAGE)
def test_what_is_spoilt_is_found_and_mended(connection, problem):
    before = state(connection)
    connection.execute("set local session_replication_role = replica")
    connection.execute(DAMAGE[problem])
    connection.execute("set local session_replication_role = origin")
    findings = found(connection)
    assert problem in findings, findings
    finding = findings[problem]
    assert finding["count"] >= 1
    assert 1 <= len(finding["examples"]) <= 5
    assert finding["repairable"]
    assert problem in found(connection, checks=[finding["check"]])
    assert found(connection, library="other") == {}

    repairs = run(connection, "repair_library", library="shop")
    assert {row["problem"] for row in repairs} == set(findings)
    assert all(row["repaired"] for row in repairs), repairs
    assert found(connection) == {}
    # What cannot follow from other rows is gone; everything else is as it was.
    if problem not in {
        "a passage without its page", "an edge from a page of another version, or from none",
    }:  # fmt: skip
        assert state(connection) == before


def state(connection):
    """All that was spoilt above."""
    return [
        connection.execute(statement).fetchall()
        for statement in (
            "select document_id, version_id, page_id, parent_id, sort_order, text_hash, search"
            " from pgrag.documents order by 1",
            "select document_id, version_id, page_id, section_id, sort_order, level, covers,"
            " text_hash, weights::text, title_weights::text from pgrag.impacts order by 1",
            "select page_id, document_count, weights::text, title_weights::text from pgrag.pages"
            " order by 1",
            "select document_id, page_id, covers, embedding::text from pgrag.embeddings order by 1",
            "select version_id, page_id, name, full_name, how from pgrag.page_names"
            " order by page_id, full_name, how",
            "select edge_id, source_document_id, target_page_id, state, how, fragment_found"
            " from pgrag.edges order by 1",
            "select library_id, language, document_count, page_count from pgrag.corpus_statistics"
            " order by 1, 2",
            "select library_id, lexeme, document_count from pgrag.lexeme_statistics"
            " where document_count > 0 order by 1, 2",
            "select version_id, page_count, document_count from pgrag.versions order by 1",
        )
    ]


def test_what_needs_a_model_elsewhere_says_which_command_helps(connection):
    run(connection, "register_model", name="far", dimensions=3, provider="openai")
    connection.execute(
        "update pgrag.libraries set model_id = (select model_id from pgrag.embedding_models"
        " where name = 'far') where name = 'shop'"
    )
    [finding] = run(connection, "check_library", library="shop", checks=["vectors"])
    assert not finding["repairable"]
    assert finding["remedy"] == "pgrag embed shop"
    [repair] = run(connection, "repair_library", library="shop")
    assert not repair["repaired"]
    assert repair["remedy"] == "pgrag embed shop"


def test_indexing_that_was_interrupted_is_found_and_its_links_are_connected(connection):
    problem = "an unfinished version"
    pages = Jsonb([note("a.md", "b"), note("b.md", "a")])
    run(connection, "ingest_pages", library="half", pages=pages, resolve=False)
    run(connection, "embed_pending", library="half")
    [finding] = run(connection, "check_library", library="half")
    assert (finding["problem"], finding["remedy"]) == (problem, "pgrag index half SOURCE")
    [repair] = run(connection, "repair_library", library="half")
    assert not repair["repaired"]
    waiting = "select count(*) from pgrag.pending_pages"
    assert value(connection, waiting) == 0
    states = "select string_agg(distinct e.state, ' ') from pgrag.edges as e join pgrag.libraries"
    assert value(connection, f"{states} as l using (library_id) where l.name = 'half'") == (
        "resolved"
    )
    # A run may say so itself: only it knows whether pages are missing.
    assert list(found(connection, library="half")) == [problem]
    run(connection, "finish_version", library="half")
    assert found(connection, library="half") == {}

    again = Jsonb([note("a.md", "b", "c")])
    run(connection, "ingest_pages", library="half", pages=again, resolve=False)
    run(connection, "embed_pending", library="half")
    [progress] = run(connection, "_pgrag.link_progress", library="half")
    assert progress == {"label": "", "is_finished": False}
