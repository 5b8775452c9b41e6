"""Excluded passages and pages are in no result of any function."""

import pytest
from library import document, ids, ingest, page, refused, run, search, value

QUERY = "pump pressure"
PAGE_OF = "select page_id from pgrag.documents where document_id = %s"
WAYS = ["search", "keyword_search", "semantic_search"]


@pytest.fixture(scope="module")
def hall(module_connection):
    ingest(module_connection, "hall", [
        page(f"{n}.md", *(f"The pump {n} has a pressure of {n}{k} bar." for k in range(4)))
        for n in range(1, 6)
    ])  # fmt: skip
    return "hall"


@pytest.mark.parametrize("function", WAYS)
def test_seen_hits_give_way_to_the_next_and_pages_go_whole(connection, hall, function):
    given = {"query": QUERY, "library": hall, "page_decay": 1}
    found = run(connection, function, top_k=12, **given)
    seen = ids(found[:5])
    rest = run(connection, function, top_k=7, exclude=[str(i) for i in seen], **given)
    assert ids(rest) == ids(found[5:])
    assert [row["score"] for row in rest] == [row["score"] for row in found[5:]]
    [best, *_] = run(connection, function, query=QUERY, library=hall)
    item = f"page:{best['page_id']}"
    rest = run(connection, function, query=QUERY, library=hall, top_k=100, exclude=[item])
    assert rest
    assert best["page_id"] not in {row["page_id"] for row in rest}


def test_pages_contexts_batches_and_expansions_leave_it_out_too(connection, hall):
    [best, *_] = run(connection, "search_pages", query=QUERY, library=hall)
    exclude = [f"page:{best['page_id']}", "999999999"]
    batch = {"queries": [QUERY], "options": {"exclude": exclude}}
    for function, asked in [
        ("search_pages", {"query": QUERY, "exclude": exclude}),
        ("context", {"query": QUERY, "exclude": exclude}),
        ("recorded_search", {"query": QUERY, "exclude": exclude}),
        ("search_many", batch),
        ("explain_search", {"query": QUERY, "options": {"exclude": exclude}}),
    ]:
        rows = run(connection, function, library=hall, **asked)
        assert rows, function
        pages = {value(connection, PAGE_OF, row["document_id"]) for row in rows}
        assert best["page_id"] not in pages, function
    blocks = run(connection, "context", query=QUERY, library=hall, token_budget=10_000)
    seen = [str(block["document_id"]) for block in blocks]
    again = run(connection, "context", query=QUERY, library=hall, exclude=seen[:3])
    assert not {*seen[:3]} & {str(block["document_id"]) for block in again}


def test_it_adds_to_the_query_and_holds_for_the_passages_named(connection, hall):
    given = {"query": f"{QUERY} -11", "library": hall, "top_k": 100, "page_decay": 1}
    found = search(connection, **given)
    fewer = search(connection, **given, exclude=[str(found[0]["document_id"])])
    assert ids(fewer) == ids(found[1:])
    pages = [f"page:{row['page_id']}" for row in run(connection, "pages", library=hall)]
    assert search(connection, QUERY, library=hall, exclude=pages) == []
    assert ids(search(connection, QUERY, library=hall, exclude=[])) == ids(
        search(connection, QUERY, library=hall)
    )
    assert value(connection, "select count(*) from pgrag.search('pump', exclude => null)") > 0
    ingest(connection, "shed", [page("a.md", document("The crane lifts."), "The crane turns.")])
    [first, *_] = search(connection, "crane", library="shed", levels=[2])
    [second] = search(
        connection, "crane", library="shed", levels=[2], exclude=[str(first["document_id"])]
    )
    assert second["page_id"] == first["page_id"]
    for item in ["", "x", "page:", "page:x", "-1", "4.2", "1" * 19, "page:7 ", None]:
        with refused(connection, "PGR01", "exclude cannot hold"):
            connection.execute("select pgrag.search('a', exclude => array[%s::text])", [item])


def counted(rows):
    return {(row["facet"], row["value"]): row["page_count"] for row in rows}


@pytest.mark.parametrize("query", [None, "\n", "type:guide", "pump"])
def test_facets_count_the_pages_that_are_left(connection, query):
    ingest(connection, "yard", [
        {**page(f"{n}.md", "A pump of steel.", "A pump of brass."), "type": kind}
        for n, kind in enumerate(["guide", "guide", "guide", "note"])
    ])  # fmt: skip
    given = {"filters": {"type": "guide"}, "levels": [2], "top_k": 100}
    documents = search(connection, "pump", library="yard", **given)
    first, second, *_ = {row["page_id"]: row["document_id"] for row in documents}
    half = next(row["document_id"] for row in documents if row["page_id"] == second)
    found = run(connection, "facets", query=query, library="yard",
                options={"exclude": [f"page:{first}", str(half)]})  # fmt: skip
    assert counted(found)["type", "guide"] == 2
    assert counted(found)["type", "note"] == 1


def test_facets_without_words_respect_a_word_that_must_not_occur(connection):
    ingest(connection, "yard", [page("a.md", "A pump of steel."), page("b.md", "A pump of brass.")])
    found = run(connection, "facets", query="-brass", library="yard")
    assert counted(found)["library", "yard"] == 1


def test_facets_of_documents_leave_out_those_excluded(connection):
    tagged = {**page("a.md", "A pump.", "A valve."), "type": "guide"}
    ingest(connection, "yard", [tagged])
    asked = {"library": "yard", "filters": {"content_tags": ["steel"]}}
    rows = connection.execute("select document_id from pgrag.documents").fetchall()
    connection.execute("update pgrag.documents set content_tags = '{steel}'")
    assert counted(run(connection, "facets", **asked))["content_tags", "steel"] == 1
    exclude = [str(row["document_id"]) for row in rows]
    left = counted(run(connection, "facets", **asked, options={"exclude": exclude}))
    assert left == {("total", None): 0, ("content_tags", "steel"): 0}


def test_the_second_search_of_an_answer_does_not_bring_it_back(connection):
    ingest(connection, "yard", [
        page("a.md", "How a pump is built, in a few words."),
        {**page("b.md", "The pump reference lists the pump speeds."), "type": "reference"},
        {**page("c.md", "The pump reference of the older pump."), "type": "reference"},
    ])  # fmt: skip
    asked = {
        "question": "pump reference", "library": "yard", "top_k": 1, "score_share": 0,
        "expand": False, "inject_types": ["reference"], "inject_count": 10,
    }  # fmt: skip

    def injected(**more):
        [material] = run(connection, "answer_context", **asked, **more)
        return {s["page_id"] for s in material["sources"] if s["relation"] == "injected"}

    [other] = injected()
    assert injected(options={"exclude": [f"page:{other}"]}) == set()
