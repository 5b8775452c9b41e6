"""pgrag behind PgBouncer, whose other clients leave settings of theirs in the shared sessions."""

import itertools
import random
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest
from command_line import CommandLine, wait_for
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from service import eventually, served

import pgrag as package
import poolers

TENANTS = ("alpha", "bravo")
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
    if poolers.INSTALLED in poolers.programs(request.config.option.server):
        if reason := poolers.missing_program():
            pytest.skip(reason)


@pytest.fixture(scope="module")
def behind(clone, tmp_path_factory, pooler):
    """`pgrag` on a database by way of a pooler; its variables have the address."""
    folder = tmp_path_factory.mktemp("pooled")
    program, mode = pooler
    # In session mode each connection of the service needs a session of its own.
    size = 4 if mode == "transaction" else 60
    with clone() as url, poolers.pooled(url, folder, program=program, mode=mode, size=size) as it:
        yield CommandLine(folder, {"PGRAG_DATABASE_URL": it})


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
        made = behind.json("keys", "create", name, "--libraries", name, "--role", "write")
        secrets[name] = made["secret"]
    return secrets


def forge(url, stop, seed):
    """Leave settings in the sessions, as often as possible in another one."""
    drawn = random.Random(seed)
    while not stop.wait(0.005):
        try:
            with psycopg.connect(url, autocommit=True, prepare_threshold=None) as connection:
                for statement in drawn.choices(FORGED, k=5):
                    # A session may have what is prepared, and may be read-only.
                    with_errors = (psycopg.errors.DuplicatePreparedStatement,
                                   psycopg.errors.ReadOnlySqlTransaction,
                                   psycopg.errors.QueryCanceled,
                                   psycopg.errors.InsufficientPrivilege)  # fmt: skip
                    try:
                        connection.execute(statement)
                    except with_errors:
                        continue
        except psycopg.OperationalError:
            continue


def faults(client, name, secret, calls):
    """What is wrong with the answers to so many calls of a tenant."""
    other = TENANTS[name == TENANTS[0]]
    headers = {"Authorization": f"Bearer {secret}"}
    requests = (
        ("/v1/libraries", 200),
        (f"/v1/search?q={name}word", 200),
        (f"/v1/search?q=quay&library={name}", 200),
        (f"/v1/search?q=quay&library={other}", 404),
        (f"/v1/libraries/{name}/pages", 200),
    )
    for address, expected in itertools.islice(itertools.cycle(requests), calls):
        response = client.get(address, headers=headers)
        if f"{other}word" in response.text or (expected == 200 and other in response.text):
            yield f"leak {address}: {response.text}"
        elif response.status_code != expected:
            yield f"{response.status_code} {address}: {response.text[:300]}"
        elif expected == 200 and name not in response.text:
            yield f"nothing found {address}: {response.text[:300]}"


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
    assert process.returncode == 0
