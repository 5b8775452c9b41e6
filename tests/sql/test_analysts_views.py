"""What an analyst meets in psql: views, pages by name, positional arguments, help."""

import psycopg
import pytest
from library import ingest, page, refused, run, value


@pytest.fixture(scope="module", autouse=True)
def libraries(module_connection):
    prime = page("prime.md", "Prime the pump before the first run.", title="Prime", type="guide")
    ingest(module_connection, "pumps", [prime], "1.0")
    seal = page("seal.md", "Replace the seal of the pump when it drips.", title="Seal")
    ingest(module_connection, "pumps", [prime, seal], "2.0")


def rows(connection, statement):
    return [tuple(row.values()) for row in connection.execute(statement).fetchall()]


def test_passages_are_those_that_searches_find(connection):
    found = {hit["document_id"] for hit in run(connection, "search", query="pump", version="*")}
    assert found
    assert found <= set(value(connection, "select array_agg(p.document_id) from pgrag.passages p"))
    assert rows(
        connection,
        "select count(*) = (select sum(v.document_count) from pgrag.versions as v) from"
        " pgrag.passages",
    ) == [(True,)]
    assert rows(
        connection,
        "select p.version, p.key, p.content, p.type from pgrag.passages as p where p.level = 2"
        " order by 1, 2",
    ) == [
        ("1.0", "prime.md", "Prime the pump before the first run.", "guide"),
        ("2.0", "prime.md", "Prime the pump before the first run.", "guide"),
        ("2.0", "seal.md", "Replace the seal of the pump when it drips.", None),
    ]


def test_pages_now_are_those_of_the_newest_version(connection):
    now = "select p.library, p.version, p.key from pgrag.pages_now as p order by p.key"
    assert rows(connection, now) == [("pumps", "2.0", "prime.md"), ("pumps", "2.0", "seal.md")]
    overview = "select o.newest, o.versions, o.pages, o.searches from pgrag.libraries_overview as o"
    assert rows(connection, overview) == [("2.0", 2, 2, 0)]


def test_searches_are_counted_by_day_and_gaps_named(connection):
    for hours, hits, confidence, ms in ((1, 3, 0.9, 10.0), (2, 3, 0.1, 30.0), (26, 0, None, 5.0)):
        connection.execute(
            "insert into pgrag.searches (client, query, library, hit_count, confidence,"
            " duration_ms, at, continued)"
            " select 'rest', 'torque of the bolts', 'pumps', %s, %s, %s,"
            " date_trunc('day', now()) + interval '3 hours' - make_interval(hours => %s), c"
            " from unnest(array[false, %s]) as c",
            [hits, confidence, ms, hours, True],
        )
    connection.execute(
        "insert into pgrag.feedback (search_id, rating) select s.search_id, r from pgrag.searches"
        " as s, unnest(array[1, 2]) as r where s.confidence = 0.1 and not s.continued"
    )
    assert rows(
        connection,
        "select d.day - now()::date, d.library, d.client, d.searches, d.without_hits, d.weak,"
        " d.rating::float, d.median_ms from pgrag.searches_by_day as d order by d.day",
    ) == [(-1, "pumps", "rest", 1, 1, 0, None, 5.0), (0, "pumps", "rest", 2, 0, 1, 1.5, 20.0)]
    [gap] = connection.execute("select * from pgrag.gaps_now").fetchall()
    assert (gap["topic"], gap["searches"], gap["found_nothing"]) == ("torque of the bolts", 2, 1)
    assert set(gap["nearest"]) <= {"Prime", "Seal"}


def test_query_library_and_limit_stand_in_this_order(connection):
    for function in ("search", "keyword_search", "semantic_search", "search_pages"):
        hits = rows(connection, f"select h.key from pgrag.{function}('pump', 'pumps', 1) as h")
        assert len(hits) == 1, function
    assert rows(connection, "select h.version from pgrag.search('pump', 'pumps@1.0') as h") == [
        ("1.0",)
    ]
    asked = "select * from pgrag.search('pump', {})"
    with refused(connection, "PGR02", "no library 'pump'", "Did you mean pumps?"):
        connection.execute(asked.format("'pump@1.0'"))
    with refused(connection, "PGR06", "version is asked for as"):
        connection.execute(asked.format("'pumps@1.0', version => '2.0'"))
    with refused(connection, "PGR03", "fits '0.9"):
        connection.execute(asked.format("'pumps@0.9'"))
    with refused(connection, "PGR02", "'pumps@1.0'", "library => 'pumps', version => '1.0'"):
        run(connection, "remove_library", library="pumps@1.0")
    with refused(connection, "PGR06", '"titel"', "Did you mean title?"):
        connection.execute(asked.format("'pumps', filters => '{\"titel\": \"x\"}'"))


def test_a_wrong_setting_is_answered_with_the_near_one(connection):
    with refused(connection, "PGR01", "setting alpah", "Did you mean alpha?"):
        value(connection, "select pgrag.configure_library('pumps', '{\"alpah\": 0.3}')")


def test_a_page_is_given_by_its_name(connection):
    named = "select p.version, p.title, p.body from pgrag.page({}) as p"
    seal = ("2.0", "Seal", "Replace the seal of the pump when it drips.")
    for name in ("'seal'", "'Seal', 'pumps'", "'pumps@2.0:seal.md'"):
        [found] = rows(connection, named.format(name))
        assert (*found[:2], found[2].strip()) == seal
    [(version, *_)] = rows(connection, named.format("'prime', 'pumps', '1.0'"))
    assert version == "1.0"
    old = value(connection, "select p.page_id from pgrag.page('prime', 'pumps', '1.0') as p")
    with refused(connection, "PGR04", f"no page '{old}'"):
        rows(connection, named.format(f"{old}, 'pumps', '2.0'"))
    with refused(connection, "PGR04", "'seall'", "Did you mean"):
        rows(connection, named.format("'seall', 'pumps'"))


def test_help_lists_functions_or_says_all_about_one(connection):
    listed = {row["name"]: row for row in run(connection, "help")}
    assert set(listed) == {
        name
        for (name,) in rows(
            connection,
            "select p.proname from pg_proc as p where p.pronamespace = 'pgrag'::regnamespace",
        )
    }
    assert listed["search"] == {
        "name": "search", "arguments": "query, library, top_k, version, filters, …",
        "purpose": "Hybrid search",
    }  # fmt: skip
    assert max(len(row["arguments"]) for row in listed.values()) < 120
    for about in ("search", "pgrag.search(", "SEARCH()"):
        [row] = run(connection, "help", about=about)
        assert "top_k integer DEFAULT 10,\n" in row["arguments"]
        assert "BM25F" in row["purpose"]
    assert "gaps" in {row["name"] for row in run(connection, "help", about="did not find")}
    with refused(connection, "PGR01", "'serch'", "Did you mean search"):
        run(connection, "help", about="serch")


def test_views_cannot_be_written(connection):
    with pytest.raises(psycopg.Error), connection.transaction():
        connection.execute("delete from pgrag.passages")
