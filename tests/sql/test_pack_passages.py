"""What of a list of hits fits a budget, and what stands beside the best."""

import pytest
from library import document, ingest, page, refused, run


def numbered(key, count):
    """A page of paragraphs of about 25 tokens."""
    return page(key, *(document(f"Paragraph {n:02} of {key} " + "x" * 78) for n in range(count)))


@pytest.fixture(scope="module")
def ids(module_connection):
    ingest(module_connection, "shelf", [numbered("a.md", 20), numbered("b.md", 20)])
    rows = module_connection.execute(
        "select p.key, d.document_id from pgrag.documents as d join pgrag.pages as p"
        " using (library_id, page_id) where p.key in ('a.md', 'b.md') and d.level = 2"
        " and d.content like 'Paragraph%%' order by p.key, d.sort_order"
    ).fetchall()
    keyed = {}
    for key, document_id in [tuple(row.values()) if isinstance(row, dict) else row for row in rows]:
        keyed.setdefault(key, []).append(document_id)
    return keyed


def packed(connection, *document_ids, **given):
    rows = run(connection, "pack_passages", document_ids=list(document_ids), **given)
    return [(row["document_id"], row["relation"]) for row in rows]


def test_what_stands_beside_the_best_two_comes_before_the_other_hits(module_connection, ids):
    a, b = ids["a.md"], ids["b.md"]
    hits = [a[5], a[12], *b[::2]]
    got = packed(module_connection, *hits, token_budget=600)
    # Two hits, for a third of the tokens what is beside them, nearest first, then hits.
    assert [id for id, _ in got] == [*a[4:7], *a[11:14], *b[0:10:2]]
    assert [id for id, relation in got if relation == "expansion"] == [
        a[4],
        a[6],
        a[11],
        a[13],
    ]
    alone = packed(module_connection, *hits, token_budget=600, expand=False)
    assert [id for id, _ in alone] == [a[5], a[12], *b[0:18:2]]


def test_nothing_excluded_and_nothing_twice(module_connection, ids):
    a = ids["a.md"]
    got = packed(module_connection, a[5], a[6], a[5], token_budget=5000, exclude=[str(a[4])])
    assert [id for id, _ in got] == [*a[1:4], *a[5:11]]


def test_the_first_always_fits_and_arguments_are_checked(module_connection, ids):
    a = ids["a.md"]
    assert packed(module_connection, a[3], a[9], token_budget=1) == [(a[3], "hit")]
    assert packed(module_connection) == []
    with refused(module_connection, "PGR01", "token_budget"):
        packed(module_connection, a[0], token_budget=0)
    with refused(module_connection, "PGR05"):
        packed(module_connection, 7)


def test_unknown_words_are_those_of_no_passage(module_connection, ids):
    def unknown(query):
        rows = run(module_connection, "unknown_words", query=query, library="shelf")
        return [row["unknown_words"] for row in rows]

    assert unknown("the paragraph of a Kafka") == ["Kafka"]
    assert unknown("paragraph") == unknown("") == []
    # Another language: most words are unknown.
    assert unknown("welcher Absatz steht hier") == []
    with refused(module_connection, "PGR02"):
        run(module_connection, "unknown_words", query="x", library="nowhere")


def test_words_are_unknown_that_no_language_of_the_library_has(module_connection):
    pages = [
        page("a.md", document("The rusty boats lie in harbours, see README.md."), language="en"),
        page("b.md", document("Der Dampfer liegt im Hafen bei den Werften."), language="de"),
    ]
    ingest(module_connection, "port", pages)

    def unknown(query):
        rows = run(module_connection, "unknown_words", query=query, library="port")
        return [row["unknown_words"] for row in rows]

    assert unknown("the rusty boats, README.md and Kafka") == ["Kafka"]
    assert unknown("der Dampfer und Kafka") == ["Kafka"]
    # Filters and excluded words are not looked for.
    assert unknown("type:guide rusty -zebra boats +kafka") == ["kafka"]
