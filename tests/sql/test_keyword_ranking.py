"""keyword_search against a BM25F that reads every row: the same hits, the same scores."""

import random

import pytest
from corpus import Author, pages
from library import ingest, keys, page, run, search
from oracle import Oracle
from psycopg.types.json import Jsonb

QUERIES = 20
#: The passages with one of these words (null: of all), scored with all words of the query.
SCORED = """
select b.document_ids, b.scores
from _pgrag.make_request(%(query)s, %(options)s) as r
cross join lateral (
    select coalesce(%(words)s::text[], array_agg(distinct t.lexeme)) as words
    from unnest(r.terms) as t
) as w
cross join lateral _pgrag.query_vectors(r.terms) as v
cross join lateral (
    select
        array_agg(p.id) filter (where p.lexeme = any (w.words)) as ids,
        array_agg(p.id) filter (where p.lexeme = any (%(beside)s::text[])) as ids_beside
    from (
        select distinct t.lexeme, _pgrag.lexeme_id(t.language, t.lexeme)::bigint as id
        from unnest(r.terms) as t
        where t.document_count > 0
    ) as p
) as p
cross join lateral (
    select case
        when %(known)s::jsonb is not null
        then _pgrag.score_documents(
            v.library_ids, v.vectors, '{}',
            jsonb_populate_record(
                r.target,
                jsonb_build_object('allowed_documents', %(known)s::jsonb, 'document_count', 0)
            ),
            %(depth)s, 1
        )
    end as passages
    offset 0
) as known
cross join lateral _pgrag.score_documents(
    v.library_ids, v.vectors, coalesce(p.ids, '{}'),
    jsonb_populate_record(r.target, %(target)s), %(depth)s, %(postings)s, known.passages,
    p.ids_beside
) as b
"""
#: The language that the words tell, if the library holds several.
SPOKEN = "select (r.queries[1]).language from _pgrag.make_request(%s, %s) as r"
#: Impacts, weights and idf are stored in single precision.
PRECISION = 2e-5


def assert_exact(connection, oracle, query, among=lambda row: True, levels=(2,), **arguments):
    """The top ten are ten of the best, in the order of their exact scores."""
    hits = run(
        connection,
        "keyword_search",
        query=query,
        levels=list(levels),
        page_evidence=0,
        page_decay=1,
        **arguments,
    )
    mask = sum(1 << level for level in levels)
    expected = oracle.scores(query, lambda row: row["covers"] & mask and among(row))
    options = {name: arguments[name] for name in ("library", "filters") if name in arguments}
    [spoken] = connection.execute(SPOKEN, [query, Jsonb(options)]).fetchone().values()
    for document_id in expected:
        if spoken not in (None, oracle.rows[document_id]["language"]):
            expected[document_id] *= 0.85
    best = sorted(expected.values(), reverse=True)[: arguments.get("top_k", 10)]
    assert [hit["score"] for hit in hits] == pytest.approx(best, rel=PRECISION), query
    for hit in hits:
        assert hit["score"] == pytest.approx(expected[hit["document_id"]], rel=PRECISION)
        assert spoken or hit["keyword_score"] == hit["score"]
    newest = sorted({hit["version"] for hit in hits}, reverse=True)
    order = [(-hit["score"], newest.index(hit["version"]), hit["sort_order"]) for hit in hits]
    assert order == sorted(order)
    assert len({hit["document_id"] for hit in hits}) == len(hits)
    return hits


def scored(connection, query, words=None, depth=5000, *, library="many", **given):
    names = dict.fromkeys(("postings", "known", "beside"))
    given = names | {"query": query, "words": words, "depth": depth, "target": {}} | given
    options = {"library": library, "alpha": 0, "query_expansion": given.pop("expansion", "none")}
    given |= {"options": Jsonb(options), "target": Jsonb(given["target"])}
    given["known"] = None if given["known"] is None else Jsonb(given["known"])
    [row] = connection.execute(SCORED, given).fetchall()
    return row


@pytest.fixture
def author():
    return Author(random.Random(7))


@pytest.fixture(scope="module")
def manual(module_connection):
    """Pages of one library in three languages."""
    written = pages(Author(random.Random(8)), 90, "m/", ["english", "german", "russian"])
    ingest(module_connection, "manual", written, embed=False)
    return "manual"


@pytest.fixture(scope="module")
def oracle(module_connection, manual):
    return Oracle(module_connection)


def queries(author, languages=("english", "german", "russian")):
    return [Author(author.random, author.random.choice(languages)).query() for _ in range(QUERIES)]


def test_the_best_are_those_of_the_formula(connection, manual, author, oracle):
    found = 0
    for query in queries(author):
        found += len(assert_exact(connection, oracle, query, library=manual))
    assert found > 5 * QUERIES
    for query in queries(author)[:4]:
        for count in (1, 3, 50, 400):
            assert_exact(connection, oracle, query, library=manual, top_k=count)


