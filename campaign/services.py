"""Ask two services the same over REST and MCP; only the database of one has another library.

The databases are those of `campaign.tenants`. Every route and every tool, prompt and resource of
MCP is requested with keys for the tenant's own libraries, without a key, and from a service that
runs as the tenant's login role: there the routes of admins answer too, which a key opens only with
all libraries. Answers that differ are faults, and so are canary words from one service alone.
"""

import json
import re
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from posixpath import normpath
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import httpx
import psycopg

from campaign import corpus
from campaign.arguments import Arguments
from campaign.outcome import Faults, Outcome, turns
from campaign.requests import Request, Requests, of_agent
from campaign.servers import service
from campaign.tenants import CANARY, SHOWN, Tenants, align

PAGE = "https://docs.example"
#: Keys: role, kind and origins.
KEYS: dict[str, tuple[str, str, list[str]]] = {
    "search key": ("search", "secret", []),
    "write key": ("write", "secret", []),
    "publishable key": ("search", "publishable", [PAGE]),
}
LOGIN = "login role"
#: The weight of each caller.
SHARES = {"search key": 4, "write key": 4, "publishable key": 1, "nobody": 1, LOGIN: 4}
LIBRARIES = sorted({library for library, _ in corpus.LIBRARIES})
CREATE_KEY = """
select pgrag.create_key(%s, %s, %s, %s, %s, rate => 10000, burst => 1000000, concurrency => 1000)
"""
SETTINGS = {"PGRAG_MCP_WRITES": "1", "PGRAG_READ_TIMEOUT": "10", "PGRAG_COSTLY_TIMEOUT": "10"}
WRITING = {"index_docs", "remove_docs"}
TOO_SLOW = {503, 504}
#: What depends on time: countdowns, the order of the slowest searches, and whether the progress of
#: a short job was seen.
UNLIKE_HEADERS = {"content-length", "date", "ratelimit", "server-timing"}
UNLIKE_PATH = "/v1/metrics/slow-searches"
NOW = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
TOOK = re.compile(
    r'"timings": ?\{[^}]*\}|"progress": ?(?:null|\{[^}]*\})|"(?:\w+_ms|seconds)": ?[\d.e-]+'
    r"|[\d.]+ seconds\."
)
#: Sums in another order differ in their last digits.
LONG_NUMBER = re.compile(r"\d+\.\d{12,}")
SEARCH_ID = re.compile(r"search_id\W{1,8}([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
#: Ids of searches are random: in requests these stand for the first ones that a service returns.
TOKENS = [str(UUID(int=(0xC0FFEE << 100) + number)) for number in range(10)]
WORD = re.compile(rf"{CANARY}[\w.-]*", re.IGNORECASE)


class _Services:
    """The services of one database: one that needs keys, and one of the login role."""

    def __init__(
        self, stack: ExitStack, url: str, login: str, *, sources: str, recorded: set[str]
    ) -> None:
        headers = {name: {"Host": "localhost"} for name in (*KEYS, "nobody", LOGIN)}
        with psycopg.connect(url, autocommit=True) as connection:
            for name, (role, kind, origins) in KEYS.items():
                given = [name.replace(" ", "-"), role, LIBRARIES, kind, origins]
                [(secret,)] = connection.execute(CREATE_KEY.encode(), given).fetchall()
                headers[name]["Authorization"] = f"Bearer {secret}"
                if origins:
                    headers[name]["Origin"] = origins[0]

        def serve(database: str, *options: str) -> str:
            served = service(database, "--no-worker", *options, **SETTINGS, PGRAG_MCP_ROOTS=sources)
            return stack.enter_context(served)[0]

        keyed = serve(url, "--require-keys", "--allow-origin", PAGE)
        own = serve(login, "--allow-writes")
        self._clients = {
            name: stack.enter_context(
                httpx.Client(
                    base_url=own if name == LOGIN else keyed, headers=sent, trust_env=False,
                    timeout=60,
                )
            )
            for name, sent in headers.items()
        }  # fmt: skip
        self._recorded = recorded
        self._searches: dict[str, str] = {}

    def ask(self, request: Request) -> httpx.Response:
        """Send a request, and keep the ids of searches that the answer names."""
        path, body = request.path, request.body
        for token, search_id in self._searches.items():
            path = path.replace(token, search_id)
            body = body and body.replace(token, search_id)
        answer = self._clients[request.caller].request(
            request.method, path, params=request.query or None, headers=request.headers,
            content=body,
        )  # fmt: skip
        for search_id in SEARCH_ID.findall(answer.text):
            known = {*self._recorded, *self._searches.values()}
            if len(self._searches) < len(TOKENS) and search_id not in known:
                self._searches[TOKENS[len(self._searches)]] = search_id
        return answer

    def told(self, answer: httpx.Response, since: datetime) -> list[str]:
        """Status, headers and body, without ids and times."""
        text = answer.text
        for token, search_id in self._searches.items():
            text = text.replace(search_id, token)
        kept = {*self._recorded, *TOKENS}
        text = SEARCH_ID.sub(lambda told: told[0] if told[1] in kept else "a search", text)
        text = NOW.sub(lambda t: "now" if datetime.fromisoformat(t[0]) > since else t[0], text)
        text = TOOK.sub("some time", text)
        text = LONG_NUMBER.sub(lambda number: f"{float(number[0]):.10g}", text)
        headers = [f"{n}: {v}" for n, v in answer.headers.items() if n not in UNLIKE_HEADERS]
        return [str(answer.status_code), "\n".join(headers), text]


def _is_too_slow(answers: list[httpx.Response]) -> bool:
    return any(answer.status_code in TOO_SLOW for answer in answers)


def _difference(
    request: Request, pair: list[_Services], answers: list[httpx.Response], since: datetime
) -> str:
    """What differs in the service with both libraries; empty if nothing does."""
    few, many = ({*WORD.findall(f"{answer.headers} {answer.text}")} for answer in answers)
    if many - few:
        return f"only one tells {sorted(many - few)}"
    if normpath(request.path) == UNLIKE_PATH or _is_too_slow(answers):
        return ""
    expected, told = (s.told(answer, since) for s, answer in zip(pair, answers, strict=True))
    for one, other in zip(expected, told, strict=True):
        if one != other:
            start = next(n for n in range(len(one + other)) if one[:n] != other[:n])
            shown = slice(max(0, start - 60), start + 200)
            return f"{other[shown]!r} instead of {one[shown]!r}"
    return ""


def _tools(services: _Services) -> list[dict[str, Any]]:
    request = of_agent("", "tools/list", {})
    request.caller = "write key"
    [data] = re.findall(r"(?m)^data: (.+)$", services.ask(request).text)
    tools: list[dict[str, Any]] = json.loads(data)["result"]["tools"]
    return tools


def run(
    url: str, *, count: int = 5000, seed: int, minutes: float | None = None, data: object = None
) -> Outcome:
    """Serve a migrated, empty database and a copy that has another library, and ask both."""
    since = datetime.now(UTC)
    random = Random(seed)
    counts: Counter[str] = Counter()
    asked: set[str] = set()
    faults = Faults()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        sources = corpus.write(folder, corpus.LIBRARIES)
        tenants = Tenants(url)
        stack.callback(tenants.drop)
        known = tenants.build()
        recorded = {*map(str, known["search_id"])}
        known["search_id"] += map(UUID, TOKENS)
        known["source"] = [*map(str, sources.values())]
        databases = tenants.alone, tenants.both
        pair = [
            _Services(stack, database, login, sources=str(folder), recorded=recorded)
            for database, login in zip(databases, tenants.logins(), strict=True)
        ]
        align(*databases)
        document = pair[0].ask(Request("", "GET", "/openapi.json", caller="nobody")).json()
        requests = Requests(Arguments(random, known), document, _tools(pair[0]))
        for _ in turns(count, minutes):
            request = requests.next()
            [request.caller] = random.choices([*SHARES], [*SHARES.values()])
            if request.path == UNLIKE_PATH:
                request.query["top_k"] = "1000"  # All: another order would show others.
            answers = [services.ask(request) for services in pair]
            asked.add(request.what)
            counts["requests"] += 1
            counts["answers 200"] += answers[0].status_code == 200
            counts["too slow"] += _is_too_slow(answers)
            where = f"{request.what} as {request.caller}"
            if difference := _difference(request, pair, answers, since):
                faults.add(where, f"{where}: {difference}\n{request}"[:SHOWN])
            if request.what in WRITING and answers[0].status_code == 200:
                for database in databases:
                    corpus.index_folders(database, sources)
                for name, values in corpus.values(tenants.alone, corpus.KNOWN).items():
                    if name != "search_id":
                        known[name] += [value for value in values if value not in known[name]]
    counts["routes, tools and methods"] = len(asked)
    counts["of all"] = requests.count
    return Outcome("services", counts, [*faults.values()])
