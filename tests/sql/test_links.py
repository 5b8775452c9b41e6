"""How the edges of a page are written and replaced, and the report of links."""

import pytest
from consistency import assert_consistent
from library import ingest, page, refused, run, value
from psycopg.types.json import Jsonb

EDGES = """
select e.*, d.content as document
from pgrag.edges as e
left join pgrag.documents as d
    on d.library_id = e.library_id and d.document_id = e.source_document_id
order by e.place
"""


def edges(connection) -> list[dict]:
    return connection.execute(EDGES).fetchall()


def links(connection, **arguments) -> list[dict]:
    return run(connection, "links", **{"library": "vault", **arguments})


def test_every_field_is_kept(connection):
    full = {
        "rule": "inline:rel", "kind": "depends_on", "confidence": 0.95, "target": "Other#note",
        "fragment": "part", "text": "the other", "sentence": "Needs the other.", "line": 12,
        "document": 1,
    }  # fmt: skip
    ingest(connection, "vault", [page("a.md", "One.", "Two.", edges=[full, {"target": "B"}])])
    first, second = edges(connection)
    assert {key: first[key] for key in full if key not in {"text", "confidence", "document"}} == {
        key: full[key] for key in full if key not in {"text", "confidence", "document"}
    }
    assert (first["link_text"], first["confidence"]) == ("the other", pytest.approx(0.95))
    assert first["document"] == "Two."
    assert (second["rule"], second["kind"], second["confidence"]) == (
        "explicit:link", "references", 1,
    )  # fmt: skip
    assert (second["line"], second["link_text"], second["fragment"]) == (0, "", None)
    assert_consistent(connection)


def test_an_edge_without_document_is_in_the_one_of_its_line(connection):
    documents = [
        {"content": "All", "level": 0, "line_start": 1, "line_end": 9},
        {"content": "One", "line_start": 1, "line_end": 3},
        {"content": "Two", "line_start": 4, "line_end": 9},
    ]
    targets = [{"target": "x", "line": line} for line in (2, 4, 9, 30)]
    ingest(connection, "vault", [page("a.md", *documents, edges=targets)])
    assert [row["document"] for row in edges(connection)] == ["One", "Two", "Two", None]


def test_a_page_replaces_exactly_its_edges(connection):
    ingest(
        connection, "vault",
        [
            page("a.md", "x", edges=[{"target": "b"}, {"target": "c"}, {"target": "b"}]),
            page("b.md", "x", edges=[{"target": "a"}]),
        ],
    )  # fmt: skip
    before = edges(connection)
    ingest(
        connection, "vault",
        [page("a.md", "y", edges=[{"target": "d"}, {"target": "b", "line": 7}, {"target": "b"}])],
    )  # fmt: skip
    after = edges(connection)
    assert len(after) == 4
    source = {row["source_page_id"] for row in before if row["target"] == "b"}
    kept = [row for row in after if row["source_page_id"] in source]
    assert [(row["target"], row["line"]) for row in kept] == [("d", 0), ("b", 7), ("b", 0)]
    of_b = [row["edge_id"] for row in before if row["target"] == "b"]
    assert [row["edge_id"] for row in kept[1:]] == of_b
    ingest(connection, "vault", [page("a.md", "y", edges=[])])
    assert [row["target"] for row in edges(connection)] == ["a"]
    assert_consistent(connection)


def test_an_unchanged_page_is_not_touched(connection):
    pages = [page("a.md", "x", edges=[{"target": "b"}])]
    ingest(connection, "vault", pages)
    before = value(connection, "select xmin::text from pgrag.edges")
    ingest(connection, "vault", pages)
    assert value(connection, "select xmin::text from pgrag.edges") == before


@pytest.mark.parametrize(("written", "message"), [
    ({"target": "x"}, "must be a list"),
    (["x"], "is not an object"),
    ([{"rule": "inline:rel", "kind": "needs"}], "has no target"),
    ([{"target": None}], "has no target"),
    ([{"rule": "inline:rel", "kind": "needs", "target": " "}], "has no target"),
    ([{"target": "x", "confidence": 0}], "confidence"),
    ([{"target": "x", "confidence": 1.5}], "confidence"),
    ([{"target": "x", "confidence": "high"}], "confidence"),
    ([{"target": "x", "line": -1}], "line"),
    ([{"target": "x", "line": "two"}], "line"),
    ([{"target": "x", "document": 1.5}], "passages"),
    ([{"target": "a"}, {"target": "x", "kind": "k" * 101}], "Edge 2 of page 'a.md'"),
])  # fmt: skip
def test_edges_that_cannot_be_used(connection, written, message):
    with refused(connection, "PGR01", message):
        ingest(connection, "vault", [page("a.md", "x", edges=written)])
    assert value(connection, "select count(*) from pgrag.libraries") == 0


@pytest.mark.parametrize(
    "target",
    ["'); drop table pgrag.pages; --", "\\", "%", "%%41%zz", "[[", "a" * 5000, "../" * 50,
     "é" * 900, "./.././", "?", "#", "::", " "],
)  # fmt: skip
def test_any_target_is_text(connection, target):
    for rule in ("explicit:link", "explicit:wikilink", "tag"):
        ingest(
            connection, "vault",
            [page(
                "a.md", "x", title=target.strip() or "t", aliases=[target],
                edges=[{"target": target, "rule": rule, "fragment": target}],
            )],
        )  # fmt: skip
        [row] = links(connection)
        assert row["target"] == target.strip()


