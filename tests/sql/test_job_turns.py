"""Jobs take turns between those who asked; how many jobs and bytes of uploads each may have."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from library import refused, run
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from test_jobs import claim, connection, make_due, names, value

from pgrag.ground.connections import register_vector_types

__all__ = ["connection"]


def name_caller(connection, caller, role="none"):
    """Call as a service does for a key."""
    connection.execute(
        "select set_config('role', %s, false), set_config('pgrag.library_ids', '*', false),"
        " set_config('pgrag.caller', %s, false)",
        [role, caller],
    )


def ask(connection, caller, library, **arguments):
    name_caller(connection, caller)
    return value(
        connection, "create_job", library=library, arguments=Jsonb({"source": f"/{library}"}),
        **arguments,
    )  # fmt: skip


def ask_for_many(connection, caller, count, state="queued"):
    connection.execute(
        "insert into pgrag.jobs (library, version, arguments, confined, asked_by, priority, state,"
        " max_attempts, run_at) select %s || n, '', '{}', true, %s, 0, %s, 3, now()"
        " from generate_series(1, %s) as n",
        [caller, caller, state, count],
    )


def claimed_by(connection, job_id):
    return run(connection, "job", wanted_id=job_id)[0]["asked_by"]


def do_next(connection):
    """Do one job to its end; returns who asked for it."""
    job = claim(connection)
    asker = claimed_by(connection, job["job_id"])
    assert value(connection, "_pgrag.finish_job", **names(job)) == "succeeded"
    return asker


def test_a_thousand_jobs_of_one_delay_the_job_of_another_by_one(connection):
    ask_for_many(connection, "ada", 1000)
    assert do_next(connection) == "ada"
    ask(connection, "bob", "bobs")
    ask(connection, "cyd", "cyds")
    order = [do_next(connection) for _ in range(4)]
    assert order == ["bob", "cyd", "ada", "ada"]
    ask_for_many(connection, "bob", 3)
    assert [do_next(connection) for _ in range(6)] == ["bob", "ada"] * 3


def test_of_many_workers_nobody_gets_more_than_a_share_while_others_wait(connection):
    for asker in ("ada", "bob", "cyd"):
        ask_for_many(connection, asker, 30)
    running = [claimed_by(connection, claim(connection)["job_id"]) for _ in range(9)]
    assert {asker: running.count(asker) for asker in running} == {"ada": 3, "bob": 3, "cyd": 3}


def test_workers_that_claim_at_the_same_time_keep_the_shares(connection, database_url):
    for asker in ("ada", "bob"):
        ask_for_many(connection, asker, 30)

    def work(_):
        with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as own:
            return [claim(own)["job_id"] for _ in range(5)]

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    rows = connection.execute(
        "select asked_by, count(*) as n from pgrag.jobs where state = 'running' group by 1"
    )
    assert {row["asked_by"]: row["n"] for row in rows} == {"ada": 10, "bob": 10}


def test_what_is_due_later_or_waits_for_its_version_gives_its_turn_to_others(connection):
    ask(connection, "ada", "one", run_at="tomorrow")
    first = ask(connection, "bob", "two")
    ask(connection, "ada", "two", version="")
    assert claim(connection)["job_id"] == first
    assert claim(connection) is None
    third = ask(connection, "cyd", "three")
    assert claim(connection)["job_id"] == third


def test_a_claim_reads_few_of_many_jobs(connection):
    for asker in ("ada", "bob", "cyd"):
        ask_for_many(connection, asker, 5000)
        ask_for_many(connection, asker, 5000, state="succeeded")
    connection.execute("analyze pgrag.jobs")
    with connection.transaction():
        assert claim(connection) is not None
        [row] = connection.execute(
            "select seq_tup_read, idx_tup_fetch from pg_stat_xact_user_tables"
            " where schemaname = 'pgrag' and relname = 'jobs'"
        ).fetchall()
    assert sum(row.values()) < 100


def test_a_job_that_has_had_its_turn_is_waited_for(connection):
    def heartbeat(job, turn="0"):
        return value(connection, "_pgrag.extend_lease", **names(job), turn=turn)

    ask(connection, "ada", "one")
    ask(connection, "ada", "two")
    long = claim(connection)
    assert heartbeat(long) == "held", "the other job is of the same caller"
    waiting = ask(connection, "bob", "one", run_at="tomorrow")
    assert heartbeat(long) == "held", "it is not due"
    make_due(connection)
    assert heartbeat(long, "1 hour") == "held", "its turn is not over"
    assert heartbeat(long) == "waited for", "although it is of the same version"
    assert value(connection, "_pgrag.end_attempt", **names(long)) == "queued"
    other = claim(connection)
    assert other["job_id"] == waiting
    assert heartbeat(other) == "waited for", "ada has the next turn"
    assert claim(connection)["job_id"] != long["job_id"], "its version has a running job"
    assert heartbeat(other) == "held", "each has one worker"


def test_a_job_that_is_given_back_is_the_next_of_who_asked_for_it(connection):
    first = ask(connection, "ada", "one")
    ask(connection, "ada", "two")
    job = claim(connection)
    value(connection, "_pgrag.end_attempt", **names(job))
    assert claim(connection)["job_id"] == first


def test_a_lent_place_is_only_for_those_who_have_none(connection):
    ask_for_many(connection, "ada", 3)
    claim(connection)
    assert claim(connection, is_lent=True) is None
    job = ask(connection, "bob", "bobs")
    assert claim(connection, is_lent=True)["job_id"] == job


@pytest.mark.parametrize("priority", [-1, 9])
def test_only_administrators_set_a_priority(connection, priority):
    name_caller(connection, "ada", "pgrag_writer")
    arguments = {"library": "tool", "arguments": Jsonb({"source": "/docs"})}
    with refused(connection, "PGR01", "priority must be 0"):
        value(connection, "create_job", **arguments, priority=priority)
    job = value(connection, "create_job", **arguments)
    with refused(connection, "42501", "denied"):
        connection.execute("update pgrag.jobs set priority = 9")
    with refused(connection, "42501", "row-level security"):
        connection.execute(
            "insert into pgrag.jobs (library, version, arguments, confined, asked_by, priority,"
            " state, max_attempts, run_at)"
            " values ('tool', '', '{}', true, 'ada', 9, 'queued', 3, now())"
        )
    name_caller(connection, "ada", "pgrag_admin")
    assert value(connection, "create_job", **arguments, priority=9) == job
    [shown] = run(connection, "job", wanted_id=job)
    assert shown["priority"] == 9
    name_caller(connection, "ada", "pgrag_writer")
    assert value(connection, "create_job", **arguments) == job, "and others keep it"
    assert run(connection, "job", wanted_id=job)[0]["priority"] == 9


def test_the_jobs_of_each_are_limited_exactly(connection, database_url):
    def create(number):
        with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as own:
            try:
                return ask(own, "ada", f"tool{number}", most_jobs=5, every="1 day")
            except psycopg.Error as error:
                if error.sqlstate != "PGR20" or "_JOBS" not in error.diag.message_hint:
                    raise
                return None

    with ThreadPoolExecutor(8) as threads:
        made = [job for job in threads.map(create, range(16)) if job]
    assert len(made) == 5
    again = run(connection, "job", wanted_id=made[0])[0]["library"]
    assert ask(connection, "ada", again, most_jobs=5) == made[0], "it waits already"
    assert ask(connection, "bob", "tool", most_jobs=5)
    name_caller(connection, "ada")
    claim(connection, wanted_id=made[1])
    with refused(connection, "PGR20", "ada has 5 jobs"):
        ask(connection, "ada", "another", most_jobs=5)
    value(connection, "cancel_job", job_id=made[2])
    assert ask(connection, "ada", "another", most_jobs=5)
    with refused(connection, "PGR20", "ada has 5 jobs"):
        value(connection, "retry_job", job_id=made[2], most_jobs=5)


def test_a_writer_has_a_limit_without_naming_one_and_an_administrator_has_none(connection):
    ask_for_many(connection, "ada", 1000)
    assert ask(connection, "ada", "tool")
    name_caller(connection, "ada", "pgrag_writer")
    with refused(connection, "PGR20", "ada has 1000 jobs"):
        value(connection, "create_job", library="x", arguments=Jsonb({"source": "/x"}))


def uploading(connection, caller):
    name_caller(connection, caller)
    return value(connection, "create_job", library=caller, arguments=Jsonb({}), uploading=True)


def add(connection, job, piece, size, allowance=1000):
    run(
        connection, "_pgrag.add_upload_piece", job_id=job, file=0, piece=piece, name="a.md",
        data=b"x" * size, allowance=allowance,
    )  # fmt: skip


def test_uploads_share_an_allowance_of_which_nobody_has_more_than_half(connection):
    ada, bob, cyd = (uploading(connection, asker) for asker in ("ada", "bob", "cyd"))
    add(connection, ada, 0, 400)
    with refused(connection, "PGR20", "The uploads of ada may take 500 bytes together"):
        add(connection, ada, 1, 101)
    add(connection, ada, 0, 450)
    add(connection, ada, 1, 50)
    second = uploading(connection, "ada")
    with refused(connection, "PGR20", "500 are taken, and this one has 1"):
        add(connection, second, 0, 1)
    run(connection, "_pgrag.reserve_upload", job_id=bob, bytes=450, allowance=1000)
    with refused(connection, "PGR20", "may take 1000 bytes together, and there is no room for 51"):
        add(connection, cyd, 0, 51)
    add(connection, bob, 0, 300)
    value(connection, "_pgrag.submit_upload", job_id=bob)
    add(connection, cyd, 0, 200)
    assert run(connection, "job", wanted_id=bob)[0]["uploaded_bytes"] == 300


@pytest.mark.parametrize("end", ["finished", "cancelled", "cancelled while it runs", "failed"])
def test_an_upload_counts_until_it_is_removed(connection, end):
    ada = uploading(connection, "ada")
    add(connection, ada, 0, 500)
    value(connection, "_pgrag.submit_upload", job_id=ada)
    if end == "cancelled":
        value(connection, "cancel_job", job_id=ada)
    else:
        job = claim(connection)
        if end == "finished":
            value(connection, "_pgrag.finish_job", **names(job))
        elif end == "failed":
            value(connection, "_pgrag.end_attempt", **names(job), reason="No.", final=True)
            with refused(connection, "PGR20", "500 are taken"):
                add(connection, uploading(connection, "ada"), 0, 1)
            assert value(connection, "cancel_job", job_id=ada) == "failed"
        else:
            value(connection, "cancel_job", job_id=ada)
            value(connection, "_pgrag.end_attempt", **names(job))
    assert connection.execute("select from pgrag.uploads").fetchall() == []
    add(connection, uploading(connection, "ada"), 0, 500)


def test_the_allowance_is_exact_for_uploads_at_the_same_time(connection, database_url):
    jobs = [uploading(connection, asker) for asker in ("ada", "bob", "cyd") for _ in range(4)]

    def send(job):
        with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as own:
            for piece in range(10):
                try:
                    add(own, job, piece, 20)
                except psycopg.Error as error:
                    if error.sqlstate != "PGR20":
                        raise

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(send, jobs))
    rows = connection.execute(
        "select j.asked_by, sum(octet_length(u.data)) as n from pgrag.uploads as u"
        " join pgrag.jobs as j using (job_id) group by 1"
    ).fetchall()
    assert sum(row["n"] for row in rows) == 1000
    assert max(row["n"] for row in rows) <= 500


def test_a_job_shows_why_it_waits(connection):
    for library in ("one", "two"):
        ask(connection, "ada", library)
    first, second = (row["job_id"] for row in reversed(run(connection, "jobs")))
    other = ask(connection, "bob", "one")

    def shown(job):
        [listed] = [row for row in run(connection, "jobs") if row["job_id"] == job]
        [row] = run(connection, "job", wanted_id=job)
        assert (listed["place"], listed["waits_for"]) == (row["place"], row["waits_for"])
        return row["place"], row["waits_for"]

    assert [shown(job) for job in (first, second, other)] == [(1, None), (2, None), (1, None)]
    claim(connection)
    assert [shown(job) for job in (first, second, other)] == [(None, None), (1, None), (1, first)]


def test_a_session_that_holds_a_job_holds_up_no_other_caller(connection, database_url):
    held, other = ask(connection, "ada", "one"), ask(connection, "bob", "two")
    with psycopg.connect(database_url, row_factory=dict_row) as session:
        register_vector_types(session)
        run(session, "cancel_job", job_id=held)
        assert claim(connection)["job_id"] == other
        session.rollback()


def test_whoever_keeps_the_lock_of_turns_stops_no_worker(connection, database_url):
    job = ask(connection, "ada", "one")
    with psycopg.connect(database_url, row_factory=dict_row) as session:
        run(session, "_pgrag.claim_job", worker="x", wanted_id=-1)
        assert claim(connection)["job_id"] == job
