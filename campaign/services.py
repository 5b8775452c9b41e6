"""Ask two services the same over REST and MCP; only the database of one has another library.

The databases are those of `campaign.tenants`. Every route and every tool, prompt and resource of
MCP is requested with keys for the tenant's own libraries, without a key, and from a service that
runs as the tenant's login role: there the routes of admins answer too, which a key opens only with
all libraries. Meanwhile the hidden libraries are locked, written, renamed and removed, and have
jobs. Answers that differ are faults, and so are canary words from one service alone, and different
times for what the caller may not see.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from posixpath import normpath
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import httpx

from campaign import corpus
from campaign.arguments import Arguments
from campaign.clients import JOBS, LIBRARIES, LOGIN, TOKENS, Services
from campaign.meanwhile import NEW, WRITTEN, busy, locked, written
from campaign.outcome import Faults, Outcome, turns
from campaign.requests import Request, Requests, of_agent
from campaign.tenants import CANARY, OTHER, SHOWN, Tenants, align
from campaign.timing import Pace, measured

#: The weight of each caller.
SHARES = {"search key": 4, "write key": 4, "publishable key": 1, "nobody": 1, LOGIN: 4}
#: The share of requests during which the tenant's own libraries are locked, too.
SHARE_LOCKED = 0.02
#: How often each request about a hidden library is timed, and again if its times seem to differ.
ROUNDS = 21, 41
WRITING = {"index_docs", "remove_docs"}
TOO_SLOW = {503, 504}
#: The order of the slowest searches depends on time.
UNLIKE_PATH = "/v1/metrics/slow-searches"
WORD = re.compile(rf"{CANARY}[\w.-]*", re.IGNORECASE)
#: Ids of a hidden library by the names of arguments.
_OF = "where t.library_id = (select library_id from pgrag.libraries where name = '{}')"
HIDDEN_IDS = {
    "page_id": f"select min(page_id) from pgrag.pages as t {_OF}",
    "document_id": f"select min(document_id) from pgrag.documents as t {_OF}",
    "edge_id": f"select min(edge_id) from pgrag.edges as t {_OF}",
    "run_id": "select min(run_id) from pgrag.evaluation_runs where library = '{}'",
    "search_id": "select search_id from pgrag.searches where library = '{}' limit 1",
    "job_id": "select min(job_id) from pgrag.jobs where library = '{}'",
}


def _is_too_slow(answer: httpx.Response) -> bool:
    # Over MCP errors have the status 200.
    return answer.status_code in TOO_SLOW or "The server is busy." in answer.text


def _difference(
    request: Request, pair: list[Services], answers: list[httpx.Response], since: datetime
) -> str:
    """What differs in the service with both libraries; empty if nothing does."""
    few, many = ({*WORD.findall(f"{answer.headers} {answer.text}")} for answer in answers)
    if many - few:
        return f"only one tells {sorted(many - few)}"
    if normpath(request.path) == UNLIKE_PATH or all(map(_is_too_slow, answers)):
        return ""
    if any(map(_is_too_slow, answers)):
        # A machine with other work to do makes one of them slow, though not again and again.
        again = [[s.ask(request) for s in pair] for _ in range(2)]
        is_slow = [[*map(_is_too_slow, each)] for each in (answers, *again)]
        if is_slow != [is_slow[0]] * 3:
            return ""
    expected, told = (s.told(answer, since) for s, answer in zip(pair, answers, strict=True))
    for one, other in zip(expected, told, strict=True):
        if one != other:
            start = next(n for n in range(len(one + other)) if one[:n] != other[:n])
            shown = slice(max(0, start - 60), start + 200)
            return f"{other[shown]!r} instead of {one[shown]!r}"
    return ""


def _tools(services: Services) -> list[dict[str, Any]]:
    request = of_agent("", "tools/list", {})
    request.caller = "write key"
    [data] = re.findall(r"(?m)^data: (.+)$", services.ask(request).text)
    tools: list[dict[str, Any]] = json.loads(data)["result"]["tools"]
    return tools


def _timed(
    pair: list[Services], requests: list[Request], minutes: float | None, since: datetime,
    faults: Faults,
) -> float:  # fmt: skip
    """Compare answers and times of requests about a hidden library; return the largest difference
    of medians in milliseconds.
    """

    def measure(request: Request, rounds: int) -> Pace:
        return measured([partial(services.seconds, request) for services in pair], rounds)

    print("request, its caller, ms without and with the hidden library, chance")
    largest = 0.0
    for _, request in zip(turns(len(requests), minutes), requests, strict=False):
        request.caller = "write key"
        answers = [services.ask(request) for services in pair]
        if answers[0].status_code == 403:
            request.caller = LOGIN
            answers = [services.ask(request) for services in pair]
        where = f"{request.what} as {request.caller}"
        if difference := _difference(request, pair, answers, since):
            faults.add(where, f"{where}: {difference}\n{request}"[:SHOWN])
            continue
        pace = measure(request, ROUNDS[0])
        if pace.differs(len(requests)):
            pace = measure(request, ROUNDS[1])
        one, other = (1000 * seconds for seconds in pace.medians)
        largest = max(largest, abs(other - one))
        told = f"{one:.1f} {other:.1f} {pace.chance:.2g}"
        print(f"{where}: {told}")
        if pace.differs(len(requests)):
            faults.add(f"time of {where}", f"{where}: different times: {told}\n{request}"[:SHOWN])
    return round(largest, 1)


def _hidden(url: str) -> list[dict[str, Any]]:
    """What requests can name of the hidden library: by names, and by ids."""
    by_names = {"library": OTHER, "version": "1.1", "key": f"{CANARY}.md", "page": f"{CANARY}.md"}
    by_names["evaluation_set"] = f"{CANARY}-set"
    found = corpus.values(url, {name: query.format(OTHER) for name, query in HIDDEN_IDS.items()})
    return [by_names, {name: values[0] for name, values in found.items()}]


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
        known["job_id"] = [*map(int, JOBS)]
        known["library"] += [WRITTEN, NEW]
        databases = tenants.alone, tenants.both
        pair = [
            Services(stack, database, login, sources=str(folder), recorded=recorded)
            for database, login in zip(databases, tenants.logins(), strict=True)
        ]
        align(*databases)
        document = pair[0].ask(Request("", "GET", "/openapi.json", caller="nobody")).json()
        requests = Requests(Arguments(random, known), document, _tools(pair[0]))
        stack.enter_context(busy(tenants.both))
        changes = stack.enter_context(written(tenants.both, seed))
        for _ in turns(count, minutes and minutes / 2):
            request = requests.next()
            [request.caller] = random.choices([*SHARES], [*SHARES.values()])
            if request.path == UNLIKE_PATH:
                request.query["top_k"] = "1000"  # All: another order would show others.
            answers = _answers(request, pair, databases if random.random() < SHARE_LOCKED else ())
            asked.add(request.what)
            counts["requests"] += 1
            counts["answers 200"] += answers[0].status_code == 200
            counts["too slow"] += any(map(_is_too_slow, answers))
            where = f"{request.what} as {request.caller}"
            if difference := _difference(request, pair, answers, since):
                faults.add(where, f"{where}: {difference}\n{request}"[:SHOWN])
            if request.what in WRITING and answers[0].status_code == 200:
                for database in databases:
                    corpus.index_folders(database, sources)
                for name, values in corpus.values(tenants.alone, corpus.KNOWN).items():
                    if name != "search_id":
                        known[name] += [value for value in values if value not in known[name]]
        about = [each for hidden in _hidden(tenants.both) for each in requests.about(hidden)]
        timed = random.sample(about, min(len(about), count // 20))
        most = _timed(pair, timed, minutes and minutes / 2, since, faults)
        counts["timed requests"] = len(timed)
        counts["changes of a hidden library meanwhile"] = changes.value
    counts["routes, tools and methods"] = len(asked)
    counts["of all"] = requests.count
    done = {**counts, "ms at most between medians": most}
    return Outcome("services", done, [*faults.values()])


def _answers(
    request: Request, pair: list[Services], locked_in: Sequence[str]
) -> list[httpx.Response]:
    """Ask both services; meanwhile the tenant's own libraries are locked in these databases."""
    with ExitStack() as stack:
        for database in locked_in:
            stack.enter_context(locked(database, LIBRARIES))
        return [services.ask(request) for services in pair]
