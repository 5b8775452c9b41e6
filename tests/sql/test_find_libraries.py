"""Which libraries answer a query, by what the last finished run of each wrote about it."""

import pytest
from library import ingest, page, refused, run, value


@pytest.fixture(scope="module")
def libraries(module_connection):
    connection = module_connection
    with connection.transaction(force_rollback=True):
        ingest(connection, "sail", [
            page(
                "index.md", "Everything about sails.", title="Sailing handbook",
                front_matter={"description": "How to rig, reef and trim."},
            ),
            page("mast.md", "The mast carries the halyard.", "A halyard hoists a sail."),
            page("anchor.md", "An anchor holds the boat.", title="Anchors"),
        ], "2.0", embed=False)  # fmt: skip
        ingest(connection, "sail", [page("index.md", "The spinnaker alone.", title="Old handbook")],
               "1.0", embed=False)  # fmt: skip
        ingest(connection, "motor",
               [page("readme.md", "An engine for a boat with an anchor.", title="Engines")],
               embed=False)  # fmt: skip
        ingest(connection, "hafen", [page("index.md", "Die Gezeiten im Hafen.", title="Häfen")],
               language="de", embed=False)  # fmt: skip
        yield connection


@pytest.fixture
def connection(libraries):
    with libraries.transaction(force_rollback=True):
        yield libraries


def found(connection, query, **arguments):
    return run(connection, "find_libraries", query=query, **arguments)


def names(rows):
    return [row["library"] for row in rows]


def test_the_library_with_the_telling_words_comes_first(connection):
    assert names(found(connection, "hoist the halyard of a boat")) == ["sail", "motor"]
    assert names(found(connection, "an engine for the boat")) == ["motor", "sail"]
    [best, *_] = found(connection, "which halyards hoist sails?")
    assert (best["library"], best["version"], best["title"]) == ("sail", "2.0", "Sailing handbook")
    assert best["description"] == "How to rig, reef and trim."
    assert (best["pages"], best["documents"] > 0) == (3, True)
    assert set(best["words"]) == {"halyard", "hoist", "sail"}
    # The name says more than a page.
    assert best["words"][0] == "sail"
    scores = [found(connection, query)[0]["score"] for query in ("sail", "handbook", "halyard")]
    assert scores == [1.0, 0.8, 0.4]
    assert found(connection, "reef")[0]["score"] == 0.6
    for row in found(connection, "sail boat engine anchor nonsense"):
        assert 0 < row["score"] < 1
    [alone], [beside] = found(connection, "halyard"), found(connection, "halyard xylophone")
    assert beside["score"] < alone["score"] / 2


def test_only_the_strongest_words_of_pages_count_and_titles_more(connection):
    common = " ".join(f"common{n}" for n in range(250))
    ingest(
        connection, "words", [page("a.md", common), page("b.md", f"{common} seldom")], embed=False
    )
    assert found(connection, "seldom") == []
    assert found(connection, "common0")[0]["score"] == 0.4
    filler = " ".join(f"filler{n}" for n in range(200))
    pages = [
        page("index.md", filler), page("x.md", filler, title="Quokka"),
        page("y.md", f"{filler} numbat", title="Y"),
    ]  # fmt: skip
    ingest(connection, "zoo", pages, embed=False)
    assert names(found(connection, "quokka")) == ["zoo"]
    assert names(found(connection, "numbat")) == []


def test_a_rare_word_weighs_more_and_equal_scores_go_by_name(connection):
    ingest(connection, "other", [page("index.md", "A boat.")], embed=False)
    [sail] = [row for row in found(connection, "boat halyard") if row["library"] == "sail"]
    assert sail["words"] == ["halyard", "boat"]
    for name in ("zebra", "aardvark", "mole"):
        ingest(connection, name, [page("index.md", "A burrow.", title="Same")], embed=False)
    assert names(found(connection, "burrow")) == ["aardvark", "mole", "zebra"]
    assert names(found(connection, "burrow", top_k=2)) == ["aardvark", "mole"]


def test_each_library_has_its_language_and_the_newest_version_tells(connection):
    [row] = found(connection, "wann sind die Gezeiten in den Häfen")
    assert (row["library"], row["version"]) == ("hafen", "")
    # A stop word in one language is a word in the other.
    assert names(found(connection, "die")) == []
    assert found(connection, "sail")[0]["version"] == "2.0"
    assert found(connection, "spinnaker")[0]["version"] == "1.0"
    # Words of pages are those of the version: the newer has other words of the query.
    assert found(connection, "spinnaker halyard")[0]["words"] == ["halyard"]


def test_without_a_known_word_there_is_nothing_and_counts_are_bound(connection):
    for query in [
        None, "", "  ", "the of and", "?!", "type:guide", "-halyard", "xylophone", "x" * 9000,
    ]:  # fmt: skip
        assert found(connection, query) == []
    for top_k in [None, 0, -1, 1001, 2**31 - 1]:
        with refused(connection, "PGR01", "top_k must be between 1 and 1000"):
            found(connection, "halyard", top_k=top_k)


