"""The weights of page types: in every search, unless a query asks for such pages."""

import random
from typing import Any

import pytest
from corpus import Author, pages
from library import ingest, keys, page, run, search, value, walk
from psycopg.types.json import Jsonb

from pgrag.ingest.matter.page_types import PageTypes

WEIGHT = 0.8
QUERY = "restart the server of a user"
#: What the searches share out: each function, with arguments that reach each way of ranking.
SEARCHES: list[tuple[str, dict[str, Any]]] = [
    ("search", {}),
    ("search", {"fusion": "rrf"}),
    ("search", {"fusion": "rrf", "rrf_weights": [900.0, 1.0], "rrf_k": 0}),
    ("search", {"mode": "keyword"}),
    ("search", {"page_evidence": 0, "alpha": 0}),
    ("search", {"query_expansion": "feedback"}),
    ("keyword_search", {}),
    ("search", {"alpha": 1}),
]


@pytest.fixture(scope="module")
def manual(module_connection):
    """Few enough passages that both retrievers read all; every third page is a post."""
    rows = pages(Author(random.Random(5)), 18)
    for nth, row in enumerate(rows):
        if nth % 3 == 0:
            row |= {"key": f"blog/{row['key']}", "type": None, "source_hash": f"post {nth}"}
    ingest(module_connection, "manual", rows)
    return "manual"


def configure(connection, **page_types):
    run(connection, "apply_configuration", entries={"page_types": page_types})


def switch(connection, weighs):
    # What matches of tokens add depends on the score, which has the weight.
    settings = Jsonb({"type_weights": weighs, "token_weight": 0})
    run(connection, "configure_library", library="manual", settings=settings)


def both(connection, function="search", **arguments):
    """The same search with the weights and without them."""
    given = {"query": QUERY, "library": "manual", "top_k": 500, "levels": [1, 2]}
    given |= {} if function == "search_pages" else {"page_decay": 1}
    given |= arguments
    found = []
    for weighs in (True, False):
        switch(connection, weighs)
        found.append(run(connection, function, **given))
    return found[0], found[1]


def scores(hits):
    return {hit["document_id"]: hit["score"] for hit in hits}


def is_post(hit):
    return hit["key"].startswith("blog/")


@pytest.mark.parametrize(("function", "arguments"), SEARCHES)
def test_the_score_has_the_weight_of_the_type(connection, manual, function, arguments):
    weighed, plain = both(connection, function, **arguments)
    before = {hit["document_id"]: hit for hit in plain}
    assert len(weighed) == len(before) > 30
    assert {is_post(hit) for hit in weighed[:20]} == {True, False}
    for hit in weighed:
        was = before[hit["document_id"]]
        assert hit["score"] == pytest.approx(was["score"] * (WEIGHT if is_post(hit) else 1))
        assert hit["hybrid_score"] == hit["score"]
        for part in ("keyword_score", "semantic_score"):
            assert hit[part] == was[part]
    assert [hit["score"] for hit in weighed] == sorted(scores(weighed).values(), reverse=True)
    assert keys(weighed) != keys(plain)


def test_types_have_no_weights_by_vectors_alone_or_asked_by_filters(connection, manual):
    for function, arguments in [("semantic_search", {}), ("search", {"mode": "semantic"})]:
        weighed, plain = both(connection, function, explain=True, **arguments)
        assert any(map(is_post, plain))
        assert scores(weighed) == scores(plain)
        assert {hit["explanation"]["type_weight"] for hit in weighed} == {1}
    for filters in [{"type": "blog"}, {"or": [{"type": ["x", "blog"]}]}]:
        weighed, plain = both(connection, filters=filters)
        assert plain
        assert all(map(is_post, plain))
        assert scores(weighed) == scores(plain)
    for query in [
        "renew in server", "newsgroup server", "unblog server", "server -type:guide", "neu",
    ]:  # fmt: skip
        weighed, plain = both(connection, query=f"{query} user")
        assert any(map(is_post, plain))
        assert scores(weighed) != scores(plain)


