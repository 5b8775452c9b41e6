"""A role sees the libraries that were granted to it, and nothing tells of the others."""

import re

import psycopg
import pytest
from library import ingest, keys, page, refused, run, search, value
from psycopg.types.json import Jsonb

from pgrag.service.doctor import findings

CANARY = "quetzalcoatlus"
OWNED = """
select k.name from _pgrag.kinds_of_tables() as k where k.kind = 'library'
"""


@pytest.fixture(scope="module")
def tenants(module_connection):
    """The libraries "ours" and "theirs", which holds the canary everywhere."""
    connection = module_connection
    with connection.transaction(force_rollback=True):
        ingest(connection, "ours", [
            page("guide.md", "Drain a node before you upgrade its kernel.", title="Guide"),
            page("other.md", "Something else about nodes.", title="Other"),
            page("short.md", "Kubelet kubelet kubelet.", title="Kubelet"),
        ])  # fmt: skip
        ingest(connection, "theirs", [
            page(
                f"{CANARY}.md", f"Drain a node: {CANARY}.", f"See the {CANARY} of nodes.",
                title=f"The {CANARY}", tags=[CANARY], type=CANARY, path=[CANARY, "Nodes"],
                url=f"/{CANARY}", edges=[],
                front_matter={"title": f"The {CANARY}", CANARY: CANARY},
            ),
        ], f"{CANARY}-1")  # fmt: skip
        run(connection, "set_synonyms", library="theirs", synonyms={CANARY: ["pterosaur"]})
        queries = Jsonb([{"id": "1", "text": CANARY, "judgements": {f"{CANARY}.md": 1}}])
        named = {"name": f"{CANARY}-set", "library": "theirs"}
        run(connection, "import_evaluation_set", **named, queries=queries)
        run(connection, "run_evaluation", evaluation_set=f"{CANARY}-set")
        connection.execute("create role tenant_reader in role pgrag_reader")
        connection.execute("create role tenant_writer in role pgrag_writer")
        for role in ("tenant_reader", "tenant_writer"):
            run(connection, "grant_libraries", role_name=role, libraries=["ours"])
        yield connection


@pytest.fixture
def connection(tenants):
    with tenants.transaction(force_rollback=True):
        yield tenants


@pytest.fixture
def reader(connection):
    # As the session of a login role: its own session_user, not that of the owner.
    connection.execute("set local session authorization tenant_reader")
    return connection


@pytest.fixture
def writer(connection):
    connection.execute("set local session authorization tenant_writer")
    return connection


def service(connection, libraries, role="pgrag_reader"):
    """What a service does for a key."""
    connection.execute(
        "select set_config('pgrag.library_ids', %s, true), set_config('role', %s, true),"
        " set_config('pgrag.caller', 'key of a test', true)",
        [libraries, role],
    )


def library_id(connection, name):
    return value(connection, "select library_id from pgrag.libraries where name = %s", name)


def owned(connection):
    return [row["name"] for row in connection.execute(OWNED)]


def test_a_reader_reads_everything_of_its_libraries(reader):
    hits = search(reader, "drain a node", snippets=True, explain=True)
    assert {hit["library"] for hit in hits} == {"ours"}
    assert hits[0]["key"] == "guide.md"
    assert keys(search(reader, '"drain a node"', library="ours")) == ["guide.md"]
    assert CANARY not in repr(hits)
    [hit, *_] = search(reader, "drain a node", library="ours", snippets=True, explain=True)
    assert hit["semantic_score"] > 0
    document_id, page_id = hit["document_id"], hit["page_id"]
    for function, arguments in {
        "keyword_search": {"query": "drain", "filters": {"type": None}},
        "semantic_search": {"query": "drain"},
        "context": {"query": "drain", "parents": True, "siblings": 1},
        "library_versions": {"library": "ours"},
        "resolve_version": {"library": "ours"},
        "pages": {"library": "ours"},
        "reading_state": {"library": "ours"},
        "page": {"page_id": page_id},
        "outline": {"page_id": page_id},
        "adjacent_pages": {"page_id": page_id},
        "page_versions": {"page_id": page_id},
        "link_targets": {"page_id": page_id},
        "matched_words": {"page_id": page_id, "query": "drain"},
        "document": {"document_id": document_id},
        "parent": {"document_id": document_id},
        "ancestors": {"document_id": document_id},
        "children": {"document_id": document_id},
        "siblings": {"document_id": document_id},
        "expand_documents": {"document_ids": [document_id], "scores": [0.5]},
        "pending_embeddings": {"library": "ours"},
    }.items():
        run(reader, function, **arguments)


