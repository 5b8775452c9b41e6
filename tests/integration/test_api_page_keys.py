"""Publishable keys as a browser sends them: no origin is named where the service is started."""

import llm_server
import pytest
from api_client import problem, serving
from llm_server import says
from test_api_keys import KEYED, PAGE, SEARCH, Site, site  # noqa: F401 - a fixture

from pgrag.api.page_keys import KeyOrigins
from pgrag.ground.errors import DatabaseUnavailable

FOREIGN = {"Origin": "https://evil.example"}
OWN = {"Origin": PAGE}
PREFLIGHT = {
    **OWN,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "authorization,content-type",
}


@pytest.fixture(scope="module")
def open_service(site):  # noqa: F811
    """A service on its own machine, started without any origin."""
    with serving(site.url) as client:
        yield client


@pytest.fixture(scope="module")
def service(site):  # noqa: F811
    """A service that needs keys, started without any origin."""
    site.key("page", kind="publishable", origins=[PAGE])
    with serving(site.url, policy=KEYED) as client:
        yield client


@pytest.fixture
def header(site):  # noqa: F811
    return site.key("page", kind="publishable", origins=[PAGE])


def readable(response):
    return response.headers.get("access-control-allow-origin")


def test_pages_of_a_key_read_what_they_get_with_it(service, header):
    asked = service.request("OPTIONS", "/v1/feedback", headers=PREFLIGHT)
    assert asked.status_code == 200
    assert readable(asked) == PAGE
    found = service.request("GET", SEARCH, headers={**header, **OWN})
    assert readable(found) == PAGE
    assert "retry-after" in found.headers["access-control-expose-headers"].lower()
    rating = {"search_id": found.json()["search_id"], "rating": 2}
    rated = service.request("POST", "/v1/feedback", json=rating, headers={**header, **OWN})
    assert (rated.status_code, readable(rated)) == (200, PAGE)


def test_other_pages_read_nothing(service, header):
    asked = service.request("OPTIONS", SEARCH, headers={**PREFLIGHT, **FOREIGN})
    assert readable(asked) is None
    for headers in ({**header, **FOREIGN}, OWN):
        refused = service.request("GET", SEARCH, headers=headers)
        assert (refused.status_code >= 400, readable(refused)) == (True, None)


def test_a_key_of_a_page_opens_nothing_else_of_an_open_service(open_service, site, header):  # noqa: F811
    """Without its key, the page is a foreign page: it reads nothing, and changes nothing."""
    assert readable(open_service.request("GET", "/v1/libraries", headers=OWN)) is None
    changes = {"json": {"synonyms": {"quay": ["pier"]}}}
    address = "/v1/libraries/harbour/synonyms"
    bare = open_service.request("PATCH", address, headers=OWN, **changes)
    problem(bare, 403, "forbidden-origin")
    keyed = open_service.request("PATCH", address, headers={**header, **OWN}, **changes)
    assert "publishable" in problem(keyed, 403, "forbidden")["detail"]
    made_up = {"Authorization": "Bearer pgrag_pk_" + "0" * 72}
    refused = open_service.request("PATCH", address, headers={**made_up, **OWN}, **changes)
    problem(refused, 403, "forbidden-origin")


def test_a_page_reads_why_its_key_is_refused(service, site, header):  # noqa: F811
    site.run("update pgrag.keys set expires_at = now() where name = 'page'")
    refused = service.request("GET", SEARCH, headers={**header, **OWN})
    assert "expired" in problem(refused, 401, "invalid-key")["detail"]
    assert readable(refused) == PAGE


def test_a_publishable_key_may_be_in_the_address(service, site, header):  # noqa: F811
    key = header["Authorization"].removeprefix("Bearer ")
    for address in (f"{SEARCH}&key={key}", SEARCH.replace("?", f"?key={key}&")):
        found = service.request("GET", address, headers=OWN)
        assert found.status_code == 200, found.text
        assert (readable(found), bool(found.json()["hits"])) == (PAGE, True)
    foreign = service.request("GET", f"{SEARCH}&key={key}", headers=FOREIGN)
    assert "pages" in problem(foreign, 403, "forbidden")["detail"]
    secret = site.key("docs")["Authorization"].removeprefix("Bearer ")
    problem(service.request("GET", f"{SEARCH}&key={secret}"), 401, "key-required")
    twice = service.request("GET", f"{SEARCH}&key={key}&key={key}", headers=OWN)
    problem(twice, 401, "key-required")
    both = service.request("GET", f"{SEARCH}&key={key}", headers={**header, **OWN})
    assert "key" in problem(both, 422, "invalid-request")["errors"][0]["field"]


def test_only_keys_that_may_ask_get_answers(site, header):  # noqa: F811
    with llm_server.serving() as server:
        server.script = [says("High water is at noon [1].")]
        asked = {"question": "spring tides", "library": "harbour"}
        with serving(site.url, policy=KEYED, llm_url=server.url, llm_model="m") as client:

            def ask(**options):
                headers = {**header, **OWN}
                return client.request("POST", "/v1/answer", json=asked | options, headers=headers)

            assert "may not ask" in problem(ask(), 403, "forbidden")["detail"]
            options = {"kind": "publishable", "origins": [PAGE], "answers_per_hour": 1}
            header = site.key("page", **options)
            assert "token_budget" in problem(ask(token_budget=9000), 403, "forbidden")["detail"]
            header = site.key("page", **options)
            answer = ask()
            assert (answer.status_code, readable(answer)) == (200, PAGE)
            spent = problem(ask(), 429, "too-many-requests")
            assert "this hour" in spent["detail"]


def test_a_search_at_each_letter_leaves_no_record(service, site, header):  # noqa: F811
    def count():
        return site.run("select count(*) from pgrag.searches")[0]["count"]

    before = count()
    typed = service.request("GET", f"{SEARCH}&record=false", headers={**header, **OWN}).json()
    assert (typed["search_id"], bool(typed["hits"]), count()) == (None, True, before)
    meant = service.request("GET", SEARCH, headers={**header, **OWN}).json()
    assert meant["hits"][0]["document_id"] == typed["hits"][0]["document_id"]
    assert (meant["search_id"] is not None, count()) == (True, before + 1)
    batch = {"queries": [{"query": "tide", "record": False}]}
    docs = site.key("docs")
    refused = service.request("POST", "/v1/search/batch", json=batch, headers=docs)
    assert "never recorded" in refused.text


def test_origins_are_read_again_after_seconds_and_kept_while_the_database_is_down(service, site):  # noqa: F811
    app, now = service.app, 0.0

    class Works:
        admission = None

        async def in_turn(self, work, function, by):
            if now == 100:
                raise DatabaseUnavailable("It is down.")
            return function()

    origins = KeyOrigins(app, Works(), clock=lambda: now)
    site.key("late", kind="publishable", origins=["https://other.example"])

    def knows(origin):
        return service._portal.call(origins.knows, origin)

    assert knows("https://Other.example")
    site.run("delete from pgrag.keys where name = 'late'")
    site.key("next", kind="publishable", origins=["https://next.example"])
    assert not knows("https://next.example")
    now = 1
    assert knows("https://next.example")
    assert not knows("https://other.example")
    now = 100
    assert knows("https://next.example")
