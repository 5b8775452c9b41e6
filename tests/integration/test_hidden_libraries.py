"""What a caller may not see is as if it were not, whoever works on it: no lock, wait or count."""

from contextlib import ExitStack, contextmanager

import psycopg
import pytest
from api_client import problem, serving
from llm_server import MODEL, says
from llm_server import serving as speaking
from pipeline_runs import write
from website import Website, page

from pgrag.ground.callers import Caller, calling
from pgrag.ground.connections import Database
from pgrag.ground.errors import UnknownLibrary
from pgrag.ground.settings import Settings
from pgrag.ingest.enrichment import Kind
from pgrag.service.access import Policy
from pgrag.service.app import App

HIDDEN, ABSENT = "theirs", "nobodys"
TIDES = {"content": "# Tides\n\nThe sill dries.\n", "headers": {"Content-Type": "text/markdown"}}


@pytest.fixture
def url(database_url, tmp_path):
    """The libraries "ours" and "theirs"."""
    with App(Settings(database_url=database_url)) as app:
        for library in ("ours", HIDDEN):
            write(tmp_path / library, {"a.md": "# A\n\nText.\n"})
            app.index(library, "1.0", str(tmp_path / library))
    return database_url


@pytest.fixture
def tenant(url):
    """A service, and the header of a key that opens the library "ours"."""
    with psycopg.connect(url, autocommit=True) as connection:
        [[secret]] = connection.execute(
            "select pgrag.create_key('k', 'write', '{ours}')"
        ).fetchall()
    with serving(url, policy=Policy(needs_key=True), lock_timeout=1) as api:
        yield api, {"Authorization": f"Bearer {secret}"}


@contextmanager
def locked(url, *names):
    """Hold all locks of a run on these, and the rows of the hidden library and of its jobs."""
    with ExitStack() as stack:
        database = stack.enter_context(Database(url, pool_size=1))
        assert stack.enter_context(database.lock(*names)) is None
        connection = stack.enter_context(psycopg.connect(url))
        for table, column in (("libraries", "name"), ("jobs", "library")):
            statement = f"select from pgrag.{table} where {column} = %s for update"
            connection.execute(statement.encode(), [HIDDEN])
        yield


def put(tenant, library, key="a.md"):
    api, header = tenant
    sent = TIDES | {"headers": TIDES["headers"] | header}
    return api.request("PUT", f"/v1/libraries/{library}/versions/1.0/pages/{key}", **sent)


def test_a_page_for_a_hidden_library_is_refused_whoever_indexes_or_removes_it(url, tenant):
    for held in ("pgrag index theirs@1.0", "pgrag version theirs@1.0", "pgrag library theirs"):
        with locked(url, held):
            hidden, absent = (put(tenant, library) for library in (HIDDEN, ABSENT))
        told = problem(hidden, 404, "unknown-library")["detail"]
        assert told == problem(absent, 404, "unknown-library")["detail"].replace(ABSENT, HIDDEN)
        assert hidden.headers.keys() == absent.headers.keys()
    with locked(url, "pgrag index theirs@1.0"):
        assert put(tenant, "ours").status_code == 200


@pytest.fixture
def caller(url):
    """The tenant's key, as a service calls for it."""
    with psycopg.connect(url) as connection:
        [[ours]] = connection.execute(
            "select library_id from pgrag.libraries where name = 'ours'"
        ).fetchall()
    with calling(Caller("k", "pgrag_writer", f"{{{ours}}}")):
        yield


def test_no_site_is_read_for_a_hidden_library_that_others_crawl(url, caller):
    settings = Settings(database_url=url, outgoing_allow=("127.0.0.0/8",))
    with Website({"/": page("Start")}) as site, App(settings) as app:
        for library in (HIDDEN, ABSENT):
            with (
                locked(url, f"pgrag crawl {library}@1.0", f"pgrag crawl {library}"),
                pytest.raises(UnknownLibrary, match=f"There is no library '{library}'"),
            ):
                app.index(library, "1.0", site.url)
        assert site.asked == []


def test_a_hidden_library_that_others_enrich_is_unknown(url, caller):
    with speaking(says("Ebony.")) as model:
        settings = Settings(database_url=url, llm_url=model.url, llm_model=MODEL)
        with App(settings) as app, locked(url, f"pgrag enrich {HIDDEN}"):
            for library in (HIDDEN, ABSENT):
                with pytest.raises(UnknownLibrary):
                    app.enricher(library).run(Kind.CONTEXT)


def test_the_id_of_a_job_tells_when_it_was_made_and_not_how_many_others_have(url, tenant):
    api, header = tenant
    upload = "/v1/libraries/ours/versions/1.0/upload?name=a.md"
    with psycopg.connect(url, autocommit=True) as connection:
        now = "select extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00Z') * 1e6"
        for others in (0, 3):
            for _ in range(others):
                connection.execute(
                    "select pgrag.create_job(%s, jsonb_build_object('source', random()::text))",
                    [HIDDEN],
                )
            [[before]] = connection.execute(now).fetchall()
            sent = TIDES | {"headers": header}
            made = api.request("POST", upload, **sent).json()["job_id"]
            [[after]] = connection.execute(now).fetchall()
            assert before <= made <= after


def test_a_page_does_not_wait_for_the_upkeep_of_what_others_write(url, tenant):
    with psycopg.connect(url) as other:
        # As "analyze", or a build of an index, of another run.
        for table in ("libraries", "pages", "documents", "embeddings", "impacts"):
            other.execute(f"lock table pgrag.{table} in share update exclusive mode".encode())
        assert put(tenant, "ours").status_code == 200


def test_a_page_does_not_wait_for_the_vector_index_that_another_run_builds(url, tenant):
    with psycopg.connect(url, autocommit=True) as connection:
        [[index]] = connection.execute(
            "select indexrelid::regclass::text from pg_index"
            " where indrelid = 'pgrag.embeddings'::regclass"
            " and indexrelid::regclass::text ~ 'embeddings_hnsw_'"
        ).fetchall()
        connection.execute(f"drop index {index}".encode())
        with locked(url, "pgrag vector index build"):
            assert put(tenant, "ours").status_code == 200
            assert connection.execute("select to_regclass(%s)", [index]).fetchall() == [(None,)]
        # The next run builds it.
        assert put(tenant, "ours", "b.md").status_code == 200
        assert connection.execute("select to_regclass(%s)", [index]).fetchall() == [(index,)]