def test_without_tables_a_role_reads_nothing(connection):
    connection.execute("create role tenant_stranger; set local role tenant_stranger")
    with refused(connection, "42501", "permission denied for table"):
        search(connection, "drain a node", library="ours")


def test_hits_and_scores_are_those_without_row_security(connection):
    arguments = {"query": "upgrade a node", "library": "ours", "explain": True}
    before = [run(connection, name, **arguments) for name in ("search", "keyword_search")]
    connection.execute("set local session authorization tenant_reader")
    assert [run(connection, name, **arguments) for name in ("search", "keyword_search")] == before


def test_rows_of_other_libraries_are_in_no_table(connection):
    tables = owned(connection)
    filled = [
        name for name in tables if value(connection, f"select count(*) from pgrag.{name}") > 0
    ]
    assert {"documents", "pages", "synonyms", "evaluation_results", "evaluation_runs"} <= {*filled}
    connection.execute("set local session authorization tenant_reader")
    for name in tables:
        rows = connection.execute(f"select t::text as row from pgrag.{name} as t").fetchall()
        assert CANARY not in repr(rows), name


def test_another_library_is_as_one_that_does_not_exist(reader):
    def complaint(**arguments):
        with pytest.raises(psycopg.Error) as caught, reader.transaction():
            search(reader, "drain", **arguments)
        diagnostic = caught.value.diag
        return f"{diagnostic.sqlstate} {diagnostic.message_primary} {diagnostic.message_hint}"

    assert complaint(library="theirs") == complaint(library="nowhere").replace("nowhere", "theirs")
    assert "theirs" not in complaint(library="their")  # no near name
    for function, arguments in {
        "libraries": {},
        "find_libraries": {"query": "theirs: drain a node"},
        "suggest": {"query": f"{CANARY[:-1]} node"},
        "synonyms": {"library": "ours"},
        "facets": {"query": "node"},
        "evaluation_sets": {},
        "evaluation_runs": {},
        "explain_search": {"query": CANARY},
        "granted_libraries": {},
        "search_pages": {"query": "node"},
        "context": {"query": "node"},
    }.items():
        told = repr(run(reader, function, **arguments))
        if function == "explain_search":
            told = told.replace(f"'{CANARY}'", "")  # the words of the query
        assert CANARY not in told, function
        assert "theirs" not in told, function


def test_its_ids_lead_nowhere(connection):
    [hit] = search(connection, CANARY, library="theirs", top_k=1)
    connection.execute("set local session authorization tenant_reader")
    for function, name in {
        "document": "document_id",
        "parent": "document_id",
        "siblings": "document_id",
        "page": "page_id",
        "outline": "page_id",
        "adjacent_pages": "page_id",
        "page_versions": "page_id",
        "link_targets": "page_id",
    }.items():
        with pytest.raises(psycopg.Error) as caught, connection.transaction():
            run(connection, function, **{name: hit[name]})
        assert caught.value.sqlstate in {"PGR04", "PGR05"}, function
        assert CANARY not in str(caught.value)


@pytest.mark.parametrize("setting", ["*", "{1,2,3,4,5,6,7,8,9}"])
def test_settings_of_a_service_give_nothing_to_others(reader, setting):
    reader.execute("select set_config('pgrag.library_ids', %s, true)", [setting])
    reader.execute("select set_config('pgrag.caller', 'somebody', true)")
    assert [row["library"] for row in run(reader, "libraries")] == ["ours"]
    assert value(reader, "select _pgrag.caller()") == "tenant_reader"


