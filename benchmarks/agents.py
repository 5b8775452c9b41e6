"""The time that MCP adds to a search: `pgrag serve` over HTTP against SQL."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep

import httpx
import numpy as np

from benchmarks.bench import Bench, environment
from benchmarks.figures import Figure, judged
from benchmarks.timing import by_turns

QUERIES = 200
HITS = 5
SEARCH = b"select * from pgrag.search(%s, %s, top_k => %s)"
RESOLVE = b"select * from pgrag.resolve_version(%s)"


def serve(bench: Bench) -> list[Figure]:
    """Run every query in SQL, with the version resolved as for agents, and through the service."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with (
        _service(bench.url) as address,
        bench.connect() as connection,
        # Thinner than the official client, which itself takes milliseconds.
        httpx.Client(trust_env=False, timeout=60) as client,
    ):

        def in_sql(query: str) -> None:
            connection.execute(RESOLVE, (library,)).fetchall()
            connection.execute(SEARCH, (query, library, HITS)).fetchall()

        def over_http(query: str) -> None:
            arguments = {"library": library, "query": query, "top_k": HITS}
            call = {"name": "search_docs", "arguments": arguments}
            answer = client.post(
                f"{address}/mcp",
                json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
                headers={"Accept": "application/json, text/event-stream"},
            )
            assert not answer.raise_for_status().json()["result"]["isError"], answer.text

        times = by_turns({"sql": in_sql, "mcp": over_http}, queries, warm_up=20)
    on = f"MDN, {len(queries)} queries"
    middle, over = (float(np.median(times[name])) for name in ("sql", "mcp"))
    return [
        Figure("pgrag.search in SQL, 5 hits, whole call: p50", on, f"{middle:.1f} ms"),
        judged("MCP search_docs over HTTP, on top of it", on, over - middle, 5),
    ]


@contextmanager
def _service(url: str) -> Iterator[str]:
    """The address of a running `pgrag serve`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "pgrag", "serve", "--port", str(port)],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment(url),
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        while process.poll() is None:
            try:
                httpx.get(f"{address}/readyz", trust_env=False, timeout=60).raise_for_status()
            except httpx.HTTPError:
                sleep(0.1)
            else:
                break
        else:
            raise RuntimeError("pgrag serve has ended")
        yield address
    finally:
        process.terminate()
        process.wait()
