"""The vector retriever: exact where few vectors are left, else by HNSW, never short of rows."""

import numpy as np
import psycopg
import pytest
from library import document, ids, ingest, keys, page, refused, run, search, value
from pgvector import HalfVector
from psycopg.rows import dict_row

from pgrag.ground.connections import register_vector_types

DIMENSIONS = 48
PAGES = 200
PER_PAGE = 20
MODEL = "clusters"


# The function that asks an index, saying how.
TOLD = """
alter function _pgrag.nearest_by_index rename to asked;
create function _pgrag.nearest_by_index(
    query_embedding halfvec, model_id bigint, target _pgrag.search_target,
    candidate_count integer, is_shared boolean, is_alone boolean
)
returns _pgrag.candidates
language plpgsql
as $$
begin
    raise notice 'alone: %', is_alone::integer;
    return _pgrag.asked(query_embedding, model_id, target, candidate_count, is_shared, is_alone);
end;
$$;
"""


class Vectors:
    """Passages around some centres, and queries near them; numpy computes the nearest."""

    def __init__(self, connection):
        self.random = np.random.default_rng(5)
        self.centres = self.random.normal(size=(40, DIMENSIONS))
        self._connection = connection
        self.ids: np.ndarray = np.array([], dtype=np.int64)
        self.vectors: np.ndarray = np.zeros((0, DIMENSIONS))

    def near_a_centre(self, count):
        chosen = self.centres[self.random.integers(len(self.centres), size=count)]
        return chosen + 0.6 * self.random.normal(size=(count, DIMENSIONS))

    def read(self):
        """Read the stored vectors: half precision, length 1."""
        rows = self._connection.execute(
            "select document_id, embedding::real[] as v from pgrag.embeddings order by 1"
        ).fetchall()
        self.ids = np.array([row["document_id"] for row in rows])
        self.vectors = np.array([row["v"] for row in rows])

    def scores(self, query, allowed):
        """The score (the cosine, at least 0) of every allowed vector."""
        half = np.float16(query).astype(float)
        half = np.float16(half / np.linalg.norm(half)).astype(float)
        cosines = np.maximum(self.vectors @ half, 0)
        scores = dict(zip(self.ids.tolist(), cosines.tolist(), strict=True))
        return {i: score for i, score in scores.items() if allowed is None or i in allowed}


@pytest.fixture(scope="module")
def big(clone):
    """4,000 passages with vectors, in the HNSW index of their model."""
    with clone() as url, psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        register_vector_types(connection)
        pages = [
            page(
                f"{number:03}.md",
                *(
                    document(
                        f"Note {number} {place}",
                        heading="rare" if number % 50 == 7 and place == 3 else "common",
                    )
                    for place in range(PER_PAGE)
                ),
                tags=[
                    tag
                    for tag, every in {"half": 2, "tenth": 10, "hundredth": 100}.items()
                    if number % every == 0
                ],
            )
            for number in range(PAGES)
        ]
        ingest(connection, "big", pages, embed=False)
        run(connection, "register_model", name=MODEL, dimensions=DIMENSIONS)
        pending = run(connection, "pending_embeddings", library="big", model=MODEL)
        vectors = Vectors(connection)
        run(connection, "store_embeddings", library="big", model=MODEL,
            text_hashes=[row["text_hash"] for row in pending],
            vectors=[HalfVector(v) for v in vectors.near_a_centre(len(pending))])  # fmt: skip
        run(connection, "use_model", library="big", model=MODEL)
        vectors.read()
        connection.execute("analyze pgrag.embeddings, pgrag.documents, pgrag.pages")
        yield connection, vectors


def plan(hits):
    [retriever] = [p for p in hits[0]["explanation"]["plans"] if p["retriever"] == "semantic"]
    return retriever["plan"]


def blocks(connection, statement, *arguments):
    """Blocks that a statement reads; run twice, because the first one also reads the catalogue."""
    for _ in range(2):
        [found] = value(
            connection, f"explain (analyze, buffers, format json) {statement}", *arguments
        )
    return found["Plan"]["Shared Hit Blocks"] + found["Plan"]["Shared Read Blocks"]


