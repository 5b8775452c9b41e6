"""Searches are recorded, rated, counted and forgotten, and recording never fails a search."""

import uuid

import psycopg
import pytest
from library import ingest, page, refused, run, search, value
from pgvector import HalfVector
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrag.ground.connections import register_vector_types


@pytest.fixture(scope="module", autouse=True)
def libraries(module_connection):
    pages = [
        page("prime.md", "Prime the pump before the first run.", "Bleed the air from the pump."),
        page("seal.md", "Replace the seal of the pump when it drips."),
    ]
    ingest(module_connection, "pumps", pages, "1.0")
    ingest(module_connection, "valves", [page("valve.md", "Close the valve by hand.")])


def record(connection, query, **options):
    """Search, and record the hits."""
    arguments = options.pop("arguments", {})
    return value(
        connection,
        "select pgrag.record_search(%s, (select coalesce(jsonb_agg(to_jsonb(h)), '[]')"
        " from pgrag.search(query => %s, library => %s, top_k => %s) as h),"
        " client => %s, library => %s, parameters => %s, timings => %s, duration_ms => %s)",
        query, query, options.get("library"), arguments.get("top_k", 10),
        options.get("client", "rest"), options.get("library"), Jsonb(arguments),
        Jsonb(options.get("timings", {})), options.get("duration_ms", 5.0),
    )  # fmt: skip


def count(connection, table):
    return value(connection, f"select count(*) from pgrag.{table}")


def recorded(connection, search_id):
    return value(connection, "select pgrag.search_record(%s)", search_id)


def rate(connection, search_id, rating, **given):
    run(connection, "give_feedback", search_id=search_id, rating=rating, **given)


