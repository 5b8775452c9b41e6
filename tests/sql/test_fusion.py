"""From two retrievers to one list: every score can be added up by hand from its explanation."""

import random

import pytest
from corpus import Author, pages
from library import document, explained, ingest, keys, page, refused, run, search, value
from oracle import Oracle
from pgvector import HalfVector
from psycopg.types.json import Jsonb

QUERIES = ["restart the server", "certificate of a user", "role", "useEffect default value"]


class TestAbsolute:
    """(1 - alpha) keyword + alpha semantic, all of it between 0 and 1."""

    @pytest.mark.parametrize("query", QUERIES)
    @pytest.mark.parametrize("alpha", [0.0, 0.3, 0.75, 1.0])
    def test_score_is_the_weighted_sum_of_the_retrievers(self, connection, manual, query, alpha):
        for hit in explained(connection, query, alpha=alpha, levels=[1, 2]):
            why = hit["explanation"]
            keyword, semantic = why["keyword"], why["semantic"]
            assert (why["alpha"], why["fusion"]) == (alpha, "absolute")
            fused = (1 - alpha) * (keyword["score"] or 0) + alpha * (semantic["score"] or 0)
            # The first hits have matches of tokens, unless one retriever has the whole score.
            tokens = why["parts"].get("tokens", 0)
            assert hit["hybrid_score"] - tokens == pytest.approx(fused, rel=1e-6)
            assert not (tokens and alpha in (0, 1))
            assert hit["keyword_score"] == keyword["score"]
            assert hit["semantic_score"] == semantic["score"]
            assert 0 <= hit["score"] <= 1

    def test_keyword_score_has_the_share_of_the_page(self, connection, manual):
        for evidence in [0.0, 0.3, 1.0]:
            for hit in explained(connection, "restart the server", page_evidence=evidence):
                keyword = hit["explanation"]["keyword"]
                assert keyword["page_evidence"] == evidence
                mixed = (1 - evidence) * keyword["passage_score"] + evidence * keyword["page_score"]
                assert hit["keyword_score"] == pytest.approx(mixed, rel=1e-6)
                if evidence == 0:
                    continue
                titles = keyword["title_evidence"]
                evident = (1 - titles) * keyword["page_bm25"] + titles * keyword["title_score"]
                assert keyword["page_score"] == pytest.approx(evident, rel=1e-6)

    @pytest.mark.parametrize("query", QUERIES)
    def test_lexemes_add_up_to_the_passage_score(self, connection, manual, query):
        oracle = Oracle(connection, "manual")
        expected = oracle.scores(query)
        for hit in explained(connection, query):
            keyword = hit["explanation"]["keyword"]
            added = sum(lexeme["adds"] for lexeme in keyword["lexemes"])
            assert keyword["passage_score"] == pytest.approx(added, rel=1e-5)
            row = oracle.rows[hit["document_id"]]
            corpus = oracle.corpora[row["library_id"], row["language"]]
            for lexeme in keyword["lexemes"]:
                assert lexeme["documents"] == corpus.containing[lexeme["lexeme"]]
                assert lexeme["idf"] == pytest.approx(corpus.idf(lexeme["lexeme"]), rel=1e-6)
                impact = corpus.impact(hit["document_id"], lexeme["lexeme"])
                assert lexeme["impact"] == pytest.approx(impact, rel=1e-5)
            assert added == pytest.approx(expected.get(hit["document_id"], 0), rel=1e-5)

    def test_scores_do_not_depend_on_the_count_or_the_retriever(self, connection, manual):
        few = explained(connection, "restart the server", top_k=3)
        many = explained(connection, "restart the server", top_k=60)
        assert [(h["document_id"], h["score"]) for h in few] == [
            (h["document_id"], h["score"]) for h in many[:3]
        ]
        # With one candidate per retriever, a keyword hit still has its cosine.
        hits = explained(connection, "certificate of a user", candidate_count=1, top_k=1)
        by_meaning = run(connection, "semantic_search", query="certificate of a user",
                         library="manual", top_k=1000)  # fmt: skip
        cosine = {hit["document_id"]: hit["hybrid_score"] for hit in by_meaning}
        for hit in hits:
            assert hit["semantic_score"] == pytest.approx(cosine[hit["document_id"]], abs=1e-6)

    def test_explain_search_shows_the_same_and_plans_how_it_was_read(self, connection, manual):
        hits = explained(connection, "restart the server", filters={"type": "guide"})
        shown = run(connection, "explain_search", query="restart the server", library="manual",
                    filters={"type": "guide"})  # fmt: skip
        assert [row["rank"] for row in shown] == list(range(1, len(hits) + 1))
        for row, hit in zip(shown, hits, strict=True):
            assert {k: row[k] for k in ("document_id", "score", "explanation")} == {
                k: hit[k] for k in ("document_id", "score", "explanation")
            }
            known = [w for w in row["explanation"]["keyword"]["lexemes"] if w["adds"] > 0]
            assert len((row["words"] or "").split(", ")) == max(len(known), 1)
        [hit, *_] = explained(connection, "restart the server")
        keyword, semantic = hit["explanation"]["plans"]
        assert (keyword["retriever"], keyword["plan"]) == ("keyword", "exhaustive")
        assert set(keyword["lexemes"]) == {"restart", "server"}
        assert (semantic["retriever"], semantic["plan"]) == ("semantic", "exact")