def recall(big, limit, filters, count=10):
    """The recall of the true nearest over some queries, and the plans."""
    connection, vectors = big
    run(connection, "configure_library", library="big", settings={"exact_limit": limit})
    allowed = None
    if filters is not None:
        rows = connection.execute(
            "select d.document_id from pgrag.documents as d join pgrag.pages as p"
            " on p.page_id = d.page_id where " + value(
                connection, "select pgrag.filter_predicate(%s)", psycopg.types.json.Jsonb(filters)
            )
        )  # fmt: skip
        allowed = {row["document_id"] for row in rows}
    found = total = 0
    plans = set()
    for query in vectors.near_a_centre(15):
        arguments = {"page_decay": 1, "levels": [1, 2]} | ({"filters": filters} if filters else {})
        hits = run(connection, "semantic_search", query="note", library="big", top_k=count,
                   query_embedding=HalfVector(query), explain=True, **arguments)  # fmt: skip
        scores = vectors.scores(query, allowed)
        best = sorted(scores.values(), reverse=True)[:count]
        assert len(hits) == len(best), "as many rows as exist, up to the limit"
        assert set(ids(hits)) <= set(scores)
        found += sum(scores[i] > best[-1] - 1e-5 for i in ids(hits))
        total += len(best)
        plans.add(plan(hits))
    return found / total, plans


class TestIndex:
    """Filters that leave 50, 10, 1 and 0.1 % of 4,000 vectors."""

    FILTERS = (
        None,
        {"tags": "half"},
        {"tags": "tenth"},
        {"tags": "hundredth"},
        {"heading": "rare"},
    )

    @pytest.mark.parametrize("filters", FILTERS, ids=str)
    def test_nearest_are_found_by_the_index_and_few_are_scanned(self, big, filters):
        share, plans = recall(big, 0, filters)
        assert share >= 0.98
        assert plans <= {"hnsw", "hnsw, then exact"}
        share, plans = recall(big, 400, filters)
        assert share >= 0.98
        few = filters is not None and filters != {"tags": "half"}
        assert plans == ({"exact"} if few else {"hnsw"})
        assert recall(big, 20000, filters) == (1.0, {"exact"})

    def test_never_fewer_rows_than_exist(self, big):
        """More rows than the index scans before it gives up."""
        share, _ = recall(big, 0, {"tags": "tenth"}, count=400)
        assert share >= 0.98
        share, _ = recall(big, 0, {"heading": "rare"}, count=50)
        assert share == 1.0

    def test_more_of_the_graph_is_visited_where_words_find_nothing(self, big):
        connection, vectors = big
        run(connection, "configure_library", library="big", settings={"exact_limit": 0})
        query = HalfVector(vectors.near_a_centre(1)[0])
        alone, beside = (
            blocks(
                connection,
                """
                select _pgrag.vector_candidates(
                    r.queries[1].embedding, r.queries[1].model_id, r.target, 10, 0, %s
                )
                from _pgrag.make_request('note', '{"library": "big"}', %s) as r
                """,
                is_alone, query,
            )
            for is_alone in (True, False)
        )  # fmt: skip
        assert alone > 1.5 * beside

    def test_fewer_candidates_visit_less_of_the_graph(self, big):
        connection, vectors = big
        run(connection, "configure_library", library="big", settings={"exact_limit": 0})
        query = HalfVector(vectors.near_a_centre(1)[0])
        few, many = (
            blocks(
                connection,
                """
                select _pgrag.vector_candidates(
                    r.queries[1].embedding, r.queries[1].model_id, r.target, %s, 0, false
                )
                from _pgrag.make_request('note', '{"library": "big"}', %s) as r
                """,
                count, query,
            )
            for count in (40, 80)
        )  # fmt: skip
        assert few < 0.8 * many

    @pytest.mark.parametrize(
        ("function", "words", "is_alone"),
        [("search", "note", False), ("search", "zebras", True), ("semantic_search", "note", True)],
    )
    @pytest.mark.parametrize("library", ["big", None])
    def test_words_find_nothing_or_are_not_searched(self, big, library, function, words, is_alone):
        connection, vectors = big
        run(connection, "configure_library", library="big", settings={"exact_limit": 0})
        said: list[str] = []
        connection.add_notice_handler(lambda notice: said.append(notice.message_primary or ""))
        with connection.transaction(force_rollback=True):
            connection.execute(TOLD)
            run(connection, function, query=words, library=library,
                query_embedding=HalfVector(vectors.near_a_centre(1)[0]))  # fmt: skip
        assert said == [f"alone: {is_alone:d}"]

    def test_settings_of_the_visit_end_and_no_candidate_comes_twice(self, big):
        connection, vectors = big
        run(connection, "configure_library", library="big", settings={"exact_limit": 0})
        show = "select current_setting('hnsw.ef_search')"
        with connection.transaction():
            before = value(connection, show)
            search(connection, "note", query_embedding=HalfVector(vectors.near_a_centre(1)[0]))
            assert value(connection, show) == before
        # The second lexeme has more postings than the filter allows passages.
        connection, _ = big
        connection.execute("set plan_cache_mode = force_generic_plan")
        found = value(
            connection,
            """
            select (_pgrag.keyword_candidates(r.terms, r.target, 100, 30)).document_ids
            from _pgrag.make_request('note 76', %s) as r
            """,
            psycopg.types.json.Jsonb({"library": "big", "filters": {"tags": "half"}}),
        )
        connection.execute("reset plan_cache_mode")
        assert len(found) == len(set(found)) == 100


