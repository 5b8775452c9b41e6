"""Send a service four times what it can answer, then one kind of the worst after the other, and
search and write meanwhile as another, polite caller.

The flood and the worst have a key with the limits that keys have by default; of half requests and
the like, none. The polite caller's requests must keep their 95th percentile within three times of
what it is without the flood, the flood must get answers, 429 and 503 only (and the declared timeout
of its costly searches), and memory must stay flat.
"""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import count
from math import isfinite
from pathlib import Path
from random import Random
from statistics import linear_regression
from time import monotonic
from typing import Any

import httpx
import psycopg

from campaign import corpus, flood, worst
from campaign.outcome import Outcome
from campaign.servers import create_keys, service

TIMES_CAPACITY = 4
TIMES_SLOWER = 3
#: A p95 below this is fast enough, whatever it was without a flood.
FAST_SECONDS = 0.1
#: Growth in MB a minute that counts as a leak, after a minute in which caches fill.
MEGABYTES_A_MINUTE = 5
WARM_UP_SECONDS = 60
#: In a shorter run most searches would meet a service that has just started.
LEAST_SECONDS = 20
#: How often a kind of the worst is tried before it is a fault.
TRIES = 3
#: A run with fewer seconds for each kind of the worst tries a few of them.
FEW_SECONDS, FEW = 4, 5
ANSWERS = {"200", "429", "503", "abandoned", "/problems/took-too-long"}
PAGES = 40
PAUSE = 0.05
POLITE_PAGE = "/v1/libraries/polite/versions/1/pages/valve.md"
_LOCK = "select from pgrag.libraries as l where l.name = %s"
#: Searches a second and connections.
KEYS = {"measuring": (10_000, 1000), "polite": (1000, 10), "flooding": (20, 10)}
ROLES = {"measuring": "search", "polite": "write", "flooding": "write"}


def _searches(address: str, key: str, seed: int, *, until: float, pause: float) -> list[float]:
    """The seconds of searches, one after another; a failed search counts as infinite."""
    random = Random(seed)
    parameters = ({"q": " ".join(random.sample(flood.WORDS, 3))} for _ in count())
    requests = ({"method": "GET", "url": "/v1/search", "params": each} for each in parameters)
    return _seconds(address, key, requests, until=until, pause=pause)


def _pages(address: str, key: str, *, until: float) -> list[float]:
    """The same of small pages that are sent."""
    markdown = {"Content-Type": "text/markdown"}
    texts = (f"# Valve\n\nOpened for the {number}th time." for number in count())
    requests = (
        {"method": "PUT", "url": POLITE_PAGE, "content": text, "headers": markdown}
        for text in texts
    )
    return _seconds(address, key, requests, until=until, pause=PAUSE)


def _seconds(
    address: str, key: str, requests: Iterator[dict[str, Any]], *, until: float, pause: float
) -> list[float]:
    seconds = []
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=address, headers=headers, trust_env=False, timeout=20) as client:
        while monotonic() < until:
            started = monotonic()
            is_answered = False
            with suppress(httpx.TransportError):
                is_answered = client.request(**next(requests)).status_code == 200
            seconds.append(monotonic() - started if is_answered else float("inf"))
            time.sleep(pause)
    return seconds


def _polite(address: str, key: str, seed: int, seconds: float) -> dict[str, float]:
    """The 95th percentiles of searches and of small pages, at the same time."""
    until = monotonic() + seconds
    with ThreadPoolExecutor(2) as threads:
        found = threads.submit(_searches, address, key, seed, until=until, pause=PAUSE)
        sent = threads.submit(_pages, address, key, until=until)
        return {"searches": _p95(found.result()), "pages": _p95(sent.result())}


def _capacity(address: str, key: str, seconds: float) -> float:
    """How many searches a second ten clients get."""
    measuring = partial(_searches, address, key, until=monotonic() + seconds, pause=0)
    with ThreadPoolExecutor(10) as clients:
        return sum(map(len, clients.map(measuring, range(10)))) / seconds


def _worst(
    url: str, address: str, keys: dict[str, str], seed: int, seconds: float, kinds: list[str]
) -> tuple[dict[str, float], list[str]]:
    """How many times slower polite requests are under each kind of the worst, and faults: what is
    too slow each time, and each time is twice as long. A machine that does other work is slow once.
    """
    slower, faults = {}, []
    for kind in kinds:
        for attempt in range(TRIES):
            quiet, loaded = _under(kind, url, address, keys, seed, seconds * 2**attempt)
            slow = [
                f"polite {what} took {after:.3f} s (p95) under {kind}, before {quiet[what]:.3f} s"
                for what, after in loaded.items()
                if not after <= max(TIMES_SLOWER * quiet[what], FAST_SECONDS)
            ]
            if not slow:
                break
        faults += slow
        for what, after in loaded.items():
            slower[f"× {what} under {kind}"] = round(after / quiet[what], 1)
    return slower, faults


def _under(
    kind: str, url: str, address: str, keys: dict[str, str], seed: int, seconds: float
) -> tuple[dict[str, float], dict[str, float]]:
    """The 95th percentiles of polite requests just before one kind of the worst, and under it."""
    quiet = _polite(address, keys["polite"], seed, seconds)
    with psycopg.connect(url) as locking:
        if "taken" in kind:
            locking.execute(f"{_LOCK} for no key update".encode(), [worst.TAKEN])
        sending = subprocess.Popen(
            [sys.executable, str(worst.__file__), address, keys["flooding"], kind,
             str(seconds + 1)],
            stdout=subprocess.PIPE,
        )  # fmt: skip
        assert sending.stdout is not None
        sending.stdout.readline()
        time.sleep(0.5)
        loaded = _polite(address, keys["polite"], seed, seconds)
        locking.rollback()
    sending.communicate(timeout=180)
    return quiet, loaded


