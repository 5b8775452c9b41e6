"""End processes by SIGKILL at random moments; afterwards the index is as if nothing had happened.

`python -m campaign.kills --kills 100 --seed 1`. The processes are those of an embedded server that
it starts: an indexer, a session of the server, the server itself, and a service that answers and
writes meanwhile. After each kill the indexer runs once more; its library must then equal one that
was indexed without a disturbance, and `check_library` must find nothing.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import httpx
import psycopg
from psycopg.types.json import Jsonb

from campaign import contents
from campaign.command import run_part, temporary_server
from campaign.corpus import INSTALL, NOTES, VALVE
from campaign.databases import administer
from campaign.outcome import Outcome
from pgrag.service.app import App

LIBRARY = "manual"
PAGES = 60
SYNONYMS = {"valve": ["tap"]}
WORDS = [
    "pump",
    "valve",
    "wheel",
    "tank",
    "flow",
    "seal",
    "gauge",
    "bolt",
    "drain",
    "pressure",
    "filter",
    "pipe",
    "motor",
    "shaft",
]
VICTIMS = ["indexer", "session", "server", "service"]
SESSIONS = "select pid from pg_stat_activity where application_name = 'pgrag' order by pid"
#: Seconds that a run may take, and a service until it answers.
PATIENCE = 300


def write_source(folder: Path, state: int) -> None:
    """Pages of one of two states, which share most pages."""
    random = Random(state)
    for number in range(PAGES):
        if number % 10 == state:
            continue
        text = [INSTALL, VALVE, NOTES][number % 3].replace("uuid: 6f", f"uuid: {number:02x}")
        words = " ".join(random.choices(WORDS, k=200)) if number % 4 == 0 else str(number)
        page = folder / f"part{number % 5}" / f"page{number}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        links = f"See [that](../part{(number + 1) % 5}/page{number + 1}.md)."
        page.write_text(f"{text}\n\n## More of {number}\n\n{words} {links}\n", "utf-8")


class _Processes:
    """Commands of pgrag on one server; each is the leader of its own group."""

    def __init__(self, app: App, folder: Path) -> None:
        self.app = app
        self._folder = folder
        self.log = folder / "commands.log"
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start a command, in the database of the server unless PGRAG_DATABASE_URL is given."""
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pgrag", *arguments],
                env={**os.environ, "PGRAG_HOME": str(self.app.settings.home), **variables},
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def index(self, state: int, **variables: str) -> None:
        """Index a state and wait for it."""
        process = self.start("index", LIBRARY, str(self._folder / str(state)), **variables)
        if status := process.wait(PATIENCE):
            raise RuntimeError(f"pgrag index: {status} {self.log.read_text()[-500:]}")

    def kill_all(self) -> None:
        for process in self._started:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class _Service:
    """A service whose client searches and changes the synonyms of the library."""

    def __init__(self, processes: _Processes) -> None:
        self._processes = processes
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{self._port}", trust_env=False, timeout=60
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it unless it runs, and wait until it can search."""
        if self.process is None or self.process.poll() is not None:
            self.process = self._processes.start(
                "serve", "--allow-writes", "--port", str(self._port)
            )
        deadline = monotonic() + PATIENCE
        while monotonic() < deadline:
            with suppress(httpx.TransportError):
                if self._client.get("/readyz").status_code == 200:
                    return
            time.sleep(0.2)
        raise RuntimeError("The service does not answer.")

    def use(self, random: Random) -> None:
        """Search, and write what is equal in the end; answers may be missing."""
        with suppress(httpx.TransportError):
            self._client.get("/v1/search", params={"q": random.choice(WORDS)})
            self._client.patch(f"/v1/libraries/{LIBRARY}/synonyms", json={"synonyms": SYNONYMS})

    def close(self) -> None:
        self._client.close()


def _kill_one(victim: str, indexer: Any, service: _Service, app: App, random: Random) -> bool:
    """Kill the victim if it is there."""
    if victim == "indexer":
        alive = indexer.poll() is None
        kill(indexer)
        return alive
    if victim == "service":
        service.use(random)
        if service.process is not None:
            kill(service.process)
        return service.process is not None
    pids = []
    with suppress(psycopg.OperationalError), psycopg.connect(app.url) as connection:
        if victim == "session":
            pids = [pid for (pid,) in connection.execute(SESSIONS).fetchall()]
    status = app.server.status()
    if victim == "server" and status.pid:
        pids = [status.pid]
    with suppress(ProcessLookupError):
        if pids:
            os.kill(random.choice(pids), signal.SIGKILL)
    return bool(pids)


def _undisturbed(app: App, processes: _Processes, state: int) -> dict[str, Counter[str]]:
    """What the library holds in a database of its own, where nothing happens to it."""
    name = f"quiet{state}"
    administer(app.url, "create database {} template pgrag", name)
    url = app.url.replace("/pgrag?", f"/{name}?")
    processes.index(state, PGRAG_DATABASE_URL=url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pgrag.set_synonyms(%s, %s)", [LIBRARY, Jsonb(SYNONYMS)])
    return contents.of_library(url, LIBRARY)


def _check(url: str, expected: dict[str, Counter[str]]) -> list[str]:
    with psycopg.connect(url) as connection:
        found = connection.execute("select * from pgrag.check_library(%s)", [LIBRARY]).fetchall()
    return [
        *contents.differences(expected, contents.of_library(url, LIBRARY)),
        *(f"check_library: {row}" for row in found),
    ]


def run(
    url: str = "",
    *,
    kills: int = 100,
    seed: int,
    minutes: float | None = None,
    data: object = None,
) -> Outcome:
    """Kill processes of a server of its own; the database at `url` is left alone."""
    deadline = monotonic() + 60 * minutes if minutes else float("inf")
    random = Random(seed)
    counts = dict.fromkeys((f"kills of the {victim}" for victim in VICTIMS), 0)
    faults: list[str] = []
    with ExitStack() as stack:
        app = stack.enter_context(temporary_server())
        app.upgrade()
        folder = app.settings.home.parent
        processes = _Processes(app, folder)
        stack.callback(processes.kill_all)
        service = _Service(processes)
        stack.callback(service.close)
        expected = []
        for state in (0, 1):
            write_source(folder / str(state), state)
            expected.append(_undisturbed(app, processes, state))
        processes.index(1)
        started = monotonic()
        processes.index(0)
        usual = monotonic() - started
        service.start()
        service.use(random)
        tries = 0
        while sum(counts.values()) < kills and monotonic() < deadline and tries < 2 * kills:
            tries += 1
            state, victim = tries % 2, random.choice(VICTIMS)
            indexer = processes.start("index", LIBRARY, str(folder / str(state)))
            moment = random.uniform(0, usual)
            until = monotonic() + moment
            while monotonic() < until:
                service.use(random)
            counts[f"kills of the {victim}"] += _kill_one(victim, indexer, service, app, random)
            try:
                indexer.wait(PATIENCE)
                app.server.start()
                service.start()
                processes.index(state)
                service.use(random)
                found = _check(app.url, expected[state])
            except (RuntimeError, subprocess.TimeoutExpired, psycopg.Error) as error:
                kill(indexer)
                found = [f"{type(error).__name__}: {error}"]
            if found:
                told = "; ".join(found)
                faults.append(
                    f"{victim} killed after {moment:.2f} s (number {tries} of seed {seed}): {told}"
                )
                print(faults[-1], file=sys.stderr)
    return Outcome("kills", counts, faults)


if __name__ == "__main__":
    sys.exit(run_part(run, counted="kills"))