def test_narrowing_finds_nothing_of_others(connection):
    # A library of theirs whose id has the bits of ours, so that a forged lexeme would lead there.
    ours, other = library_id(connection, "ours"), library_id(connection, "theirs")
    for number in range(64):
        if other & ours == ours:
            break
        ingest(connection, f"theirs-{number}", [page("forged.md", f"Drain {CANARY}.")])
        other = library_id(connection, f"theirs-{number}")
    assert other & ours == ours
    theirs = {
        row["document_id"]
        for row in connection.execute(
            "select document_id from pgrag.impacts where library_id <> %s", [ours]
        ).fetchall()
    }
    [row] = connection.execute(
        "select array_agg(distinct i.version_id)::text as versions,"
        " array_agg(distinct k.key & (1::bigint << 31) - 1)::text as lexemes"
        " from pgrag.impacts as i"
        " cross join lateral unnest(_pgrag.posting_keys(i.version_id, i.weights)) as k (key)"
    ).fetchall()
    strong = {
        row["document_id"]
        for row in connection.execute(
            "select i.document_id from pgrag.impacts as i"
            " cross join lateral regexp_matches(i.weights::text, ':([^,}]+)', 'g') as m (found)"
            " where i.library_id = %s and m.found[1]::real >= _pgrag.strong_impact()",
            [ours],
        ).fetchall()
    }
    connection.execute("set local session authorization tenant_reader")
    for query in (f"'@l{other}'", f"'{CANARY}'", f"'@l{other}' | 'node'", f"!'{CANARY}x'"):
        connection.execute("select set_config('pgrag.narrowing', %s, true)", [query])
        rows = connection.execute("select document_id from _pgrag.matching_documents").fetchall()
        assert {row["document_id"] for row in rows}.isdisjoint(theirs)
    found = "select document_id from _pgrag.matching_impacts"
    assert not connection.execute(found).fetchall(), "nothing is asked for"
    connection.execute(
        "select set_config('pgrag.narrowing_versions', %s, true),"
        " set_config('pgrag.narrowing_lexemes', %s, true),"
        " set_config('pgrag.lexemes_beside', %s, true)",
        [row["versions"], row["lexemes"], row["lexemes"]],
    )
    rows = connection.execute(found).fetchall()
    assert {row["document_id"] for row in rows}.isdisjoint(theirs)
    assert rows, "what the caller may see is found by its lexemes"
    for setting in ("narrowing_lexemes", "lexemes_beside"):
        connection.execute(
            "select set_config(%s, array(select k from unnest(%s::bigint[]) as k"
            " where k >= 1 << 30)::text, true)",
            [f"pgrag.{setting}", row["lexemes"]],
        )
    found_by_strong = {row["document_id"] for row in connection.execute(found).fetchall()}
    assert found_by_strong == strong & {row["document_id"] for row in rows}
    assert found_by_strong
    assert len(found_by_strong) < len(rows)
    connection.execute(
        "select set_config('pgrag.narrowing_lexemes', %s, true),"
        " set_config('pgrag.lexemes_beside', %s, true)",
        [row["lexemes"], row["lexemes"]],
    )
    connection.execute("select set_config('pgrag.title_lexemes', %s, true)", [row["lexemes"]])
    occurring = "select count(*) as count from _pgrag.version_lexemes"
    before = value(connection, occurring)
    assert before
    # Ids with the bits of other versions, which a caller may make of what it sees.
    for setting in ("narrowing_lexemes", "lexemes_beside", "title_lexemes"):
        connection.execute(
            "select set_config(%s, array(select k | (v << 31) from unnest(%s::bigint[]) as k"
            " cross join generate_series(0::bigint, 255) as v)::text, true)",
            [f"pgrag.{setting}", row["lexemes"]],
        )
    forged = connection.execute(found).fetchall()
    assert {row["document_id"] for row in forged} == {row["document_id"] for row in rows}
    assert value(connection, occurring) == 256 * before
    connection.execute("set local pgrag.lexemes_beside = '{1}'")
    assert not connection.execute(found).fetchall()


def test_places_are_told_of_visible_passages_alone(connection):
    """The view reads with the rights of its owner."""
    places = "select array_agg(distinct library order by library) from _pgrag.passages_in_place"
    assert value(connection, places) == ["ours", "theirs"]
    service(connection, f"{{{library_id(connection, 'theirs')}}}")
    assert value(connection, places) == ["theirs"]
    connection.execute("reset role")
    connection.execute("set local session authorization tenant_reader")
    assert value(connection, places) == ["ours"]


@pytest.mark.parametrize("view", ["passages", "pages_now", "libraries_overview"])
def test_views_for_analysts_have_the_rows_of_their_reader(connection, view):
    libraries = f"select array_agg(distinct v.library order by v.library) from pgrag.{view} as v"
    assert value(connection, libraries) == ["ours", "theirs"]
    connection.execute("set local session authorization tenant_reader")
    assert value(connection, libraries) == ["ours"]


def test_views_of_searches_have_those_of_their_reader(connection):
    for caller in ("tenant_reader", "tenant_writer"):
        connection.execute(
            "insert into pgrag.searches (client, query, library, hit_count, caller)"
            " values ('rest', 'kernel panic codes', 'ours', 0, %s)",
            [caller],
        )
    counts = (
        "select (select sum(s.searches) from pgrag.searches_by_day as s) as a,"
        " (select sum(g.searches) from pgrag.gaps_now as g) as b,"
        " (select sum(o.searches) from pgrag.libraries_overview as o) as c"
    )
    assert [*connection.execute(counts).fetchone().values()] == [2, 2, 2]
    connection.execute("set local session authorization tenant_reader")
    assert [*connection.execute(counts).fetchone().values()] == [1, 1, 1]