def test_a_guide_stands_above_the_post_that_repeats_its_words(connection):
    text = "A sidecar starts before the main container and runs on."
    ingest(
        connection, "cluster",
        [page("docs/sidecar.md", f"{text} It needs a restart policy of its own."),
         page("blog/2023/sidecar.md", text)],
    )  # fmt: skip
    asked = {"query": "sidecar starts before the main container", "library": "cluster"}
    assert keys(run(connection, "search", **asked))[0] == "docs/sidecar.md"
    run(connection, "configure_library", library="cluster",
        settings=Jsonb({"type_weights": False}))  # fmt: skip
    assert keys(run(connection, "search", **asked))[0] == "blog/2023/sidecar.md"


def test_no_weight_below_one_where_such_pages_are_asked_for(connection, manual):
    for query in [
        "Blog post: restart the server", "What's new: restart of a server?", "what’s new in server",
        "breaking changes of the server", "changelogs of user and server", "Release-Notes server",
        "Was ist neu am server?", "Server: Ankündigungen", "Что нового: server", "новости о server",
        "novedades del server", "¿Qué hay de nuevo? server", "server type:blog",
        "server type:blog,reference",
    ]:  # fmt: skip
        weighed, plain = both(connection, query=query)
        assert any(map(is_post, plain))
        assert scores(weighed) == scores(plain)


def test_words_ask_for_their_own_types_alone(connection, manual):
    kinds: dict[str, Any] = {
        "blog": {"retriever_weight": 0.5, "asked_by": ["in brief"]},
        "default": {"retriever_weight": 0.9, "asked_by": ["at length*"]},
    }
    configure(connection, **kinds, guide=None, reference=None)
    for words, post, other in (
        ("", 0.5, 0.9), ("in brief", 1, 0.9), ("at lengthy", 0.5, 1), ("in briefs", 0.5, 0.9),
    ):  # fmt: skip
        weighed, plain = both(connection, query=f"{QUERY} {words}")
        was = scores(plain)
        for hit in weighed:
            weight = post if is_post(hit) else other
            assert hit["score"] == pytest.approx(was[hit["document_id"]] * weight)


def test_a_weight_above_one_lifts_no_score_above_one_and_is_never_waived(connection, manual):
    configure(connection, blog={"folders": ["blog"], "retriever_weight": 4, "asked_by": ["server"]})
    weighed, plain = both(connection)
    was = scores(plain)
    assert [hit["score"] for hit in weighed[:2]] == [1, 1]
    for hit in weighed:
        expected = min(was[hit["document_id"]] * 4, 1) if is_post(hit) else was[hit["document_id"]]
        assert hit["score"] == pytest.approx(expected)


def test_the_type_of_the_front_matter_and_unknown_types(connection):
    rows = [
        page("a.md", "The pump lifts water.", type="Blog "),
        page("b.md", "The pump lifts water.", type="essay"),
        page("c.md", "The pump lifts water."),
        page("blog/d.md", "The pump lifts water.", type="guide"),
        page("blog/e.md", "The pump lifts water.", type=" "),
    ]
    ingest(connection, "garden", rows)
    configure(connection, default={"retriever_weight": 0.25}, guide={})
    hits = search(connection, "pump", library="garden", explain=True, levels=[2])
    weights = {hit["key"]: hit["explanation"]["type_weight"] for hit in hits}
    assert weights == {
        "a.md": WEIGHT, "b.md": 0.25, "c.md": 0.25, "blog/d.md": 1, "blog/e.md": WEIGHT
    }  # fmt: skip
    asked = search(connection, "pump type:Blog", library="garden", explain=True)
    assert [hit["explanation"]["type_weight"] for hit in asked] == [1, 1]
    stored = connection.execute(
        "select p.key, p.type from pgrag.pages as p join pgrag.libraries as l using (library_id)"
        " where l.name = 'garden'"
    ).fetchall()
    assert {row["key"]: row["type"] for row in stored} == {
        "a.md": "Blog", "b.md": "essay", "blog/d.md": "guide", "blog/e.md": "blog", "c.md": None
    }  # fmt: skip


