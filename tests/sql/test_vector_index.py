"""The HNSW index of a model: there from the start, put off by a rule before much is stored."""

import psycopg
import pytest
from library import document, ingest, page, refused, run, search, value
from pgvector import HalfVector
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrag.ground.connections import Database

BUILTIN = "static-en-de-ru-256"
#: The limit of exact scans in these tests.
EXACT_LIMIT = 40


@pytest.fixture
def few(connection):
    """Lower the limit of exact scans to 40 vectors."""
    connection.execute("alter function _pgrag.default_settings() rename to shipped_settings")
    connection.execute(
        "create function _pgrag.default_settings() returns jsonb immutable language sql as"
        f" $$ select _pgrag.shipped_settings() || '{{\"exact_limit\": {EXACT_LIMIT}}}' $$"
    )


def fill(connection, library, count, **options):
    ingest(
        connection,
        library,
        [page(f"{library}.md", *(document(f"Valve {n} of {library}") for n in range(count)))],
        **options,
    )


def state(connection, model=BUILTIN, library=None):
    [row] = run(connection, "vector_index_state", model=model, library=library)
    return row


def place(connection, library, **arguments):
    [row] = run(connection, "place_vectors", library=library, **arguments)
    return row["place_vectors"]


def indexes(connection):
    return sorted(scans(connection))


def scans(connection):
    """How often each index was read in this transaction."""
    rows = connection.execute(
        "select relname as name, pg_stat_get_xact_numscans(oid) as scans"
        " from pg_class where relname ~ '^embeddings_hnsw_'"
    ).fetchall()
    return {row["name"]: row["scans"] for row in rows}


def make(connection, library=None):
    """Build the index as an indexing run does, but in this transaction."""
    statement = state(connection, library=library)["create_statement"]
    connection.execute(statement.replace(" concurrently", ""))


def put_off(connection, **arguments):
    [row] = run(connection, "put_off_vector_index", model=BUILTIN, **arguments)
    return row["put_off_vector_index"]


def plan(connection, library):
    [hit, *_] = search(connection, "valve", library=library, mode="semantic", explain=True)
    [retriever] = [p for p in hit["explanation"]["plans"] if p["retriever"] == "semantic"]
    return retriever["plan"]


class TestOfEveryModel:
    def test_the_built_in_model_has_it_and_a_build_gets_its_memory(self, connection):
        assert state(connection)["valid"] is True
        definition = value(
            connection,
            "select pg_get_indexdef(i.oid) from pg_class as i"
            " join pgrag.embedding_models as m on i.relname = 'embeddings_hnsw_' || m.model_id"
            " where m.name = %s",
            BUILTIN,
        )
        assert "USING hnsw" in definition
        assert "halfvec(256)" in definition
        assert state(connection)["memory"] == "65536kB"
        connection.execute("set maintenance_work_mem = '2GB'")
        assert state(connection)["memory"] == "65536kB"
        fill(connection, "kestrel", 1)
        connection.execute("update pgrag.versions set document_count = 1000000")
        # 1.2 * (2 * 256 + 750) bytes each
        assert state(connection)["memory"] == f"{round(1e6 * 1.2 * 1262 / 1024)}kB"
        connection.execute("update pgrag.libraries set own_vector_index = true")
        assert state(connection)["memory"] == "65536kB"
        assert state(connection, library="kestrel")["memory"] != "65536kB"

    def test_a_registered_model_has_it_until_it_is_put_off(self, connection):
        run(connection, "register_model", name="tiny", dimensions=2)
        assert state(connection, "tiny")["valid"] is True
        fill(connection, "kestrel", 3, embed=False)
        pending = run(connection, "pending_embeddings", library="kestrel", model="tiny")
        run(connection, "store_embeddings", library="kestrel", model="tiny",
            text_hashes=[row["text_hash"] for row in pending],
            vectors=[HalfVector([1, n]) for n in range(len(pending))])  # fmt: skip
        connection.execute("set local enable_seqscan = off; set local enable_sort = off")
        wanted = "select model_id from pgrag.embedding_models where name = 'tiny'"
        model_id = value(connection, wanted)
        planned = connection.execute(
            f"explain select from pgrag.embeddings where model_id = {model_id} and not own_index"
            " order by embedding::halfvec(2) <#> '[1,0]' limit 1"
        )
        assert f"embeddings_hnsw_{model_id}" in str(planned.fetchall())
        run(connection, "register_model", name="tiny", dimensions=2)
        run(connection, "put_off_vector_index", model="tiny", expected=1000)
        run(connection, "register_model", name="tiny", dimensions=2, query_prefix="query: ")
        assert state(connection, "tiny")["valid"] is None

    def test_of_an_unknown_model_or_library(self, connection):
        for function, arguments in {
            "vector_index_state": {}, "put_off_vector_index": {"expected": 1000},
        }.items():  # fmt: skip
            with refused(connection, "PGR09", "no embedding model 'none'"):
                run(connection, function, model="none", **arguments)
        for function, arguments in {
            "vector_index_state": {"model": BUILTIN},
            "put_off_vector_index": {"model": BUILTIN, "expected": 1},
            "place_vectors": {},
        }.items():
            with refused(connection, "PGR02", "no library 'nowhere'"):
                run(connection, function, library="nowhere", **arguments)

    def test_it_is_read_for_many_vectors_and_without_it_all(self, connection, few):
        fill(connection, "large", EXACT_LIMIT + 10)
        fill(connection, "small", 10)
        assert plan(connection, "large") == "hnsw"
        assert plan(connection, "small") == "exact"
        before = run(connection, "semantic_search", query="valve 7", library="large")
        assert put_off(connection, expected=1000, stored=EXACT_LIMIT + 10)
        assert state(connection)["valid"] is None
        assert plan(connection, "large") == "exact"
        assert run(connection, "semantic_search", query="valve 7", library="large") == before


