"""Edges by meaning, by words, and how they get their vectors."""

import pytest
import vault
from library import page, refused, run, value
from vault import Link

LINKS = [
    Link("beds", "compost", "depends_on", 0.95, "Beds want [compost](compost.md) every spring."),
    Link("compost", "worms", sentence="Worms turn kitchen waste into soil."),
    Link("index", "tools", sentence="A spade and a fork are all it takes to dig."),
    Link("index", "beds", sentence="Start with the raised beds."),
    Link("worms", "worms", sentence="Worms are everywhere."),
    Link("worms", "ducks", sentence="Ducks eat worms."),
]
NOTES = ("index", "beds", "compost", "worms", "tools")


@pytest.fixture(scope="module")
def ids(module_connection):
    notes = [page(f"{name}.md", f"About {name} in the garden.") for name in NOTES]
    ids = vault.write(module_connection, "garden", notes, LINKS)
    run(module_connection, "embed_pending", library="garden")
    return ids


def found(connection, query, **arguments):
    return run(connection, "search_edges", query=query, **{"library": "garden", **arguments})


def ends(row):
    return row["source_page"].removesuffix(".md"), row["target_page"].removesuffix(".md")


@pytest.fixture
def embedded(connection, ids):
    assert run(connection, "embed_pending", library="garden", kind="edge") == [{"embed_pending": 4}]
    return connection


def test_nearest_by_meaning_within_filters(embedded):
    rows = found(embedded, "what do I need to dig a hole")
    assert ends(rows[0]) == ("index", "tools")
    assert rows[0]["matched_by"] == "meaning"
    assert rows[0]["sentence"] == "A spade and a fork are all it takes to dig."
    assert rows[0]["line"] == 5
    assert [row["score"] for row in rows] == sorted((r["score"] for r in rows), reverse=True)
    assert len(rows) == 4
    cosine = value(
        embedded,
        "select -(pgrag.embed(_pgrag.edge_text('Index', 'link', %s, 'Tools'))"
        " <#> pgrag.embed('what do I need to dig a hole'))",
        rows[0]["sentence"],
    )
    assert rows[0]["score"] == pytest.approx(cosine, abs=0.01)
    [only] = found(embedded, "dig", kinds=["depends_on"])
    assert ends(only) == ("beds", "compost")
    assert found(embedded, "dig", kinds=["no_such_kind"]) == []
    assert found(embedded, "dig", rules=["inline:rel"]) == []
    assert len(found(embedded, "dig", rules=["explicit:wikilink"])) == 4
    assert len(found(embedded, "dig", top_k=2)) == 2
    best = found(embedded, "dig")
    assert found(embedded, "dig", min_score=best[1]["score"]) == best[:2]
    vector = value(embedded, "select pgrag.embed('Worms turn kitchen waste into soil.')::text")
    rows = found(embedded, "", query_embedding=vector)
    assert ends(rows[0]) == ("compost", "worms")
    with refused(embedded, "PGR08", "256 dimensions, query_embedding has 2"):
        found(embedded, "", query_embedding="[1,2]")
    embedded.execute(
        "update pgrag.edges set target_page_id = null, state = 'unresolved' where target = 'tools'"
    )
    assert len(found(embedded, "dig")) == 3


def test_words_where_there_are_no_vectors(connection, ids, notices):
    assert found(connection, "nothing of this") == []
    assert notices == [
        "The edges of 'garden' have no vectors, which pgrag embed garden --edges makes: searching"
        " their words."
    ]
    rows = found(connection, "worms in kitchen waste")
    assert ends(rows[0]) == ("compost", "worms")
    assert (rows[0]["matched_by"], rows[0]["score"]) == ("words", 1)
    assert ends(found(connection, "beds", kinds=["depends_on"])[0]) == ("beds", "compost")
    assert found(connection, "beds", kinds=["no_such_kind"]) == []
    assert found(connection, "the") == []
    assert found(connection, "") == []


def test_texts_have_the_words_and_no_addresses(connection):
    written = "'Beds', 'depends_on', 'Beds want [compost](compost.md).', 'Heaps'"
    text = value(connection, f"select _pgrag.edge_text({written})")
    assert text == "Beds\ndepends on\nBeds want [compost].\nHeaps"


def test_equal_texts_share_a_vector_until_one_changes(embedded):
    embedded.execute(
        "insert into pgrag.edges (library_id, edge_id, version_id, source_page_id, target_page_id,"
        " confidence, place, line, state, how, rule, kind, target, name, sentence)"
        " select library_id, _pgrag.take_ids(library_id, 1) + 1, version_id, source_page_id,"
        " target_page_id, 1, 99, 99, state, how,"
        " rule, kind, target, name, sentence from pgrag.edges where target = 'tools'"
    )
    assert run(embedded, "pending_embeddings", library="garden", kind="edge") == []
    assert value(embedded, "select count(*) from pgrag.edge_embeddings") == 5
    stored = {"library": "garden", "model": "static-en-de-ru-256"}
    hashes = ["00000000-0000-0000-0000-000000000000"]
    with refused(embedded, "PGR08", "has 256 dimensions, got a vector of 2"):
        store(embedded, edge_ids=[1], text_hashes=hashes, vectors=["[1,2]"], **stored)
    vectors = ["[" + ",".join(["1"] * 256) + "]"]
    assert store(embedded, edge_ids=[999999], text_hashes=hashes, vectors=vectors, **stored) == 0
    assert run(embedded, "pending_embeddings", library="garden", kind="edge") == []
    embedded.execute("update pgrag.pages set title = 'Heaps' where key = 'compost.md'")
    pending = run(embedded, "pending_embeddings", library="garden", kind="edge")
    assert len(pending) == 2
    assert all("Heaps" in row["text"] for row in pending)
    assert len(run(embedded, "pending_embeddings", library="garden", kind="edge", top_k=1)) == 1


def store(connection, library, model, edge_ids, text_hashes, vectors):
    return value(
        connection, "select pgrag.store_embeddings(%s, %s, %s::uuid[], %s::halfvec[], %s)", library,
        model, text_hashes, vectors, edge_ids,
    )  # fmt: skip


def test_bad_arguments(connection, ids):
    with refused(connection, "PGR01", "kind must be document or edge, got 'page'."):
        run(connection, "pending_embeddings", library="garden", kind="page")
    for code, message, arguments in (
        ("PGR01", "top_k must be between 1 and 1000, got 0.", {"top_k": 0}),
        ("PGR02", "", {"library": "nothing"}),
        ("PGR09", "", {"model": "no-such-model"}),
    ):
        with refused(connection, code, message):
            found(connection, "dig", **arguments)
