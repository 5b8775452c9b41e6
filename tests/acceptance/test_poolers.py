"""pgrag behind PgBouncer, whose other clients leave settings of theirs in the shared sessions."""

import itertools
import json
import random
import re
import signal
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import anyio
import httpx
import psycopg
import pytest
from command_line import CommandLine
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from psycopg.types.json import Jsonb
from service import eventually, served

import pgrag as package
import poolers
from pgrag.ground import schema
from pgrag.ground.callers import Caller, calling
from pgrag.ground.connections import Database
from pgrag.ground.errors import DatabaseUnavailable
from pgrag.service.doctor import findings

#: Words that no answer has of itself.
TENANTS = ("aurochs", "bison")
#: All of a lane together; shared among its poolers and their modes.
CALLS = {"embedded": 2_000, "container": 20_000}
CLIENTS = 6

#: What a session may hold when a statement of pgrag comes to it.
FORGED = (
    "set pgrag.library_ids = '*'",
    "set pgrag.library_ids = '{}'",
    "set pgrag.caller = 'forged'",
    "set pgrag.lease = '1.1'",
    "set pgrag.hybrid_alpha = '1'",
    "set pgrag.narrowing = 'forged'",
    "set pgrag.narrowing_versions = '{1}'",
    "set pgrag.narrowing_lexemes = '{1}'",
    "set pgrag.lexemes_beside = '{1}'",
    "set pgrag.title_lexemes = '{1}'",
    "set role pgrag_admin",
    "set role pgrag_reader",
    "set search_path = forged, pg_catalog, public",
    "set statement_timeout = '400ms'",
    "set lock_timeout = '400ms'",
    "set default_transaction_read_only = on",
    "set default_transaction_isolation = 'serializable'",
    "set default_text_search_config = 'simple'",
    "set transaction_timeout = '400ms'",
    "set idle_in_transaction_session_timeout = '400ms'",
    "set gin_fuzzy_search_limit = 1",
    "set transform_null_equals = on",
    "set array_nulls = off",
    "set quote_all_identifiers = on",
    "set restrict_nonsystem_relation_kind = 'view'",
    "set hnsw.ef_search = 1",
    "set row_security = off",
    "set bytea_output = 'escape'",
    "set intervalstyle = 'sql_standard'",
    "set datestyle = 'German'",
    "set timezone = 'Asia/Tokyo'",
    "set client_min_messages = 'error'",
    "set extra_float_digits = -10",
    "create temporary table if not exists libraries (name text)",
    *(f"prepare _pg3_{number} as select 'forged'" for number in range(12)),
)


def pytest_generate_tests(metafunc):
    programs = poolers.programs(metafunc.config.option.server)
    kinds = [*itertools.product(programs, ("transaction", "session"))]
    for name, values in (("pooler", kinds), ("program", programs)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, values, ids=str, scope="module")


@pytest.fixture(scope="module", autouse=True)
def _has_pooler(request):
    programs = poolers.programs(request.config.option.server)
    if poolers.INSTALLED in programs and (reason := poolers.missing_program()):
        pytest.skip(reason)


@pytest.fixture(scope="module")
def direct(clone, pooler):
    """The direct address of the database behind the pooler."""
    with clone() as url:
        yield url


@pytest.fixture(scope="module")
def behind(direct, tmp_path_factory, pooler):
    """`pgrag` by way of a pooler; its variables have the address."""
    folder = tmp_path_factory.mktemp("pooled")
    program, mode = pooler
    # In session mode each connection of the service needs a session of its own.
    size = 4 if mode == "transaction" else 60
    with poolers.pooled(direct, folder, program=program, mode=mode, size=size) as url:
        # Nobody reads what the service would say of each request.
        quiet = {"PGRAG_READ_TIMEOUT": "900", "PGRAG_LOG_LEVEL": "warning"}
        yield CommandLine(folder, {"PGRAG_DATABASE_URL": url, **quiet})


@pytest.fixture(scope="module")
def tenants(behind):
    """The same with two libraries, and a key for each: their secrets, by library."""
    secrets = {}
    for name in TENANTS:
        docs = behind.folder / name
        docs.mkdir()
        for number in range(5):
            (docs / f"{number}.md").write_text(f"# Page {number}\n\nThe {name}word of the quay.\n")
        behind.run("index", name, docs)
        limits = ("--rate", "10000/s", "--concurrency", 100)
        made = behind.json("keys", "create", name, "-l", name, "--role", "write", *limits)
        secrets[name] = made["secret"]
    return secrets


def forge(url, stop, seed):
    """Leave settings in the sessions, as often as possible in another one."""
    drawn = random.Random(seed)
    while not stop.wait(0.005):
        # The session may have what is prepared, be read-only or slow, or its role may not do it.
        with (
            suppress(psycopg.Error),
            psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection,
        ):
            for statement in drawn.choices(FORGED, k=5):
                with suppress(psycopg.ProgrammingError, psycopg.errors.ReadOnlySqlTransaction):
                    connection.execute(statement)


