"""What language models write for documents: asked once, put in whole, and taken out again."""

import uuid

import pytest
from consistency import assert_consistent
from library import document, ingest, page, processor_seconds, refused, run, search, value
from psycopg.types.json import Jsonb

SAW = "The blade is cleaned with a dry brush after each cut, and oiled once a week."
SAW_SHARP = "It is sharpened with a flat file, always in one direction, four strokes a tooth."
PLANE = "The iron is set by eye: a shaving as thin as paper shows that it is right."
SHORT = "See above."
VERSIONS = """
select v.version_id
from pgrag.versions as v
join pgrag.libraries as l on l.library_id = v.library_id
where l.name = 'shop'
"""
PLACED = {"model": "scribe", "prompt_version": "1"}


def tool(key, *paragraphs, lead="", **fields):
    """A page with its summary, one section with its summary, and its paragraphs."""
    title = key.removesuffix(".md").title()
    lead = lead or f"All about the {title}."
    path = ["Workshop", title]
    return page(
        key,
        document(lead, level=0, covers=1, depth=0, path=path, is_summary=True),
        document(f"{title} care: {lead}", level=1, covers=2, depth=1, heading_level=2, parent=0,
                 heading="Care", path=[*path, "Care"], is_summary=True),
        *[document(p, parent=1, covers=4, depth=1, path=[*path, "Care"]) for p in paragraphs],
        title=title, path=path, **fields,
    )  # fmt: skip


@pytest.fixture(scope="module")
def module_connection(module_connection):
    for version in ("1.0", "2.0"):
        ingest(module_connection, "shop", [
            tool("saw.md", SAW, SHORT, SAW_SHARP),
            tool("plane.md", PLANE if version == "1.0" else f"{PLANE} Wax the sole."),
        ], version)  # fmt: skip
    ingest(module_connection, "other", [tool("saw.md", SAW)])
    return module_connection


def pending(connection, kind="context", **arguments):
    return run(connection, "pending_enrichments", **{
        "library": "shop", "kind": kind, **PLACED, **arguments
    })  # fmt: skip


def store(connection, rows, kind="context", **arguments):
    written = [
        {"input_hash": str(row["input_hash"]), "document_ids": row["document_ids"],
         **({"reason": row["reason"]} if row.get("reason") else {"text": row["text"]})}
        for row in rows
    ]  # fmt: skip
    return run(
        connection, "store_enrichments",
        **{"library": "shop", "kind": kind, **PLACED, "enrichments": Jsonb(written), **arguments},
    )  # fmt: skip


def answered(rows, answer="Zebrano {number}: on the care of tools."):
    return [row | {"text": answer.format(number=number)} for number, row in enumerate(rows)]


def documents(connection, condition="true"):
    return connection.execute(f"""
        select d.*, p.key, v.label,
            (select count(*) from pgrag.embeddings as e where e.document_id = d.document_id)
                as vectors
        from pgrag.documents as d
        join pgrag.pages as p on p.page_id = d.page_id
        join pgrag.versions as v on v.version_id = d.version_id
        join pgrag.libraries as l on l.library_id = d.library_id
        where l.name = 'shop' and {condition}
        order by v.label, p.key, d.sort_order
    """).fetchall()


def enrich(connection, kind="context"):
    rows = pending(connection, kind)
    store(connection, answered(rows), kind)
    run(connection, "embed_pending", library="shop")
    return rows


