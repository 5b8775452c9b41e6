"""The clients that send a service the worst that they may, for `campaign.overload`, in a process of
their own: `python campaign/worst.py URL KEY KIND SECONDS` prints a line when it is under way.
"""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import httpx

#: Requests at a time: those that a key may have by default, and as many that are refused.
CLIENTS = 20
#: Connections without a key: more than a service takes.
SOCKETS = 1010
#: Seconds between two further connections.
PAUSE = 0.005
LIBRARY, TAKEN = "greedy", "taken"
#: A library of a name of its own, so that no lock is shared with polite callers.
PAGE = "/v1/libraries/{}/versions/1/pages/page{}.html"
HTML = {"Content-Type": "text/html"}
COSTLY = "<p>" + "<b><i><u><a href=x>x" * 5000
REGEX = {"mode": "regex", "pattern": r"(.*)(.*)(.*)\1\2\3zz", "timeout_ms": "30000"}
JOINED = "TABLE file.outlinks, file.inlinks FLATTEN file.tags AS tag SORT file.name, tag"
WORDS = " ".join(f"valve{n} pump wheel" for n in range(200))
AGENT = {"Accept": "application/json, text/event-stream"}

Send = Callable[[httpx.AsyncClient, int], Awaitable[Any]]


def _called(tool: str, **arguments: Any) -> dict[str, Any]:
    parameters = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}


async def _abandoned(client: httpx.AsyncClient, number: int) -> None:
    with suppress(httpx.TimeoutException):
        await client.get("/v1/libraries/manual/text", params=REGEX, timeout=0.02)
    with suppress(httpx.TimeoutException):
        path = PAGE.format(LIBRARY, number)
        await client.put(path, content=COSTLY, headers=HTML, timeout=0.02)


#: By name, what each client sends again and again.
KINDS: dict[str, Send] = {
    "pages": lambda client, n: client.put(
        PAGE.format(LIBRARY, n), content=f"{COSTLY}{monotonic()}", headers=HTML
    ),
    "pages of a taken library": lambda client, n: client.put(
        PAGE.format(TAKEN, n), content=f"<p>{monotonic()}", headers=HTML
    ),
    "uploads": lambda client, n: client.post(
        f"/v1/libraries/{LIBRARY}/versions/{n}/upload?name=x.html", content=COSTLY * 20
    ),
    "text searches": lambda client, _: client.get("/v1/libraries/manual/text", params=REGEX),
    "page queries": lambda client, _: client.get(
        "/v1/libraries/manual/query", params={"q": JOINED}
    ),
    "long searches": lambda client, _: client.get(
        "/v1/search", params={"q": WORDS, "top_k": 1000, "rearrange": "true"}
    ),
    "batches": lambda client, n: client.post(
        "/v1/search/batch",
        json={"queries": [{"query": f"valve {n} {m}", "top_k": 1000} for m in range(100)]},
    ),
    "answers": lambda client, _: client.post("/v1/answer", json={"question": "Which valve?"}),
    "agents": lambda client, _: client.post(
        "/mcp", headers=AGENT,
        json=_called("search_docs", library="manual", query=WORDS, token_budget=20_000),
    ),
    "abandoned requests": _abandoned,
    "refusals": lambda client, n: client.get(
        "/v1/configuration" if n % 2 else "/v1/metrics/searches"
    ),
}  # fmt: skip
#: By name, what is sent on each of many connections, which send no more, and read nothing.
HALVES = {
    "half requests": b"GET /v1/search?q=x HTTP/1.1\r\nHost: localhost\r\nX: ",
    "half bodies": b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: 900000\r\n\r\n{",
    "unread answers": b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20,
}


async def _send(url: str, key: str, kind: str, until: float) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    limits = httpx.Limits(max_connections=CLIENTS, keepalive_expiry=2)
    async with httpx.AsyncClient(
        base_url=url, headers=headers, limits=limits, timeout=60, trust_env=False
    ) as client:

        async def work(number: int) -> None:
            while monotonic() < until:
                with suppress(httpx.TransportError):
                    answer = await KINDS[kind](client, number)
                    # A key may send 20 requests a second.
                    await asyncio.sleep(1 if answer is None or answer.status_code == 429 else 0)

        with suppress(TimeoutError):
            async with asyncio.timeout(until - monotonic()):
                await asyncio.gather(*(work(number) for number in range(CLIENTS)))


def _hold(url: str, kind: str, until: float) -> None:
    """Open connections again and again, as those that are open are ended."""
    address = (urlsplit(url).hostname, urlsplit(url).port)
    sockets: list[socket.socket] = []
    started = monotonic()
    is_told = False
    while monotonic() < until:
        # Floods are the task of a proxy: these are the connections that one client keeps open.
        if len(sockets) > SOCKETS:
            if not is_told:
                is_told = True
                until += monotonic() - started
                print(kind, flush=True)
            sleep(PAUSE)
        with suppress(OSError):
            sockets.append(socket.create_connection(address, timeout=1))
            sockets[-1].sendall(HALVES[kind])
        if len(sockets) > SOCKETS:
            sockets.pop(0).close()
    for each in sockets:
        each.close()


if __name__ == "__main__":
    url, key, kind, seconds = sys.argv[1:]
    until = monotonic() + float(seconds)
    if kind in KINDS:
        print(kind, flush=True)
        asyncio.run(_send(url, key, kind, until))
    else:
        _hold(url, kind, until)
