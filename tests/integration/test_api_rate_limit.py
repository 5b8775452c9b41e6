"""A client that asks too often is told so, everywhere but at the probes."""

import anyio
import httpx
from api_client import problem, serving
from starlette.responses import PlainTextResponse
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from pgrag.api.limits import RateLimit, TokenBuckets

BROWSER = {"origin": "https://docs.example"}


def test_too_many_requests(database_url):
    with serving(
        database_url, cors_origins=("https://docs.example",), rate_limit=6, rate_limit_burst=3
    ) as client:
        answers = [client.get("/v1/libraries"), client.get("/nothing"), client.get("/v1/libraries")]
        assert [answer.status_code for answer in answers] == [200, 404, 200]
        assert [answer.headers["ratelimit"].split(";")[1] for answer in answers] == [
            "r=2",
            "r=1",
            "r=0",
        ]
        for method, address in [
            ("GET", "/v1/search?q=tide"),
            ("POST", "/v1/search"),
            ("GET", "/mcp"),
            ("GET", "/docs"),
            ("DELETE", "/healthz/"),
        ]:
            response = client.request(method, address, headers=BROWSER)
            document = problem(response, 429, "too-many-requests")
            assert "6 requests a minute, 3 of them at once" in document["detail"]
            seconds = int(response.headers["retry-after"])
            assert 1 <= seconds <= 10
            assert f"in {seconds} second" in document["hint"]
            assert response.headers["ratelimit"].startswith('"client";r=0;t=')
            assert response.headers["ratelimit-policy"] == '"client";q=6;w=60'
            exposed = response.headers["access-control-expose-headers"]
            assert {"RateLimit", "RateLimit-Policy", "Retry-After"} <= set(exposed.split(", "))
            assert response.headers["access-control-allow-origin"] == BROWSER["origin"]
        preflight = {**BROWSER, "access-control-request-method": "GET"}
        assert client.request("OPTIONS", "/v1/search", headers=preflight).status_code == 200
        for probe in ("/healthz", "/readyz"):
            assert "ratelimit" not in client.get(probe).headers
            assert client.ok(probe)["status"] in {"ok", "ready"}


def test_without_the_setting_there_is_no_limit(database_url):
    with serving(database_url) as client:
        answers = [client.start("GET", "/v1/libraries") for _ in range(100)]
        for answer in answers:
            response: httpx.Response = answer.result(timeout=60)
            assert response.status_code == 200
            assert "ratelimit" not in response.headers


def test_behind_a_proxy_each_of_its_clients_counts_for_itself():
    limited = RateLimit(PlainTextResponse("here"), TokenBuckets(1))
    behind = ProxyHeadersMiddleware(limited, trusted_hosts="127.0.0.1")

    async def asked(peer: str, *forwarded: str) -> int:
        transport = httpx.ASGITransport(behind, client=(peer, 4711))
        headers = [("x-forwarded-for", name) for name in forwarded]
        async with httpx.AsyncClient(transport=transport, base_url="http://api.example") as client:
            return (await client.get("/", headers=headers)).status_code

    statuses = [
        anyio.run(asked, *request)
        for request in [
            ("127.0.0.1", "192.0.2.1"),
            ("127.0.0.1", "192.0.2.2"),
            ("127.0.0.1", "made up", "192.0.2.2"),
            ("198.51.100.9", "192.0.2.3"),
            ("198.51.100.9", "192.0.2.4"),
            ("192.0.2.1",),
        ]
    ]
    assert statuses == [200, 200, 429, 200, 429, 429]