class TestReciprocalRank:
    @pytest.mark.parametrize(("k", "weights"), [(60, [1, 1]), (1, [0.3, 0.7]), (10, [40.0, 2.0])])
    def test_score_is_the_sum_of_weights_by_rank(self, connection, manual, k, weights):
        hits = explained(connection, "certificate of a user", fusion="rrf", rrf_k=k,
                         rrf_weights=weights, levels=[2], candidate_count=15, top_k=15)  # fmt: skip
        absent = 0
        for hit in hits:
            ranks = [hit["explanation"][retriever]["rank"] for retriever in ("keyword", "semantic")]
            expected = sum(w / (k + r) for w, r in zip(weights, ranks, strict=True) if r)
            assert hit["hybrid_score"] == pytest.approx(expected, rel=1e-9)
            absent += ranks.count(None)
        assert absent, "some hit is missing from a retriever and got 0 from it"

    def test_ranks_are_those_of_the_retrievers_alone(self, connection, manual):
        hits = explained(connection, "certificate of a user", fusion="rrf", levels=[2])
        for retriever, arguments in (("keyword", {"page_evidence": 0}), ("semantic", {})):
            alone = run(connection, f"{retriever}_search", query="certificate of a user",
                        library="manual", levels=[2], top_k=100, page_decay=1,
                        **arguments)  # fmt: skip
            place = {hit["document_id"]: n for n, hit in enumerate(alone, start=1)}
            for hit in hits:
                assert hit["explanation"][retriever]["rank"] == place.get(hit["document_id"])


@pytest.mark.parametrize("scores", [[], [0.7], [0.9, 0.5, 0.5, 0.2, 0.2, 0.2, 0.1], [0.4] * 5])
def test_ranks_of_whole_lists_and_of_single_hits_agree(connection, scores):
    expected = [1 + sum(other > score for other in scores) for score in scores]
    assert value(connection, "select _pgrag.ranks(%s::float8[])", scores) == expected
    single = "select array(select _pgrag.rank_at(%s, n) from generate_series(1, %s) as n)"
    assert value(connection, single, scores, len(scores)) == expected


