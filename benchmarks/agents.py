"""The overhead of a search over MCP compared with SQL, and the load of many concurrent agents."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import mcp_types as types
import numpy as np
from mcp import Client

from benchmarks.bench import Bench
from benchmarks.figures import Figure

QUERIES = 200
WAYS = ("sql", "stdio", "HTTP", "HTTP, protocols before 2026-07-28")
SESSIONS = 50
SECONDS = 60
LIMIT = 5
NEWEST = "2026-07-28"
"""Protocol version in which each request carries what a handshake carried before."""
SEARCH = b"select * from pgrag.search(%s, %s, top_k => %s)"
RESOLVE = b"select * from pgrag.resolve_version(%s)"


def serve(bench: Bench) -> list[Figure]:
    """Run every query in SQL and through both transports by turns, then many sessions at once."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with service(bench.url) as (root, process):
        address = f"{root}/mcp"
        times = asyncio.run(_compare(bench, address, library, queries))
        calls, errors, growth = asyncio.run(_crowd(bench, address, process, library, queries))
    on = f"MDN, {len(queries)} queries"
    middle = {name: float(np.median(taken)) for name, taken in times.items() if name != "start"}
    figures = [
        Figure("pgrag.search in SQL, 5 hits, whole call: p50", on, f"{middle['sql']:.1f} ms")
    ]
    for name in WAYS[1:]:
        more = middle[name] - middle["sql"]
        figures.append(
            Figure(f"MCP search_docs over {name}, on top of it", on, f"{more:.1f} ms", "≤ 5 ms",
                   more <= 5)
        )  # fmt: skip
    figures.append(
        Figure("`pgrag mcp` from its start to its first answer", "",
               f"{times['start'][0]:.1f} s", "≤ 2 s", times["start"][0] <= 2)
    )  # fmt: skip
    half, slow = np.percentile(calls, [50, 95])
    during = f"MDN, {_sessions(bench)} sessions for {_seconds(bench):g} s"
    figures += [
        Figure("MCP sessions at once: calls that failed", during, f"{errors} of {len(calls):,}",
               "0", errors == 0),
        Figure("— calls a second; p50, p95 of a call", during,
               f"{len(calls) / _seconds(bench):.0f}; {half:.0f} ms, {slow:.0f} ms"),
        Figure("— the server's memory, end against beginning", during, f"{growth:+.1f} MB",
               "≤ 20 MB", growth <= 20),
    ]  # fmt: skip
    return figures


async def _compare(
    bench: Bench, address: str, library: str, queries: list[str]
) -> dict[str, list[float]]:
    """Milliseconds of every call; noise affects all ways alike. `start` is in seconds."""
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    started = perf_counter()
    async with stdio_session(environment(bench.url)) as stdio:
        times["start"] = [perf_counter() - started]
        with bench.connect() as connection, httpx.Client(trust_env=False, timeout=60) as client:

            async def ask(way: str, query: str) -> None:
                given = {"library": library, "query": query, "top_k": LIMIT}
                if way == "sql":
                    connection.execute(RESOLVE, (library,)).fetchall()
                    connection.execute(SEARCH, (query, library, LIMIT)).fetchall()
                elif way == "stdio":
                    await stdio.ask(given)
                else:
                    _post(client, address, given, is_newest=way == "HTTP")

            for query in queries[:20]:
                for way in WAYS:
                    await ask(way, query)
            for place, query in enumerate(queries):
                first = place % len(WAYS)
                for way in WAYS[first:] + WAYS[:first]:
                    started = perf_counter()
                    await ask(way, query)
                    times[way].append(1000 * (perf_counter() - started))
    return times


def _call(given: dict[str, Any], number: int = 1) -> dict[str, Any]:
    parameters = {"name": "search_docs", "arguments": given}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": parameters}