class TestExact:
    @pytest.fixture
    def guide(self, connection):
        texts = [
            "Drain a node before you upgrade its kernel.", "A bakery sells bread and cakes.",
            "Rotate the keys of the vault every month.", "Evacuating a machine for maintenance.",
            "Cats sleep most of the day.", "Encrypt secrets at rest.",
        ]  # fmt: skip
        ingest(connection, "guide", [page(f"{n}.md", text) for n, text in enumerate(texts)])
        return "guide"

    def test_order_and_scores_are_those_of_the_cosine(self, connection, guide):
        for query in ("remove workloads from a server", "secret management", "pets"):
            hits = run(connection, "semantic_search", query=query, library=guide)
            vector = np.array(value(connection, "select pgrag.embed(%s)::real[]", query))
            rows = connection.execute(
                "select document_id, embedding::real[] as v from pgrag.embeddings"
            ).fetchall()
            cosines = {row["document_id"]: max(float(np.dot(row["v"], vector)), 0) for row in rows}
            assert set(ids(hits)) == set(cosines)
            scores = [cosines[i] for i in ids(hits)]
            assert scores == sorted(scores, reverse=True)
            for hit in hits:
                assert hit["score"] == pytest.approx(cosines[hit["document_id"]], abs=1e-3)
                assert hit["semantic_score"] == hit["score"]
                assert hit["keyword_score"] is None
        assert len(run(connection, "semantic_search", query="pets", library=guide)) == 6
        with refused(connection, "PGR08", "has 256 dimensions, query_embedding has 3"):
            search(connection, "pets", library=guide, query_embedding=HalfVector([1, 2, 3]))
        assert run(connection, "semantic_search", query="ᛞᚨᚷ", library=guide) == []


