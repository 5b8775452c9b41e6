"""Whatever fails in an indexing run, the rest stands, and the next run completes it."""

import threading
import time
from contextlib import ExitStack
from functools import partial

import psycopg
import pytest
from pipeline_runs import GUIDE, Recorder, found, index, is_complete, keys, write

from pgrag.ground.connections import Database
from pgrag.ground.errors import (
    Busy,
    DatabaseError,
    DatabaseFull,
    DatabaseUnavailable,
    EmbeddingError,
    InvalidInput,
    LeaseLost,
    NotConfigured,
)
from pgrag.ingest import document, pipeline, writer
from pgrag.ingest.page import IndexTarget
from pgrag.ingest.source.sources import discover

SLEEPS = EmbeddingError("The model sleeps.")


def fail(error=SLEEPS, *_, **__):
    raise error


@pytest.fixture
def embedder():
    return Recorder()


@pytest.fixture
def folder(tmp_path):
    write(tmp_path / "docs", GUIDE)
    return tmp_path / "docs"


class TestFailures:
    @pytest.fixture
    def refused(self, folder):
        """A page that can be read, and that no index of the database can hold."""
        name = "refused.md"
        uuid = "".join(f"{n * 7919 % 65536:04x}" for n in range(900))
        write(folder, {name: f"---\nuuid: {uuid}\n---\n\n# Refused\n\nToo much of a name.\n"})
        return name

    def test_pages_that_fail_stay_as_they_were_or_out(self, database, embedder, folder, refused):
        report = index(database, embedder, folder)
        assert list(report.failed) == [refused]
        assert "ndex row size" in report.failed[refused]
        assert report.written == 4
        assert keys(database) == set(GUIDE)
        assert is_complete(database)
        (folder / refused).unlink()
        write(folder, {"late.md": "# Late\n\nThis was fine.\n"})
        index(database, embedder, folder)
        (folder / "late.md").write_bytes(b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\xff\xfe\xfd" * 50)
        report = index(database, embedder, folder)
        assert list(report.failed) == ["late.md"]
        assert found(database, "fine") == {"late.md"}
        assert is_complete(database)

    @pytest.mark.parametrize("error", [SLEEPS, RuntimeError("crash")])
    def test_what_was_not_embedded_is_found_by_words(self, database, embedder, folder, error):
        embedder.before = partial(fail, error)
        with pytest.raises(type(error)):
            index(database, embedder, folder)
        assert found(database, "scheduler") == {"fill.md"}
        [version] = database.call("library_versions", library="guide")
        assert version["status"] == "indexing"
        embedder.before = lambda: None
        report = index(database, embedder, folder)
        assert (report.written, report.unchanged) == (0, 4)
        assert report.embedded == len(embedder.texts) > 0
        assert is_complete(database)

    def test_a_ready_version_stays_ready_when_a_run_ends_early(self, database, embedder, folder):
        with discover(str(folder)) as source, pytest.raises(InvalidInput, match="version label"):
            pipeline.index(database, embedder, source, IndexTarget("guide", "1 0"))
        assert embedder.texts == []
        index(database, embedder, folder)
        embedder.before = fail
        write(folder, {"fill.md": "# Fill\n\nOther words.\n"})
        with pytest.raises(EmbeddingError):
            index(database, embedder, folder)
        [version] = database.call("library_versions", library="guide")
        assert version["status"] == "ready"
        assert found(database, "other words") == {"fill.md"}


class TestDatabaseAway:
    @pytest.fixture
    def outage(self, admin, database_url):
        """Shut the database to everybody, or open it again."""
        name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]

        def shut(away):
            admin.execute(f'alter database "{name}" with allow_connections {not away}')
            if away:
                ending = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
                admin.execute(ending, [name])

        yield shut
        shut(False)

    def test_short_outage_is_waited_out(self, database, embedder, folder, outage, monkeypatch):
        monkeypatch.setattr(writer, "BATCH_DOCUMENTS", 3)

        def go_away():
            embedder.before = lambda: None
            outage(True)
            threading.Timer(0.4, outage, [False]).start()

        embedder.before = go_away
        assert index(database, embedder, folder).failed == {}
        assert is_complete(database)

    def test_a_connection_lost_while_vectors_are_stored_is_made_again(
        self, database, database_url, embedder, folder, admin, monkeypatch
    ):
        monkeypatch.setattr(writer, "RETRY_DELAYS", (0.05, 0.05))
        name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
        terminated = []

        def end_writers(blocker):
            deadline = time.monotonic() + 120
            while not terminated and time.monotonic() < deadline:
                terminated.extend(
                    pid
                    for (pid,) in admin.execute(
                        "select pid from pg_stat_activity, pg_terminate_backend(pid)"
                        " where datname = %s and wait_event_type = 'Lock'",
                        [name],
                    )
                )
                time.sleep(0.02)
            blocker.close()

        def block_writers():
            embedder.before = lambda: None
            blocker = psycopg.connect(database_url)
            blocker.execute("lock table pgrag.embeddings")
            threading.Thread(target=end_writers, args=[blocker]).start()

        embedder.before = block_writers
        report = index(database, embedder, folder)
        assert len(terminated) == 1
        assert report.failed == {}
        assert is_complete(database)

    def test_long_outage_ends_the_run_and_the_next_completes_it(
        self, database_url, embedder, folder, outage, monkeypatch
    ):
        monkeypatch.setattr(writer, "BATCH_DOCUMENTS", 3)
        monkeypatch.setattr(writer, "RETRY_DELAYS", (0.05, 0.05))
        with Database(database_url, timeout=1.5) as database:
            embedder.before = lambda: outage(True)
            with pytest.raises(DatabaseUnavailable):
                index(database, embedder, folder)
            embedder.before = lambda: None
            outage(False)
            time.sleep(0.1)
        with Database(database_url) as database:
            report = index(database, embedder, folder)
            assert report.written + report.unchanged == 4
            assert is_complete(database)

    @pytest.mark.parametrize(("state", "kind"), [("53100", DatabaseFull), ("25006", NotConfigured)])
    def test_what_no_page_causes_ends_the_run_at_the_first_attempt(
        self, database, database_url, embedder, folder, state, kind
    ):
        """A full disk fails every page; a sequence counts the attempts, for it is never undone."""
        with psycopg.connect(database_url, autocommit=True) as owner:
            owner.execute("create sequence public.attempts")
            owner.execute(
                "create function public.refuse() returns trigger language plpgsql as $$ begin"
                " perform nextval('public.attempts');"
                f" raise exception 'no room' using errcode = '{state}'; end $$".encode()
            )
            owner.execute(
                "create trigger refuse before insert on pgrag.pages"
                " execute function public.refuse()"
            )
            with pytest.raises(kind, match="no room"):
                index(database, embedder, folder)
            counted = owner.execute("select last_value from public.attempts").fetchone()
            assert counted == (1,)
            assert database.call("libraries") == []
            owner.execute("drop function public.refuse() cascade")
        assert index(database, embedder, folder).written == 4


