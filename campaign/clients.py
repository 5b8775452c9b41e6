"""The services of one database, and what they tell a caller without what depends on time."""

import re
from contextlib import ExitStack
from datetime import datetime
from time import perf_counter
from uuid import UUID

import httpx
import psycopg

from campaign import corpus
from campaign.requests import Request
from campaign.servers import service

PAGE = "https://docs.example"
#: Keys: role, kind and origins.
KEYS: dict[str, tuple[str, str, list[str]]] = {
    "search key": ("search", "secret", []),
    "write key": ("write", "secret", []),
    "publishable key": ("search", "publishable", [PAGE]),
}
LOGIN = "login role"
LIBRARIES = sorted({library for library, _ in corpus.LIBRARIES})
CREATE_KEY = """
select pgrag.create_key(%s, %s, %s, %s, %s, rate => 10000, burst => 1000000, concurrency => 1000)
"""
SETTINGS = {
    "PGRAG_MCP_WRITES": "1", "PGRAG_MCP_TOOLS": "all", "PGRAG_READ_TIMEOUT": "10",
    "PGRAG_COSTLY_TIMEOUT": "10", "PGRAG_LOCK_TIMEOUT": "1",
}  # fmt: skip
#: Countdowns and times.
UNLIKE_HEADERS = {"content-length", "date", "ratelimit", "server-timing", "x-request-id"}
NOW = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)")
#: Also whether the progress of a short job was seen.
TOOK = re.compile(
    r'"timings": ?\{[^}]*\}|"progress": ?(?:null|\{[^}]*\})|"(?:\w+_ms|seconds)": ?[\d.e-]+'
    r"|[\d.]+ seconds\."
)
#: Sums in another order differ in their last digits.
LONG_NUMBER = re.compile(r"\d+\.\d{12,}")
SEARCH_ID = re.compile(r"search_id\W{1,8}([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
#: Not the digits of a fraction.
JOB_ID = re.compile(r"(?<![\d.])[2-9]\d{13}\b")
#: Ids of searches are random, those of jobs are times: in requests these stand for the first ones
#: that a service returns.
TOKENS = [str(UUID(int=(0xC0FFEE << 100) + number)) for number in range(10)]
JOBS = [str(1_700_000_000 + number) for number in range(10)]


def _first_event(answer: httpx.Response) -> httpx.Response:
    """The answer up to its first event: those of a job that waits have no end."""
    try:
        first = next(answer.iter_bytes(), b"")
    finally:
        answer.close()
    return httpx.Response(
        answer.status_code, headers=answer.headers, content=first, request=answer.request
    )


class Services:
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
        self._jobs: dict[str, str] = {}

    def ask(self, request: Request) -> httpx.Response:
        """Send a request, and keep the ids of searches that the answer names."""
        path, body = request.path, request.body
        for token, given in (self._searches | self._jobs).items():
            path = path.replace(token, given)
            body = body and body.replace(token, given)
        client = self._clients[request.caller]
        asked = client.build_request(
            request.method, path, params=request.query or None, headers=request.headers,
            content=body,
        )  # fmt: skip
        answer = client.send(asked, stream=True)
        answer = _first_event(answer) if path.endswith("/events") else answer
        answer.read()
        sent = f"{path} {body}"
        for ids, tokens, given_ids in (
            (SEARCH_ID.findall(answer.text), TOKENS, self._searches),
            (JOB_ID.findall(answer.text), JOBS, self._jobs),
        ):
            for given in ids:
                known = {*self._recorded, *given_ids.values()}
                # An error repeats the id that was sent.
                if len(given_ids) < len(tokens) and given not in known and given not in sent:
                    given_ids[tokens[len(given_ids)]] = given
        return answer

    def seconds(self, request: Request) -> float:
        """How long the answer to a request takes."""
        started = perf_counter()
        self.ask(request)
        return perf_counter() - started

    def told(self, answer: httpx.Response, since: datetime) -> list[str]:
        """Status, headers and body, without ids and times."""
        text = answer.text
        for token, given in (self._searches | self._jobs).items():
            text = text.replace(given, token)
        kept = {*self._recorded, *TOKENS}
        text = SEARCH_ID.sub(lambda told: told[0] if told[1] in kept else "a search", text)
        text = JOB_ID.sub("a job", text)
        text = NOW.sub(lambda t: "now" if datetime.fromisoformat(t[0]) > since else t[0], text)
        text = TOOK.sub("some time", text)
        text = LONG_NUMBER.sub(lambda number: f"{float(number[0]):.10g}", text)
        headers = [f"{n}: {v}" for n, v in answer.headers.items() if n not in UNLIKE_HEADERS]
        return [str(answer.status_code), "\n".join(headers), text]
