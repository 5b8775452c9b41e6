"""The client that floods a service for `campaign.overload`, in a process of its own.

`python campaign/flood.py URL KEY REQUESTS_A_SECOND SECONDS SEED` prints the counts of what was
answered, as JSON. A request is a search, a costly search by a regular expression that takes until
its timeout, or one that is abandoned before its answer.
"""

import asyncio
import json
import sys
from collections import Counter
from random import Random
from time import monotonic

import httpx

WORKERS = 64
#: A regular expression that backtracks and matches no page.
COSTLY = {"mode": "regex", "pattern": r"(.*)(.*)(.*)\1\2\3zz", "timeout_ms": 2000}
WORDS = ["valve", "pump", "wheel", "tank", "flow", "seal", "gauge", "bolt", "drain"]


async def _request(client: httpx.AsyncClient, random: Random) -> str:
    roll = random.random()
    path, parameters = "/v1/search", {"q": " ".join(random.sample(WORDS, 3))}
    if roll < 0.1:
        path, parameters = "/v1/libraries/manual/text", {k: str(v) for k, v in COSTLY.items()}
    timeout = 0.02 if roll > 0.9 else 60
    try:
        answer = await client.get(path, params=parameters, timeout=timeout)
    except httpx.TimeoutException:
        return "abandoned" if timeout < 1 else "no answer"
    except httpx.TransportError as error:
        return type(error).__name__
    if answer.status_code == 422:
        return str(answer.json().get("type"))
    return str(answer.status_code)


async def flood(url: str, key: str, rate: float, seconds: float, seed: int) -> Counter[str]:
    """Send requests at a rate; return how often each answer came."""
    random = Random(seed)
    answers: Counter[str] = Counter()
    until = monotonic() + seconds
    # A service closes idle connections after 5 seconds, which must not meet a new request.
    limits = httpx.Limits(
        max_connections=WORKERS, max_keepalive_connections=WORKERS, keepalive_expiry=2
    )
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(
        base_url=url, headers=headers, limits=limits, trust_env=False
    ) as client:

        async def work() -> None:
            while monotonic() < until:
                started = monotonic()
                answers[await _request(client, random)] += 1
                await asyncio.sleep(max(0, WORKERS / rate - (monotonic() - started)))

        await asyncio.gather(*(work() for _ in range(WORKERS)))
    return answers


if __name__ == "__main__":
    given = sys.argv
    answers = asyncio.run(
        flood(given[1], given[2], float(given[3]), float(given[4]), int(given[5]))
    )
    print(json.dumps(answers))