def _p95(seconds: list[float]) -> float:
    return sorted(seconds)[int(0.95 * len(seconds))]


def _megabytes(pids: list[int]) -> float:
    """The private memory of processes, where the system reports it."""
    total = 0
    for pid in pids:
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    total += int(line.split()[1])
    return total / 1024


class _Memory:
    """Samples of the memory of the service and of its sessions, one a second."""

    def __init__(self, url: str, pid: int) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._pid = pid
        self.samples: dict[str, list[tuple[float, float]]] = {"service": [], "server": []}

    def watch(self, until: float) -> None:
        while monotonic() < until:
            sessions = self._connection.execute(
                "select pid from pg_stat_activity where datname = current_database()"
            ).fetchall()
            now = monotonic()
            self.samples["service"].append((now, _megabytes([self._pid])))
            self.samples["server"].append((now, _megabytes([pid for (pid,) in sessions])))
            time.sleep(1)
        self._connection.close()

    def slope(self, name: str) -> float:
        """MB a minute after the warm-up, or during all of a short run."""
        samples = self.samples[name]
        start = samples[0][0]
        late = [s for s in samples if s[0] - start > WARM_UP_SECONDS]
        times, sizes = zip(*(late if len(late) > 30 else samples), strict=True)
        return 60 * linear_regression(times, sizes).slope


def run(
    url: str, *, count: int = 600, seed: int, minutes: float | None = None, data: object = None
) -> Outcome:
    """Serve a migrated, empty database and overload the service for `count` seconds."""
    seconds = max(LEAST_SECONDS, min(count, int(60 * minutes))) if minutes else count
    corpus.index(url, {("manual", ""): _manual(), (worst.TAKEN, "1"): {"a.md": corpus.NOTES}})
    keys = create_keys(
        url, **{name: (ROLES[name], ["*"], *limits) for name, limits in KEYS.items()}
    )
    with (
        socket.create_server(("127.0.0.1", 0), backlog=1000) as silent,
        service(url, "--require-keys", **_model(silent)) as (address, pid),
    ):
        quiet = max(2.0, min(30.0, seconds / 10))
        capacity = _capacity(address, keys["measuring"], quiet)
        polite = partial(_searches, address, keys["polite"], seed, pause=PAUSE)
        unloaded = polite(until=monotonic() + quiet)
        left = max(3.0, seconds - 2 * quiet)
        memory = _Memory(url, pid)
        flooding = subprocess.Popen(
            [sys.executable, str(flood.__file__), address, keys["flooding"],
             str(TIMES_CAPACITY * capacity), str(left), str(seed)],
            stdout=subprocess.PIPE,
        )  # fmt: skip
        with ThreadPoolExecutor(1) as watching:
            until = monotonic() + left
            watched = watching.submit(memory.watch, until)
            loaded = polite(until=until)
            watched.result()
        output, _ = flooding.communicate(timeout=180)
        kinds = [*worst.KINDS, *worst.HALVES]
        if seconds < len(kinds) * FEW_SECONDS:
            kinds = Random(seed).sample(kinds, min(FEW, len(kinds)))
        each = max(1.0, seconds / 4 / len(kinds))
        slower, worst_faults = _worst(url, address, keys, seed, each, kinds)
    answers = json.loads(output)
    before, after = _p95(unloaded), _p95(loaded)
    slopes = {name: memory.slope(name) for name in memory.samples}
    faults = [*worst_faults]
    if not isfinite(after) or after > max(TIMES_SLOWER * before, FAST_SECONDS):
        faults.append(f"polite searches took {after:.3f} s (p95), {before:.3f} s without a flood")
    if strange := {answer: n for answer, n in answers.items() if answer not in ANSWERS}:
        faults.append(f"answers to the flood: {strange}")
    faults += [
        f"the {name} grew by {slope:.1f} MB a minute"
        for name, slope in slopes.items()
        if slope > MEGABYTES_A_MINUTE and left > 2 * WARM_UP_SECONDS
    ]
    return Outcome(
        "overload",
        {
            "seconds": round(left),
            "requests a second that the service can answer": round(capacity),
            "requests of the flood": sum(answers.values()),
            **{f"× {answer}": number for answer, number in sorted(answers.items())},
            "polite searches": len(loaded),
            "ms p95 without the flood": round(1000 * before, 1),
            "ms p95 with it": round(1000 * after, 1),
            **slower,
            **{f"MB a minute ({name})": round(slope, 2) for name, slope in slopes.items()},
        },
        faults,
    )


def _model(silent: socket.socket) -> dict[str, str]:
    """A language model that never answers."""
    port = silent.getsockname()[1]
    return {"PGRAG_LLM_URL": f"http://127.0.0.1:{port}/v1", "PGRAG_LLM_MODEL": "silent"}


def _manual() -> dict[str, str]:
    pages = [corpus.INSTALL, corpus.VALVE, corpus.NOTES]
    return {
        f"page{n}.md": pages[n % 3].replace("uuid: 6f", f"uuid: {n:02x}") + f"\nMore of {n}.\n"
        for n in range(PAGES)
    }
