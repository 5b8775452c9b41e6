"""Jobs: who gets which, when a lease ends, and what becomes of those that fail."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from library import ingest, page, refused, run
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrag.ground.connections import register_vector_types

SECOND = timedelta(seconds=1)


@pytest.fixture
def connection(database_url):
    """A database of its own: time goes on, and other sessions see what a test writes."""
    with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as connection:
        register_vector_types(connection)
        yield connection


@pytest.fixture
def job(connection):
    def create(library="tool", source="/docs", **arguments):
        return value(
            connection, "create_job",
            library=library, arguments=Jsonb({"source": source}), **arguments,
        )  # fmt: skip

    return create


def value(connection, function, **arguments):
    [row] = run(connection, function, **arguments)
    return next(iter(row.values()))


def claim(connection, **arguments):
    return next(iter(run(connection, "_pgrag.claim_job", worker="w", **arguments)), None)


def names(claimed):
    return {"job_id": claimed["job_id"], "claim": claimed["claim"]}


def state(connection, job_id):
    return run(connection, "job", wanted_id=job_id)[0]["state"]


def expire(connection):
    connection.execute("update pgrag.jobs set leased_until = now() - '1 s'::interval"
                       " where state = 'running'")  # fmt: skip


def clock(connection):
    return connection.execute("select now() as at").fetchone()["at"]


def make_due(connection):
    connection.execute("update pgrag.jobs set run_at = now() where state = 'queued'")


def test_the_most_urgent_job_that_is_due_comes_first(connection, job):
    later = job("later", run_at="tomorrow")
    usual, second = job("usual"), job("second")
    urgent = job("urgent", priority=5)
    assert [claim(connection)["job_id"] for _ in range(3)] == [urgent, usual, second]
    assert claim(connection) is None
    assert claim(connection, wanted_id=later) is None


def test_a_job_comes_with_all_that_a_worker_needs(connection, job):
    number = job(version="2.0")
    claimed = claim(connection)
    assert claimed == {
        "job_id": number, "claim": 1, "library": "tool", "version": "2.0",
        "arguments": {"source": "/docs"}, "confined": True, "attempts": 1, "is_upload": False,
    }  # fmt: skip


def test_a_version_has_one_running_job(connection, job):
    first, other, same = job(source="/a"), job(version="2"), job(source="/b")
    assert [claim(connection)["job_id"] for _ in range(2)] == [first, other]
    assert claim(connection) is None
    value(connection, "_pgrag.finish_job", job_id=first, claim=1)
    assert claim(connection)["job_id"] == same


def test_many_jobs_cost_little_to_claim_and_to_list(connection, job):
    def count():
        """Tuples and index searches so far."""
        [row] = connection.execute(
            "select seq_tup_read, idx_scan, idx_tup_fetch from pg_stat_xact_user_tables"
            " where schemaname = 'pgrag' and relname = 'jobs'"
        ).fetchall()
        return sum(row.values())

    def read(function, **arguments):
        with connection.transaction():
            before = count()
            assert run(connection, function, **arguments) == []
            return count() - before

    def repeat(state):
        connection.execute(
            "insert into pgrag.jobs (library, version, arguments, confined, asked_by, priority,"
            " state, max_attempts, run_at) select library, version, arguments, confined, asked_by,"
            " priority, %s, max_attempts, run_at from pgrag.jobs, generate_series(1, 3000)"
            " where state = 'running'",
            [state],
        )

    job()
    assert claim(connection) is not None
    repeat("queued")
    assert read("_pgrag.claim_job", worker="w") < 3100, "each that waits is read once, and no more"
    repeat("succeeded")
    connection.execute("analyze pgrag.jobs")
    assert read("jobs", wanted_state="failed") < 50


def test_workers_that_ask_at_the_same_time_get_different_jobs(connection, database_url, job):
    made = {job(f"library{number % 20}", f"/{number}") for number in range(40)}

    def worker(_):
        done = []
        with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as own:
            for _ in range(200):
                if claimed := claim(own):
                    done.append(claimed["job_id"])
                    assert value(own, "_pgrag.finish_job", **names(claimed)) == "succeeded"
                elif done and not run(own, "jobs", wanted_state="queued"):
                    break
        return done

    with ThreadPoolExecutor(6) as threads:
        done = [number for each in threads.map(worker, range(6)) for number in each]
    assert sorted(done) == sorted(made)


def test_an_equal_job_of_the_caller_that_waits_is_used_again(connection, job):
    first = job()
    assert job(priority=3, every="1 day") == first
    [shown] = run(connection, "job", wanted_id=first)
    assert (shown["priority"], shown["every"]) == (3, timedelta(days=1))
    claim(connection)
    assert job() != first
    of_another = job()
    connection.execute("update pgrag.jobs set asked_by = 'ada'")
    assert job() != of_another


def test_a_failed_attempt_is_repeated_later_and_later_until_the_last(connection, job):
    number = job()
    for attempt, seconds in ((1, 10), (2, 20)):
        claimed = claim(connection)
        earliest = clock(connection) + seconds * SECOND
        ended = value(connection, "_pgrag.end_attempt", **names(claimed), reason="It is down.")
        assert ended == "queued"
        [shown] = run(connection, "job", wanted_id=number)
        assert shown["attempts"] == attempt
        assert earliest <= shown["run_at"] <= clock(connection) + seconds * SECOND
        assert claim(connection) is None
        make_due(connection)
    claimed = claim(connection)
    ended = value(connection, "_pgrag.end_attempt", **names(claimed), reason="It is gone.")
    assert ended == "failed"
    [shown] = run(connection, "job", wanted_id=number)
    assert [failure["reason"] for failure in shown["failures"]] == [
        "It is down.", "It is down.", "It is gone.",
    ]  # fmt: skip
    assert shown["failures"][2] | {"at": 0} == {
        "at": 0, "attempt": 3, "worker": "w", "reason": "It is gone.",
    }  # fmt: skip
    assert claim(connection) is None


def test_a_failure_that_no_repetition_cures_is_the_last(connection, job):
    number = job()
    claimed = claim(connection)
    ended = value(connection, "_pgrag.end_attempt", **names(claimed), reason="No.", final=True)
    assert ended == "failed"
    assert value(connection, "retry_job", job_id=number) == "queued"
    assert claim(connection)["attempts"] == 1


def test_a_job_that_is_given_back_keeps_its_attempts(connection, job):
    number = job()
    for _ in range(10):
        assert value(connection, "_pgrag.end_attempt", **names(claim(connection))) == "queued"
    [shown] = run(connection, "job", wanted_id=number)
    assert (shown["attempts"], shown["failures"]) == (0, [])
    claimed = claim(connection)
    value(connection, "_pgrag.end_attempt", **names(claimed), delay=timedelta(minutes=1))
    assert claim(connection) is None


def test_a_job_whose_lease_has_ended_is_another_workers(connection, job):
    number = job()
    old = claim(connection)
    assert value(connection, "_pgrag.extend_lease", **names(old)) == "held"
    expire(connection)
    assert value(connection, "_pgrag.extend_lease", **names(old)) == "held"
    expire(connection)
    assert claim(connection) is None
    assert value(connection, "_pgrag.extend_lease", **names(old)) == "lost"
    make_due(connection)
    new = claim(connection)
    assert (new["job_id"], new["claim"], new["attempts"]) == (number, 2, 2)
    for end in ("_pgrag.finish_job", "_pgrag.end_attempt"):
        assert value(connection, end, **names(old)) is None
    assert value(connection, "_pgrag.end_attempt", **names(old), reason="Late.") is None
    assert state(connection, number) == "running"
    [failure] = run(connection, "job", wanted_id=number)[0]["failures"]
    assert "gave no sign" in failure["reason"]


def test_a_job_that_ends_its_workers_fails_in_the_end_and_stops_nobody(connection, job):
    poison, good = job("poison", priority=9), job("good")
    for _ in range(3):
        assert claim(connection)["job_id"] == poison
        expire(connection)
        run(connection, "_pgrag.claim_job", worker="w", wanted_id=-1)
        make_due(connection)
    assert state(connection, poison) == "failed"
    assert claim(connection)["job_id"] == good


def test_a_worker_without_its_lease_writes_nothing(connection, database_url, job):
    ingest(connection, "tool", [page("a.md", "Drain the node.")])
    job()
    claimed = claim(connection)
    with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as worker:
        lease = f"{claimed['job_id']}.{claimed['claim']}"
        worker.execute("select set_config('pgrag.lease', %s, false)", [lease])
        ingest(worker, "tool", [page("b.md", "Fill the tank.")])
        expire(connection)
        claim(connection)
        for function, arguments in {
            "ingest_pages": {"library": "tool", "pages": Jsonb([page("c.md", "Stop.")])},
            "open_version": {"library": "tool"},
            "_pgrag.discard_version": {"library": "tool"},
            "remove_pages": {"library": "tool", "keys": ["a.md"]},
            "finish_version": {"library": "tool"},
        }.items():
            with refused(worker, "PGR19", "no longer this worker's"):
                run(worker, function, **arguments)
    assert [row["key"] for row in run(connection, "pages", library="tool")] == ["a.md", "b.md"]


def test_a_write_under_way_keeps_the_lease_from_others_but_not_the_heartbeat(
    connection, database_url, job
):
    ingest(connection, "tool", [page("a.md", "Drain the node.")])
    job()
    claimed = claim(connection)
    with psycopg.connect(database_url, row_factory=dict_row) as worker:
        lease = f"{claimed['job_id']}.{claimed['claim']}"
        worker.execute("select set_config('pgrag.lease', %s, false)", [lease])
        run(worker, "remove_pages", library="tool", keys=["b.md"])
        expire(connection)
        assert claim(connection) is None
        assert value(connection, "_pgrag.extend_lease", **names(claimed)) == "held"
        worker.rollback()


def test_the_sessions_of_a_lost_worker_are_ended(connection, database_url, job):
    number = job()
    claimed = claim(connection)
    own = f"pgrag job {number}.{claimed['claim']}"
    with psycopg.connect(database_url, application_name=own) as worker:
        worker.execute("select pg_advisory_lock(1)")
        expire(connection)
        claim(connection)
        with pytest.raises(psycopg.OperationalError):
            worker.execute("select 1")
    assert connection.execute("select pg_try_advisory_lock(1) as free").fetchone()["free"]


def test_a_schedule_comes_again_also_after_a_failure(connection, job):
    number = job(every="1 day", max_attempts=1)
    claimed = claim(connection)
    report = Jsonb({"written": 3})
    assert value(connection, "_pgrag.finish_job", **names(claimed), report=report) == "queued"
    [shown] = run(connection, "job", wanted_id=number)
    assert shown["report"] == {"written": 3}
    assert timedelta(hours=23) < shown["run_at"] - shown["finished_at"] <= timedelta(days=1)
    assert claim(connection) is None
    make_due(connection)
    claimed = claim(connection)
    assert (
        value(connection, "_pgrag.end_attempt", **names(claimed), reason="Down.", final=True)
        == "queued"
    )
    [shown] = run(connection, "job", wanted_id=number)
    assert (shown["attempts"], len(shown["failures"])) == (0, 1)
    assert shown["run_at"] - shown["finished_at"] == timedelta(days=1)
    value(connection, "cancel_job", job_id=number)
    assert state(connection, number) == "cancelled"


def test_a_cancelled_job_is_not_begun_and_a_running_one_is_told(connection, job):
    waiting, running = job("waiting"), job("running", priority=1)
    claimed = claim(connection)
    assert value(connection, "cancel_job", job_id=waiting) == "cancelled"
    assert claim(connection) is None
    assert value(connection, "cancel_job", job_id=running) == "running"
    assert value(connection, "_pgrag.extend_lease", **names(claimed)) == "cancelled"
    assert value(connection, "_pgrag.end_attempt", **names(claimed)) == "cancelled"
    assert value(connection, "cancel_job", job_id=running) == "cancelled"
    with refused(connection, "PGR18", "There is no job 999"):
        value(connection, "cancel_job", job_id=999)


@pytest.mark.parametrize("function", ["remove_version", "remove_library"])
def test_what_is_removed_is_not_made_anew_by_its_jobs(connection, job, function):
    for library in ("tool", "other"):
        run(connection, "open_version", library=library, version="1.0")
    scheduled, other = job(version="1.0", every="1 day"), job("other", version="1.0")
    of_another_version = job(version="2.0")
    upload = value(connection, "create_job", library="tool", version="1.0", arguments=Jsonb({}),
                   uploading=True)  # fmt: skip
    run(
        connection,
        "_pgrag.add_upload_piece",
        job_id=upload,
        file=0,
        piece=0,
        name="a.md",
        data=b"A",
    )
    value(connection, "_pgrag.submit_upload", job_id=upload)
    running = job(version="1.0", source="/elsewhere", priority=1)
    claimed = claim(connection)
    assert claimed["job_id"] == running
    arguments = {"library": "tool"} | ({"version": "1.0"} if "version" in function else {})
    value(connection, function, **arguments)
    assert {state(connection, number) for number in (scheduled, upload)} == {"cancelled"}
    assert run(connection, "_pgrag.upload_pieces", job_id=upload) == []
    assert value(connection, "_pgrag.extend_lease", **names(claimed)) == "cancelled"
    assert state(connection, other) == "queued"
    is_kept = function == "remove_version"
    assert state(connection, of_another_version) == ("queued" if is_kept else "cancelled")


def test_workers_hear_of_a_job(connection, database_url, job):
    with psycopg.connect(database_url, autocommit=True) as worker:
        worker.execute("listen pgrag_jobs")
        number = job()
        [notified] = worker.notifies(timeout=60, stop_after=1)
    # Every role may listen, also one that must not know of the job.
    assert (notified.payload, state(connection, number)) == ("", "queued")


def test_an_upload_waits_until_it_is_complete_and_goes_with_its_job(connection):
    number = value(connection, "create_job", library="tool", arguments=Jsonb({}), uploading=True)
    assert claim(connection) is None
    with refused(connection, "PGR01", "has no upload"):
        value(connection, "_pgrag.submit_upload", job_id=number)
    for piece, data in ((1, b"two"), (0, b"one")):
        run(connection, "_pgrag.add_upload_piece", job_id=number, file=0, piece=piece, name="a.md",
             data=data)  # fmt: skip
    assert value(connection, "_pgrag.submit_upload", job_id=number) == "queued"
    with refused(connection, "PGR01", "takes no upload"):
        run(
            connection,
            "_pgrag.add_upload_piece",
            job_id=number,
            file=0,
            piece=2,
            name="a.md",
            data=b"",
        )
    claimed = claim(connection)
    assert claimed["is_upload"]
    assert [row["data"] for row in run(connection, "_pgrag.upload_pieces", job_id=number)] == [
        b"one", b"two",
    ]  # fmt: skip
    assert run(connection, "job", wanted_id=number)[0]["uploaded_bytes"] == 6
    value(connection, "_pgrag.end_attempt", **names(claimed), reason="No.", final=True)
    value(connection, "retry_job", job_id=number)
    assert value(connection, "_pgrag.finish_job", **names(claim(connection))) == "succeeded"
    assert run(connection, "_pgrag.upload_pieces", job_id=number) == []
    with refused(connection, "PGR01", "no longer stored"):
        value(connection, "retry_job", job_id=number)


@pytest.mark.parametrize(("arguments", "message"), [
    ({"library": "a b"}, "library name"),
    ({"version": "1 0"}, "version label"),
    ({"source": " "}, "needs a source"),
    ({"source": "https://ada:hunter2@docs.example/x.git"}, "no name or password"),
    ({"source": "git+HTTPS://hunter2@docs.example/x"}, "no name or password"),
    ({"source": " http://ada:hun@ter2@docs.example/"}, "no name or password"),
    ({"source": "ssh://git:hunter2@docs.example/x.git"}, "no name or password"),
    ({"source": "ssh://git@hunter2@docs.example/x.git"}, "no name or password"),
    ({"source": "https://docs.example/?token=hunter2"}, "no key"),
    ({"source": "https://docs.example/a?b=c&access_token=hunter2#d"}, "no key"),
    ({"source": " HTTPS://docs.example/?X-Amz-Signature=hunter2"}, "no key"),
    ({"source": "https://docs.example/?apiKey=hunter2"}, "no key"),
    ({"every": "1 second"}, "every minute"),
    ({"priority": 101}, "priority"),
    ({"max_attempts": 0}, "max_attempts"),
    ({"uploading": True, "every": "1 day"}, "indexed once"),
])  # fmt: skip
def test_what_cannot_be_a_job_is_refused(connection, job, arguments, message):
    with refused(connection, "PGR01", message):
        job(**arguments)


@pytest.mark.parametrize("address", ["ada:hunter2@docs.example/x", "docs.example/?key=hunter2"])
def test_no_refusal_of_a_job_shows_its_password(connection, job, address):
    with pytest.raises(psycopg.Error) as caught:
        job(source=f"https://{address}", every="1 day")
    assert "hunter2" not in f"{caught.value} {caught.value.diag.message_hint}"
    assert "hunter2" not in str(connection.execute("table pgrag.jobs").fetchall())


@pytest.mark.parametrize(
    "source",
    ["git@docs.example:x.git", "ssh://git@docs.example:22/x.git", "file:///srv/a@b.md",
     "https://docs.example/@ada/x?mail=a@b", "/srv/ada@home://x", "git+ssh://git@docs.example/x@1",
     "https://docs.example/?author=ada&keyword=oak&key=#token=1", "/srv/docs?token=1"],
)  # fmt: skip
def test_an_address_without_a_password_can_be_a_job(connection, job, source):
    assert run(connection, "job", wanted_id=job(source=source))[0]["source"] == source


def test_jobs_are_listed_by_pages(connection, job):
    with refused(connection, "PGR01", "wanted_state must be uploading, queued,"):
        run(connection, "jobs", wanted_state="done")
    made = [job(f"library{number}") for number in range(5)]
    listed = [row["job_id"] for row in run(connection, "jobs", top_k=3)]
    assert listed == made[:1:-1]
    assert [row["job_id"] for row in run(connection, "jobs", before=listed[-1])] == made[1::-1]
    assert [row["job_id"] for row in run(connection, "jobs", wanted_library="LIBRARY3")] == [
        made[3]
    ]
    assert run(connection, "jobs", wanted_state="failed") == []


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_is_set_leaves_no_job_with_a_worker_that_is_gone(connection, job, days):
    waiting = job()
    first = claim(connection)
    connection.execute(
        "update pgrag.jobs set leased_until = leased_until - make_interval(days => %s)", [days]
    )
    run(connection, "_pgrag.reclaim_jobs")
    assert state(connection, waiting) == "queued"
    assert value(connection, "_pgrag.extend_lease", **names(first)) == "lost"