def test_filters_marks_and_hostile_words_do_not_count_after_64_none(connection):
    plain = found(connection, "halyard hoists")
    for query in ('+halyard "hoists"', "halyard hoists type:guide", "halyard hoists -boat #tag",
                  "halyard hoists library:motor version:^9"):  # fmt: skip
        assert found(connection, query) == plain
    with refused(connection, "PGR06"):
        found(connection, "halyard OR type:guide")
    for query in (
        "'; drop table pgrag.versions; --", r"a\'b & | ! <-> :*", "halyard:A & !boat", "'",
    ):  # fmt: skip
        found(connection, query)
    assert names(found(connection, "halyard & | ! ( ' \\")) == ["sail"]
    many = " ".join(f"word{n}" for n in range(64))
    assert found(connection, f"{many} halyard") == []
    assert names(found(connection, f"halyard {many}")) == ["sail"]
    assert names(found(connection, f"halyard {many * 300}")) == ["sail"]


def test_a_finished_run_tells_anew(connection):
    ingest(connection, "young", [page("index.md", "A wombat.")], embed=False, ready=False)
    assert found(connection, "wombat") == []
    assert found(connection, "young") == []
    run(connection, "finish_version", library="young")
    assert names(found(connection, "wombat")) == ["young"]
    ingest(connection, "motor", [page("readme.md", "A turbine.", title="Turbines")], embed=False)
    assert names(found(connection, "engine")) == []
    [row] = found(connection, "turbine")
    assert (row["title"], row["score"]) == ("Turbines", 0.8)
    run(connection, "remove_pages", library="motor", keys=["readme.md"])
    run(connection, "finish_version", library="motor")
    assert found(connection, "turbine") == []
    [row] = found(connection, "motor")
    assert (row["title"], row["description"], row["pages"]) == ("", "", 0)
    run(connection, "remove_library", library="motor")
    assert found(connection, "motor") == []


def test_the_front_page_gives_a_title_of_any_length(connection):
    links = [{"kind": "references", "target": "hub.md"}]
    ingest(connection, "web",
           [page("a.md", "x", edges=links), page("b.md", "y", edges=links), page("hub.md", "z")],
           embed=False)  # fmt: skip
    assert found(connection, "web")[0]["title"] == "Hub"
    ingest(connection, "web", [page("README.md", "w", title="Read this")], embed=False)
    assert found(connection, "web")[0]["title"] == "Read this"
    long = "tapir " * 200_000
    ingest(connection, "acme/next.js-docs",
           [page("index.md", "x", title=long[:20_000], front_matter={"description": "  "})],
           embed=False)  # fmt: skip
    for query in ("next.js", "acme", "docs", "tapir"):
        assert names(found(connection, query)) == ["acme/next.js-docs"], query
    assert len(found(connection, "tapir")[0]["title"]) == 500


def test_a_role_sees_its_libraries_and_counts_no_others(connection):
    whole = found(connection, "boat halyard")
    connection.execute("create role finder in role pgrag_reader")
    run(connection, "grant_libraries", role_name="finder", libraries=["sail", "hafen"])
    connection.execute("set local session authorization finder")
    assert names(found(connection, "boat anchor")) == ["sail"]
    assert names(found(connection, "engine")) == []
    [seen] = found(connection, "boat halyard")
    # Among the libraries that the role sees, one has either word: both weigh the same.
    assert seen["score"] == pytest.approx(0.4)
    assert seen["words"] == ["boat", "halyard"]
    assert whole[0]["words"] == ["halyard", "boat"]
    connection.execute("reset session authorization")
    connection.execute("create role stranger in role pgrag_reader")
    connection.execute("set local session authorization stranger")
    assert found(connection, "boat halyard anchor engine") == []


def test_many_versions_are_found_by_the_index(connection):
    connection.execute(
        """
        insert into pgrag.libraries (library_id, name, language) overriding system value
        select 9000 + n, 'made-' || n, 'english' from generate_series(1, 2000) as n
        """
    )
    connection.execute(
        """
        insert into pgrag.versions
            (library_id, version_id, label, class, status, search)
        select 9000 + n, (9000 + n)::bigint << 12 | 1, '', 'unversioned', 'ready',
            (select string_agg('w' || (n * 7 + m) % 20000 || ':1', ' ')::tsvector
             from generate_series(1, 200) as m)
        from generate_series(1, 2000) as n
        """
    )
    run(connection, "finish_version", library="sail", version="2.0")
    connection.execute("analyze pgrag.libraries, pgrag.versions")
    scans = "select pg_stat_get_xact_numscans('pgrag.versions_search'::regclass)"
    before = value(connection, scans)
    assert len(found(connection, "w1717 w8080", top_k=1000)) > 20
    assert value(connection, scans) > before
