"""What goes wrong is told as a problem document, and nothing of the inside with it."""

import errno
import re
from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest
from api_client import problem, serving
from psycopg.conninfo import make_conninfo

from pgrag.api.problems import KINDS, kind_of
from pgrag.api.routes import searches
from pgrag.ground import errors

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [
        ("DELETE", "/v1/search", "GET"),
        ("POST", "/v1/libraries", "GET"),
        ("PUT", "/v1/documents/1", "GET"),
        ("PATCH", "/healthz", "GET"),
    ],
)
def test_an_unknown_method(harbour, method, address, allowed):
    response = harbour.request(method, address)
    problem(response, 405, "method-not-allowed")
    assert allowed in response.headers["allow"]


def test_an_address_with_a_name_in_it_is_told_in_full(harbour):
    response = harbour.get("/v1/libraries/h%C3%A4fen")
    document = problem(response, 404, "unknown-library")
    assert document["instance"] == "/v1/libraries/h%C3%A4fen"
    assert "häfen" in document["detail"]


@pytest.mark.parametrize(
    ("content", "headers", "told"),
    [
        (b'{"query": "tide"', {"content-type": "application/json"}, "not valid JSON"),
        (b"\xff\xfe", {"content-type": "application/json"}, ""),
        (b'{"query": "tide"}', {}, "Content-Type: application/json"),
        (b"query=tide", {"content-type": "application/x-www-form-urlencoded"}, "Send the body"),
        (b"", {"content-type": "application/json"}, ""),
        (b'{"query": "\\ud800"}', {"content-type": "application/json"}, ""),
        (b'{"query": "tide", "\\ud800": 1}', {"content-type": "application/json"}, ""),
        (b'{"query": "tide", "alpha": NaN}', {"content-type": "application/json"}, "NaN is not"),
        (b'{"query": "a", "query": "b"}', {"content-type": "application/json"}, '"query" is given'),
        (
            b'{"query": "a", "filters": {"not": {"type": "a", "type": "b"}}}',
            {"content-type": "application/json"},
            '"type" is given more than once',
        ),
        (b'{"query": "tide", "filters": {"a": "\\ud800"}}', {"content-type": "text/json"}, ""),
        (
            b'{"query": "t", "filters": {"type": "\\u0000"}}',
            {"content-type": "application/json"},
            "",
        ),
        (b"[" * 200_000, {"content-type": "application/json"}, ""),
        (b"1" * 10_000, {"content-type": "application/json"}, ""),
    ],
)
def test_bodies_that_cannot_be_read(harbour, content, headers, told):
    response = harbour.request("POST", "/v1/search", content=content, headers=headers)
    assert response.status_code in {400, 422}, response.text
    document = response.json()
    assert response.headers["content-type"] == "application/problem+json"
    assert told in document["detail"] + document.get("hint", "")


def test_a_body_that_is_announced_as_too_large_is_not_read(harbour):
    response = harbour.post("/v1/search", {"query": "tide " * 200_001})
    document = problem(response, 413, "too-large")
    assert "1,000,000 bytes" in document["detail"]
    largest = b'{"query": "tide"}'.ljust(MEGABYTE)
    headers = {"content-type": "application/json"}
    fits = harbour.request("POST", "/v1/search", content=largest, headers=headers)
    assert fits.status_code == 200


def test_a_body_that_grows_too_large_is_read_no_further(harbour):
    sent = 0

    async def growing() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 100_000
            yield b" " * 100_000

    response = harbour.request(
        "POST", "/v1/search", content=growing(), headers={"content-type": "application/json"}
    )
    problem(response, 413, "too-large")
    assert sent <= 2 * MEGABYTE


def all_errors(base: type[errors.PgragError] = errors.PgragError) -> list[type[errors.PgragError]]:
    return [base, *(error for child in base.__subclasses__() for error in all_errors(child))]


@pytest.mark.parametrize("error", all_errors())
def test_every_error_has_its_status(error):
    expected = {
        errors.NotFound: 404,
        errors.InvalidInput: 422,
        errors.TimeExceeded: 422,
        errors.Busy: 503,
        errors.LimitReached: 429,
        errors.DatabaseUnavailable: 503,
        errors.DatabaseFull: 503,
        errors.NotPermitted: 403,
        errors.SchemaOutdated: 503,
        errors.SchemaTooNew: 503,
        errors.EmbeddingError: 502,
        errors.RerankingError: 502,
        errors.LanguageModelError: 502,
        errors.NotConfigured: 501,
        errors.DiskFull: 507,
    }
    statuses = [status for base, status in expected.items() if issubclass(error, base)]
    assert kind_of(error("message")).status == (statuses or [500])[0]


def test_every_kind_has_a_name_of_its_own():
    kinds = set(KINDS.values())
    assert len({kind.type for kind in kinds}) == len(kinds)


SECRET = "hunter2 at 10.0.0.7"