class TestRecording:
    def test_rows_of_a_search_are_kept_with_their_scores(self, connection):
        hits = search(connection, "prime the pump", library="pumps")
        found = record(connection, "prime the pump", library="pumps", timings={"keyword": 0.4},
                       arguments={"top_k": 10, "after": None}, duration_ms=7.5)  # fmt: skip
        kept = recorded(connection, found)
        assert {k: kept[k] for k in ("client", "query", "library", "hit_count", "duration_ms")} == {
            "client": "rest", "query": "prime the pump", "library": "pumps",
            "hit_count": len(hits), "duration_ms": 7.5,
        }  # fmt: skip
        assert kept["timings"] == {"keyword": 0.4}
        assert kept["parameters"] == {"top_k": 10}, "what was left open is not a parameter"
        assert not kept["continued"]
        assert kept["top_score"] == hits[0]["score"]
        assert [h["rank"] for h in kept["hits"]] == [1, 2, 3][: len(hits)]
        for hit, row in zip(hits, kept["hits"], strict=True):
            for name in ("document_id", "page_id", "score", "keyword_score", "semantic_score"):
                assert row[name] == hit[name]
            assert (row["library"], row["version"], row["page_key"]) == ("pumps", "1.0", hit["key"])

    def test_a_recorded_search_is_kept_with_the_parts_of_its_scores(self, connection):
        [hit, *_] = search(connection, "prime the pump", library="pumps", explain=True)
        row = run(
            connection, "recorded_search", query="prime the pump", library="pumps", client="mcp"
        )[0]
        kept = recorded(connection, row["search_id"])
        assert (kept["client"], kept["library"], kept["version"]) == ("mcp", "pumps", "1.0")
        first = kept["hits"][0]
        assert (first["document_id"], first["page_key"]) == (hit["document_id"], "prime.md")
        assert (first["library"], first["version"]) == ("pumps", "1.0")
        assert first["score"] == hit["score"]
        assert first["passage_score"] == hit["explanation"]["keyword"]["passage_score"]
        assert first["keyword_rank"] == hit["explanation"]["keyword"]["rank"]
        assert kept["timings"].keys() >= {"keyword", "fusion"}

    def test_parts_of_a_score_with_links_are_kept(self, connection):
        given = {"query": "prime the pump", "library": "pumps", "graph": True}
        hits = run(connection, "search", explain=True, **given)
        row = run(connection, "recorded_search", **given)[0]
        again = value(
            connection, "select pgrag.record_search('prime the pump', %s)",
            Jsonb([
                {name: hit[name] for name in ("library", "document_id", "score", "explanation")}
                for hit in hits
            ]),
        )  # fmt: skip
        for found in (row["search_id"], again):
            kept = recorded(connection, found)["hits"]
            exported = value(
                connection,
                "select e -> 'hits' from pgrag.export_searches() as e where e ->> 'search_id' = %s",
                str(found),
            )
            assert kept == exported
            for hit, record in zip(hits, kept, strict=True):
                graph = hit["explanation"]["graph"]
                for part in ("semantic", "edge", "centrality", "type_weight", "edge_share"):
                    assert record["graph"][part] == graph[part]
                assert record["semantic_rank"] == hit["explanation"]["semantic"]["rank"]
                assert record["page_score"] == hit["explanation"]["keyword"]["page_score"]

    def test_a_recorded_search_finds_what_the_search_does(self, connection):
        ask = {"query": "prime the pump", "library": "pumps"}
        modes = {"search": "hybrid", "keyword_search": "keyword", "semantic_search": "semantic"}
        for function, mode in modes.items():
            hits = run(connection, function, **ask)
            found = run(connection, "recorded_search", mode=mode, **ask)
            assert hits
            assert [{**hit, "search_id": None} for hit in found] == hits
        assert run(connection, "recorded_search", query="pump", options=None)
        with refused(connection, "PGR01", "There is no argument query."):
            run(connection, "recorded_search", query="pump", options={"query": "valve"})
        with refused(connection, "PGR01", "options cannot hold top_k."):
            run(connection, "recorded_search", query="pump", top_k=3, options={"top_k": 5})
        for hits in ["null", "7", '"x"', "{}", '[1, "x", null]', '[{"score": "x"}]']:
            connection.execute("select pgrag.record_search('q', %s::jsonb)", [hits])

    def test_a_record_names_the_library_searched_also_when_it_is_gone(self, connection):
        row = run(connection, "recorded_search", query="close the pump")[0]
        kept = recorded(connection, row["search_id"])
        assert kept["library"] is None
        assert {hit["library"] for hit in kept["hits"]} == {"pumps", "valves"}
        found = run(connection, "record_search", query="x", hits=Jsonb([]))[0]["record_search"]
        kept = recorded(connection, found)
        assert (kept["hit_count"], kept["top_score"], kept["hits"]) == (0, None, [])
        found = record(connection, "close the valve", library="valves")
        run(connection, "remove_library", library="valves")
        kept = recorded(connection, found)
        assert (kept["library"], kept["hits"][0]["page_key"]) == ("valves", "valve.md")
        found = run(connection, "record_search", query="x", hits=Jsonb([]))[0]["record_search"]
        assert recorded(connection, found)["library"] == "pumps"

    def test_reading_transactions_are_not_recorded(self, connection, notices):
        connection.execute("set transaction read only")
        assert value(connection, "select pgrag.record_search('q', '[]', client => 'rest')") is None
        assert notices == []

    def test_role_that_only_reads_is_not_recorded(self, connection):
        connection.execute("create role pgrag_test_observed")
        connection.execute("grant select on all tables in schema pgrag to pgrag_test_observed")
        connection.execute("set local role pgrag_test_observed")
        assert value(connection, "select pgrag.record_search('q', '[]')") is None

    def test_role_that_may_add_and_not_remove(self, connection):
        connection.execute(
            "insert into pgrag.searches (client, query, hit_count, at)"
            " values ('rest', 'old', 0, now() - interval '100 days')"
        )
        connection.execute("create role pgrag_test_service in role pgrag_reader")
        connection.execute("set local role pgrag_test_service")
        for _ in range(1000):
            found = value(connection, "select pgrag.record_search('q', '[]')")
            assert found is not None
        rate(connection, found, 3)
        assert count(connection, "searches") == 1000  # its own
        connection.execute("reset role")
        assert count(connection, "searches") == 1001

    def test_failure_to_write_is_a_warning(self, connection, notices):
        connection.execute("alter table pgrag.search_hits add constraint no check (rank > 9)")
        hits = Jsonb([{"score": 1.0}])
        assert value(connection, "select pgrag.record_search('q', %s)", hits) is None
        [notice] = notices
        assert notice.startswith("The search was not recorded:")
        assert count(connection, "searches") == 0, "all or nothing"

    def test_only_records_alone_in_a_transaction_skip_the_wal_flush(self, connect):
        statement = "insert into pgrag.feedback (search_id, rating) values (gen_random_uuid(), 1)"
        connection = connect()
        for client, before, setting in [
            ("rest", "select 1", "off"), ("sql", "select 1", "on"), ("rest", statement, "on"),
        ]:  # fmt: skip
            with connection.transaction(force_rollback=True):
                connection.execute(before)
                run(connection, "record_search", query="q", hits=Jsonb([]), client=client)
                assert value(connection, "select current_setting('synchronous_commit')") == setting


