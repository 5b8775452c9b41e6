"""Whatever is asked, the answer is a result or a problem that names what was wrong; never a 500."""

import json
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from api_client import problem
from hypothesis import given, settings
from hypothesis import strategies as st

INJECTIONS = [
    "'; drop table pgrag.pages cascade; --",
    "\\'; delete from pgrag.documents where true; --",
    "$$; drop schema pgrag cascade; $$",
    "tide' union select 1, rolpassword from pg_authid --",
    '"; drop table "pages',
    "%(query)s %s {0} :name",
    "1) or pg_sleep(30) is null --",
]

FIELDS = ["library", "key", "type", "tags", "created", "path", "section_path", "depth_min", "page"]
GROUPS = ["and", "or", "not", "front_matter", "front_matter.status", "level", "language", "uuid"]
OPERATORS = ["=", "!=", "<", ">=", "in", "all", "like", "exists"]
FILTER_WORDS = [*FIELDS, *GROUPS, *OPERATORS]

words = st.text(max_size=40) | st.sampled_from(["tide", "harbour", "2.1", "*", "-", *INJECTIONS])
numbers = st.integers() | st.floats() | st.sampled_from([0, 1, -1, 2**31, 2**63, 10**40])
scalars = words | numbers | st.booleans() | st.none()
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(words | st.sampled_from(FILTER_WORDS), inner, max_size=4)
    ),
    max_leaves=8,
)
filters = st.dictionaries(st.sampled_from(FILTER_WORDS), trees, max_size=3)
#: Values that a search can work with.
good = {
    "library": st.sampled_from(["harbour", "port/authority"]),
    "version": st.sampled_from(["2.1", "^1", "*", "latest", ">=1 <3"]),
    "top_k": st.integers(1, 1000),
    "alpha": st.floats(0, 1),
    "fusion": st.sampled_from(["rrf", "absolute"]),
    "min_score": st.floats(allow_nan=False, allow_infinity=False),
    "max_per_page": st.integers(1, 9),
    "after": st.sampled_from(["0.5:1", "1e-5:99", "9:999999999999999999"]),
    "model": st.just("static-en-de-ru-256"),
    "page_evidence": st.floats(0, 1),
    "candidate_count": st.integers(1, 20_000),
    "rrf_k": st.integers(1, 10_000),
    "snippets": st.booleans(),
    "explain": st.booleans(),
}
good_parameters = {
    "levels": st.sampled_from(["0", "1,2", "0,1,2"]),
    "rrf_weights": st.sampled_from(["1,0.5", "0,0", "100,99.5"]),
}
good_body = {
    "levels": st.lists(st.integers(0, 2), min_size=1, max_size=9),
    "rrf_weights": st.lists(st.floats(0, 100), min_size=2, max_size=2),
    "query_embedding": st.lists(
        st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=256, max_size=256
    ),
}


@st.composite
def requests(draw: st.DrawFn, rest: dict[str, st.SearchStrategy[Any]]) -> dict[str, Any]:
    """Arguments that are good but for one or two."""
    arguments = draw(st.fixed_dictionaries({}, optional={**good, **rest}))
    names = st.sampled_from([*good, *rest, "mode", "filters", "surprise"])
    for name in draw(st.lists(names, max_size=2)):
        arguments[name] = draw(trees)
    return arguments


@pytest.fixture(scope="module")
def client(harbour, harbour_url):
    """The harbour handbook, which must be the same at the end."""
    with psycopg.connect(harbour_url, autocommit=True) as connection:
        count = "select count(*), sum(length(body)) from pgrag.pages"
        before = connection.execute(count).fetchall()
        yield harbour
        assert connection.execute(count).fetchall() == before


def assert_an_answer(response: httpx.Response) -> None:
    assert response.status_code in {200, 404, 422}, response.text
    document: dict[str, Any] = json.loads(response.text, parse_constant=pytest.fail)
    if response.status_code == 200:
        assert response.headers["content-type"] == "application/json"
    else:
        assert response.headers["content-type"] == "application/problem+json"
        assert document["detail"]


@settings(deadline=None, max_examples=100)
@given(words, st.none() | filters, requests(good_parameters))
def test_any_parameters(client, query, filters, arguments):
    given_filters = {} if filters is None else {"filters": json.dumps(filters)}
    # A list would be sent as a parameter that is repeated.
    texts = {
        name: json.dumps(value) if isinstance(value, list | dict) else value
        for name, value in arguments.items()
    }
    assert_an_answer(client.get("/v1/search", q=query, **{**given_filters, **texts}))