def test_what_a_model_is_asked(connection):
    rows = pending(connection)
    # Both versions of the saw are one question; the planes differ; what is short is not asked.
    assert [(row["key"], row["content"], len(row["document_ids"])) for row in rows] == [
        ("plane.md", PLANE, 1),
        ("plane.md", f"{PLANE} Wax the sole.", 1),
        ("saw.md", SAW, 2),
        ("saw.md", SAW_SHARP, 2),
    ]
    assert rows[2]["page_text"] == f"## Care\n\n{SAW}\n\n{SHORT}\n\n{SAW_SHARP}"
    assert rows[2]["path"] == ["Workshop", "Saw", "Care"]
    assert [row["text"] for row in rows] == [None] * 4
    summaries = pending(connection, "summary")
    assert [(row["key"], row["path"][-1], row["content"][:8]) for row in summaries[-2:]] == [
        ("saw.md", "Saw", "## Care\n"), ("saw.md", "Care", SAW[:8]),
    ]  # fmt: skip
    assert len(summaries) == 6

    assert len(pending(connection, version="1.0")) == 3
    assert [row["key"] for row in pending(connection, after_key="plane.md")] == ["saw.md"] * 2
    assert {row["key"] for row in pending(connection, top_k=1)} == {"plane.md", "saw.md"}

    [plan] = run(connection, "planned_enrichments", library="shop", kind="context", **PLACED)
    size = sum(-(-(len(r["page_text"]) + len(r["content"]) + len(" / ".join(r["path"]))) // 4)
               for r in rows)  # fmt: skip
    assert plan == {"calls": 4, "kept": 0, "documents": 6, "input_tokens": size}


def test_long_pages_are_cut(connection):
    ingest(
        connection, "shop", [tool("long.md", *[f"{n} " + "word " * 1000 for n in range(9)])], "1.0"
    )
    rows = [row for row in pending(connection) if row["key"] == "long.md"]
    assert len(rows) == 9
    assert {len(row["page_text"]) for row in rows} == {8000}
    rows = [row for row in pending(connection, "summary") if row["key"] == "long.md"]
    assert {len(row["content"]) for row in rows} == {6000}


def test_a_situation_is_searched_and_embedded_and_never_shown(connection):
    assert search(connection, "zebrano", library="shop", alpha=0) == []
    before = {row["document_id"]: row for row in documents(connection)}
    changed = store(connection, answered(pending(connection)))
    assert sum(row["documents"] for row in changed) == 6
    assert_consistent(connection)
    after = documents(connection)
    for row in after:
        old = before[row["document_id"]]
        assert row["content"] == old["content"]
        assert row["extract"] is None
        if row["situation"]:
            assert row["text_hash"] != old["text_hash"]
            assert row["vectors"] == 0
        else:
            assert (row["text_hash"], row["vectors"]) == (old["text_hash"], 1)
    [text] = [
        row["text"]
        for row in run(connection, "pending_embeddings", library="shop")
        if "thin as paper" in row["text"] and "Wax" not in row["text"]
    ]
    assert text.endswith(f"\n\nZebrano 0: on the care of tools.\n\n{PLANE}")
    run(connection, "embed_pending", library="shop")
    assert_consistent(connection)
    assert all(row["vectors"] == 1 for row in documents(connection))

    hits = search(connection, "zebrano", library="shop", version="1.0", alpha=0)
    assert {hit["content"] for hit in hits} == {SAW, SAW_SHARP, PLANE}
    assert not any("Zebrano" in str(hit) for hit in hits)
    [context] = run(connection, "context", query="zebrano", library="shop", version="1.0")[:1]
    assert "Zebrano" not in str(context)

    # A second run asks nothing.
    assert pending(connection) == []
    [plan] = run(connection, "planned_enrichments", library="shop", kind="context", **PLACED)
    assert set(plan.values()) == {0}
    # Another model, or another prompt, is another question.
    assert len(pending(connection, model="other")) == 4
    assert len(pending(connection, prompt_version="2")) == 4


def test_a_summary_is_shown_and_marked_and_the_extract_kept(connection):
    store(connection, answered(pending(connection, "summary"), "Ebony {number}."), "summary")
    assert_consistent(connection)
    for row in documents(connection, "d.is_summary"):
        assert row["content"].startswith("Ebony")
        assert row["extract"].endswith(f"All about the {row['path'][1]}.")
        assert row["types"] == ["text", "generated"]
    run(connection, "embed_pending", library="shop")
    hits = search(connection, "ebony", library="shop", version="2.0", levels=[0])
    assert [hit["types"] for hit in hits[:1]] == [["text", "generated"]]
    assert pending(connection, "summary") == []

    # The page says something else now: its own sentences stand until the model has read it.
    ingest(connection, "shop", [tool("saw.md", SAW, f"{SAW_SHARP} Wear gloves.")], "2.0")
    assert_consistent(connection)
    rows = documents(connection, "d.is_summary and p.key = 'saw.md' and v.label = '2.0'")
    assert [row["content"] for row in rows] == [
        "All about the Saw.", "Saw care: All about the Saw.",
    ]  # fmt: skip
    assert [row["extract"] for row in rows] == [None, None]
    assert [row["types"] for row in rows] == [["text"], ["text"]]
    # … and as before: what was written is put in at once.
    ingest(connection, "shop", [tool("saw.md", SAW, SHORT, SAW_SHARP)], "2.0")
    assert pending(connection, "summary") == []
    assert_consistent(connection)


def test_an_edited_page_keeps_what_places_its_paragraphs(connection):
    enrich(connection)
    before = {
        row["content"]: row for row in documents(connection, "p.key = 'saw.md' and v.label = '2.0'")
    }
    edited = "The teeth are set with a small hammer, one to the left and one to the right."
    ingest(connection, "shop", [tool("saw.md", edited, SAW, SAW_SHARP)], "2.0")
    assert_consistent(connection)
    rows = documents(connection, "p.key = 'saw.md' and v.label = '2.0' and d.level = 2")
    assert [(row["content"], bool(row["situation"])) for row in rows] == [
        (edited, False), (SAW, True), (SAW_SHARP, True),
    ]  # fmt: skip
    for row in rows[1:]:
        old = before[row["content"]]
        assert (row["document_id"], row["text_hash"], row["situation"]) == (
            old["document_id"], old["text_hash"], old["situation"]
        )  # fmt: skip
        assert row["vectors"] == 1
    # All three are asked, for their page is another.
    assert [row["content"] for row in pending(connection)] == [edited, SAW, SAW_SHARP]
    store(connection, answered(pending(connection), "Rosewood {number}."))
    assert_consistent(connection)
    rows = documents(connection, "p.key = 'saw.md' and v.label = '2.0' and d.level = 2")
    assert [row["situation"] for row in rows] == ["Rosewood 0.", "Rosewood 1.", "Rosewood 2."]


def test_a_new_version_takes_over_what_was_written(connection):
    enrich(connection)
    enrich(connection, "summary")
    ingest(connection, "shop", [tool("saw.md", SAW, SHORT, SAW_SHARP)], "3.0", embed=False)
    assert_consistent(connection)
    rows = documents(connection, "v.label = '3.0'")
    assert [bool(row["situation"]) for row in rows] == [False, False, True, False, True]
    assert [row["extract"] is not None for row in rows] == [True, True, False, False, False]
    # Vectors are handed on, as for every text that the library has.
    assert [row["vectors"] for row in rows] == [1] * 5
    assert pending(connection) == pending(connection, "summary") == []
    # A page that is read again without being changed is not written anew.
    [row] = ingest(connection, "shop", [tool("saw.md", SAW, SHORT, SAW_SHARP, tags=["x"])], "3.0")
    assert row["status"] == "written"
    again = documents(connection, "v.label = '3.0'")
    assert [(a["document_id"], a["text_hash"]) for a in again] == [
        (b["document_id"], b["text_hash"]) for b in rows
    ]


def test_what_was_written_for_a_page_of_before_is_kept_and_not_put_in(connection):
    """A run asks; meanwhile the page is indexed again; then the answer comes."""
    asked = pending(connection)
    ingest(connection, "shop", [tool("plane.md", f"{PLANE} Check it with a square.")], "1.0")
    changed = store(connection, answered(asked))
    assert sum(row["documents"] for row in changed) == 5
    assert_consistent(connection)
    [row] = documents(connection, "p.key = 'plane.md' and v.label = '1.0' and d.level = 2")
    assert row["situation"] == ""
    # The page becomes again what it was: nobody has to be asked.
    ingest(connection, "shop", [tool("plane.md", PLANE)], "1.0")
    [row] = documents(connection, "p.key = 'plane.md' and v.label = '1.0' and d.level = 2")
    assert row["situation"] == "Zebrano 0: on the care of tools."
    assert pending(connection) == []
    # The page goes; its answer comes afterwards, and finds nobody.
    rows = pending(connection, model="slow", version="2.0")
    run(connection, "remove_version", library="shop", version="2.0")
    assert store(connection, answered(rows), model="slow") == []
    assert_consistent(connection)


def test_what_another_model_wrote_is_put_in_without_asking(connection):
    enrich(connection)
    rows = pending(connection, model="other")
    store(connection, answered(rows, "Teak {number}."), model="other")
    assert {row["situation"][:4] for row in documents(connection, "d.situation <> ''")} == {"Teak"}
    # Back to the first: its texts are kept, and only put in.
    rows = pending(connection)
    assert [row["text"] for row in rows] == [
        f"Zebrano {n}: on the care of tools." for n in range(4)
    ]
    [plan] = run(connection, "planned_enrichments", library="shop", kind="context", **PLACED)
    assert plan == {"calls": 0, "kept": 4, "documents": 6, "input_tokens": 0}
    store(connection, rows)
    assert pending(connection) == []
    # Of both, the one that stands there survives a page that is read again.
    ingest(connection, "shop", [tool("saw.md", SAW, SHORT, SAW_SHARP, tags=["x"])], "2.0")
    assert_consistent(connection)
    assert {row["situation"][:4] for row in documents(connection, "d.situation <> ''")} == {"Zebr"}


def test_failures_leave_documents_as_they_are_and_are_listed(connection):
    before = documents(connection)
    rows = [row | {"reason": f"The model said no to {row['key']}."} for row in pending(connection)]
    assert store(connection, rows) == []
    assert documents(connection) == before
    failures = run(connection, "enrichment_failures", library="shop")
    assert len(failures) == 6
    assert failures[0]["reason"] == "The model said no to plane.md."
    assert {f["attempts"] for f in failures} == {1}
    assert len(run(connection, "enrichment_failures", library="shop", version="1.0")) == 3
    assert len(run(connection, "enrichment_failures", library="shop", top_k=2)) == 2
    store(connection, rows)
    assert {f["attempts"] for f in run(connection, "enrichment_failures", library="shop")} == {2}
    state = {row["kind"]: row for row in run(connection, "enrichment_state", library="shop")}
    assert state["context"] == {
        "kind": "context", "setting": False, "documents": 6, "enriched": 0, "failed": 6, "kept": 0,
        "models": [],
    }  # fmt: skip
    # A page with another text has not failed yet, one that goes takes its failures along.
    ingest(connection, "shop", [tool("plane.md", f"{PLANE} Check it with a square.")], "1.0")
    assert len(run(connection, "enrichment_failures", library="shop")) == 5
    # They are asked again, and success is the end of it.
    assert len(enrich(connection)) == 4
    assert run(connection, "enrichment_failures", library="shop") == []
    state = {row["kind"]: row for row in run(connection, "enrichment_state", library="shop")}
    assert (state["context"]["enriched"], state["context"]["models"]) == (6, ["scribe"])
    assert (state["summary"]["documents"], state["summary"]["enriched"]) == (8, 0)


def test_everything_can_be_taken_out_again(connection):
    before = documents(connection)
    enrich(connection)
    enrich(connection, "summary")
    assert value(connection, "select pgrag.remove_enrichments('shop', 'context')") == 6
    assert_consistent(connection)
    assert len(documents(connection, "d.extract is not null")) == 8
    assert value(connection, "select pgrag.remove_enrichments('shop')") == 8
    run(connection, "embed_pending", library="shop")
    assert_consistent(connection)
    after = documents(connection)
    for old, new in zip(before, after, strict=True):
        # Weights and keywords depend on averages and counts of when they were made.
        for name in old.keys() - {"weights", "keywords"}:
            assert new[name] == old[name], name
    assert len(pending(connection)) == 4
    assert value(connection, "select count(*) from pgrag.enrichments") == 0


def test_words_of_links_stay_with_the_first_paragraph(connection):
    run(connection, "configure_library", library="shop", settings={"anchor_texts": True})
    connection.execute("update pgrag.pages set anchor_texts = '{wenge}' where key = 'saw.md'")
    ingest(connection, "shop", [tool("saw.md", SAW, SHORT, SAW_SHARP, tags=["y"])], "2.0",
           ready=False)  # fmt: skip
    [found] = search(connection, "wenge", library="shop", version="2.0", alpha=0)
    assert found["content"] == SAW
    enrich(connection)
    [found] = search(connection, "wenge", library="shop", version="2.0", alpha=0)
    assert found["content"] == SAW
    assert_consistent(connection)
    run(connection, "remove_enrichments", library="shop")
    [found] = search(connection, "wenge", library="shop", version="2.0", alpha=0)
    assert found["content"] == SAW


def test_check_and_repair_know_it(connection):
    enrich(connection)
    enrich(connection, "summary")
    assert run(connection, "check_library", library="shop") == []
    connection.execute("""
        update pgrag.documents set situation = 'Elsewhere.'
        where situation <> '' and content like '%as paper%' and content not like '%Wax%'
    """)
    for spoilt in ("situation = 'x' where level = 1", "extract = 'x' where content = 'See above.'"):
        connection.execute(f"update pgrag.documents set {spoilt} and version_id in ({VERSIONS})")
    found = {row["problem"]: row for row in run(connection, "check_library", library="shop")}
    assert found["a model's text where none belongs"]["count"] == 6
    assert found["the hash of another text"]["count"] == 5
    assert all(row["repaired"] for row in run(connection, "repair_library", library="shop"))
    assert_consistent(connection)
    assert {row["situation"] for row in documents(connection, "d.level = 1")} == {""}


def test_a_page_of_hundreds_of_headings(connection):
    headings = [
        document(f"Heading {n}", level=1, covers=2, depth=1 + n % 6, heading_level=1 + n % 6,
                 heading=f"Heading {n}", parent=n - n % 6 if n % 6 else 0, is_summary=True)
        for n in range(1, 400)
    ]  # fmt: skip
    texts = [document(f"{n} {SAW}", parent=1 + n % 350, covers=4) for n in range(400)]
    ingest(
        connection, "shop",
        [page("huge.md", document("All.", level=0, covers=1, is_summary=True), *headings, *texts)],
        "9", embed=False, ready=False,
    )  # fmt: skip
    with processor_seconds(connection) as seconds:
        assert len(pending(connection, "summary", version="9", top_k=None)) > 250
    assert max(seconds) < 5


def test_bad_input_is_refused(connection):
    for code, message, arguments in (
        ("PGR01", "kind must be context or summary, got 'poem'", {"kind": "poem"}),
        ("PGR02", "", {"library": "nowhere"}),
        ("PGR03", "", {"version": "7"}),
    ):
        with refused(connection, code, message):
            pending(connection, **arguments)
    whole = {"input_hash": str(uuid.uuid4()), "document_ids": [1], "text": "x"}
    for wrong in (
        {}, [1], [{"input_hash": "x"}], [{"input_hash": "x", "document_ids": []}],
        [whole | {"input_hash": "…"}], [whole | {"document_ids": ["one"]}],
        [whole | {"document_ids": [1e30]}], [whole | {"document_ids": 1}],
    ):  # fmt: skip
        with refused(connection, "PGR01", "nrichment"):
            run(connection, "store_enrichments", library="shop", kind="context", **PLACED,
                enrichments=Jsonb(wrong))  # fmt: skip
    run(connection, "configure_library", library="shop", settings={"enrichment": "context"})
    state = run(connection, "enrichment_state", library="shop")
    assert [row["setting"] for row in state] == [True, False]


def limited(connection, **limits):
    settings = Jsonb({"enrichment_limits": limits})
    run(connection, "configure_library", library="shop", settings=settings)


def test_the_limits_of_inputs_are_settings(connection):
    usual = pending(connection)
    limited(connection, page_input=100)
    cut = pending(connection)
    assert max(len(row["page_text"]) for row in cut) == 100
    assert {row["input_hash"] for row in cut} != {row["input_hash"] for row in usual}
    limited(connection, page_input=8000, minimum_length=len(SAW_SHARP))
    assert [row["content"] for row in pending(connection, version="1.0")] == [SAW_SHARP]
    limited(connection, minimum_length=0)
    assert SHORT in {row["content"] for row in pending(connection)}
    limited(connection, summary_input=100)
    assert max(len(row["content"]) for row in pending(connection, "summary")) == 100
    run(connection, "configure_library", library="shop", settings={"enrichment_limits": None})
    assert pending(connection) == usual
    store(connection, answered(pending(connection)))
    limited(connection, minimum_length=20)
    assert pending(connection) == []
