"""With `unit=page`, +word must be on the page; a phrase must be in one of its passages."""

import pytest
from library import document, ingest, keys, page, run, search, value

APART = page("apart.md", "The walrus sleeps on ice.", "A narwhal swims.", title="Sea",
             path=["Arctic", "Sea"], tags=["sea"], type="guide")  # fmt: skip
TOGETHER = page("together.md", "A walrus meets a narwhal.", "Nothing else.", type="note")
ONE = page("one.md", "A walrus alone.", document("walrus()", types=["code"]), tags=["sea"])


@pytest.fixture(scope="module")
def pages(module_connection):
    with module_connection.transaction(force_rollback=True):
        ingest(module_connection, "zoo", [APART, TOGETHER, ONE], "2.0")
        ingest(module_connection, "zoo",
               [page("old.md", "A walrus.", "A narwhal and an orca."), TOGETHER],
               "1.0")  # fmt: skip
        yield module_connection


@pytest.fixture
def connection(pages):
    with pages.transaction(force_rollback=True):
        yield pages


def hits(connection, query, **arguments):
    return search(connection, query, **{"library": "zoo", "unit": "page", "top_k": 50} | arguments)


def found(connection, query, **arguments):
    return sorted(set(keys(hits(connection, query, **arguments))))


def test_two_words_on_different_passages_of_one_page(connection):
    for alpha in [0, 1]:
        assert found(connection, "+walrus +narwhal", alpha=alpha) == ["apart.md", "together.md"]
        assert found(connection, "+walrus +narwhal", unit="document", alpha=alpha) == [
            "together.md"
        ]
        rows = run(
            connection,
            "search_pages",
            query="+walrus +narwhal",
            library="zoo",
            alpha=alpha,
            top_k=9,
        )
        assert sorted(keys(rows)) == ["apart.md", "together.md"]


def test_words_of_title_and_path_count_by_their_stems(connection):
    assert found(connection, "+arctic +narwhal") == ["apart.md"]
    assert found(connection, "+sea +walrus") == ["apart.md"]
    assert found(connection, "+Walruses +swimming") == ["apart.md"]
    assert found(connection, "+the +walrus +narwhal") == ["apart.md", "together.md"]
    assert found(connection, "+walrus +quagga") == []


def test_a_phrase_must_be_in_one_passage_excluded_words_in_none(connection):
    assert found(connection, '"ice narwhal"') == []
    assert found(connection, '"walrus meets"') == ["together.md"]
    # The phrase in one passage, the word anywhere on its page.
    assert found(connection, '"narwhal swims" +ice') == ["apart.md"]
    assert found(connection, '"walrus sleeps" +meets') == []
    # What has signs is a phrase.
    assert found(connection, "+walrus-narwhal") == []
    assert found(connection, "+walrus +narwhal -ice", alpha=0) == ["apart.md", "together.md"]
    [hit] = [
        row for row in hits(connection, "+walrus +narwhal -ice", alpha=0)
        if row["key"] == "apart.md"
    ]  # fmt: skip
    assert hit["content"] == "A narwhal swims."
    assert found(connection, "+walrus -narwhal -ice -walrus", alpha=0) == []


def test_with_filters_on_pages_and_passages(connection):
    assert found(connection, "+walrus +narwhal type:guide") == ["apart.md"]
    assert found(connection, "+walrus +narwhal #sea") == ["apart.md"]
    assert found(connection, "+walrus +narwhal type:other") == []
    assert found(connection, "+walrus #sea") == ["apart.md", "one.md"]
    assert found(connection, "+alone types:code") == ["one.md"]
    assert found(connection, "+alone types:code", unit="document") == []
    assert found(connection, "+narwhal types:code") == []
    assert found(connection, '+alone "walrus alone" types:code') == []