class TestTwoRunsOfOneVersion:
    @pytest.mark.parametrize("is_taken", [False, True])
    def test_a_run_that_lost_its_lock_has_it_again_or_ends(
        self, database, database_url, embedder, folder, admin, monkeypatch, is_taken
    ):
        """A server that restarts, or a pooler, forgets the lock, but other connections live."""
        monkeypatch.setattr(writer, "BATCH_DOCUMENTS", 1)
        name = psycopg.conninfo.conninfo_to_dict(database_url)["dbname"]
        standing = []
        with Database(database_url) as other, ExitStack() as stack:

            def lose():
                embedder.before = lambda: None
                admin.execute(
                    "select pg_terminate_backend(l.pid, 5000) from pg_locks as l"
                    " where l.locktype = 'advisory'"
                    " and l.database = (select oid from pg_database where datname = %s)",
                    [name],
                )
                if is_taken:
                    standing.append(stack.enter_context(other.lock("pgrag index guide")))

            embedder.before = lose
            if is_taken:
                with pytest.raises(LeaseLost, match="another session has it now") as caught:
                    index(database, embedder, folder)
                assert isinstance(caught.value, Busy), "the request may be sent again"
                assert standing == [None]
            else:
                assert index(database, embedder, folder).written == len(GUIDE)
        assert index(database, embedder, folder).failed == {}
        assert keys(database) == set(GUIDE)
        assert is_complete(database)

    def test_the_second_is_refused(self, database, embedder, folder):
        """Both would be first runs: the one that fails would discard what the other writes."""
        reached, allowed = threading.Event(), threading.Event()

        def wait_and_fail(*_):
            reached.set()
            assert allowed.wait(30)
            raise KeyboardInterrupt

        def run():
            with pytest.raises(KeyboardInterrupt):
                index(database, Recorder(), folder, progress=wait_and_fail)

        first = threading.Thread(target=run)
        first.start()
        assert reached.wait(30)
        try:
            running = r"^Another run is indexing guide\."
            with Database(database.url) as other:
                with pytest.raises(DatabaseError, match=running) as caught:
                    index(other, embedder, folder)
                assert "interrupt it" in (caught.value.hint or "")
                assert index(other, embedder, folder, dry_run=True).written == len(GUIDE)
                assert index(other, embedder, folder, "2.0").written == len(GUIDE)
                # What the run writes is not removed beneath it: it would make it anew, in part.
                removals = {"remove_library": {}, "remove_version": {"version": ""}}
                for function, arguments in removals.items():
                    with pytest.raises(DatabaseError, match=rf"{running} Wait") as caught:
                        other.call(function, library=" Guide ", **arguments)
                    assert "nothing was removed" in (caught.value.hint or "")
                other.call("remove_version", library="guide", version="2.0")
                assert index(other, embedder, folder, "2.0").written == len(GUIDE)
        finally:
            allowed.set()
            first.join()
        versions = database.call("library_versions", library="guide")
        assert [row["version"] for row in versions] == ["2.0"]
        database.call("remove_version", library="guide", version="2.0")
        assert index(database, embedder, folder).written == len(GUIDE)
        assert is_complete(database)

    @pytest.mark.parametrize(
        ("removal", "version"),
        [("remove_library('guide')", ""), ("remove_version('guide', '2')", "2")],
    )
    def test_what_is_being_removed_is_neither_indexed_nor_removed(
        self, database, embedder, folder, removal, version
    ):
        index(database, embedder, folder, version)
        removing = r"Another session is removing guide"
        with psycopg.connect(database.url) as other, database.connection() as connection:
            other.execute(f"select pgrag.{removal}".encode())
            with pytest.raises(psycopg.errors.ObjectInUse, match=removing):
                connection.execute(f"select pgrag.{removal}".encode())
            with pytest.raises(DatabaseError, match=removing):
                index(database, embedder, folder, version)
        assert index(database, embedder, folder, version).written == len(GUIDE)


