"""Disturb workers at random moments; afterwards every job is done, and nothing was done twice.

A round makes a job on an embedded server of its own, and disturbs the worker that has it in one of
six ways: the worker is killed, the server is restarted, the worker is stopped for longer than its
lease (as if the network were cut), a job is poisoned (it ends every worker, or its source is gone),
the worker's clock is wrong, or others ask for jobs, so that it has to give back its turn. Other
workers run meanwhile. Then the poisoned job must have failed, with a reason for each attempt; the
other jobs must have succeeded, the library must equal one that was indexed without a disturbance,
no text may have been embedded twice, and `check_library` must report nothing.
"""

import os
import re
import signal
import subprocess
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import psycopg
from psycopg.types.json import Jsonb
from pydantic import SecretStr

from campaign import contents
from campaign.kills import write_source
from campaign.outcome import Outcome, turns
from campaign.servers import PATIENCE, Processes, administer, execute, kill, temporary_server
from pgrag.service.app import App
from pgrag.service.jobs import ENDED

LIBRARY = "manual"
STATE = "select state from pgrag.job(%s)"
CREATE = """
select pgrag.create_job(%s, %s, %s, confined => false, priority => %s, max_attempts => %s)
"""
_CREATE_FOR = """
select pgrag.create_job(c, %s, confined => false)
from set_config('pgrag.library_ids', '*', false), set_config('pgrag.caller', %s, false) as c
"""
CASES = ("killed", "restarted", "stopped", "poisoned", "clock", "crowded")
#: Seconds; short, so that a round need not wait long for its end.
LEASE, TURN = 2.0, 0.3
#: How many others ask for a job.
CROWD = 5

#: The lexemes of a passage that stand for its library and version.
_IDS = re.compile(r"'@[lv]\d+' ?")
#: A version that kills every worker.
POISON = "poison"

#: A worker in a process of its own: its lease, and the seconds by which its clock is wrong.
_WORKER = f"""
import os, signal, sys, time
lease, wrong = map(float, sys.argv[1:])
right = time.time
time.time = lambda: right() + wrong
from pgrag.service.app import App
from pgrag.service.worker import Worker
index = App.index
def poisoned(self, library, version, *others, **options):
    if version == {POISON!r}:
        os.kill(os.getpid(), signal.SIGKILL)
    return index(self, library, version, *others, **options)
App.index = poisoned
with App() as app:
    Worker(app, lease=lease, poll=0.2, turn={TURN}).run()
"""

#: Each stored vector leaves a row, which shows vectors that are stored twice.
_COUNTED = """
create table public.embedded (library_id bigint, text_hash uuid, version_id bigint, key text);
create function public.count_embedding() returns trigger language plpgsql as $$
begin
    insert into public.embedded
    select new.library_id, d.text_hash, new.version_id, p.key || d.sort_order
    from pgrag.documents as d
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    where d.library_id = new.library_id and d.document_id = new.document_id;
    return new;
end;
$$;
create trigger count_embedding after insert on pgrag.embeddings
for each row execute function public.count_embedding();
"""
_TWICE = """
select count(*) from (
    select from public.embedded group by library_id, text_hash, version_id, key having count(*) > 1
) as t
"""


class _Workers(Processes):
    """Processes that work on the jobs of a server."""

    def work(self, *, wrong: float = 0.0) -> None:
        """Start a worker, with a clock that is wrong by some seconds."""
        self.start("-c", _WORKER, str(LEASE), str(wrong))

    def with_pid(self, name: str | None) -> subprocess.Popen[bytes]:
        """The worker of this name, which ends with its pid; the first one if there is none."""
        pid = (name or "").rpartition(":")[2]
        return next((each for each in self.started if str(each.pid) == pid), self.started[0])

    def kill_all(self) -> None:
        for process in self.started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGCONT)
        super().kill_all()


def _asked(app: App, statement: str, *values: Any) -> Any:
    """The first value of a statement; asks again while the server is down."""
    deadline = monotonic() + PATIENCE
    while True:
        try:
            with psycopg.connect(app.url, autocommit=True) as connection:
                row = connection.execute(statement.encode(), values).fetchone()
                return row and row[0]
        except psycopg.OperationalError:
            if monotonic() > deadline:
                raise
            app.server.start()
            time.sleep(0.1)


def _create(
    app: App, source: Path, version: str = "", *, priority: int = 0, max_attempts: int = 5
) -> int:
    given = Jsonb({"source": str(source)}), version, priority, max_attempts
    return int(_asked(app, CREATE, LIBRARY, *given))


def _until_ended(app: App, job: int) -> str:
    deadline = monotonic() + PATIENCE
    while (state := _asked(app, STATE, job)) not in ENDED and monotonic() < deadline:
        _hurry(app)
        time.sleep(0.1)
    return str(state)


def _hurry(app: App) -> None:
    """Skip the delay after a failure."""
    _asked(app, "update pgrag.jobs set run_at = now() where state = 'queued' returning job_id")


