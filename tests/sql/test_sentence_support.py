"""Whether what an answer cites says what it says, as far as words can tell."""

import pytest
from library import document, ingest, page, refused, run
from psycopg.types.json import Jsonb

FILLING = [page(f"p{n}.md", f"Valves and pumps, number {n}, are painted.") for n in range(8)]


@pytest.fixture(scope="module")
def manual(module_connection):
    """The ids of passages by key."""
    ingest(module_connection, "manual", [
        *FILLING,
        page(
            "boiler.md",
            document(
                "The boiler holds 340 litres and is drained by `drainBoiler()` in two hours.",
                path=["Boiler", "Capacity"],
            ),
        ),
        page("pump.md", "Pumps run at 2800 revolutions."),
        page("saal.md", "Die Stadtwerke Halle zahlten 60000 Postkarten.",
             title="Lebenslauf Peter Kühne", language="de"),
    ])  # fmt: skip
    ingest(module_connection, "other", [page("boiler.md", "The boiler is green.")])
    rows = module_connection.execute(
        "select l.name || '/' || p.key as key, max(d.document_id) as id from pgrag.documents as d"
        " join pgrag.pages as p on p.page_id = d.page_id"
        " join pgrag.libraries as l on l.library_id = d.library_id group by 1"
    ).fetchall()
    return {row["key"]: row["id"] for row in rows}


def support(connection, *claims, library="manual"):
    return run(connection, "sentence_support", library=library, sentences=[c for c, _ in claims],
               documents=Jsonb([d for _, d in claims]))  # fmt: skip


def test_what_sources_say_alone_or_together_is_supported(connection, manual):
    boiler, pump = manual["manual/boiler.md"], manual["manual/pump.md"]
    rows = support(
        connection,
        ("The boiler's capacity is 340 litres [1].", [boiler]),
        ("It drains by drainBoiler() [1][2].", [pump, boiler]),
        ("The boiler holds 350 litres [1].", [boiler]),
        ("Submarines need periscopes [1].", [boiler]),
        ("The boiler holds 340 litres.", []),
        ("The boiler holds 340 litres [9].", [999999999]),
    )
    assert [row["place"] for row in rows] == [1, 2, 3, 4, 5, 6]
    assert [row["support"] for row in rows[:2]] == [pytest.approx(1), pytest.approx(1)]
    assert [row["best_document_id"] for row in rows[:2]] == [boiler, boiler]
    assert 0.2 < rows[2]["support"] < 0.85, "a wrong number counts"
    assert [row["support"] for row in rows[3:]] == [0, 0, 0]
    assert [row["best_document_id"] for row in rows[4:]] == [None, None]
    sentence = "The boiler holds 340 litres, the pumps run at 2800 revolutions."
    one, other, both = support(
        connection, (sentence, [boiler]), (sentence, [pump]), (sentence, [pump, boiler])
    )
    assert 0 < one["support"] < 0.8
    assert 0 < other["support"] < 0.8
    assert both["support"] == pytest.approx(1)
    best = max((one, other), key=lambda row: row["support"])
    assert both["best_document_id"] == best["best_document_id"]


def test_rare_words_weigh_more_in_the_language_of_the_passage(connection, manual):
    boiler = manual["manual/boiler.md"]
    rare, common = support(
        connection, ("Litres of paint.", [boiler]), ("Pumps of revolutions.", [boiler])
    )
    assert rare["support"] > common["support"] == 0
    [row] = support(
        connection,
        ("Peter Kühne arbeitete für die Stadtwerken Halle [1].", [manual["manual/saal.md"]]),
    )
    assert row["support"] == pytest.approx(0.8), "all words but that for working"
    [cited, free] = support(connection, ("It is.", [manual["manual/pump.md"]]), ("It is.", []))
    assert (cited["support"], free["support"]) == (1, 0)


def test_bad_lists_are_named_and_libraries_hold_their_own(connection, manual):
    claims = ("The boiler is green.", [manual["other/boiler.md"]])
    assert [row["support"] for row in support(connection, claims)] == [0]
    assert [row["support"] for row in support(connection, claims, library="other")] == [1]
    assert [row["support"] for row in support(connection, claims, library=None)] == [1]
    assert support(connection) == []
    for sentences, documents, message in [
        (["a"], [], "There are 1 sentences and 0 lists of document_ids."),
        (["a"], {}, "documents must be a list"),
        (["a"], [1], "documents must be lists of document_ids, got 1."),
        (["a"], [["1"]], 'documents must be lists of document_ids, got ["1"].'),
        (["a"], [[1.5]], "documents must be lists of document_ids, got [1.5]."),
        (None, [], "sentences must be a list"),
    ]:
        with refused(connection, "PGR01", message):
            run(connection, "sentence_support", library="manual", sentences=sentences,
                documents=Jsonb(documents))  # fmt: skip
    with refused(connection, "PGR02"):
        support(connection, library="manuel")
