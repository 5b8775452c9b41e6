"""Searches a second of a service over REST, by clients with keys, each search recorded."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from itertools import cycle
from threading import Barrier, Thread
from time import perf_counter
from urllib.parse import quote

import numpy as np

from benchmarks.agents import service
from benchmarks.bench import Bench, value
from benchmarks.figures import Figure
from pgrag.evaluation.labelled import read_labelled_set

CLIENTS = 8
STRETCHES = 8
SECONDS = 2.5
WANTED_RATE = 250
WANTED_MS = 60
OWN_KEYS = 4
"""So many keys share the clients: connections change from key to key, as they would."""


def serve(bench: Bench) -> list[Figure]:
    """Let clients search as fast as they get answers; thin ones, because they share the machine."""
    library = bench.require("k8s", bench.corpora.pages("k8s-en"))
    labelled = read_labelled_set(bench.corpora.folder("k8s-anchor"))
    queries = [query.text for query in labelled.queries]
    with bench.connect() as connection:
        keys = [
            value(
                connection,
                "select pgrag.create_key(%s, 'search', array[%s], rate => 10000)",
                f"benchmark-{number}", library,
            )
            for number in range(OWN_KEYS)
        ]  # fmt: skip
        before = value(connection, "select count(*) from pgrag.searches")
    seconds = SECONDS / 5 if bench.quick else SECONDS
    with service(bench.url, "--require-keys") as (address, _):
        port = int(address.rpartition(":")[2])
        clients = [
            _Client(port, keys[number % OWN_KEYS], library, queries[number::CLIENTS])
            for number in range(CLIENTS)
        ]
        _run(clients, 2 * seconds)
        stretches = [_run(clients, seconds) for _ in range(STRETCHES)]
        for client in clients:
            client.close()
    with bench.connect() as connection:
        recorded = value(connection, "select count(*) from pgrag.searches") - before
    sent = sum(client.sent for client in clients)
    stretches.sort(key=len)
    rates = [len(times) / seconds for times in stretches]
    middle, slow = np.percentile(stretches[-1], [50, 95])
    of_all = np.percentile(np.concatenate(stretches), [50, 95])
    on = f"Kubernetes, {CLIENTS} clients, {STRETCHES} times {seconds:g} s"
    return [
        Figure("searches over REST with keys, recorded, a second: the quietest stretch", on,
               f"{rates[-1]:.0f}", f"≥ {WANTED_RATE}", rates[-1] >= WANTED_RATE),
        Figure("— p50, p95 of a search in it", on, f"{middle:.0f} ms, {slow:.0f} ms",
               f"p95 ≤ {WANTED_MS} ms", bool(slow <= WANTED_MS)),
        Figure("— median, slowest stretch", on, f"{np.median(rates):.0f}, {rates[0]:.0f}"),
        Figure("— p50, p95 of a search, all stretches", on,
               f"{of_all[0]:.0f} ms, {of_all[1]:.0f} ms"),
        Figure("— searches that were not recorded", on, f"{sent - recorded} of {sent:,}", "0",
               recorded == sent),
    ]  # fmt: skip


class _Client:
    """One connection, with which one thread asks one query after the other."""

    def __init__(self, port: int, key: str, library: str, queries: list[str]) -> None:
        self.sent = 0
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._answers = self._socket.makefile("rb")
        head = f" HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n\r\n"
        self._requests = cycle(
            f"GET /v1/search?library={library}&q={quote(query)}{head}".encode() for query in queries
        )

    def ask_until(self, end: float) -> Iterator[float]:
        """Milliseconds of one search after the other."""
        while (started := perf_counter()) < end:
            self._socket.sendall(next(self._requests))
            self._read()
            self.sent += 1
            yield 1000 * (perf_counter() - started)

    def close(self) -> None:
        self._answers.close()
        self._socket.close()

    def _read(self) -> None:
        status = self._answers.readline()
        length = 0
        while (line := self._answers.readline()) not in {b"\r\n", b""}:
            name, _, text = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(text)
        body = self._answers.read(length)
        if b" 200 " not in status:
            raise RuntimeError(f"{status.decode().strip()}: {body.decode()}")
        assert json.loads(body)["hits"], body


def _run(clients: list[_Client], seconds: float) -> list[float]:
    """Milliseconds of all searches of all clients within so many seconds."""
    times: list[float] = []
    errors: list[Exception] = []
    together = Barrier(len(clients))

    def ask(client: _Client) -> None:
        together.wait()
        try:
            times.extend(client.ask_until(perf_counter() + seconds))
        except Exception as error:
            errors.append(error)

    threads = [Thread(target=ask, args=[client]) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return times
