"""What answers forbid browsers, and which pages may change something."""

import re
import socket

import httpx
import pytest
from api_client import problem, serving
from mcp_service import mcp_service

from pgrag.api.headers import ALWAYS

ALLOWED = "https://docs.example"


@pytest.fixture(scope="module")
def service(harbour_url):
    with mcp_service(harbour_url, origins=(ALLOWED,), request_timeout=1) as service:
        yield service


def policy(response: httpx.Response) -> dict[str, list[str]]:
    """The directives of the content security policy, which must be the only one."""
    [stated] = response.headers.get_list("content-security-policy")
    return {name: sources for name, *sources in map(str.split, stated.split(";"))}


def assert_guarded(headers: httpx.Headers) -> None:
    for name in ALWAYS:
        assert len(headers.get_list(name)) == 1, name
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert len(headers.get_list("cache-control")) == 1


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", "/v1/search?q=tide", 200),
        ("GET", "/v1/searches", 200),
        ("GET", "/healthz", 200),
        ("GET", "/v1/search", 422),
        ("GET", "/v1/pages/999999", 404),
        ("GET", "/nowhere", 404),
        ("DELETE", "/v1/search", 405),
        ("GET", "/assets/nothing.js", 404),
        ("POST", "/mcp", 400),
        ("GET", "/mcp", 405),
    ],
)
def test_every_answer_is_guarded_and_kept_by_nobody(service, method, address, status):
    response = service.http.request(method, address)
    assert response.status_code == status
    assert_guarded(response.headers)
    assert response.headers["cache-control"] == "no-store"
    assert policy(response)["default-src"] == ["'none'"]
    assert "script-src" not in policy(response)


@pytest.mark.parametrize("request_text", [b"no http\r\n\r\n", b"GET /healthz HTTP/1.1\r\nHost: "])
def test_answers_to_what_is_no_request_are_guarded(service, request_text):
    url = service.http.base_url
    with socket.create_connection((url.host, url.port), timeout=10) as client:
        client.sendall(request_text)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, _ = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    assert first.split()[1] in {"400", "408"}
    assert_guarded(httpx.Headers([tuple(line.split(": ", 1)) for line in lines]))


def test_a_failure_that_nobody_foresaw_is_guarded(database_url, monkeypatch):
    with serving(database_url) as client:
        monkeypatch.setattr(client.app.database, "call", lambda *_, **__: 1 / 0)
        response = client.get("/v1/libraries")
        problem(response, 500, "internal-error")
    assert_guarded(response.headers)
    assert response.headers["cache-control"] == "no-store"


def test_the_page_of_the_routes_has_all_it_needs_and_no_more(harbour):
    page = harbour.get("/docs")
    assert_guarded(page.headers)
    allowed = policy(page)
    assert not any("unsafe" in source for sources in allowed.values() for source in sources)
    kinds = {"script": "script-src", "link": "style-src"}
    found = re.findall(r"<(script|link)\b([^>]*)>([^<]*)", page.text)
    assert len(found) == 4
    for tag, attributes, content in found:
        assert not content.strip(), "nothing in line"
        named = re.search(r'(?:src|href)="([^":]+)"', attributes)
        assert named is not None, "an address of this service"
        kind = "img-src" if "icon" in attributes else kinds[tag]
        assert "'self'" in allowed[kind]
        asset = harbour.get(str(page.request.url.join(named[1])))
        assert asset.status_code == 200
        assert asset.headers["cache-control"] == "no-cache"
        # With "nosniff" a browser refuses other types.
        expected = {"js": "text/javascript", "css": "text/css", "png": "image/png"}
        assert asset.headers["content-type"].startswith(expected[named[1].rpartition(".")[2]])
    assert "openapi.json" in harbour.get("/docs/start.js").text
    assert "http" not in page.text + harbour.get("/docs/start.js").text
    assert not re.search(r"\bon\w+=|<style|style=|javascript:", page.text)
    # The style sheet brings its pictures as data.
    assert "data:" in allowed["img-src"]
    style = harbour.get("/assets/swagger-ui.css").text
    assert all(url.lstrip("\"'").startswith("data:") for url in re.findall(r"url\(([^)]*)", style))
    assert "@import" not in style
    assert "'self'" in allowed["connect-src"], "it calls the routes"
    assert harbour.get("/openapi.json").headers["cache-control"] == "no-cache"


SYNONYMS = "/v1/libraries/harbour/synonyms"


@pytest.mark.parametrize(
    ("headers", "is_refused"),
    [
        ({}, False),
        ({"Origin": ALLOWED}, False),
        ({"Origin": ALLOWED, "Sec-Fetch-Site": "cross-site"}, False),
        ({"Origin": "http://localhost:5173"}, False),
        ({"Origin": "https://docs.intranet", "Host": "docs.intranet"}, False),
        ({"Sec-Fetch-Site": "same-origin"}, False),
        ({"Sec-Fetch-Site": "none"}, False),
        ({"Origin": "https://elsewhere.example"}, True),
        ({"Origin": "https://docs.intranet.example", "Host": "docs.intranet"}, True),
        ({"Origin": "https://docs.intranet:8443", "Host": "docs.intranet"}, True),
        ({"Origin": "null"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, True),
        ({"Sec-Fetch-Site": "same-site"}, True),
    ],
)
def test_foreign_pages_change_nothing(harbour_url, headers, is_refused):
    changing = [
        ("POST", "/v1/evaluations/none/runs"),
        ("PATCH", "/v1/libraries/none/synonyms"),
        ("DELETE", "/v1/libraries/none/tuning"),
        ("POST", "/v1/search"),
    ]
    with mcp_service(harbour_url, origins=(ALLOWED,), hosts=("docs.intranet",)) as service:
        for method, address in changing:
            answer = service.http.request(method, address, headers=headers)
            is_forbidden = answer.status_code == 403
            assert is_forbidden == is_refused, (method, address, answer.text)
            if is_refused:
                assert answer.json()["type"] == "/problems/forbidden-origin"
                assert "--allow-origin" in answer.json()["hint"]
        # A picture or a link may point to what only reads.
        assert service.http.get("/v1/libraries", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("host", "is_refused"),
    [("192.0.2.7:8000", False), ("[2001:db8::7]", False), ("evil.example", True)],
)
def test_a_name_that_nobody_checks_makes_no_page_the_services_own(harbour_url, host, is_refused):
    headers = {"Host": host, "Origin": f"http://{host}"}
    with mcp_service(harbour_url, hosts=None) as service:
        answer = service.http.post("/v1/search", json={"query": "tide"}, headers=headers)
    assert answer.status_code == (403 if is_refused else 200)


def test_an_allowed_page_may_use_every_method_with_a_key(service):
    for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        preflight = {
            "Origin": ALLOWED,
            "Access-Control-Request-Method": method,
            "Access-Control-Request-Headers": "authorization,content-type",
        }
        answer = service.http.options(SYNONYMS, headers=preflight)
        assert answer.status_code == 200, answer.text
        assert answer.headers["access-control-allow-origin"] == ALLOWED
        assert method in answer.headers["access-control-allow-methods"]
        assert_guarded(answer.headers)
    foreign = service.http.options(SYNONYMS, headers={**preflight, "Origin": "https://x.example"})
    assert "access-control-allow-origin" not in foreign.headers