class TestAlpha:
    """Argument, else library, else model, else pgrag.hybrid_alpha, else 0.3."""

    def alpha(self, connection, **arguments):
        return explained(connection, "role", **arguments)[0]["explanation"]["alpha"]

    def test_precedence_and_that_retrievers_without_a_share_are_not_read(self, connection, manual):
        connection.execute("set local pgrag.hybrid_alpha = ''")
        assert self.alpha(connection) == pytest.approx(0.3)
        [hit, *_] = explained(connection, "role", alpha=0)
        assert [plan["retriever"] for plan in hit["explanation"]["plans"]] == ["keyword"]
        assert hit["semantic_score"] is None
        [hit, *_] = explained(connection, "role", alpha=1)
        assert [plan["retriever"] for plan in hit["explanation"]["plans"]] == ["semantic"]
        assert hit["keyword_score"] is None
        assert self.alpha(connection) == pytest.approx(0.3)
        connection.execute("set local pgrag.hybrid_alpha = '0.45'")
        assert self.alpha(connection) == 0.45
        run(connection, "register_model", name="static-en-de-ru-256", dimensions=256,
            provider="builtin", alpha=0.55)  # fmt: skip
        assert self.alpha(connection) == 0.55
        run(connection, "configure_library", library="manual", settings={"alpha": 0.65})
        assert self.alpha(connection) == 0.65
        assert self.alpha(connection, alpha=0.75) == 0.75
        assert self.alpha(connection, alpha=0) == 0


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"query": ""}, "The query is empty."),
            ({"query": " \n\t "}, "The query is empty."),
            ({"query": None}, "The query is empty."),
            ({"query": "-without"}, "has no words"),
            ({"top_k": 0}, "top_k must be 1 to 1000, got 0."),
            ({"top_k": 1001}, "got 1001."),
            ({"top_k": None}, "top_k"),
            ({"alpha": 1.01}, "alpha must be 0 to 1"),
            ({"alpha": float("nan")}, "alpha"),
            ({"page_evidence": -0.1}, "page_evidence must be 0 to 1"),
            ({"fusion": "sum"}, "fusion must be absolute or rrf, got 'sum'."),
            ({"fusion": None}, "fusion"),
            ({"levels": [3]}, "levels must be a list of 0 to 2, got [3]."),
            ({"levels": []}, "levels"),
            ({"levels": [1, None]}, "levels"),
            ({"max_per_page": 0}, "max_per_page must be 1 to 1000, got 0."),
            ({"candidate_count": 0}, "candidate_count must be 1 to 20000"),
            ({"rrf_k": -1}, "rrf_k must be 0 to 10000"),
            ({"rrf_weights": [1]}, "rrf_weights must be a list"),
            ({"rrf_weights": [1, -1]}, "rrf_weights"),
            ({"rrf_weights": [1, None]}, "rrf_weights"),
            ({"rrf_weights": None}, "rrf_weights"),
            ({"unit": "chapter"}, "unit must be document or page, got 'chapter'"),
            ({"intent": "GUESSING"}, "GUESSING"),
        ],
    )
    def test_values_that_cannot_be_used(self, connection, manual, arguments, message):
        with refused(connection, "PGR01", message):
            run(connection, "search", **{"query": "role", "library": "manual", **arguments})

    def test_every_row_carries_its_source(self, connection):
        ingest(connection, "nodes", [
            page(
                "a/b.md",
                document(
                    "Drain the node.", path=["Guide", "Drain"], heading="Drain", anchor="drain",
                    types=["text"], line_start=3, line_end=5,
                ),
                title="Guide", url="https://example.org/b", link="https://wiki.example.org/7",
            )
        ], "1.0")  # fmt: skip
        [hit] = search(connection, "drain", library="nodes", snippets=True)
        expected = {
            "library": "nodes", "version": "1.0", "key": "a/b.md", "title": "Guide",
            "url": "https://example.org/b", "link": "https://wiki.example.org/7",
            "path": ["Guide", "Drain"], "heading": "Drain", "anchor": "drain", "level": 2,
            "content": "Drain the node.", "snippet": "**Drain** the node", "types": ["text"],
            "line_start": 3, "line_end": 5, "sort_order": 0, "explanation": None,
        }  # fmt: skip
        assert {name: hit[name] for name in expected} == expected

    def test_a_vector_given_is_used_and_the_model_must_exist(self, connection, manual):
        ingest(
            connection, "nodes", [page("cat.md", "Cats sleep."), page("node.md", "Drain nodes.")]
        )
        [row] = connection.execute("select pgrag.embed('cats')::real[] as v").fetchall()
        hits = search(
            connection, "zzz", library="nodes", alpha=1, query_embedding=HalfVector(row["v"])
        )
        assert keys(hits) == ["cat.md", "node.md"]
        with refused(connection, "PGR09", "'gpt'", "Registered: static-en-de-ru-256."):
            search(connection, "role", library="manual", model="gpt")