class TestTwoModels:
    @pytest.fixture
    def guide(self, connection):
        """Two pages, which the small model ranks the other way round."""
        ingest(
            connection, "guide", [page("cat.md", "Cats sleep."), page("node.md", "Drain nodes.")]
        )
        run(connection, "register_model", name="tiny", dimensions=2)
        pending = run(connection, "pending_embeddings", library="guide", model="tiny")
        run(connection, "store_embeddings", library="guide", model="tiny",
            text_hashes=[row["text_hash"] for row in pending],
            vectors=[HalfVector([1, 0]), HalfVector([0, 1])])  # fmt: skip
        return "guide"

    def test_either_can_be_asked_and_a_library_switches_at_once(self, connection, guide):
        ask = {"query": "a pet", "library": guide, "top_k": 1}
        assert keys(run(connection, "semantic_search", **ask)) == ["cat.md"]
        other = {"model": "tiny", "query_embedding": HalfVector([0.1, 9])}
        [hit] = run(connection, "semantic_search", **ask, **other, explain=True)
        assert hit["key"] == "node.md"
        assert hit["explanation"]["semantic"]["model"] == "tiny"
        run(connection, "use_model", library=guide, model="tiny")
        toward_node = HalfVector([0, 1])
        hits = run(connection, "semantic_search", **ask, query_embedding=toward_node)
        assert keys(hits) == ["node.md"]
        run(connection, "use_model", library=guide, model="static-en-de-ru-256")
        assert keys(run(connection, "semantic_search", **ask)) == ["cat.md"]

    def test_new_documents_get_the_vectors_of_both(self, connection, guide):
        ingest(connection, guide, [page("cat.md", "Cats sleep.")], "2.0", embed=False)
        counts = connection.execute(
            "select model_id, count(*) from pgrag.embeddings group by 1 order by 1"
        ).fetchall()
        assert [row["count"] for row in counts] == [3, 3]

    def test_only_a_known_query_is_searched_by_meaning(self, connection, guide, notices):
        run(connection, "use_model", library=guide, model="tiny")
        hits = search(connection, "drain cats", library=guide, explain=True)
        assert {hit["semantic_score"] for hit in hits} == {None}
        assert {hit["explanation"]["alpha"] for hit in hits} == {0}
        assert notices == ["No vector of this query by model 'tiny': searching by keywords only."]
        missing = {"query": " a pet", "library": guide}
        assert run(connection, "missing_query_models", **missing) == [
            {"model_name": "tiny", "words": "a pet"}
        ]
        run(connection, "remember_query_vector", query="a pet ", model="tiny",
            query_embedding=HalfVector([5, 0]))  # fmt: skip
        assert run(connection, "missing_query_models", **missing) == []
        hits = run(connection, "semantic_search", query="a pet", library=guide)
        assert [(hit["key"], hit["score"]) for hit in hits] == [("cat.md", 1.0), ("node.md", 0.0)]

    def test_the_vector_of_a_query_is_that_of_what_was_typed(self, connection, guide, notices):
        """Also where a word is misspelt, unfinished, or a filter of this library."""
        run(connection, "use_model", library=guide, model="tiny")
        for query, more in [
            ("drain nodse", {}), ("drain no", {"prefix": True}), ("drain page:node", {}),
        ]:  # fmt: skip
            run(connection, "remember_query_vector", query=query, model="tiny",
                query_embedding=HalfVector([0, 1]))  # fmt: skip
            [hit, *_] = search(connection, query, library=guide, **more)
            assert (hit["key"], hit["semantic_score"]) == ("node.md", 1.0)
        assert [notice.split("“")[0] for notice in notices] == [
            "Also searched for ", "Read as a filter: page:node.",
        ]  # fmt: skip

    def test_about_so_many_of_the_latest_queries_are_remembered(self, connection, guide):
        for number in range(5):
            # The clock of a transaction stands still.
            connection.execute("update pgrag.query_vectors set used_at = used_at - interval '1 s'")
            run(connection, "remember_query_vector", query=f"query {number}", model="tiny",
                query_embedding=HalfVector([1, number]), capacity=3)  # fmt: skip
        assert value(connection, "select count(*) from pgrag.query_vectors") in (3, 4)
        assert run(connection, "missing_query_models", query="query 4", model="tiny") == []
        assert len(run(connection, "missing_query_models", query="query 0", model="tiny")) == 1

    def test_libraries_with_different_models_are_searched_together(self, connection, guide):
        run(connection, "use_model", library=guide, model="tiny")
        run(connection, "remember_query_vector", query="a pet", model="tiny",
            query_embedding=HalfVector([1, 0]))  # fmt: skip
        ingest(connection, "zoo", [page("lion.md", "Lions sleep.")])
        hits = run(connection, "semantic_search", query="a pet", explain=True)
        models = {hit["key"]: hit["explanation"]["semantic"]["model"] for hit in hits}
        assert models == {"cat.md": "tiny", "node.md": "tiny", "lion.md": "static-en-de-ru-256"}
        with refused(connection, "PGR01", "use 2 models"):
            search(connection, "a pet", query_embedding=HalfVector([1, 0]))