def test_a_role_that_bypasses_row_security_finds_everything(connection):
    arguments = {"query": "drain a node", "explain": True}
    hits = run(connection, "search", **arguments)
    assert {hit["library"] for hit in hits} == {"ours", "theirs"}
    connection.execute("create role tenant_unrestricted bypassrls in role pgrag_reader")
    connection.execute("set local session authorization tenant_unrestricted")
    assert run(connection, "search", **arguments) == hits


def test_a_search_asks_for_grants_a_bounded_number_of_times(connection):
    """Each time costs some 10 microseconds; every table of a statement that has a policy asks."""
    connection.execute("set local track_functions = 'all'")
    connection.execute("set local session authorization tenant_reader")
    search(connection, "drain a node", library="ours")
    connection.execute("reset session authorization")
    asked = value(
        connection,
        "select sum(calls) from pg_stat_xact_user_functions where funcname = 'visible_libraries'",
    )
    assert 1 <= asked <= 11


def test_words_are_missed_in_titles_and_texts_alike(connection):
    occurring = """
        select o.anywhere || o.in_titles as found
        from (select array_agg(v.version_id) as ids from pgrag.versions as v) as every
        cross join lateral (
            select array[_pgrag.lexeme_id('english', %s)]::bigint[] as ids
        ) as lexeme
        cross join lateral _pgrag.occurring_lexemes(every.ids, lexeme.ids, lexeme.ids) as o
    """
    # As if each text were the title above it.
    connection.execute("update pgrag.impacts set title_weights = weights")
    connection.execute("set local session authorization tenant_reader")
    assert len(value(connection, occurring, "kernel")) == 2
    assert value(connection, occurring, CANARY) == []


@pytest.mark.parametrize(("view", "index", "condition"), [
    ("documents", "documents_search", "search @@ 'node'::tsquery"),
    ("impacts", "impacts_keys", "_pgrag.posting_keys(version_id, weights) && '{1}'::bigint[]"),
])  # fmt: skip
def test_the_barrier_uses_the_index(reader, view, index, condition):
    """Else each search would read every document that its caller may see."""
    reader.execute("set local enable_seqscan = off")
    reader.execute("set local enable_indexscan = off")
    reader.execute("set local pgrag.narrowing = 'node'")
    reader.execute("set local pgrag.narrowing_lexemes = '{1}'")
    plan = reader.execute(f"explain select document_id from _pgrag.matching_{view}").fetchall()
    assert f"Bitmap Index Scan on {index}" in repr(plan)
    # … and without it could not.
    plan = reader.execute(
        f"explain select document_id from pgrag.{view} where {condition}"
    ).fetchall()
    assert index not in repr(plan)


def test_what_narrows_is_declared_parallel_unsafe(connection):
    """A setting cannot change while a plan runs in parallel."""
    rows = connection.execute(
        "select format('%s.%s', pronamespace::regnamespace, proname) as name, prosrc as source,"
        " proparallel as parallel from pg_proc"
        " where pronamespace in ('pgrag'::regnamespace, '_pgrag'::regnamespace)"
    ).fetchall()
    sources = {row["name"]: row["source"] for row in rows}
    reaching = {name for name, source in sources.items() if "'pgrag.narrowing', query" in source}
    assert reaching
    while more := {
        name
        for name, source in sources.items()
        if name not in reaching
        and any(re.search(rf"\b{re.escape(one)}\(", source) for one in reaching)
    }:
        reaching |= more
    public = {row["name"] for row in rows if row["name"].startswith("pgrag.")}
    assert {
        row["name"] for row in rows if row["name"] in reaching & public and row["parallel"] != "u"
    } == set()


def test_a_service_sees_what_it_names(connection):
    ours, other = library_id(connection, "ours"), library_id(connection, "theirs")
    for setting, seen in {
        f"{{{ours}}}": ["ours"],
        f"{{{other}}}": ["theirs"],
        f"{{{ours},{other}}}": ["ours", "theirs"],
        "{}": [],
        "*": ["ours", "theirs"],
    }.items():
        with connection.transaction(force_rollback=True):
            service(connection, setting)
            assert [row["library"] for row in run(connection, "libraries")] == seen
            hits = search(connection, "drain a node") if seen else []
            assert {hit["library"] for hit in hits} == {*seen}