@pytest.mark.parametrize(
    ("error", "status", "slug"),
    [
        (errors.EmbeddingError(SECRET, hint=SECRET), 502, "embedding-failed"),
        (errors.DatabaseUnavailable(SECRET, hint=SECRET), 503, "database-unavailable"),
        (errors.DatabaseFull(SECRET, hint=SECRET), 503, "database-full"),
        (OSError(errno.ENOSPC, "full", SECRET), 507, "disk-full"),
        (errors.SettingsError(SECRET, hint=SECRET), 500, "internal-error"),
        (errors.DatabaseError(SECRET, hint=SECRET), 500, "internal-error"),
        (RuntimeError(SECRET), 500, "internal-error"),
    ],
)
def test_what_fails_inside_stays_inside(database_url, monkeypatch, caplog, error, status, slug):
    with serving(database_url) as client:

        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(client.app.database, "call", fail)
        response = client.get("/v1/libraries")
    problem(response, status, slug)
    assert SECRET not in response.text
    # An unexpected error is raised to the server, which logs it.
    assert isinstance(error, RuntimeError) or SECRET in caplog.text


def test_an_error_of_the_database_itself(database_url, connection):
    connection.execute("drop function pgrag.libraries()")
    with serving(database_url) as client:
        document = problem(client.get("/v1/libraries"), 503, "schema-outdated")
        assert "pgrag db upgrade" in document["hint"]
        connection.execute(
            "create function pgrag.libraries() returns table (a integer) language plpgsql"
            " as $$ begin raise exception 'the secret table is missing'; end $$"
        )
        response = client.get("/v1/libraries")
    problem(response, 500, "internal-error")
    assert "secret" not in response.text


def test_every_address_names_exactly_the_methods_that_it_answers(harbour):
    """Several routes share an address, and a name of a library may hold slashes."""
    paths = harbour.ok("/openapi.json")["paths"]
    for path in paths:
        address = re.sub(r"{[^}]*id}", "1", path)
        address = re.sub(r"{[^}]*}", "x", address)
        allowed = set(harbour.request("TRACE", address).headers["allow"].split(", "))
        declared = {method.upper() for method in paths[path]}
        assert allowed == declared | ({"HEAD"} if "GET" in declared else set()), path
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - allowed:
            response = harbour.request(method, address)
            assert response.status_code == 405, (method, address)
            assert set(response.headers["allow"].split(", ")) == allowed


def test_a_service_whose_role_may_not_do_it_says_so(database_url):
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute("create role clerk login password 'b2Nlk8u3' in role pgrag_writer")
        try:
            as_clerk = make_conninfo(database_url, user="clerk", password="b2Nlk8u3")
            with serving(as_clerk) as client:
                body = {"entries": {"page_types": {"recipe": {"folders": ["recipes"]}}}}
                response = client.request("PATCH", "/v1/configuration", json=body)
            document = problem(response, 403, "forbidden")
            assert "does not let this role" in document["detail"]
            assert "security.md" in document["hint"]
        finally:
            owner.execute("drop role clerk")


def test_a_read_only_database_refuses_changes(database_url):
    with serving(f"{database_url}&options=-c%20default_transaction_read_only%3Don") as client:
        body = {"entries": {"page_types": {"recipe": {"folders": ["recipes"]}}}}
        response = client.request("PATCH", "/v1/configuration", json=body)
        told = problem(response, 501, "read-only")
        assert "read-only" in told["detail"]
        assert "PGRAG_DATABASE_URL" in told["hint"]
        documented = client.ok("/openapi.json")["paths"]["/v1/configuration"]["patch"]["responses"]
        assert "501" in documented


@pytest.mark.parametrize(
    "parameters",
    [
        "", "q=", "q=tide", "q=tide&top_k=2&alpha=0.5&snippets=true&levels=1,2", "q=tide&q=ebb",
        "q=tide&top=3", "q=tide&top=3&top=4", "q=tide&query=ebb", "query=tide", "q=tide&top_k=",
        "q=tide&top_k=0&alpha=x&snippets=perhaps&levels=1,9", "q=tide&filters=%7B%22a%22", "q=%00",
        "q=tide&filters=%7B%22types%22%3A%5B%22guide%22%5D%7D", "q=tide&mode=keyword&alpha=1",
        "q=tide&min_score=NaN", "q=tide&version=-", "q=tide&after=", "q=%ff&library=Harbour%20",
    ],
)  # fmt: skip
def test_parameters_are_read_as_fastapi_would(harbour, monkeypatch, parameters):
    def asked() -> tuple[int, dict[str, Any]]:
        response = harbour.get(f"/v1/search?{parameters}")
        answer = response.json()
        for each in [answer, *answer.get("hits", [])]:
            each.pop("search_id", None)
        return response.status_code, answer

    read = asked()
    [route] = [route for route in searches.router.routes if route.name == "search"]
    monkeypatch.delattr(route.endpoint, "reading")
    assert asked() == read
