"""What indexing refuses, and that SQL in a text is text."""

import pytest
from library import document, ingest, page, refused, run, search, value
from psycopg.types.json import Jsonb


@pytest.mark.parametrize(("message", "function", "arguments"), [
    *[("library name", "open_version", {"library": name})
      for name in ("", " ", "Ünicode", "a b", "-a", "x" * 101, "a;drop table x", None)],
    *[("version label", "open_version", {"version": label})
      for label in ("1 0", "a@b", "x" * 101, "*", "-", "^1", ">=2")],
    *[("", "ingest_pages", {"pages": Jsonb(pages)})
      for pages in (None, {}, 1, "x", [{}], [{"key": " "}], [1], [None], [[]])],
    *[("page must be a JSON object", "ingest_page", {"page": Jsonb(page)})
      for page in (None, [], 1)],
    # Else a page without its text would replace the one that is there.
    *[(f"Page 'a.md' has an unknown member '{name}'", "ingest_page",
       {"page": {"key": "a.md", name: "One."}}) for name in ("content", "text", "titel")],
])  # fmt: skip
def test_what_cannot_be_indexed(connection, message, function, arguments):
    with refused(connection, "PGR01", message):
        run(connection, function, **{"library": "tool"} | arguments)


@pytest.mark.parametrize("name", ["react", "a/b.c_d-e", "9", " React "])
def test_library_names_that_can_be_used(connection, name):
    run(connection, "open_version", library=name)
    assert value(connection, "select name from pgrag.libraries") == name.strip().lower()


def test_one_bad_page_spoils_the_whole_call(connection):
    good, bad = page("a.md", "One."), page("b.md", "Two.", created="yesterday morning, maybe")
    with refused(connection, "PGR01"):
        ingest(connection, "tool", [good, bad])
    assert value(connection, "select count(*) from pgrag.libraries") == 0


def test_text_with_sql_in_it_is_text(connection):
    evil = "'); drop table pgrag.pages; -- \\ %s %(x)s $1 $$ {} \" ' :name"
    ingest(
        connection, "tool",
        [
            page(
                f"{evil}.md",
                document(
                    evil, heading=evil, path=[evil], types=[evil], anchor=evil, overlap=evil
                ),
                title=evil, url=evil, path=[evil], tags=[evil], type=evil, topic=evil,
                uuid=evil, link=evil, front_matter={evil: evil}, language=evil,
            )
        ],
    )  # fmt: skip
    [hit] = search(connection, evil, library="tool", snippets=True, explain=True)
    assert hit["content"] == hit["title"] == evil
    assert value(connection, "select language_code from pgrag.pages") == "en"


@pytest.mark.parametrize(("settings", "message"), [
    ({"alfa": 1}, "no library setting alfa"),
    ({"alpha": 1.5}, "alpha"),
    ({"alpha": "much"}, "alpha"),
    ({"b": 2}, "b"),
    ({"k1": -1}, "k1"),
    ({"exact_limit": -1}, "exact_limit"),
    ({"exact_limit": 0.5}, "exact_limit"),
    ({"page_evidence": 2}, "page_evidence"),
    ({"field_weights": 3}, "field_weights"),
    ({"field_weights": {"body": 3}}, "body"),
    ({"field_weights": {"title": "x"}}, "title"),
    ({"field_weights": {"title": -1}}, "title"),
    ({"overlap_size": -1}, "overlap_size must be a whole number from 0 to 1000, got -1"),
    ({"overlap_strategy": "half"}, "overlap_strategy must be words, sentences"),
    ({"enrichment_limits": 9}, "enrichment_limits must be an object"),
    ({"enrichment_limits": {"page": 9}}, "enrichment_limits.page must be one of"),
    ({"enrichment_limits": {"context_length": 5}}, "whole number from 20 to 2000, got 5"),
    ({"enrichment_limits": {"minimum_length": 0.5}}, "minimum_length must be a whole number"),
    ({"enrichment_limits": {"page_input": 1}}, "page_input must be"),
    ({"enrichment_limits": {"summary_input": "all"}}, "summary_input must be"),
    ({"enrichment_limits": {"summary_length": 1}}, "summary_length must be"),
    ({"enrichment": "all"}, "enrichment must be off, context"),
    ({"anchor_texts": 2}, "anchor_texts must be true or false, got 2"),
    ({"edge_vectors": 3}, "edge_vectors must be true or false"),
    ({"graph": {"depth": 4}}, "graph.depth must be a whole number from 1 to 3, got 4"),
    ({"graph": {"seeds": 1.5}}, "graph.seeds must be a whole number"),
    ({"graph": {"edge_weight": -1}}, "graph.edge_weight must be a number from 0 to 10"),
    ({"graph": {"search": 1}}, "graph.search must be true or false, got 1"),
    ({"graph": {"weigth": 1}}, "graph.weigth must be"),
    ({"graph": True}, "graph must be an object, got true"),
])  # fmt: skip
def test_settings(connection, settings, message):
    ingest(connection, "tool", [page("a.md", "One.")])
    with refused(connection, "PGR01", message):
        run(connection, "configure_library", library="tool", settings=settings)
    assert len(search(connection, "one", library="tool")) == 1


def test_null_takes_a_setting_back_to_its_default(connection):
    ingest(connection, "tool", [page("a.md", "One.")])
    default = value(connection, "select _pgrag.default_settings()")
    changed = {"alpha": 0.9, "field_weights": {"title": 9}}
    run(connection, "configure_library", library="tool", settings=changed)
    [row] = run(
        connection, "configure_library",
        library="tool", settings={"alpha": None, "field_weights": None},
    )  # fmt: skip
    assert row["configure_library"] == default


def test_of_a_text_with_more_words_than_a_vector_holds_the_strongest_count(connection):
    """A sparse vector of pgvector has at most 16,000 elements."""
    names = " ".join(f"symbol{number}x" for number in range(17_000))
    ingest(
        connection, "tool",
        [page("symbols.md", f"{names} lantern lantern lantern"), page("other.md", "A lantern.")],
        embed=False,
    )  # fmt: skip
    found = search(connection, "lantern", library="tool", alpha=0)
    assert {row["title"] for row in found} == {"Symbols", "Other"}
    assert all(row["keyword_score"] > 0 for row in found)
    assert run(connection, "check_library", library="tool", checks=["statistics"]) == []