class TestOwn:
    """A large library has its own index; none of its vectors is in the shared one."""

    @pytest.mark.parametrize(
        ("vectors", "expected", "was_large", "is_large"),
        [
            (EXACT_LIMIT, 0, False, False), (EXACT_LIMIT + 1, 0, False, True),
            (EXACT_LIMIT - 9, 10, False, True), (EXACT_LIMIT // 2 + 1, 0, True, True),
            (EXACT_LIMIT // 2, 0, True, False), (EXACT_LIMIT // 2, 1, True, True),
        ],
    )  # fmt: skip
    def test_rule(self, connection, few, vectors, expected, was_large, is_large):
        fill(connection, "small", 5)
        fill(connection, "kestrel", vectors)
        if was_large:
            assert place(connection, "kestrel", expected=1000)
        assert place(connection, "kestrel", expected=expected) is is_large
        assert place(connection, "kestrel", expected=expected) is is_large
        rows = connection.execute(
            "select l.name, l.own_vector_index, array_agg(distinct e.own_index) as own"
            " from pgrag.libraries as l join pgrag.embeddings as e using (library_id)"
            " group by 1, 2 order by 1"
        ).fetchall()
        assert [(row["name"], row["own_vector_index"], row["own"]) for row in rows] == [
            ("kestrel", is_large, [is_large]),
            ("small", False, [False]),
        ]

    def test_it_is_read_alone_and_what_is_stored_later_is_in_it(self, connection, few):
        fill(connection, "large", EXACT_LIMIT + 10)
        before = run(connection, "semantic_search", query="valve 7", library="large")
        assert place(connection, "large")
        assert (state(connection)["owner"], state(connection)["valid"]) == (None, True)
        own = state(connection, library="large")
        assert (own["owner"], own["valid"]) == ("large", None)
        # It is missing as yet, and the shared one has no vectors of the library.
        assert plan(connection, "large") == "exact"
        make(connection, "large")
        assert state(connection, library="large")["valid"] is True
        assert plan(connection, "large") == "hnsw"
        assert run(connection, "semantic_search", query="valve 7", library="large") == before
        connection.execute(state(connection)["drop_statement"].replace(" concurrently", ""))
        assert plan(connection, "large") == "hnsw"
        assert place(connection, "large")
        ingest(connection, "large", [page("more.md", "Another valve.")])
        # Again, with a text that is there already.
        ingest(connection, "large", [page("same.md", "Valve 1 of large")], "2.0", embed=False)
        assert value(connection, "select bool_and(own_index) from pgrag.embeddings")

    @pytest.mark.parametrize("shared", [2, EXACT_LIMIT + 1])
    def test_it_is_read_beside_the_shared_one(self, connection, few, shared):
        """Two libraries with their own indexes, and others that share one."""
        for library in ("large", "larger"):
            fill(connection, library, EXACT_LIMIT + 10)
        for nth in range(2):
            fill(connection, f"other{nth}", shared)
        ask = {"query": "valve 1", "top_k": 90}
        before = run(connection, "semantic_search", **ask)
        for library in ("large", "larger"):
            place(connection, library)
            make(connection, library)
        earlier = scans(connection)
        assert run(connection, "semantic_search", **ask) == before
        read = {name for name, count in scans(connection).items() if count > earlier[name]}
        # Few vectors are scanned, also where they share an index.
        own = {name for name in earlier if name != "embeddings_hnsw_1"}
        assert read == (own if 2 * shared <= EXACT_LIMIT else {*own, "embeddings_hnsw_1"})
        found = {row["library"] for row in before}
        assert found & {"large", "larger"}
        assert found & {"other0", "other1"}
        assert plan(connection, None) == "hnsw"
        # A filter that leaves some of one, and nothing of others.
        ask["filters"] = Jsonb({"key": "other1.md"})
        found = run(connection, "semantic_search", **ask)
        assert len(found) == shared

    def test_the_planner_takes_it_until_its_library_is_gone(self, connection, few):
        fill(connection, "large", EXACT_LIMIT + 10)
        place(connection, "large")
        make(connection, "large")
        connection.execute("set local enable_seqscan = off; set local enable_sort = off")
        connection.execute("set local enable_bitmapscan = off")
        [row] = connection.execute("select library_id as id from pgrag.libraries").fetchall()
        planned = connection.execute(
            "explain select from pgrag.embeddings where model_id = 1"
            f" and library_id = any ('{{{row['id']}}}')"
            " order by embedding::halfvec(256) <#> pgrag.embed('valve')::halfvec(256) limit 1"
        )
        assert f"embeddings_hnsw_1_{row['id']}" in str(planned.fetchall())
        assert len(indexes(connection)) == 2
        connection.execute("create index embeddings_hnsw_1_mine on pgrag.embeddings (covers)")
        run(connection, "remove_library", library="large")
        assert indexes(connection) == ["embeddings_hnsw_1", "embeddings_hnsw_1_mine"]

    def test_it_is_put_off_by_the_same_rule(self, connection, few):
        fill(connection, "other", EXACT_LIMIT + 10)
        fill(connection, "large", 30)
        place(connection, "large", expected=1000)
        make(connection, "large")
        assert not put_off(connection, library="large", expected=9)
        assert state(connection, library="large")["valid"] is True
        assert put_off(connection, library="large", expected=10)
        assert state(connection, library="large")["valid"] is None
        assert state(connection)["valid"] is True

    def test_only_the_owner_of_the_table_moves_vectors(self, connection, few):
        fill(connection, "large", EXACT_LIMIT + 10)
        fill(connection, "secret", EXACT_LIMIT + 10)
        assert place(connection, "secret")
        make(connection, "secret")
        connection.execute("create role pgrag_test_writer in role pgrag_writer")
        run(connection, "grant_libraries", role_name="pgrag_test_writer", libraries=["large"])
        connection.execute("set local role pgrag_test_writer")
        assert place(connection, "large") is False
        assert place(connection, "large", expected=1000) is False


class TestPuttingOff:
    @pytest.mark.parametrize(
        ("vectors", "expected", "stored", "is_put_off"),
        [
            (0, 200, 0, True),
            # Inserting three takes as long as building the index of twelve.
            (30, 10, 0, True),
            (30, 9, 0, False),
            # What the run itself has stored was not there before.
            (30, 25, 15, True),
            (30, 4, 4, False),
            # Searches read the index.
            (EXACT_LIMIT, 1000, 0, True),
            (EXACT_LIMIT + 1, 1000, 0, False),
            (EXACT_LIMIT + 1, 1000, 1, True),
        ],
    )
    def test_rule(self, connection, few, vectors, expected, stored, is_put_off):
        if vectors:
            fill(connection, "kestrel", vectors)
        assert put_off(connection, expected=expected, stored=stored) is is_put_off
        assert (state(connection)["valid"] is None) is is_put_off

    def test_vectors_of_other_models_do_not_count(self, connection, few):
        fill(connection, "kestrel", EXACT_LIMIT + 10)
        run(connection, "register_model", name="tiny", dimensions=2)
        run(connection, "put_off_vector_index", model="tiny", expected=10)
        assert state(connection, "tiny")["valid"] is None
        assert state(connection)["valid"] is True

    def test_only_the_owner_puts_it_off(self, connection):
        run(connection, "register_model", name="before", dimensions=2)
        connection.execute("begin")
        connection.execute("create role pgrag_test_writer")
        connection.execute("grant pgrag_writer to pgrag_test_writer")
        run(connection, "grant_libraries", role_name="pgrag_test_writer", libraries=["*"])
        connection.execute("set local role pgrag_test_writer")
        assert put_off(connection, expected=1000) is False
        assert (state(connection)["valid"], state(connection)["may_build"]) == (True, False)
        connection.execute("rollback")


class TestBesideOtherSessions:
    @pytest.fixture
    def url(self, clone):
        with clone() as url:
            yield url

    @pytest.fixture
    def connection(self, url):
        """A connection outside a transaction."""
        with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
            yield connection

    def test_statements_drop_it_and_make_it_again(self, connection):
        connection.execute(state(connection)["drop_statement"])
        assert state(connection)["valid"] is None
        connection.execute(state(connection)["create_statement"])
        assert state(connection)["valid"] is True

    def test_a_table_in_use_is_not_waited_for(self, connection, url):
        with psycopg.connect(url) as reader:
            reader.execute("select from pgrag.embeddings")
            assert put_off(connection, expected=1000) is False
            assert state(connection)["valid"] is True
        assert put_off(connection, expected=1000) is True

    def test_a_session_that_holds_its_lock_is_seen(self, connection, url):
        lock = f"pgrag vector index {BUILTIN}"
        with Database(url) as other, other.lock(lock):
            assert put_off(connection, expected=1000) is False
        assert put_off(connection, expected=1000) is True
        assert state(connection)["put_off"] is False
        with Database(url) as other, other.lock(lock):
            assert state(connection)["put_off"] is True
        assert state(connection)["put_off"] is False