def test_an_administrator_and_the_owner_see_everything(connection):
    connection.execute("create role tenant_admin in role pgrag_admin")
    assert len(run(connection, "libraries")) == 2
    connection.execute("set local session authorization tenant_admin")
    assert len(run(connection, "libraries")) == 2
    assert {hit["library"] for hit in search(connection, "drain a node")} == {"ours", "theirs"}
    run(connection, "configure_library", library="theirs", settings={"alpha": 0.5})


def test_every_library_can_be_granted(connection):
    run(connection, "grant_libraries", role_name="tenant_reader", libraries=["*"])
    connection.execute("set local session authorization tenant_reader")
    assert len(run(connection, "libraries")) == 2
    assert CANARY in repr(search(connection, CANARY))
    assert run(connection, "granted_libraries") == [
        {"role_name": "tenant_reader", "library": "*"},
        {"role_name": "tenant_reader", "library": "ours"},
    ]


def test_grants_are_taken_back_and_go_with_the_library(connection):
    run(connection, "grant_libraries", role_name="tenant_reader", libraries=["Theirs", "*"])
    run(connection, "revoke_libraries", role_name="tenant_reader", libraries=["*", "ours"])
    granted = [row for row in run(connection, "granted_libraries") if "reader" in row["role_name"]]
    assert granted == [{"role_name": "tenant_reader", "library": "theirs"}]
    run(connection, "remove_library", library="theirs")
    assert "tenant_reader" not in repr(run(connection, "granted_libraries"))
    run(connection, "revoke_libraries", role_name="tenant_writer")
    assert run(connection, "granted_libraries") == []


def test_wrong_grants_are_refused(connection):
    with refused(connection, "PGR01", "There is no role 'nobody'."):
        run(connection, "grant_libraries", role_name="nobody", libraries=["ours"])
    with refused(connection, "PGR02", "There is no library 'nowhere'."):
        run(connection, "grant_libraries", role_name="tenant_reader", libraries=["nowhere"])
    with refused(connection, "PGR01", "names no library"):
        run(connection, "grant_libraries", role_name="tenant_reader", libraries=[])


def test_a_reader_changes_nothing(reader):
    for function, arguments in {
        "configure_library": {"library": "ours", "settings": {"alpha": 0.5}},
        "ingest_page": {"library": "ours", "page": {"key": "c.md", "body": "new"}},
        "remove_library": {"library": "ours"},
        "remove_version": {"library": "ours"},
        "refresh_statistics": {"library": "ours"},
        "use_model": {"library": "ours", "model": "static-en-de-ru-256"},
        "grant_libraries": {"role_name": "tenant_reader", "libraries": ["ours"]},
        "configuration_history": {},
    }.items():
        with refused(reader, "42501", "permission denied"):
            run(reader, function, **arguments)
    with refused(reader, "42501"):
        reader.execute("insert into pgrag.role_libraries (role_name) values ('tenant_reader')")


FORGED_VERSION = """
insert into pgrag.versions
select (jsonb_populate_record(v, jsonb_build_object('version_id', %s::bigint, 'label', '9'))).*
from pgrag.versions as v
limit 1
"""