class TestRetention:
    def age(self, connection, days):
        connection.execute("update pgrag.searches set at = at - make_interval(days => %s)", [days])

    def test_old_searches_are_removed_with_hits_and_feedback(self, connection):
        # Otherwise one record in a hundred removes the old ones itself.
        connection.execute("select setseed(0.5)")
        old = record(connection, "prime the pump", library="pumps")
        rate(connection, old, 5)
        self.age(connection, 91)
        new = record(connection, "seal", library="pumps")
        assert run(connection, "forget_searches") == [{"forget_searches": 1}]
        for table in ("searches", "search_hits"):
            assert value(
                connection, f"select array_agg(distinct search_id) from pgrag.{table}"
            ) == [new]
        assert count(connection, "feedback") == 0

    def test_the_retention_is_stored_in_the_database(self, connection):
        assert value(connection, "select pgrag.search_retention()") == 90
        record(connection, "seal")
        self.age(connection, 10)
        run(connection, "keep_searches", days=7)
        assert value(connection, "select pgrag.forget_searches()") == 1
        record(connection, "seal")
        self.age(connection, 10_000)
        connection.execute("select pgrag.keep_searches(null)")
        assert value(connection, "select pgrag.search_retention()") is None
        assert value(connection, "select pgrag.forget_searches()") == 0
        assert value(connection, "select pgrag.forget_searches('0')") == 1

    def test_recording_forgets_a_few_of_the_oldest(self, connection):
        connection.execute(
            "insert into pgrag.searches (client, query, hit_count, at)"
            " select 'rest', 'q', 0, now() - make_interval(days => 100 + n)"
            " from generate_series(1, 500) as n"
        )
        old = "select count(*) from pgrag.searches where at < now() - interval '90 days'"
        # One in a hundred does it: after so many, there was one.
        for _ in range(3000):
            connection.execute("select pgrag.record_search('q', '[]')")
            if value(connection, old) < 500:
                break
        assert value(connection, old) == 300
        assert value(connection, "select max(now() - at) from pgrag.searches").days == 400

    def test_locked_searches_are_skipped(self, connect):
        one, other = connect(), connect()
        found = value(one, "select pgrag.record_search('q', '[]')")
        other.execute("set lock_timeout = '2s'")
        with one.transaction():
            one.execute("select from pgrag.searches where search_id = %s for update", [found])
            assert value(other, "select pgrag.forget_searches('0')") == 0
        assert value(other, "select pgrag.forget_searches('0')") == 1