class TestFirstRunThatStoresNothing:
    """It leaves no trace: nobody is offered an empty library."""

    @pytest.fixture
    def unreadable(self, tmp_path):
        folder = tmp_path / "images"
        folder.mkdir()
        (folder / "a.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(300))
        return folder

    def test_nothing_is_made_and_what_was_there_stays(self, database, embedder, unreadable, folder):
        report = index(database, embedder, unreadable)
        assert list(report.failed) == ["a.md"]
        assert report.discarded
        assert database.call("libraries") == []
        index(database, embedder, folder, "1.0")
        assert index(database, embedder, unreadable, "2.0").discarded
        [version] = database.call("library_versions", library="guide")
        assert version["version"] == "1.0"
        database.call("remove_version", library="guide", version="1.0")
        database.call("configure_library", library="guide", settings={"alpha": 0.4})
        assert index(database, embedder, unreadable, "2.0").discarded
        assert [row["library"] for row in database.call("libraries")] == ["guide"]
        index(database, embedder, folder)
        assert not index(database, embedder, unreadable).discarded
        assert len(database.call("libraries")) == 1

    def test_interrupted_before_the_first_page(self, database, embedder, folder, monkeypatch):
        monkeypatch.setattr(document, "read_page", partial(fail, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            index(database, embedder, folder)
        assert database.call("libraries") == []