def test_a_writer_takes_no_identity_of_another_library(connection):
    """Searches find passages by versions, and jobs belong to libraries by name."""
    theirs = value(connection, "select max(version_id) from pgrag.versions")
    lexeme = value(connection, "select _pgrag.lexeme_id('english', %s)", CANARY)
    connection.execute("set local session authorization tenant_writer")
    # An id names its library.
    with pytest.raises(psycopg.errors.CheckViolation), connection.transaction():
        connection.execute(FORGED_VERSION % theirs)
    for statement in (
        "update pgrag.libraries set name = 'theirs'",
        "update pgrag.libraries set name = 'nowhere'",
        "update pgrag.versions set version_id = version_id",
        f"update pgrag.impacts set version_id = {theirs}",
        f"update pgrag.documents set version_id = {theirs}",
        f"update pgrag.embeddings set version_id = {theirs}",
        f"update pgrag.pages set version_id = {theirs}",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute(statement)
    # Without the check, the barriers hold by themselves.
    connection.execute("reset session authorization")
    connection.execute("alter table pgrag.versions drop constraint versions_check")
    connection.execute("set local session authorization tenant_writer")
    connection.execute(FORGED_VERSION % theirs)
    for name, asked in (
        ("narrowing_versions", theirs),
        ("narrowing_lexemes", lexeme),
        ("lexemes_beside", lexeme),
        ("title_lexemes", lexeme),
    ):
        connection.execute("select set_config(%s, %s, true)", [f"pgrag.{name}", f"{{{asked}}}"])
    assert connection.execute("select * from _pgrag.matching_impacts").fetchall() == []
    assert connection.execute("select * from _pgrag.version_lexemes").fetchall() == []


def test_a_writer_changes_its_libraries_only(writer):
    # Vectors of another length would fail searches of all libraries.
    for statement in (
        "update pgrag.embeddings set embedding = '[1,2,3]'",
        "update pgrag.impacts set weights = '{1:1}/999'",
        "update pgrag.impacts set title_weights = '{1:1}/999'",
        "update pgrag.pages set weights = '{1:1}/999'",
    ):
        with pytest.raises(psycopg.errors.Error) as error, writer.transaction():
            writer.execute(statement)
        assert error.value.sqlstate in ("42501", "22000"), statement
    writer.execute("update pgrag.impacts set title_weights = null")
    run(writer, "configure_library", library="ours", settings={"alpha": 0.25})
    ingest(writer, "ours", [page("new.md", "A new page about kernels.")])
    assert "new.md" in keys(search(writer, "kernels", library="ours"))
    run(writer, "remove_pages", library="ours", version="", keys=["new.md"])
    for name in ("theirs", "nowhere"):
        with refused(
            writer, "PGR02", f"There is no library '{name}', and tenant_writer may not create one.",
            "Ask an administrator",
        ):  # fmt: skip
            run(writer, "open_version", library=name)
    for function, arguments in {
        "configure_library": {"settings": {"alpha": 0.5}},
        "remove_library": {},
        "ingest_pages": {"pages": Jsonb([page("a.md", "Mine.")])},
        "set_synonyms": {"synonyms": Jsonb([{"term": "a", "expansions": ["b"]}])},
    }.items():
        with pytest.raises(psycopg.Error), writer.transaction():
            run(writer, function, library="theirs", **arguments)
    assert writer.execute("update pgrag.pages set title = 'Mine'").rowcount == 3
    writer.execute("reset session authorization")
    assert value(
        writer, "select count(*) from pgrag.pages where title = 'Mine' and key like %s", CANARY
    ) == 0  # fmt: skip
    assert len(search(writer, CANARY, library="theirs")) > 0


def test_vectors_of_queries_are_those_of_the_caller(connection):
    """Whether somebody has searched for something is not told by what is cached for them."""
    run(connection, "register_model", name="tiny", dimensions=2)
    tiny = {"model": "tiny", "query_embedding": "[1,0]"}
    asked = {"query": "nodes", "library": "ours", "model": "tiny"}

    def cached():
        count = value(connection, "select count(*) from pgrag.query_vectors")
        return count, len(run(connection, "missing_query_models", **asked))

    def remember(caller):
        connection.execute(
            "select set_config('pgrag.library_ids', '*', true),"
            " set_config('role', 'none', true), set_config('pgrag.caller', %s, true)",
            [caller],
        )
        run(connection, "remember_query_vector", query="nodes", **tiny)

    remember("one key")
    connection.execute("update pgrag.query_vectors set used_at = used_at - interval '2 h'")
    connection.execute("select set_config('pgrag.library_ids', '', true)")
    # Whoever sees everything tunes by the vectors of all callers.
    assert cached() == (1, 0)
    ours = library_id(connection, "ours")
    service(connection, f"{{{ours}}}")
    connection.execute("select set_config('pgrag.caller', 'one key', true)")
    assert cached() == (1, 0)
    assert run(connection, "recorded_search", **asked)[0]["search_id"]
    used = "select used_at > now() - interval '1 h' from pgrag.query_vectors"
    assert value(connection, used) is True
    # A role that could fill the cache would push out what others need.
    with refused(connection, "42501", "permission denied for table query_vectors"):
        connection.execute("insert into pgrag.query_vectors default values")
    connection.execute("select set_config('pgrag.caller', 'another key', true)")
    assert cached() == (0, 1)
    connection.execute("select set_config('role', 'none', true)")
    connection.execute("set local session authorization tenant_reader")
    connection.execute("select set_config('pgrag.caller', 'one key', true)")
    assert cached() == (0, 1)


def test_what_is_refused_is_told_alike_by_every_plan(reader):
    """Which plan a statement gets follows from the sizes of tables with rows of others."""
    told = set()
    for plans in ("force_custom_plan", "force_generic_plan"):
        reader.execute(f"set local plan_cache_mode = {plans}")
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as error, reader.transaction():
            reader.execute('select _pgrag.write_audit(\'{"action": "search"}\')')
        told.add(error.value.diag.context)
    assert len(told) == 1


def recorded(connection, query):
    [row] = run(connection, "record_search", query=query, hits=Jsonb([]))
    return row


def test_the_name_of_a_set_of_others_is_free(connection):
    def made(library, key, word):
        queries = Jsonb([{"id": "1", "text": word, "judgements": {key: 1}}])
        name = f"{CANARY}-set"
        return run(connection, "import_evaluation_set", name=name, library=library, queries=queries)

    connection.execute("set local session authorization tenant_writer")
    for _ in range(2):
        assert made("ours", "guide.md", "drain")
    assert [row["library"] for row in run(connection, "evaluation_sets")] == ["ours"]
    run(connection, "run_evaluation", evaluation_set=f"{CANARY}-set")
    run(connection, "remove_evaluation_set", evaluation_set=f"{CANARY}-set")
    assert run(connection, "evaluation_sets") == []
    connection.execute("reset session authorization")
    # Who sees both libraries takes the set along, as long as it can.
    assert made("ours", "guide.md", "drain")
    assert [row["library"] for row in run(connection, "evaluation_sets")] == ["ours"]


def test_searches_of_others_are_their_own(connection):
    recorded(connection, f"{CANARY} of the owner")
    service(connection, f"{{{library_id(connection, 'ours')}}}")
    mine = recorded(connection, "nodes by a key")["record_search"]
    run(connection, "give_feedback", search_id=mine, rating=5)
    assert [row["query"] for row in run(connection, "search_history")] == ["nodes by a key"]
    connection.execute("select set_config('pgrag.caller', 'another key', true)")
    assert run(connection, "search_history") == []
    assert run(connection, "popular_queries") == []
    with refused(connection, "PGR14"):
        run(connection, "give_feedback", search_id=mine, rating=1)
    connection.execute("reset role")
    callers = connection.execute("select caller from pgrag.searches order by at").fetchall()
    assert callers[1] == {"caller": "key of a test"}
    assert len(run(connection, "search_history")) == 2


def test_hits_are_added_to_searches_of_ones_own(connection):
    connection.execute("create role tenant_admin in role pgrag_admin")
    service(connection, f"{{{library_id(connection, 'ours')}}}")
    add = "insert into pgrag.search_hits (search_id, rank, page_key) values (%s, 99, 'a.md')"
    mine = recorded(connection, "nodes by a key")["record_search"]
    [row] = run(connection, "record_search", query="node", hits=Jsonb([{"key": "a"}, {"key": "b"}]))
    found = value(
        connection,
        "select array_agg(page_key order by rank) from pgrag.search_hits where search_id = %s",
        row["record_search"],
    )
    assert found == ["a", "b"]
    connection.execute(add, [mine])
    connection.execute("select set_config('pgrag.caller', 'another key', true)")
    for search_id in (mine, "00000000-0000-4000-8000-000000000000"):
        with refused(connection, "42501", "violates row-level security policy"):
            connection.execute(add, [search_id])
    connection.execute("set local session authorization tenant_admin")
    connection.execute("delete from pgrag.search_hits where rank = 99")
    connection.execute(add, [mine])


def test_roles_that_are_missing_are_asked_for(connection):
    """An owner that may not create roles: everything works, and nothing is restricted."""
    connection.execute("create role tenant_owner")
    connection.execute("set local role tenant_owner")
    [told] = run(connection, "secure_tables")
    assert not told["secured"]
    assert "Role tenant_owner may not create pgrag's roles. Ask a role with" in told["message"]
    assert "grant pgrag_admin to tenant_owner;" in told["message"]
    [missing] = connection.execute("select _pgrag.missing_roles() as roles").fetchall()
    assert missing["roles"] == ["pgrag_reader", "pgrag_writer", "pgrag_admin"]


def test_every_table_is_known_and_secured(connection):
    """A new table: is it shared, or a library's, or private? Rows of a library need a policy."""
    kinds = connection.execute("select name, kind from _pgrag.kinds_of_tables()").fetchall()
    assert sorted(row["name"] for row in kinds if row["kind"] == "shared") == [
        "alembic_version", "answer_templates", "edge_kinds", "embedding_models",
        "installed_functions", "intent_rules", "intents", "model_tokens", "observation_settings",
        "page_types", "query_types", "role_libraries",
    ]  # fmt: skip
    unprotected = connection.execute(
        "select k.name from _pgrag.kinds_of_tables() as k"
        " join pg_class as c on c.oid = format('pgrag.%I', k.name)::regclass"
        " where k.condition is not null and not c.relrowsecurity"
    ).fetchall()
    assert unprotected == []
    # The policy would show a row without a library to everybody.
    of_no_library = connection.execute(
        "select k.name from _pgrag.kinds_of_tables() as k"
        " join pg_attribute as a on a.attrelid = format('pgrag.%I', k.name)::regclass"
        " where k.condition like '%library_id = any%' and a.attname = 'library_id'"
        " and not a.attnotnull"
    ).fetchall()
    assert of_no_library == []
    secured = "select relrowsecurity from pg_class where oid = %s::regclass"
    for name in ("pages", "searches", "keys", "configuration_versions"):
        connection.execute(f"alter table pgrag.{name} disable row level security")
    [told] = run(connection, "secure_tables")
    assert told["secured"]
    for name in ("pages", "searches", "keys", "configuration_versions"):
        assert value(connection, secured, f"pgrag.{name}"), name


def test_a_role_reads_its_own_grants_only(connection):
    connection.execute("set local role tenant_reader")
    granted = connection.execute("select library_id from _pgrag.own_grants").fetchall()
    visible = connection.execute("select l.library_id from pgrag.libraries as l").fetchall()
    assert granted == visible != []


def test_the_doctor_says_whether_tables_are_secured(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        found = findings(database_url, is_embedded=False, models=set())
        assert [f.level for f in found if f.name == "roles"] == ["ok"]
        connection.execute("alter table pgrag.pages disable row level security")
        [roles] = [
            f for f in findings(database_url, is_embedded=False, models=set()) if f.name == "roles"
        ]
        assert roles.level == "warning"
        assert "reads every library" in roles.message


def test_a_writer_makes_no_job_that_reads_any_folder(connection):
    """Neither by functions nor by statements: a worker reads with its own rights."""

    def call(function, **arguments):
        [row] = run(connection, function, **arguments)
        return next(iter(row.values()))

    source = {"source": "/srv/docs"}
    number = call("create_job", library="ours", arguments=source, confined=False, every="1 day")
    connection.execute("set local session authorization tenant_writer")
    own = call("create_job", library="ours", arguments=source)
    assert own != number
    for statement in (
        "update pgrag.jobs set confined = false",
        """update pgrag.jobs set arguments = '{"source": "/etc"}'""",
        "update pgrag.jobs set library = 'theirs'",
        """
        insert into pgrag.jobs (
            library, version, arguments, confined, asked_by, priority, state, max_attempts, run_at
        )
        values ('ours', '', '{"source": "/etc"}', false, 'x', 0, 'queued', 3, now())
        """,
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege), connection.transaction():
            connection.execute(statement)
    assert call("cancel_job", job_id=own) == "cancelled"
    assert call("retry_job", job_id=own) == "queued"
    # Its own worker leaves what reads any folder to others, also what is urgent or was lost.
    connection.execute("reset session authorization")
    connection.execute(
        "update pgrag.jobs set version = '9', priority = 50, state = 'running',"
        " leased_until = now() - interval '1 s' where job_id = %s",
        [number],
    )
    connection.execute("set local session authorization tenant_writer")
    [claimed] = run(connection, "_pgrag.claim_job", worker="w")
    assert claimed["job_id"] == own
    connection.execute("reset session authorization")
    connection.execute(
        "update pgrag.jobs set state = 'queued', leased_until = null where job_id = %s", [number]
    )
    connection.execute("set local session authorization tenant_writer")
    names = {"job_id": claimed["job_id"], "claim": claimed["claim"]}
    assert call("_pgrag.extend_lease", **names) == "held"
    assert call("_pgrag.end_attempt", **names, reason="No.") == "queued"
    # One that reads any folder it may cancel, and not begin again: not even under another name.
    with refused(connection, "42501", "violates row-level security policy"):
        connection.execute("update pgrag.jobs set run_at = now()")
    assert call("cancel_job", job_id=number) == "cancelled"
    with refused(connection, "42501", "only administrators try it again"):
        call("retry_job", job_id=number)
    with refused(connection, "42501", "violates row-level security policy"):
        connection.execute("update pgrag.jobs set state = 'queued' where not confined")
    connection.execute("reset session authorization")
    assert call("retry_job", job_id=number) == "queued"