def _disturb(case: str, app: App, workers: _Workers, job: int, random: Random) -> None:
    worker = workers.with_pid(_asked(app, "select worker from pgrag.job(%s)", job))
    if case == "killed":
        kill(worker)
    elif case == "restarted":
        status = app.server.status()
        if status.pid:
            sent = random.choice([signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
            with suppress(ProcessLookupError):
                os.kill(status.pid, sent)
        time.sleep(random.uniform(0.1, 1.5))
        with suppress(Exception):
            app.server.start()
    elif case == "stopped":
        os.killpg(worker.pid, signal.SIGSTOP)
        workers.work()
        until = monotonic() + LEASE * random.uniform(1.0, 3.0)
        while monotonic() < until:
            _hurry(app)
            time.sleep(0.05)
        os.killpg(worker.pid, signal.SIGCONT)


def _faults_of_round(
    app: App, expected: dict[str, Counter[str]], jobs: dict[int, str]
) -> list[str]:
    """The faults that a round has left."""
    faults = []
    for job, wanted in jobs.items():
        state = _until_ended(app, job)
        reasons = _asked(app, "select failures::text from pgrag.job(%s)", job)
        if state != wanted or (state == "failed" and reasons.count("reason") != 2):
            faults.append(f"job {job} is {state}, not {wanted}: {reasons}")
    faults += contents.differences(expected, _held(app.url))
    if twice := _asked(app, _TWICE):
        faults.append(f"{twice} texts were embedded twice")
    return [*faults, *contents.problems(app.url, LIBRARY)]


def _undisturbed(app: App, source: Path) -> tuple[dict[str, Counter[str]], float]:
    """The rows of the library after undisturbed indexing, and the seconds that it took."""
    administer(app.url, "create database {} template pgrag", "quiet")
    url = app.url.replace("/pgrag?", "/quiet?")
    with App(app.settings.model_copy(update={"database_url": SecretStr(url)})) as quiet:
        started = monotonic()
        quiet.index(LIBRARY, "", str(source), in_child=True)
        return _held(url), monotonic() - started


def _held(url: str) -> dict[str, Counter[str]]:
    """The rows of the library without the ids of library and version, which are new each time."""
    return {
        table: Counter(_IDS.sub("", row) for row in rows.elements())
        for table, rows in contents.of_library(url, LIBRARY).items()
    }


def _round(
    case: str,
    app: App,
    workers: _Workers,
    source: Path,
    expected: dict[str, Counter[str]],
    random: Random,
    usual: float,
) -> list[str]:
    """One job with its disturbance; returns the faults."""
    execute(app.url, "delete from pgrag.jobs; truncate public.embedded")
    _asked(app, "select count(pgrag.remove_library(name)) from pgrag.libraries")
    wrong = random.choice([-1, 1]) * random.uniform(60, 10**6) if case == "clock" else 0.0
    workers.work(wrong=wrong)
    for _ in range({"poisoned": 2, "killed": 1, "clock": 1}.get(case, 0)):
        workers.work()
    jobs = {}
    if case == "poisoned":
        version = random.choice([POISON, "gone"])
        folder = source if version == POISON else source / version
        jobs[_create(app, folder, version, priority=9, max_attempts=2)] = "failed"
    job = _create(app, source)
    jobs[job] = "succeeded"
    while _asked(app, STATE, job) == "queued":
        _hurry(app)
        time.sleep(0.02)
    time.sleep(random.uniform(0, usual))
    if case == "crowded":
        given = Jsonb({"source": str(source)})
        jobs |= {_asked(app, _CREATE_FOR, given, f"crowd{n}"): "succeeded" for n in range(CROWD)}
    _disturb(case, app, workers, job, random)
    faults = _faults_of_round(app, expected, jobs)
    workers.kill_all()
    return faults


def run(
    url: str = "", *, count: int = 100, seed: int, minutes: float | None = None,
    data: object = None,
) -> Outcome:  # fmt: skip
    """Disturb workers of a server of its own; the database at `url` is left alone."""
    random = Random(seed)
    counts = dict.fromkeys((f"jobs {case}" for case in CASES), 0)
    faults: list[str] = []
    with ExitStack() as stack:
        app = stack.enter_context(temporary_server())
        app.upgrade()
        folder = app.settings.home.parent
        source = folder / "source"
        write_source(source, 0)
        expected, usual = _undisturbed(app, source)
        execute(app.url, _COUNTED)
        workers = _Workers(folder, PGRAG_HOME=str(app.settings.home))
        stack.callback(workers.kill_all)
        order = [CASES[number % len(CASES)] for number in range(count)]
        random.shuffle(order)
        for number in turns(count, minutes):
            case = order[number]
            left = _round(case, app, workers, source, expected, random, usual)
            faults += [f"{case} (round {number} of seed {seed}): {fault}" for fault in left]
            counts[f"jobs {case}"] += 1
    return Outcome("jobs", counts, faults)