def test_one_page_from_psql(connection):
    run(
        connection, "ingest_page", library="vault",
        page=Jsonb({"key": "a.md", "body": "See b.", "edges": [{"target": "b.md"}]}),
    )  # fmt: skip
    run(connection, "ingest_page", library="vault", page=Jsonb({"key": "b.md", "body": "Here."}))
    [row] = links(connection)
    assert (row["source_page"], row["target_page"], row["how"]) == ("a.md", "b.md", "path")


@pytest.fixture
def vault(connection):
    heading = {"content": "One.", "heading": "One", "anchor": "one"}
    ingest(
        connection, "vault",
        [
            page("b/x.md", heading),
            page("c/x.md", "x"),
            page(
                "a.md", "x",
                edges=[
                    {"target": "b/x.md", "fragment": "one", "line": 3, "text": "words"},
                    {"target": "x", "line": 4},
                    {"target": "nowhere.md", "line": 4},
                    {"target": "b/x.md", "fragment": "two", "line": 5},
                    {"target": "https://example.org", "line": 6},
                    {"target": "a.png", "line": 6, "rule": "explicit:embed", "kind": "embeds"},
                    {"target": "topic", "line": 7, "rule": "tag", "kind": "tagged"},
                ],
            ),
            page("z.md", "x", edges=[{"target": "a", "kind": "up", "line": 1}, {"target": ""}]),
        ],
    )  # fmt: skip
    return connection


def test_report(vault):
    rows = links(vault)
    assert [(row["source_page"], row["line"], row["state"]) for row in rows] == [
        ("a.md", 3, "resolved"),
        ("a.md", 4, "ambiguous"),
        ("a.md", 4, "unresolved"),
        ("a.md", 5, "resolved"),
        ("a.md", 6, "external"),
        ("a.md", 6, "asset"),
        ("a.md", 7, "tag"),
        ("z.md", 1, "resolved"),
        ("z.md", 0, "resolved"),
    ]
    first, tie = rows[:2]
    assert (first["target_page"], first["fragment"], first["fragment_found"]) == (
        "b/x.md", "one", True,
    )  # fmt: skip
    assert (first["link_text"], first["how"], first["candidates"]) == ("words", "path", None)
    assert (tie["target_page_id"], tie["candidates"]) == (None, ["b/x.md", "c/x.md"])

    def lines(**arguments):
        return [f"{row['source_page']}:{row['line']}" for row in links(vault, **arguments)]

    assert lines(state="unresolved") == ["a.md:4"]
    assert lines(state="fragment") == ["a.md:5"]
    assert lines(state="broken") == ["a.md:4", "a.md:4", "a.md:5"]
    assert lines(page="z") == ["z.md:1", "z.md:0"]
    assert lines(kind="embeds") == ["a.md:6"]
    assert lines(kind="none") == []
    orphans = links(vault, state="orphan")
    assert [row["target_page"] for row in orphans] == ["c/x.md", "z.md"]
    assert {key for row in orphans for key, found in row.items() if found is not None} == {
        "target_page_id", "target_page", "state",
    }  # fmt: skip
    assert [row["target_page"] for row in links(vault, state="orphan", kind="up")] == [
        "b/x.md", "c/x.md", "z.md",
    ]  # fmt: skip
    counted = {row["state"]: row["links"] for row in run(vault, "link_states", library="vault")}
    assert counted == {
        "resolved": 4, "unresolved": 1, "ambiguous": 1, "external": 1, "asset": 1, "tag": 1,
        "fragment": 1,
    }  # fmt: skip
    for code, message, arguments in (
        ("PGR01", "state 'lost'", {"state": "lost"}),
        ("PGR01", "top_k", {"top_k": -1}),
        ("PGR02", "", {"library": "volt"}),
        ("PGR04", "", {"page": "nowhere"}),
        ("PGR07", "", {"after": 10**9}),
    ):
        with refused(vault, code, message):
            links(vault, **arguments)
    run(vault, "remove_pages", library="vault", keys=["a.md", "b/x.md"])
    assert [(row["source_page"], row["state"]) for row in links(vault)] == [
        ("z.md", "unresolved"), ("z.md", "resolved"),
    ]  # fmt: skip
    assert_consistent(vault)


@pytest.mark.parametrize("state", [None, "orphan", "resolved"])
def test_report_in_parts(vault, state):
    whole = links(vault, state=state)
    parts, after = [], None
    while part := links(vault, state=state, top_k=2, after=after):
        parts += part
        after = part[-1]["target_page_id" if state == "orphan" else "edge_id"]
    assert parts == whole


def test_a_kind_that_no_edge_has_is_a_notice_with_the_nearest(connection, notices):
    edge = {"target": "b", "kind": "depends_on"}
    ingest(connection, "vault", [page("a.md", "One.", edges=[edge, {"target": "c"}])])
    one = edges(connection)[0]["source_page_id"]
    assert links(connection, kind="depend_on") == []
    assert run(connection, "edges", library="vault", kinds=["depend_on"]) == []
    assert run(connection, "backlinks", page_id=one, kinds=["depend_on"]) == []
    assert notices == 3 * [
        "No edge is of the kind 'depend_on'. Did you mean depends_on?"
        " Kinds: depends_on, references."
    ]
    notices.clear()
    assert links(connection, kind="depends_on", state="resolved") == []
    assert run(connection, "backlinks", page_id=one) == []
    assert notices == []