def test_pages_of_other_versions_libraries_and_languages(connection):
    assert found(connection, "+walrus +orca") == []
    assert found(connection, "+walrus +orca", version="1.0") == ["old.md"]
    assert found(connection, "+walrus +orca", version="*") == ["old.md"]
    assert found(connection, "+walrus +ice", version="1.0") == []
    ingest(connection, "sea", [page("foreign.md", "A walrus.", "An orca.")])
    assert found(connection, "+walrus +orca") == []
    assert found(connection, "+walrus +orca", library=None) == ["foreign.md"]
    ingest(
        connection, "zoo", [page("de.md", "Die Häuser.", "Ein Walross.", language="german")], "2.0"
    )
    assert found(connection, "+Haus +Walross") == ["de.md"]


def test_under_row_level_security(connection):
    ingest(connection, "secret", [page("secret.md", "A walrus.", "A narwhal.")])
    connection.execute("create role keeper in role pgrag_reader")
    run(connection, "grant_libraries", role_name="keeper", libraries=["zoo"])
    connection.execute("set local session authorization keeper")
    expected = ["apart.md", "together.md"]
    assert found(connection, "+walrus +narwhal") == expected
    assert found(connection, "+walrus +narwhal", library=None) == expected
    assert found(connection, "+walrus +narwhal type:guide") == ["apart.md"]
    assert found(connection, "+alone types:code") == ["one.md"]
    # Who sets this sees fewer pages, never more.
    connection.execute("set local pgrag.narrowing = '''walrus'''")
    seen = connection.execute("select page_id from _pgrag.matching_pages").fetchall()
    own = value(connection, "select count(*) from pgrag.pages where body ~* 'walrus'")
    assert len(seen) == own
    connection.execute("reset session authorization")
    connection.execute("set local pgrag.narrowing = ''")
    assert found(connection, "+walrus +narwhal", library=None) == [
        *expected[:1],
        "secret.md",
        *expected[1:],
    ]


def test_after_pages_change(connection):
    ingest(connection, "zoo", [page("apart.md", "The walrus sleeps.", "A seal swims.")], "2.0")
    assert found(connection, "+walrus +narwhal") == ["together.md"]
    assert found(connection, "+walrus +seal") == ["apart.md"]
    assert found(connection, "+arctic +walrus") == []


def test_after_pages_are_renamed(connection):
    run(connection, "rename_pages", library="zoo", new_keys={"apart.md": "moved.md"}, version="2.0")
    assert found(connection, "+walrus +narwhal") == ["moved.md", "together.md"]
    moved = APART | {"key": "moved.md", "url": "/lagoon", "source_hash": "moved"}
    ingest(connection, "zoo", [moved], "2.0")
    assert found(connection, "+lagoon +narwhal") == ["moved.md"]


def test_after_pages_are_removed(connection):
    run(connection, "remove_pages", library="zoo", keys=["apart.md"], version="2.0")
    assert found(connection, "+walrus +narwhal") == ["together.md"]
    assert found(connection, "+walrus +narwhal", version="1.0") == ["old.md", "together.md"]


def test_after_the_settings_change(connection):
    run(connection, "configure_library", library="zoo",
        settings={"field_weights": {"path": 0, "content": 0}})  # fmt: skip
    assert found(connection, "+walrus +narwhal") == ["apart.md", "together.md"]
    assert found(connection, "+arctic +narwhal") == ["apart.md"]


def test_of_a_page_with_too_many_words_the_longest_are_left_out(connection):
    passages = [
        "short " + " ".join(f"{'x' * 12}{nth:02}n{word:04}" for word in range(2000))
        for nth in range(30)
    ]
    ingest(connection, "zoo", [page("huge.md", "A walrus.", *passages, "A capybara.")], "2.0",
           embed=False)  # fmt: skip
    assert found(connection, "+walrus +capybara", alpha=0) == ["huge.md"]
    assert found(connection, "+walrus +short", alpha=0) == ["huge.md"]
    length = value(
        connection, "select octet_length(array_to_string(tsvector_to_array(search), ''))"
        " from pgrag.pages where key = 'huge.md'",
    )  # fmt: skip
    assert 850_000 < length < 1_000_000
    assert found(connection, "+walrus +narwhal") == ["apart.md", "together.md"]