@pytest.fixture(scope="module")
def archive(module_connection):
    """A library large enough to judge words by."""
    ingest(module_connection, "archive", pages(Author(random.Random(12)), 250))
    counted = (
        "select sum(c.document_count) from pgrag.corpus_statistics as c"
        " join pgrag.libraries as l on l.library_id = c.library_id where l.name = %s"
    )
    assert value(module_connection, counted, "archive") >= 1000
    return "archive"


@pytest.mark.usefixtures("archive")
class TestWordsThatTheLibraryLacks:
    """Words that the library lacks lower alpha by their share, by half if the model knows them."""

    def alpha(self, connection, query, **arguments):
        given = {"library": "archive", "explain": True} | arguments
        return search(connection, query, **given)[0]["explanation"]["alpha"]

    def known(self, connection, query):
        terms = run(
            connection, "query_terms", words=query,
            library_ids=[value(connection, "select library_id from pgrag.libraries"
                               " where name = 'archive'")],
        )  # fmt: skip
        whole = sum(t["weight"] for t in terms)
        return sum(t["weight"] for t in terms if t["document_count"]) / whole

    def test_vectors_have_the_share_of_the_known_words(self, connection, manual):
        for words, worth in [
            ("wthuot rstrat", 0), ("ohne Neustart", 0.5), ("без перезапуска", 0.5),
        ]:  # fmt: skip
            query = f"certificate of a user {words}"
            share = self.known(connection, query)
            assert 0.1 < share < 0.6
            expected = 0.3 * (share + worth * (1 - share))
            assert self.alpha(connection, query) == pytest.approx(expected)
            assert self.alpha(connection, "restart the server") == pytest.approx(0.3)
        for query, alpha in [("vrbndngsabrch vrhndrn", 0.003), ("Verbindungsabbruch?", 0.15)]:
            hits = search(connection, query, library="archive", explain=True)
            assert hits[0]["explanation"]["alpha"] == pytest.approx(alpha)
            nearest = search(connection, query, library="archive", mode="semantic")
            assert keys(hits) == keys(nearest)
        for alpha in [0.3, 1.0]:
            assert self.alpha(connection, "server neu starten", alpha=alpha) == alpha

    def test_stop_words_small_libraries_and_other_models_lack_nothing(self, connection, manual):
        assert self.alpha(connection, "what is it") == pytest.approx(0.3)
        query = "certificate of a user wthuot rstrat"
        assert self.alpha(connection, query, library="manual") == pytest.approx(0.3)
        run(connection, "register_model", name="fake", dimensions=3, provider="custom")
        ask = {"model": "fake", "query_embedding": HalfVector([1, 0, 0])}
        assert self.alpha(connection, "server neu starten", **ask) == pytest.approx(0.3)
        query = "certificate of a user wthuot rstrat"
        run(connection, "configure_library", library="archive", settings=Jsonb({"alpha": 0.8}))
        expected = 0.8 * self.known(connection, query)
        assert self.alpha(connection, query) == pytest.approx(expected)


class TestNamesOfCode:
    """The built-in model knows such names only in pieces, so words count more."""

    def alpha(self, connection, query, **arguments):
        return search(connection, query, **{"explain": True} | arguments)[0]["explanation"]["alpha"]

    def test_share_of_vectors_is_a_third_unless_others_know_better(self, connection, manual):
        for query, expected in [
            ("os.path", 0.1), ("peek()", 0.1), ("work_mem", 0.1), ("std::move", 0.1),
            ("useEffect", 0.1), ("  os.path   work_mem ", 0.1), ("what is os.path", 0.3),
            ("JavaScript", 0.3), ("Python 3.5", 0.3), ("no-verify", 0.3), ("certificate.", 0.3),
            ("certificate", 0.3),
        ]:  # fmt: skip
            assert self.alpha(connection, query, library="manual") == pytest.approx(expected)
        assert self.alpha(connection, "os.path", library="manual", alpha=0.3) == 0.3
        run(connection, "register_model", name="fake", dimensions=3, provider="custom")
        ask = {"model": "fake", "query_embedding": HalfVector([1, 0, 0])}
        assert self.alpha(connection, "os.path", library="manual", **ask) == pytest.approx(0.3)
