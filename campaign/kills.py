"""End processes by SIGKILL at random moments; afterwards the index is as if nothing had happened.

The processes are those of an embedded server of its own: an indexer, a session of the server, the
server itself, and a service that answers and writes meanwhile. After each kill the indexer runs
once more; its library must then equal one that was indexed without a disturbance, and
`check_library` must report nothing.
"""

import os
import signal
import subprocess
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random
from time import monotonic

import httpx
import psycopg
from psycopg.types.json import Jsonb

from campaign import contents
from campaign.corpus import INSTALL, NOTES, VALVE
from campaign.outcome import Faults, Outcome, turns
from campaign.servers import PATIENCE, Processes, administer, free_port, kill, temporary_server
from pgrag.service.app import App

LIBRARY = "manual"
PAGES = 60
SYNONYMS = {"valve": ["tap"]}
WORDS = [
    "pump", "valve", "wheel", "tank", "flow", "seal", "gauge", "bolt", "drain", "pressure",
    "filter", "pipe", "motor", "shaft",
]  # fmt: skip
VICTIMS = ["indexer", "session", "server", "service"]
SESSIONS = "select pid from pg_stat_activity where application_name = 'pgrag' order by pid"


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


class _Commands:
    """An indexer and a service, whose client searches and changes the synonyms of the library."""

    def __init__(self, app: App, folder: Path) -> None:
        self._processes = Processes(folder, PGRAG_HOME=str(app.settings.home))
        self._folder = folder
        self._port = free_port()
        url = f"http://127.0.0.1:{self._port}"
        self._client = httpx.Client(base_url=url, trust_env=False, timeout=60)
        self.service: subprocess.Popen[bytes] | None = None

    def start_indexer(self, state: int, **variables: str) -> subprocess.Popen[bytes]:
        """Index a state, in the database of the server unless PGRAG_DATABASE_URL is given."""
        source = str(self._folder / str(state))
        return self._processes.start("-m", "pgrag", "index", LIBRARY, source, **variables)

    def index(self, state: int, **variables: str) -> None:
        """Index a state and wait for it."""
        if status := self.start_indexer(state, **variables).wait(PATIENCE):
            log = self._processes.log.read_text()
            raise RuntimeError(f"pgrag index: {status} {log[-500:]}")

    def serve(self) -> None:
        """Start the service unless it runs."""
        if self.service is None or self.service.poll() is not None:
            self.service = self._processes.serve(self._port, "--allow-writes")

    def use(self, random: Random) -> None:
        """Search, and write the same synonyms again; requests may fail."""
        with suppress(httpx.TransportError):
            self._client.get("/v1/search", params={"q": random.choice(WORDS)})
            self._client.patch(f"/v1/libraries/{LIBRARY}/synonyms", json={"synonyms": SYNONYMS})

    def close(self) -> None:
        self._client.close()
        self._processes.kill_all()


def _kill_one(
    victim: str, indexer: subprocess.Popen[bytes], commands: _Commands, app: App, random: Random
) -> bool:
    """Kill the victim; returns whether it was there."""
    if victim in ("indexer", "service"):
        if victim == "service":
            commands.use(random)
        process = commands.service if victim == "service" else indexer
        alive = process is not None and process.poll() is None
        if process is not None:
            kill(process)
        return alive
    pids = []
    if victim == "server":
        pids = [pid for pid in [app.server.status().pid] if pid]
    else:
        with suppress(psycopg.OperationalError), psycopg.connect(app.url) as connection:
            pids = [pid for (pid,) in connection.execute(SESSIONS).fetchall()]
    if pids:
        with suppress(ProcessLookupError):
            os.kill(random.choice(pids), signal.SIGKILL)
    return bool(pids)


def _undisturbed(app: App, commands: _Commands, state: int) -> dict[str, Counter[str]]:
    """The rows of the library after undisturbed indexing into a database of its own."""
    administer(app.url, "create database {} template pgrag", f"quiet{state}")
    url = app.url.replace("/pgrag?", f"/quiet{state}?")
    commands.index(state, PGRAG_DATABASE_URL=url)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("select pgrag.set_synonyms(%s, %s)", [LIBRARY, Jsonb(SYNONYMS)])
    return contents.of_library(url, LIBRARY)


def _check(url: str, expected: dict[str, Counter[str]]) -> list[str]:
    held = contents.of_library(url, LIBRARY)
    return [*contents.differences(expected, held), *contents.problems(url, LIBRARY)]


def run(
    url: str = "", *, count: int = 100, seed: int, minutes: float | None = None,
    data: object = None,
) -> Outcome:  # fmt: skip
    """Kill processes of a server of its own; the database at `url` is left alone."""
    random = Random(seed)
    counts = dict.fromkeys((f"kills of the {victim}" for victim in VICTIMS), 0)
    faults = Faults()
    with ExitStack() as stack:
        app = stack.enter_context(temporary_server())
        app.upgrade()
        folder = app.settings.home.parent
        commands = _Commands(app, folder)
        stack.callback(commands.close)
        expected = []
        for state in (0, 1):
            write_source(folder / str(state), state)
            expected.append(_undisturbed(app, commands, state))
        commands.index(1)
        started = monotonic()
        commands.index(0)
        usual = monotonic() - started
        commands.serve()
        commands.use(random)
        for attempt in turns(2 * count, minutes):
            if sum(counts.values()) == count:
                break
            state, victim = (attempt + 1) % 2, random.choice(VICTIMS)
            indexer = commands.start_indexer(state)
            moment = random.uniform(0, usual)
            until = monotonic() + moment
            while monotonic() < until:
                commands.use(random)
            counts[f"kills of the {victim}"] += _kill_one(victim, indexer, commands, app, random)
            try:
                indexer.wait(PATIENCE)
                app.server.start()
                commands.serve()
                commands.index(state)
                commands.use(random)
                left = _check(app.url, expected[state])
            except (RuntimeError, subprocess.TimeoutExpired, psycopg.Error) as error:
                kill(indexer)
                left = [f"{type(error).__name__}: {error}"]
            if left:
                head = f"{victim} killed after {moment:.2f} s (number {attempt} of seed {seed})"
                faults.add(attempt, f"{head}: {'; '.join(left)}")
    return Outcome("kills", counts, [*faults.values()])