class TestFeedback:
    def test_hits_are_rated_often_and_unknown_ones_are_refused(self, connection):
        found = record(connection, "prime the pump", library="pumps")
        [hit, *_] = search(connection, "prime the pump", library="pumps")
        rate(connection, found, 4, comment="  good  ")
        for rating in (5, 2):
            rate(connection, found, rating, document_id=hit["document_id"])
        kept = recorded(connection, found)["feedback"]
        assert [(f["rating"], f["document_id"], f["comment"]) for f in kept] == [
            (4, None, "good"), (5, hit["document_id"], None), (2, hit["document_id"], None),
        ]  # fmt: skip
        found = record(connection, "close the valve", library="valves")
        [other, *_] = search(connection, "seal", library="pumps")
        with refused(connection, "PGR14", "There is no recorded search"):
            rate(connection, uuid.uuid4(), 3)
        with refused(connection, "PGR14", "There is no recorded search"):
            run(connection, "search_record", search_id=uuid.uuid4())
        with refused(connection, "PGR05", "is not a hit of search", "one of its hits"):
            rate(connection, found, 3, document_id=other["document_id"])

    def test_ratings_become_judgements(self, connection):
        hits = {h["key"]: h for h in search(connection, "pump", library="pumps")}
        for query, key, rating in [
            ("Prime  the PUMP", "prime.md", 5), ("prime the pump", "prime.md", 4),
            ("prime the pump", "seal.md", 1), ("seal pump", "seal.md", 3),
        ]:  # fmt: skip
            found = record(connection, query, library="pumps")
            rate(connection, found, rating, document_id=hits[key]["document_id"])
            rate(connection, found, 5)
        found = [
            (row["query"], row["page_key"], row["grade"], row["mean_rating"], row["ratings"])
            for row in run(connection, "judgements_from_feedback", library=" Pumps")
        ]
        # PostgreSQL rounds the mean of 4 and 5 up.
        assert found == [
            ("prime the pump", "prime.md", 3, 4.5, 2),
            ("prime the pump", "seal.md", 0, 1.0, 1),
            ("seal pump", "seal.md", 1, 3.0, 1),
        ]
        assert run(connection, "judgements_from_feedback", library="valves") == []