def faults(client, name, secret, calls):
    """What is wrong with the answers to so many calls of a tenant."""
    other = TENANTS[name == TENANTS[0]]
    headers = {"Authorization": f"Bearer {secret}"}
    requests = (
        ("/v1/libraries", 200),
        (f"/v1/search?q={name}word", 200),
        (f"/v1/search?q=quay&library={name}", 200),
        (f"/v1/search?q=quay&library={other}", 404),
        (f"/v1/libraries/{name}/versions", 200),
    )
    for address, expected in itertools.islice(itertools.cycle(requests), calls):
        try:
            response = client.get(address, headers=headers)
        except httpx.HTTPError as error:
            yield f"{error!r} {address}"
            return  # a service that does not answer once would take hours for all
        if f"{other}word" in response.text or (expected == 200 and other in response.text):
            yield f"leak {address}: {response.text}"
        elif response.status_code != expected:
            yield f"{response.status_code} {address}: {response.text[:300]}"
        elif expected == 200 and name not in response.text:
            yield f"nothing found {address}: {response.text[:300]}"


@pytest.fixture(scope="module")
def single(clone, tmp_path_factory, program):
    """Two libraries, by way of a pooler with a single session that all clients share."""
    folder = tmp_path_factory.mktemp("single")
    with (
        clone() as url,
        poolers.pooled(url, folder, program=program, size=1) as through,
        Database(through, pool_size=2) as database,
    ):
        for name in TENANTS:
            page = {"key": "quay.md", "title": "Quay", "body": f"The {name}word of the quay."}
            database.call("ingest_pages", library=name, pages=Jsonb([page]))
            database.call("embed_pending", library=name)
        yield database, through


@pytest.mark.parametrize("forged", [*FORGED, "discard all"])
def test_no_setting_of_the_session_reaches_a_statement(single, forged):
    database, through = single
    [own] = database.query("select library_id from pgrag.libraries where name = 'aurochs'")
    tenant = Caller("aurochs", "pgrag_reader", f"{{{own['library_id']}}}")

    def seen():
        found = database.call("search", query="quay")
        [told] = database.query(
            "select current_user, current_setting('pgrag.caller') as caller,"
            " current_setting('transaction_read_only') as read_only,"
            " (1::float8 / 3)::text as number, decode('00ff', 'hex') as bytes"
        )
        return [(hit["library"], hit["snippet"], hit["score"]) for hit in found], told

    for caller in (tenant, None):
        with calling(caller):
            expected = seen()
            with psycopg.connect(through, autocommit=True, prepare_threshold=None) as other:
                other.execute(forged)
            try:
                # More often than psycopg runs a statement before it prepares it.
                for _ in range(7):
                    assert seen() == expected
                if caller is None:
                    database.query("select pg_sleep(0.6)")
                    database.call("ingest_pages", library="aurochs", pages=Jsonb([]))
            finally:
                with psycopg.connect(through, autocommit=True, prepare_threshold=None) as other:
                    other.execute("discard all")


def test_a_session_that_ends_is_said_to_have_ended(single, caplog):
    database, _ = single
    ended = "select pg_terminate_backend(pg_backend_pid()), pg_sleep(5)"

    def streamed():
        with database.connection() as connection:
            connection.execute(ended)

    for _ in range(5):
        for asked in (partial(database.query, ended), streamed):
            with pytest.raises(DatabaseUnavailable) as caught:
                asked()
            assert not re.search(r"pipeline mode|received \d|\bflush\b", caught.value.message)
            assert database.query("select 1 as one") == [{"one": 1}]
    assert "error ignored in rollback" not in caplog.text


def test_tenants_stay_apart_whatever_the_sessions_hold(request, behind, tenants):
    url = behind.variables["PGRAG_DATABASE_URL"]
    lane = request.config.option.server
    calls = CALLS.get(lane, 1_000) // len(poolers.programs(lane)) // 2 // CLIENTS
    stop = threading.Event()
    forgers = [threading.Thread(target=forge, args=[url, stop, seed]) for seed in range(2)]
    with served(behind, "--require-keys") as (client, process):
        for forger in forgers:
            forger.start()
        try:
            with ThreadPoolExecutor(CLIENTS) as pool:
                found = pool.map(
                    lambda name: [*faults(client, name, tenants[name], calls)],
                    itertools.islice(itertools.cycle(TENANTS), CLIENTS),
                )
                wrong = [fault for each in found for fault in each]
        finally:
            stop.set()
            for forger in forgers:
                forger.join()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert wrong == [], Counter(fault.split(":")[0] for fault in wrong)
    assert process.returncode == -signal.SIGTERM, "it ended, and by nothing else"


