"""Searches over REST with a key, recorded, by clients that always wait: this checkout and another.

    git worktree add ../before a83e88aa
    python -m benchmarks.load PATH --against ../before

PATH is a folder of Markdown, out of which 2,000 pages are made for both. Each checkout has a
server, a database and a service of its own; they are loaded in turns, so that other work on the
machine slows both. Prints requests a second, and the processor time of a request: of the service
and of the database.
"""

import argparse
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

from benchmarks.figures import table, told
from benchmarks.made_pages import Maker

HERE = Path(__file__).parents[1]
PAGES, CLIENTS, SECONDS, ROUNDS, QUERIES = 2000, 8, 8, 4, 200
_TICKS = os.sysconf("SC_CLK_TCK")
#: Fields of a process after its name: its parent, its own time, that of its ended children.
_PARENT, _OWN, _ENDED = 1, slice(11, 13), slice(13, 15)


@dataclass(slots=True)
class Loaded:
    """A service of one checkout, and what was measured of it."""

    name: str
    service: int
    server: int
    port: int
    secret: str
    requests: int = 0
    seconds: float = 0.0
    of_service: float = 0.0
    of_server: float = 0.0

    def load(self, queries: Sequence[str], seconds: float) -> None:
        """Let all clients ask for some seconds."""
        before = _used(self.service), _used_with_children(self.server)
        started = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as pool:
            parts = [queries[nth::CLIENTS] for nth in range(CLIENTS)]
            self.requests += sum(pool.map(lambda part: self._ask(part, started + seconds), parts))
        self.seconds += time.perf_counter() - started
        self.of_service += _used(self.service) - before[0]
        self.of_server += _used_with_children(self.server) - before[1]

    def _ask(self, queries: Sequence[str], end: float) -> int:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.secret}"}
        for count, query in enumerate(cycle(queries)):
            if time.perf_counter() >= end:
                connection.close()
                return count
            parameters = urlencode({"query": query, "library": "made", "snippets": "true"})
            connection.request("GET", f"/v1/search?{parameters}", headers=headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"{self.name}: {answer.status} {body[:300]!r}")
        raise AssertionError

    def row(self) -> tuple[str, ...]:
        """Its figures."""
        spent = [1000 * each / self.requests for each in (self.of_service, self.of_server)]
        rate = self.requests / self.seconds
        return (self.name, f"{rate:.0f}", *(f"{each:.2f}" for each in (*spent, sum(spent))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Index, serve and load both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("pages", type=Path, help="a folder of Markdown")
    parser.add_argument("--against", type=Path, help="another checkout")
    parser.add_argument("--made", type=int, default=PAGES, help="how many pages are made")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the length of a turn")
    options = parser.parse_args(arguments)
    checkouts = {"this": HERE} | ({"other": options.against} if options.against else {})
    with tempfile.TemporaryDirectory(prefix="pgrag-load-") as folder, ExitStack() as stack:
        scratch = Path(folder)
        scratch.chmod(0o711)
        maker = Maker.read(options.pages)
        maker.write(scratch / "pages", range(options.made))
        queries = maker.queries(QUERIES)
        loaded = []
        for name, checkout in checkouts.items():
            with told(name):
                loaded.append(_serve(stack, name, checkout.resolve(), scratch))
        for one in loaded:
            one.load(queries, 1)
            one.requests, one.seconds, one.of_service, one.of_server = 0, 0.0, 0.0, 0.0
        for turn in range(ROUNDS):
            for one in loaded if turn % 2 else loaded[::-1]:
                one.load(queries, options.seconds)
    heads = ("checkout", "requests/s", "service, ms", "database, ms", "both, ms")
    print(table(heads, [one.row() for one in loaded]))
    if len(loaded) == 2:
        rates = [one.requests / one.seconds for one in loaded]
        spent = [(one.of_service + one.of_server) / one.requests for one in loaded]
        print(
            f"\nthis : other: {rates[0] / rates[1]:.2f} of the requests a second,"
            f" {spent[0] / spent[1]:.2f} of the processor time"
        )
    return 0


def _serve(stack: ExitStack, name: str, checkout: Path, scratch: Path) -> Loaded:
    """Index the pages with a checkout, and start its service; the stack ends both."""
    kept = {each: value for each, value in os.environ.items() if not each.startswith("PGRAG_")}
    home = scratch / name
    environment = kept | {
        "PYTHONPATH": str(checkout / "src"), "PGRAG_HOME": str(home), "PGRAG_RATE_LIMIT": "0",
    }  # fmt: skip

    def pgrag(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "pgrag", *words],
            env=environment, cwd=scratch, check=True, capture_output=True, encoding="utf-8",
        ).stdout  # fmt: skip

    stack.callback(pgrag, "db", "stop")
    pgrag("index", "made", str(scratch / "pages"))
    created = pgrag(
        "keys", "create", "load", "--libraries", "made", "--rate", "100000/s",
        "--concurrency", "100", "--json",
    )  # fmt: skip
    [secret] = re.findall(r"pgrag_sk_\w+", created)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    service = stack.enter_context(
        subprocess.Popen(
            [sys.executable, "-m", "pgrag", "serve", "--port", str(port), "--no-worker"],
            env=environment, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
    )  # fmt: skip
    stack.callback(service.terminate)
    while service.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.2)
    pid_file = home / "cluster" / "data" / "postmaster.pid"
    server = int(pid_file.read_text("ascii").split()[0])
    return Loaded(name, service.pid, server, port, secret)


def _used(pid: int, *fields: slice) -> float:
    """Seconds of processor time of a process, all its threads."""
    stat = (Path("/proc") / str(pid) / "stat").read_text("utf-8").rpartition(")")[2].split()
    return sum(int(ticks) for field in fields or (_OWN,) for ticks in stat[field]) / _TICKS


def _used_with_children(pid: int) -> float:
    """That of a process, its children, and those that have ended."""
    total = _used(pid, _OWN, _ENDED)
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                stat = (process / "stat").read_text("utf-8").rpartition(")")[2].split()
                total += _used(int(process.name)) if int(stat[_PARENT]) == pid else 0
            except OSError:  # it has ended meanwhile
                continue
    return total


if __name__ == "__main__":
    sys.exit(main())