@settings(deadline=None, max_examples=100)
@given(words, st.none() | filters, requests(good_body))
def test_any_body(client, query, filters, arguments):
    content = json.dumps({"query": query, "filters": filters, **arguments}).encode()
    headers = {"content-type": "application/json"}
    assert_an_answer(client.request("POST", "/v1/search", content=content, headers=headers))


@pytest.mark.parametrize("text", INJECTIONS)
def test_sql_in_every_text_field(client, text):
    for field in ("library", "version", "model", "after", "filters", "levels", "mode", "format"):
        for address in ("/v1/search", "/v1/context"):
            assert_an_answer(client.get(address, q="tide", **{field: text}))
    for address in ("/v1/search", "/v1/context"):
        assert client.get(address, q=text).status_code == 200
    for field in ("type", "tags", "page", "section_path", "front_matter.status", "created", text):
        for condition in (text, [text], {"like": text}, {text: 1}):
            body = {"query": "tide", "filters": {field: condition}}
            assert_an_answer(client.post("/v1/search", body))
    assert_an_answer(client.get("/v1/resolve", library="harbour", version=text))
    assert_an_answer(client.get("/v1/resolve", library=text))
    pages = client.get("/v1/libraries/harbour/versions/2.1/pages", after=text)
    assert pages.status_code == 200
    in_path = httpx.URL("http://x").copy_with(path=f"/v1/libraries/{text}/versions/{text}")
    assert client.get(in_path.raw_path.decode()).status_code == 404


def test_the_largest_values_are_within_reach(client):
    body = {
        "query": "harbour " * 5000, "top_k": 1000, "candidate_count": 20_000, "max_per_page": 1000,
        "rrf_k": 10_000, "fusion": "rrf", "rrf_weights": [100, 100], "snippets": True,
        "explain": True,
    }  # fmt: skip
    first = client.post("/v1/search", {**body, "top_k": 1})
    assert first.status_code == 200, first.text
    following = client.post("/v1/search", {**body, "after": first.json()["next"]})
    assert following.status_code == 200, following.text
    everything = client.post("/v1/search", body).json()["hits"]
    assert [{**hit, "search_id": None} for hit in following.json()["hits"]] == [
        {**hit, "search_id": None} for hit in everything[1:]
    ]
    context = {
        "query": "harbour",
        "top_k": 1000,
        "token_budget": 1_000_000,
        "max_documents_to_expand": 10_000,
        "max_chunks_per_document": 10_000,
        "siblings": 10_000,
        "parents": True,
    }
    assert client.post("/v1/context", context).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/search", {"top_k": True}, "top_k"),
        ("/v1/search", {"top_k": "5"}, "top_k"),
        ("/v1/search", {"alpha": False}, "alpha"),
        ("/v1/search", {"snippets": 1}, "snippets"),
        ("/v1/search", {"snippets": "true"}, "snippets"),
        ("/v1/search", {"levels": [1, True]}, "levels.1"),
        ("/v1/context", {"expand": 0}, "expand"),
        ("/v1/search/batch", {"queries": [{"query": "tide", "top_k": True}]}, "queries.0.top_k"),
        ("/v1/answer", {"question": "tide", "stream": 0}, "stream"),
        ("/v1/tools/read_chunk", {"arguments": {}, "token_budget": True}, "token_budget"),
        ("/v1/libraries/harbour/tuning", {"dry_run": 1}, "dry_run"),
        ("/v1/libraries/harbour/tuning", {"query_count": 3}, "query_count"),
        ("/v1/libraries/harbour/tuning", {"source": "links"}, "source"),
        ("/v1/libraries/harbour/tuning", {"seeds": 1}, "seeds"),
        ("/v1/libraries/harbour/tuning", {"seed": "many"}, "seed"),
        ("/v1/feedback", {"rating": True, "search_id": str(UUID(int=1))}, "rating"),
        ("/v1/configuration", {"entries": {}, "dry_run": "yes"}, "dry_run"),
        ("/v1/evaluations/x/runs", {"function": "search", "depth": "5"}, "depth"),
    ],
)
def test_a_value_of_a_body_has_the_type_of_its_field(harbour, path, body, field):
    if path in {"/v1/search", "/v1/context"}:
        body = {"query": "tide"} | body
    method = "PATCH" if path == "/v1/configuration" else "POST"
    told = problem(harbour.request(method, path, json=body), 422, "invalid-request")
    [fault] = told["errors"]
    assert fault["field"] == field


def test_a_whole_number_stands_for_a_number_and_a_parameter_is_text(harbour):
    asked = {"query": "tide", "alpha": 1, "levels": [1, 2], "snippets": True}
    assert harbour.request("POST", "/v1/search", json=asked).status_code == 200
    harbour.ok("/v1/search", q="tide", alpha="1", levels="1,2", snippets="1", top_k="5")