def test_pages_and_explanations_have_the_weight_and_the_least_score(connection, manual):
    for aggregate in ("max", "mean"):
        weighed, plain = both(
            connection, "search_pages", aggregate=aggregate, candidate_count=500, snippets=False
        )
        was = {hit["key"]: hit["score"] for hit in plain}
        for hit in weighed:
            expected = was[hit["key"]] * (WEIGHT if is_post(hit) else 1)
            assert hit["score"] == pytest.approx(expected)
    switch(connection, True)
    given = {"library": "manual", "levels": [1, 2], "page_decay": 1}
    for hit in search(connection, QUERY, top_k=60, explain=True, **given):
        why = hit["explanation"]
        fused = (1 - why["alpha"]) * hit["keyword_score"] + why["alpha"] * hit["semantic_score"]
        assert hit["score"] == pytest.approx(why["type_weight"] * fused, rel=1e-6)
        assert (why["type"] == "blog") == is_post(hit)
        assert why["type_weight"] == (WEIGHT if is_post(hit) else 1)
        assert ("Pages of type blog weigh 0.8." in why["reasons"]) == is_post(hit)
    weighed, plain = both(connection)
    least = sorted(hit["score"] for hit in plain if is_post(hit))[-1] * 0.9
    switch(connection, True)
    found = search(connection, QUERY, top_k=500, min_score=least, **given)
    assert scores(found) == {d: s for d, s in scores(weighed).items() if s >= least}
    assert any(hit["score"] >= least for hit in plain if is_post(hit))
    assert not any(map(is_post, found))


def test_cursors_lead_through_the_weighted_list(connection, manual):
    for arguments in [{}, {"fusion": "rrf"}, {"unit": "page"}, {"mode": "keyword"}]:
        switch(connection, True)
        given = {"library": "manual"} | arguments
        whole = search(connection, QUERY, top_k=48, **given)
        assert {is_post(hit) for hit in whole} == {True, False}
        walked = walk(connection, "search", 7, 48, query=QUERY, **given)
        assert scores(walked[: len(whole)]) == scores(whole)


def test_heavy_pages_behind_the_first_candidates_are_found(connection):
    """The first list has only pages of weight 0; the bound of the others includes their weight."""
    light = [page(f"light/{n}.md", "water " * 9, title="Water") for n in range(12)]
    heavy = [page(f"heavy/{n}.md", "water and " + "so on " * 60, title="Other") for n in range(3)]
    configure(
        connection,
        light={"folders": ["light"], "retriever_weight": 0},
        heavy={"folders": ["heavy"], "retriever_weight": 5},
    )
    ingest(connection, "garden", light + heavy)
    given = {"query": "water", "library": "garden", "alpha": 0, "levels": [1, 2]}
    hits = run(connection, "search", top_k=100, **given)
    assert 0.2 < next(hit["keyword_score"] for hit in hits if hit["key"].startswith("heavy")) < 0.9
    found = run(connection, "search", top_k=3, candidate_count=3, min_score=0.99, **given)
    assert [hit["key"].split("/")[0] for hit in found] == ["heavy"] * 3


SHIPPED = {
    "blog": ["blog/2024/a.md", "docs/blog/x.md", "content/_posts/2020-1-1-x.md", "blog/_index.md"],
    "release-notes": [
        "CHANGELOG.md", "CHANGELOG-1.2.md", "packages/a/CHANGELOG.md", "changelog.md",
        "docs/changelog/index.md", "release-notes.md", "release-notes-1.2.md", "release-notes/1.md",
        "docs/release_notes.rst", "RELEASE_NOTES.md", "whatsnew/3.12.html", "whats-new-in-8.md",
        "firefox/releases/3/index.md", "docs/releases/v1.2.md", "releases/4.2.txt", "HISTORY.rst",
        "CHANGES.txt", "NEWS.md",
    ],
    None: [
        "releases/version-skew-policy.md", "blogging.md", "guide/changelog-generator.md", "news.md",
        "history.md", "docs/release.md", "guide/my-release-notes.md", "changes/index.md",
    ],
}  # fmt: skip


def test_where_posts_and_release_notes_usually_are(connection):
    known = PageTypes.of(value(connection, "select pgrag.configuration()"))
    for kind, shipped in SHIPPED.items():
        for key in shipped:
            assert value(connection, "select pgrag.page_type(null, %s)", key) == kind, key
            assert known.reading(None, key).type == kind, key