def test_every_command_works_by_way_of_a_pooler(empty_database_url, tmp_path, program):
    """From nothing: upgrade, index, doctor, audit, jobs, dump and restore."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(30):
        (docs / f"{number}.md").write_text(f"# Quay {number}\n\nThe crane of quay {number}.\n")
    with poolers.pooled(empty_database_url, tmp_path, program=program) as url:
        pgrag = CommandLine(tmp_path, {"PGRAG_DATABASE_URL": url})
        assert "now it has revision" in pgrag.run("db", "upgrade").out
        pgrag.run("index", "harbour", docs)
        found = {each["name"]: each for each in pgrag.json("doctor")}
        assert {each["level"] for each in found.values()} <= {"ok", "warning"}, found
        assert found["pooler"]["level"] == "ok"
        assert "transaction" in found["pooler"]["message"]
        assert pgrag.hits("search", "crane of quay 7", "--library", "harbour")
        pgrag.run("keys", "create", "alpha", "--libraries", "harbour")
        assert json.loads(pgrag.run("audit", "export").out)["action"] == "create_key alpha"
        with package.connect(url) as client:
            assert client.search("crane", library="harbour").hits
        asked = "select count(*) from pgrag.pages('harbour')"
        assert "30" in pgrag.run("db", "psql", "--", "-At", "-c", asked).out.split()
        dump = tmp_path / "pgrag.dump"
        words = ("db", "dump", "--format=custom", f"--file={dump}")
        refused = pgrag.run(*words, code=1).err
        assert "a pooler in transaction mode" in refused
        assert "the direct address" in refused
        pgrag.with_variables(PGRAG_DATABASE_URL=empty_database_url).run(*words)
        assert "30 pages" in pgrag.run("db", "restore", dump, "--yes").out
        with psycopg.connect(url, autocommit=True) as other:
            assert other.execute("show search_path").fetchone() != ("",), "left in the session"
        worker = pgrag.start("worker")
        try:
            job = pgrag.json("index", "quay", docs, "--job")["job_id"]
            done = ("succeeded", "failed")
            eventually(lambda: pgrag.json("jobs", "show", job)["state"] in done)
            assert pgrag.json("jobs", "show", job)["state"] == "succeeded"
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=60) == 0
        finally:
            worker.kill()
            worker.communicate()


MAINTENANCE = (
    "set role pgrag_reader",
    "set default_transaction_read_only = on",
    "set row_security = off",
)


def test_maintenance_minds_no_setting_of_the_session(database_url, tmp_path, program):
    with poolers.pooled(database_url, tmp_path, program=program, size=1) as url:
        for forged in MAINTENANCE:
            for maintained in (
                partial(schema.upgrade, url),
                partial(findings, url, is_embedded=False, models=[]),
            ):
                with psycopg.connect(url, autocommit=True, prepare_threshold=None) as other:
                    other.execute(forged)
                told = maintained()
                if isinstance(told, list):
                    assert all(finding.ok for finding in told), told
                else:
                    assert told.state == "current"


def test_a_pooler_that_allows_no_transaction_is_named(database_url, tmp_path, program):
    with poolers.pooled(database_url, tmp_path, program=program, mode="statement") as url:
        [finding] = findings(url, is_embedded=False, models=[])
        assert (finding.name, finding.level) == ("pooler", "wrong")
        assert "pool_mode = transaction" in finding.remedy


def test_an_agent_searches_by_way_of_a_pooler(behind, tenants):
    command, *arguments = behind.command("mcp")
    server = StdioServerParameters(
        command=command, args=arguments, env=behind.environment, cwd=behind.folder
    )

    async def session():
        async with Client(server) as client:
            return await client.call_tool("search_docs", {"query": "quay", "library": "aurochs"})

    assert "aurochsword" in anyio.run(session).content[0].text


def test_the_statement_of_a_client_that_is_gone_is_cancelled(behind, tenants, direct):
    waiting = (
        "select count(*) from pg_locks as l"
        " where not l.granted and l.relation = 'pgrag.documents'::regclass"
    )
    request = (
        "GET /v1/search?q=quay HTTP/1.1\r\nHost: localhost\r\n"
        f"Authorization: Bearer {tenants['aurochs']}\r\n\r\n"
    )
    with (
        served(behind, "--no-worker") as (client, _),
        psycopg.connect(direct) as locking,
        psycopg.connect(direct, autocommit=True) as watching,
    ):
        client.get("/v1/search?q=quay").raise_for_status()
        locking.execute("lock table pgrag.documents in access exclusive mode")
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address) as gone:
            gone.sendall(request.encode())
            eventually(lambda: watching.execute(waiting).fetchone()[0] > 0)
        eventually(lambda: watching.execute(waiting).fetchone()[0] == 0)
        locking.rollback()
        client.get("/v1/search?q=quay").raise_for_status()