class TestMetrics:
    @pytest.fixture
    def observed(self, connection):
        """Four searches today, a further page of one, and one of the day before."""
        made = [
            record(connection, "prime the pump", library="pumps", duration_ms=10.0),
            record(connection, " Prime  the pump", library="pumps", duration_ms=20.0),
            value(
                connection,
                "select pgrag.record_search('zzzz', '[]', 'rest', 'pumps',"
                " parameters => '{\"fusion\": \"rrf\"}', duration_ms => 30)",
            ),
            record(connection, "close the valve", library="valves", duration_ms=40.0),
        ]  # fmt: skip
        connection.execute(
            "select pgrag.record_search('prime the pump', '[]', 'rest', 'pumps',"
            ' parameters => \'{"after": "0.1:1"}\', duration_ms => 100)'
        )
        rate(connection, made[0], 5)
        rate(connection, made[0], 2)
        yesterday = record(connection, "seal", library="pumps", duration_ms=1.0)
        connection.execute(
            "update pgrag.searches set at = at - interval '24 h' where search_id = %s", [yesterday]
        )
        return made

    def test_days_libraries_and_other_periods(self, connection, observed):
        rows = run(connection, "search_metrics", days=7)
        assert [(r["library_name"], r["searches"]) for r in rows] == [
            ("pumps", 3), ("valves", 1), ("pumps", 1),
        ]  # fmt: skip
        today = rows[0]
        assert today["starts_on"] > rows[2]["starts_on"]
        assert today["empty_share"] == pytest.approx(1 / 3)
        latency = [today[name] for name in ("p50_ms", "p95_ms", "max_ms")]
        assert latency == pytest.approx([25.0, 89.5, 100.0])
        assert today["mean_rating"] == 3.5
        assert today["feedback_share"] == pytest.approx(1 / 3)
        top = search(connection, "prime the pump", library="pumps")[0]["score"]
        assert today["mean_top_score"] == pytest.approx(top), "not of what is fused by ranks"
        [row] = run(connection, "search_metrics", days=7, library="Pumps", period="all")
        assert row["searches"] == 4
        months = run(connection, "search_metrics", days=7, period="month")
        assert {row["starts_on"].day for row in months} == {1}
        days = [row["starts_on"] for row in run(connection, "search_metrics")]
        connection.execute("set local timezone = 'Pacific/Kiritimati'")
        assert [row["starts_on"] for row in run(connection, "search_metrics")] == days

    def test_popular_empty_and_slowest_queries_of_known_libraries(self, connection, observed):
        rows = run(connection, "popular_queries", library="pumps")
        assert (rows[0]["query"], rows[0]["searches"]) == ("prime the pump", 2)
        assert rows[0]["mean_rating"] == 3.5
        assert rows[0]["median_ms"] == 15.0
        rows = run(connection, "empty_queries")
        assert [(r["query"], r["library_name"], r["searches"]) for r in rows] == [
            ("zzzz", "pumps", 1)
        ], "the end of a list is not an empty search"
        rows = run(connection, "search_history", slowest=True, top_k=2)
        assert [r["duration_ms"] for r in rows] == [100.0, 40.0]
        rows = run(connection, "search_history", library="pumps")
        assert rows[-1]["query"] == "seal"
        means = {r["search_id"]: r["mean_rating"] for r in rows if r["mean_rating"] is not None}
        rows = run(connection, "search_history", library="pumps", rated=True)
        assert {r["search_id"]: r["mean_rating"] for r in rows} == means != {}
        for function in ("search_metrics", "popular_queries", "empty_queries", "search_history"):
            with refused(connection, "PGR02", "There is no library 'pump'", "pumps"):
                run(connection, function, library="pump")

    @pytest.mark.parametrize(("status", "count"), [("cancelled", 0), ("not_in_documentation", 1)])
    def test_an_answer_that_came_to_nothing_is_no_empty_search(self, connection, status, count):
        search_id = value(connection, "select pgrag.record_search('tea', '[]', library => 'pumps')")
        run(connection, "record_answer", search_id=search_id, question="tea", status=status,
            answer="", library="pumps")  # fmt: skip
        assert len(run(connection, "empty_queries")) == count
        [row] = run(connection, "popular_queries")
        [metrics] = run(connection, "search_metrics")
        assert row["empty_share"] == metrics["empty_share"] == count

    def test_export_has_everything_and_libraries_that_are_gone_count(self, connection, observed):
        rows = [r["export_searches"] for r in run(connection, "export_searches")]
        assert len(rows) == 6
        assert rows[0]["query"] == "seal"
        assert [len(r["feedback"]) for r in rows if r["search_id"] == str(observed[0])] == [2]
        assert all(len(r["hits"]) == r["hit_count"] for r in rows)
        [only] = run(connection, "export_searches", library="valves")
        assert only["export_searches"]["query"] == "close the valve"
        since = value(connection, "select now() - interval '1 h'")
        assert len(run(connection, "export_searches", until=since)) == 1
        assert len(run(connection, "export_searches", since=since)) == 5
        run(connection, "remove_library", library="valves")
        [row] = run(connection, "search_metrics", library="valves")
        assert row["searches"] == 1