def test_filters_and_levels_leave_scores_alone(connection, manual, author, oracle):
    for filters, among in [
        ({"type": "guide"}, lambda row: row["type"] == "guide"),
        ({"tags": ["alpha", "beta"]}, lambda row: {"alpha", "beta"} & set(row["tags"])),
        ({"not": {"type": "guide"}}, lambda row: row["type"] != "guide"),
        ({"page": "m/001*"}, lambda row: row["key"].startswith("m/001")),
        ({"language": "de"}, lambda row: row["language"] == "german"),
    ]:
        for query in queries(author)[:8]:
            assert_exact(connection, oracle, query, among, library=manual, filters=filters)
    for levels in [(0,), (1,), (0, 1, 2)]:
        for query in queries(author)[:8]:
            assert_exact(connection, oracle, query, library=manual, levels=levels)


@pytest.fixture(params=["in the scope", "everywhere"])
def looked_up(connection, request):
    """Both ways to look words up, whichever is faster in a small library."""
    if request.param == "everywhere":
        connection.execute(
            "create or replace function _pgrag.is_wide(target _pgrag.search_target)"
            " returns boolean language sql stable as 'select true'"
        )


@pytest.mark.usefixtures("looked_up")
def test_versions_share_the_statistics_of_their_library(connection, author):
    ingest(connection, "tool", pages(author, 40), "1.0", embed=False)
    ingest(connection, "tool", pages(author, 40), "2.0", embed=False)
    oracle = Oracle(connection, "tool")
    for query in queries(author, ["english"])[:8]:
        for version in ("1.0", "2.0"):
            assert_exact(connection, oracle, query, lambda r, v=version: r["version"] == v,
                         library="tool", version=version)  # fmt: skip
        assert_exact(connection, oracle, query, library="tool", version="*")
        assert_exact(connection, oracle, query, lambda r: r["version"] == "2.0", library="tool")


@pytest.mark.usefixtures("looked_up")
def test_each_library_is_ranked_by_its_own_statistics(connection, author):
    for library, languages in {
        "one": ["english"], "two": ["english", "german"], "three": ["russian"],
    }.items():  # fmt: skip
        ingest(connection, library, pages(author, 30, f"{library}/", languages), embed=False)
    oracle = Oracle(connection, "one", "two", "three")
    for query in queries(author)[:12]:
        assert_exact(connection, oracle, query, filters={"library": ["one", "two", "three"]})
        assert_exact(connection, oracle, query, lambda row: row["library"] != "one",
                     filters={"library": ["two", "three"]})  # fmt: skip


def test_ranking_stays_exact_while_pages_come_change_and_go(connection, author):
    stored = {p["key"]: p for p in pages(author, 40)}
    ingest(connection, "tool", list(stored.values()), embed=False)
    for round_number in range(4):
        changed = author.random.sample(sorted(stored), k=8)
        stored |= {key: author.page(key) for key in changed}
        new = {p["key"]: p for p in pages(author, 4, f"new{round_number}/")}
        stored |= new
        ingest(
            connection, "tool", [stored[key] for key in changed] + list(new.values()), embed=False
        )
        gone = author.random.sample(sorted(stored), k=5)
        stored = {key: p for key, p in stored.items() if key not in gone}
        run(connection, "remove_pages", library="tool", keys=gone)
        oracle = Oracle(connection, "tool")
        for query in queries(author, ["english"])[:6]:
            assert_exact(connection, oracle, query, library="tool")


def test_changed_settings_are_ranked_by_at_once(connection, manual, author):
    run(connection, "configure_library", library=manual,
        settings={"k1": 0.9, "b": 0.4, "field_weights": {"title": 5, "url": 0}})  # fmt: skip
    oracle = Oracle(connection)
    for query in queries(author)[:8]:
        assert_exact(connection, oracle, query, library=manual)