def _post(client: httpx.Client, address: str, given: dict[str, Any], *, is_newest: bool) -> None:
    """Post with a thin client, because the official one itself takes milliseconds."""
    headers = {"Accept": "application/json, text/event-stream"}
    call = _call(given)
    if is_newest:
        headers |= {
            "MCP-Protocol-Version": NEWEST, "Mcp-Method": "tools/call", "Mcp-Name": "search_docs"
        }  # fmt: skip
        call["params"]["_meta"] = {
            types.PROTOCOL_VERSION_META_KEY: NEWEST,
            types.CLIENT_INFO_META_KEY: {"name": "benchmark", "version": "1"},
            types.CLIENT_CAPABILITIES_META_KEY: {},
        }
    answer = client.post(address, json=call, headers=headers)
    answer.raise_for_status()
    assert not answer.json()["result"]["isError"], answer.text


class _Stdio:
    """A session with `pgrag mcp` as a process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._number = 0

    async def ask(self, given: dict[str, Any]) -> None:
        self._number += 1
        answer = await self.send(_call(given, self._number))
        assert not answer["result"]["isError"], answer

    async def send(self, request: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        return json.loads(await self._process.stdout.readline())


@asynccontextmanager
async def stdio_session(variables: dict[str, str]) -> AsyncIterator[_Stdio]:
    """A session with `pgrag mcp`, started in this environment."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pgrag", "mcp",
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=variables, limit=1 << 24,
    )  # fmt: skip
    try:
        session = _Stdio(process)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {},
                 "clientInfo": {"name": "benchmark", "version": "1"}}  # fmt: skip
        await session.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
        yield session
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


async def _crowd(
    bench: Bench, address: str, process: subprocess.Popen[bytes], library: str, queries: list[str]
) -> tuple[list[float], int, float]:
    """Milliseconds of all calls, the number of failures, and the server's memory growth in MB."""
    taken: list[float] = []
    errors, count = 0, _sessions(bench)
    loop = asyncio.get_running_loop()

    async def session(number: int, everybody: asyncio.Barrier, seconds: float) -> None:
        nonlocal errors
        mine = cycle(queries[number % len(queries) :] + queries[: number % len(queries)])
        async with Client(address, mode="legacy" if number % 2 else "auto") as client:
            await everybody.wait()
            end = loop.time() + seconds
            while loop.time() < end:
                started = perf_counter()
                try:
                    answer = await client.call_tool(
                        "search_docs", {"library": library, "query": next(mine), "top_k": LIMIT}
                    )
                    errors += bool(answer.is_error)
                except Exception as error:
                    print(repr(error), file=sys.stderr)
                    errors += 1
                taken.append(1000 * (perf_counter() - started))

    async def sessions(seconds: float) -> None:
        everybody = asyncio.Barrier(count)
        await asyncio.gather(*(session(number, everybody, seconds) for number in range(count)))

    await sessions(_seconds(bench) / 10)
    before = _memory(process.pid)
    taken.clear()
    await sessions(_seconds(bench))
    return taken, errors, _memory(process.pid) - before


def _sessions(bench: Bench) -> int:
    return SESSIONS // 10 if bench.quick else SESSIONS


def _seconds(bench: Bench) -> float:
    return SECONDS / 60 if bench.quick else SECONDS


def _memory(process: int) -> float:
    """Resident memory in MB; 0 if the system does not report it."""
    status = Path(f"/proc/{process}/statm")
    if not status.exists():
        return 0.0
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def service(url: str, *options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`pgrag serve` as a process, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "pgrag", "serve", "--port", str(port), *options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=environment(url),
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                httpx.get(f"{address}/readyz", trust_env=False, timeout=60).raise_for_status()
                break
            except httpx.HTTPError:
                if process.poll() is not None:
                    raise RuntimeError("pgrag serve has ended") from None
        yield address, process
    finally:
        process.terminate()
        process.wait()


def environment(url: str, tree: Path | None = None) -> dict[str, str]:
    """The environment of a `pgrag` on this database, with the code of another checkout if named."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PGRAG_")}
    source = {} if tree is None else {"PYTHONPATH": str(tree / "src")}
    return {**kept, **source, "PGRAG_DATABASE_URL": url, "PGRAG_LOG_LEVEL": "error"}
