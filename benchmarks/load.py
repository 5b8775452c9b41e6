"""Searches a second of a service over REST, by clients with keys, each search recorded."""

from __future__ import annotations

import re
import socket
from itertools import cycle
from selectors import EVENT_READ, DefaultSelector
from time import perf_counter
from typing import cast
from urllib.parse import quote

import numpy as np

from benchmarks.agents import service
from benchmarks.bench import Bench, value
from benchmarks.figures import Figure
from pgrag.evaluation.labelled import read_labelled_set

CLIENTS = 8
STRETCHES = 16
SECONDS = 1.5
WANTED_RATE = 250
WANTED_MS = 60
OWN_KEYS = 4
"""So many keys share the clients: connections change from key to key, as they would."""
_LENGTH = re.compile(rb"\ncontent-length: (\d+)", re.IGNORECASE)
_FIRST_HIT = b'{"hits":[{'


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
    """One connection, on which one query is asked after the other."""

    def __init__(self, port: int, key: str, library: str, queries: list[str]) -> None:
        self.sent = 0
        self._socket = socket.create_connection(("127.0.0.1", port))
        head = f" HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n\r\n"
        self._requests = cycle(
            f"GET /v1/search?library={library}&q={quote(query)}{head}".encode() for query in queries
        )

    def fileno(self) -> int:
        return self._socket.fileno()

    def ask(self) -> None:
        self.sent += 1
        self._answer = b""
        self._started = perf_counter()
        self._socket.sendall(next(self._requests))

    def answered(self) -> float | None:
        """Milliseconds that the search took, once all of its answer is there."""
        part = self._socket.recv(1 << 20)
        if not part:
            raise RuntimeError("The service hung up.")
        self._answer += part
        head, found, body = self._answer.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not (found and length and len(body) >= int(length[1])):
            return None
        took = 1000 * (perf_counter() - self._started)
        if not head.startswith(b"HTTP/1.1 200 ") or not body.startswith(_FIRST_HIT):
            raise RuntimeError(self._answer.decode())
        return took

    def close(self) -> None:
        self._socket.close()


def _run(clients: list[_Client], seconds: float) -> list[float]:
    """Milliseconds of all searches of all clients within so many seconds.

    One thread for all of them: what it needs of the machine, the service does not get.
    """
    times: list[float] = []
    with DefaultSelector() as selector:
        for client in clients:
            selector.register(client, EVENT_READ)
            client.ask()
        end = perf_counter() + seconds
        while selector.get_map():
            for key, _ in selector.select():
                client = cast(_Client, key.fileobj)
                took = client.answered()
                if took is None:
                    continue
                times.append(took)
                if perf_counter() < end:
                    client.ask()
                else:
                    selector.unregister(client)
    return times