class TestQueryVectors:
    @pytest.fixture(autouse=True)
    def model(self, connection):
        run(connection, "register_model", name="tiny", dimensions=2)
        connection.execute(
            "insert into pgrag.embeddings"
            " (library_id, document_id, model_id, version_id, page_id, covers, embedding)"
            " select d.library_id, d.document_id, m.model_id, d.version_id, d.page_id, d.covers,"
            " case when d.content like '%%seal%%' then '[1, 0]' else '[0, 1]' end::public.halfvec"
            " from pgrag.documents as d cross join pgrag.embedding_models as m"
            " where m.name = 'tiny' and d.covers > 0"
        )
        run(connection, "use_model", library="pumps", model="tiny")

    def remember(self, connection, query, vector, **options):
        run(connection, "remember_query_vector", query=query, model="tiny",
            query_embedding=HalfVector(vector), **options)  # fmt: skip

    def is_known(self, connection, query):
        return run(connection, "missing_query_models", query=query, library="pumps") == []

    def best(self, connection, query):
        return run(connection, "semantic_search", query=query, library="pumps")[0]["key"]

    def test_vectors_of_repeated_queries_stay(self, connection):
        for number in range(3):
            self.remember(connection, f"query {number}", [1, number])
        connection.execute("update pgrag.query_vectors set used_at = used_at - interval '2 h'")
        run(connection, "recorded_search", query="query 0", library="pumps")
        for number in range(3, 5):
            self.remember(connection, f"query {number}", [1, number], capacity=3)
        assert [n for n in range(5) if self.is_known(connection, f"query {n}")] == [0, 3, 4]

    def test_recorded_search_by_another_model_keeps_its_vector(self, connection):
        self.remember(connection, "type:guide what drips", [1, 0])
        connection.execute("update pgrag.query_vectors set used_at = used_at - interval '2 h'")
        run(connection, "search", query="what drips", library="pumps")
        old = "select count(*) from pgrag.query_vectors where used_at < now() - interval '1 h'"
        assert value(connection, old) == 1, "a search that only reads marks nothing"
        run(connection, "recorded_search", query="what drips", library="pumps")
        assert value(connection, old) == 0

    def test_writers_do_not_wait_for_each_other(self, database_url):
        with (
            psycopg.connect(database_url, row_factory=dict_row) as one,
            psycopg.connect(database_url, row_factory=dict_row) as other,
        ):
            for connection in (one, other):
                register_vector_types(connection)
                connection.commit()
            run(one, "register_model", name="tiny", dimensions=2)
            for number in range(4):
                self.remember(one, f"query {number}", [1, number])
            one.commit()
            other.execute("set lock_timeout = '2s'")
            # Each has an old vector in hand that the other one would remove.
            self.remember(one, "query 0", [1, 0], capacity=4)
            self.remember(other, "query 1", [1, 1], capacity=4)
            self.remember(one, "query 5", [1, 5], capacity=1)
            self.remember(other, "query 6", [1, 6], capacity=1)
            one.commit()
            other.commit()
            self.remember(one, "query 7", [1, 7], capacity=1)
            assert count(one, "query_vectors") == 1

    def test_reindexing_is_seen_at_once(self, connection):
        self.remember(connection, "what drips", [1, 0])
        assert self.best(connection, "what drips") == "seal.md"
        ingest(connection, "pumps", [page("seal.md", "Seals are gone.")], "1.0", embed=False)
        [pending] = run(connection, "pending_embeddings", library="pumps", model="tiny")
        run(connection, "store_embeddings", library="pumps", model="tiny",
            text_hashes=[pending["text_hash"]], vectors=[HalfVector([-1, 0])])  # fmt: skip
        assert self.best(connection, "what drips") == "prime.md"

    @pytest.mark.parametrize(
        "change",
        [
            "select pgrag.register_model('tiny', 2, query_prefix => 'query: ')",
            "update pgrag.embedding_models set checksum = 'another' where name = 'tiny'",
        ],
    )
    def test_replaced_model_does_not_know_old_vectors(self, connection, change):
        self.remember(connection, "what drips", [1, 0])
        assert self.is_known(connection, "what drips")
        connection.execute(change)
        assert not self.is_known(connection, "what drips")
        self.remember(connection, "what drips", [0, 1])
        assert self.best(connection, "what drips") == "prime.md"

    def test_a_new_library_of_the_same_name_uses_its_own_model(self, connection):
        self.remember(connection, "what drips", [1, 0])
        run(connection, "remove_library", library="pumps")
        ingest(connection, "pumps", [page("drip.md", "Taps drip.")])
        [hit] = run(connection, "semantic_search", query="what drips", library="pumps")
        assert hit["key"] == "drip.md"
        assert self.is_known(connection, "what drips"), "its model is the built-in one"

    def test_limit_holds_in_one_transaction_and_dimensions_fit(self, connection):
        with refused(connection, "PGR08", "Model 'tiny' has 2 dimensions, query_embedding has 3."):
            self.remember(connection, "q", [1, 2, 3])
        for number in range(40):
            self.remember(connection, f"query {number}", [1, number], capacity=10)
        assert count(connection, "query_vectors") == 10
        known = [n for n in range(40) if self.is_known(connection, f"query {n}")]
        assert known == list(range(30, 40)), "those used last"