def tiny_pages(author, count, per_page=60):
    """Many passages of a few words, quickly written."""
    return [
        page(
            f"{number}.md",
            *(author.sentence(author.random.randint(2, 7)) for _ in range(per_page)),
            title=f"Part {number}",
        )
        for number in range(count // per_page)
    ]


def test_what_cannot_win_is_not_read_and_the_best_are_the_same(connection, author):
    """Above a few thousand passages MaxScore leaves the postings of frequent words unread."""
    ingest(connection, "many", tiny_pages(author, 4000), embed=False, language="simple")
    oracle = Oracle(connection, "many")
    plans = [
        hits[0]["explanation"]["plans"][0]["plan"]
        for query in [
            "the and of", "to a file is that for", "rotate the vault", "the benchmark of a kernel",
            "use the linker and the compiler of a runtime", "useEffect in the runtime", "the the",
        ]
        if (hits := assert_exact(connection, oracle, query, library="many", explain=True))
    ]  # fmt: skip
    assert set(plans) == {"exhaustive", "pruned"}


def test_words_of_one_language_are_not_stemmed_by_another(connection):
    ingest(connection, "houses", [
        page("de.md", "Die Häuser der Stadt.", language="de"),
        page("en.md", "Houses of the city, and the word Häuser.", language="en"),
    ], embed=False)  # fmt: skip
    assert keys(run(connection, "keyword_search", query="Haus", library="houses")) == ["de.md"]
    assert keys(run(connection, "keyword_search", query="house", library="houses")) == ["en.md"]
    both = run(connection, "keyword_search", query="HÄUSER", library="houses")
    assert set(keys(both)) == {"de.md", "en.md"}


@pytest.mark.parametrize("expansion", ["synonyms", "feedback", "both"])
def test_what_cannot_win_by_expanded_words_is_not_read_either(connection, author, expansion):
    ingest(connection, "many", tiny_pages(author, 4000), embed=False, language="simple")
    synonyms = {"vault": ["the table"], "linker": {"expansions": ["of", "compiler"], "weight": 1}}
    run(connection, "set_synonyms", library="many", synonyms=synonyms)
    plans = set()
    for query in ["rotate the vault", "use the linker of a runtime", "the benchmark of a kernel"]:
        [pruned] = connection.execute(
            """
            select
                b.document_ids[:20], b.scores[:20], b.plan ->> 'plan' as plan,
                (select max(t.bound) <= 1 and min(t.weight) >= 0 from unnest(r.terms) as t)
                    as is_bounded
            from _pgrag.make_request(%s, %s) as r
            cross join lateral _pgrag.keyword_candidates(r.terms, r.target, 100, 20) as b
            """,
            [query, Jsonb({"library": "many", "alpha": 0, "query_expansion": expansion})],
        ).fetchall()
        whole = scored(connection, query, depth=100, expansion=expansion)
        assert pruned["document_ids"] == whole["document_ids"][:20]
        assert pruned["scores"] == pytest.approx(whole["scores"][:20])
        assert len(pruned["document_ids"]) == 20
        assert pruned["is_bounded"]
        plans.add(pruned["plan"])
    assert "pruned" in plans


def test_what_a_passage_needs_beside_a_frequent_word(connection):
    for score, beside in [
        (0.4, [3]),
        (0.25, None),  # the second alone reaches it
        (0.45, [3]),
        (None, None),
    ]:
        # Three parts that add 0.5, 0.3 and 0.2; the first is scored.
        [row] = connection.execute(
            "select _pgrag.parts_beside("
            "'{10,1010,6010}', '{1,0.5,0.2}', 1, 2, %s::double precision) as beside",
            [score],
        ).fetchall()
        assert row["beside"] == beside


def test_documents_of_a_later_word_are_read_only_beside_others(connection, author):
    ingest(connection, "many", tiny_pages(author, 1500), embed=False, language="simple")

    def ids(*words, **given):
        return scored(connection, "use the linker of a runtime", [*words], **given)["document_ids"]

    known, of, a = ids("the")[:400], ids("of"), ids("a")
    found = ids("of", known=known, beside=["a"])
    assert len(found) == len({*found})
    assert {*found} == {*known} | ({*of} & {*a})
    assert {*known} & {*of} & {*a}
    assert {*known} - {*of}
    assert {*known} & {*of} - {*a}
    assert {*of} - {*a} - {*known}


@pytest.mark.parametrize("rows", [30, 400])
def test_words_taken_later_add_to_what_is_known(connection, author, rows):
    """Looked up together or one after the other, words give the same order."""
    ingest(connection, "many", tiny_pages(author, 1500), embed=False, language="simple")
    kept = set()
    for query in ["rotate the vault", "use the linker of a runtime", "the benchmark of a kernel"]:
        words = sorted({*query.split()})
        first = scored(connection, query, words[:1], rows)
        later = scored(connection, query, words[1:], rows, known=first["document_ids"])
        assert later == scored(connection, query, words, rows)
        kept |= {*first["document_ids"]} & {*later["document_ids"]}
    assert kept


def test_strong_postings_are_found_alone(connection):
    """The index uses the threshold of the ranking."""
    [row] = connection.execute(
        """
        select
            _pgrag.posting_keys(
                7, format('{5:%s,9:%s}/1000000000', s.impact - 0.001, s.impact)::sparsevec
            ) as keys,
            _pgrag.query_keys('{0,7}', '{5,9}') || _pgrag.query_keys('{0,7}', array[9 | (1 << 30)])
            as expected
        from _pgrag.strong_impact() as s (impact)
        """
    ).fetchall()
    assert sorted(row["keys"]) == sorted(row["expected"])
    assert len(set(row["keys"])) == 6


@pytest.mark.usefixtures("looked_up")
def test_weak_postings_are_left_out_where_strong_ones_are_enough(connection, author):
    """Titles have the word: the many texts that only mention it are not read.

    In the other library impacts reach 4, and more of them are strong.
    """
    for library, k1, title in (("coast", 1.2, "Harbour"), ("island", 3, "Lighthouse")):
        batch = tiny_pages(author, 1300)
        for number, made in enumerate(batch):
            made["title"] = f"{title if number % 2 else 'Part'} {number}"
            for document in made["documents"]:
                document["content"] += " The harbour and the lighthouse lie far away from here."
        ingest(connection, library, batch, embed=False, language="english")
        run(connection, "configure_library", library=library, settings={"k1": k1})
    oracle = Oracle(connection, "coast", "island")
    plans = []
    for query in ("harbour", "harbour lighthouse", "lighthouse far harbour", "far away"):
        for libraries in (["coast"], ["island"], ["coast", "island"]):
            hits = assert_exact(connection, oracle, query,
                                lambda row, of=libraries: row["library"] in of,
                                filters={"library": libraries}, explain=True)  # fmt: skip
            plans.append(hits[0]["explanation"]["plans"][0])
    assert plans[0]["plan"] == plans[3]["plan"] == plans[5]["plan"] == "pruned"
    assert "pruned" in [plan["plan"] for plan in plans[1::3]]
    assert plans[0]["lexemes"] == ["harbour"]
    assert len(plans[3]["lexemes"]) == 2


def test_most_of_many_versions_are_looked_up_at_once(connection, manual):
    """With few versions, or few passages, words are looked up by version."""
    for versions, share, expected in [(9, 0.6, True), (9, 0.5, False), (8, 1, False)]:
        [row] = connection.execute(
            "select _pgrag.is_wide(jsonb_populate_record(null::_pgrag.search_target,"
            " jsonb_build_object('version_ids', %s::bigint[],"
            " 'document_count', floor(%s * sum(c.document_count))))) as is_wide"
            " from pgrag.corpus_statistics as c",
            [[*range(versions)], share],
        ).fetchall()
        assert row["is_wide"] is expected


def test_few_pages_are_scored_whole_and_with_the_same_scores(connection):
    """Reading words or pages first changes only the time."""
    author = Author(random.Random(5))
    ingest(connection, "few", pages(author, 40))
    query = author.sentence(12)
    for count in (2, 20):
        allowed = connection.execute(
            "select array_agg(page_id order by page_id) as ids, sum(document_count) as documents"
            " from (select * from pgrag.pages order by page_id desc limit %s) as p",
            [count],
        ).fetchone()
        assert allowed
        target = {"allowed_pages": allowed["ids"], "document_count": int(allowed["documents"])}
        by_words, also_by_words, by_pages = (
            scored(connection, query, depth=500, library="few", target=target, postings=postings)
            for postings in (None, 0, 1000000)
        )
        assert len(by_words["document_ids"]) > 3
        assert by_words == also_by_words == by_pages


def test_few_pages_are_scored_whole_also_where_a_library_knows_none_of_the_words(connection):
    """A null score must not rank first."""
    wordy = [page(f"{name}.md", "The zymurgist brews.") for name in range(9)]
    for library in ("ale", "beer"):
        ingest(connection, library, [*wordy, page("g.md", "A zymurgist.", type="guide")])
    ingest(connection, "coffee", [page(f"{n}.md", "Roast it.", type="guide") for n in range(9)])
    hits = search(
        connection, "zymurgist", filters={"type": "guide"}, alpha=0, top_k=2, candidate_count=2
    )
    assert [hit["key"] for hit in hits] == ["g.md", "g.md"]


def test_a_library_without_the_words_takes_no_place_of_those_with_them(connection):
    """Its passages come only if two lexemes share an id, as the lists of both words here."""
    for library, text in (("first", "Apples."), ("second", "Apples too."), ("third", "Pears.")):
        ingest(connection, library, [page(f"{n}.md", f"{text} {n}") for n in range(3)])
    best = connection.execute(
        """
        select b.document_ids
        from _pgrag.make_request(
            'apples', '{"filters": {"library": ["first", "second", "third"]}}'
        ) as r
        cross join lateral _pgrag.query_vectors(r.terms) as v
        cross join lateral _pgrag.score_documents(
            v.library_ids, v.vectors,
            array[_pgrag.lexeme_id('english', 'appl'), _pgrag.lexeme_id('english', 'pear')],
            r.target, 2
        ) as b
        """
    ).fetchone()
    assert len(best["document_ids"]) == 2
