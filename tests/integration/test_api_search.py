"""`/v1/search`: every argument reaches the database, and nothing that is misspelt is ignored."""

import json

import psycopg
import pytest
from api_client import problem
from pydantic_core import to_json

from pgrag.service.access import needs_of

QUERY = "depth over the sill"
MODEL = "static-en-de-ru-256"


def keys(answer: dict) -> list[str]:
    return [hit["key"] for hit in answer["hits"]]


def unrecorded(answer: dict) -> dict:
    """The same without the search's id, which no two searches share."""
    hits = [{**hit, "search_id": None} for hit in answer["hits"]]
    return {**answer, "hits": hits, "search_id": None}


def ids(answer: dict) -> list[int]:
    return [hit["document_id"] for hit in answer["hits"]]


def test_a_version_in_place_of_another_is_a_notice(harbour):
    said = "harbour 2.1: 9 is not indexed; the newest version before it, of an older major"
    scope = {"library": "harbour", "version": "9"}
    for address in ("/v1/search", "/v1/search/pages", "/v1/context", "/v1/facets"):
        assert said in harbour.ok(address, q="fees", **scope)["notices"], address
    batch = harbour.post("/v1/search/batch", {"queries": [{"query": "fees", **scope}]}).json()
    assert batch["notices"] == [said]
    pages = harbour.ok("/v1/libraries/harbour/query", q="LIST", version="9")
    assert pages["notices"] == [said]
    for wish in ("2", "^1", "latest", "*"):
        assert harbour.ok("/v1/search", q="fees", library="harbour", version=wish)["notices"] == []


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_hits_have_the_columns_and_values_of_the_database(harbour, mode):
    asked = {"library": "harbour", "top_k": 3}
    found = harbour.ok("/v1/search", q=QUERY, mode=mode, **asked)
    function = "search" if mode == "hybrid" else f"{mode}_search"
    rows = harbour.app.database.call(function, query=QUERY, **asked)
    assert unrecorded(found)["hits"] == json.loads(to_json(rows))
    assert {hit["search_id"] for hit in found["hits"]} == {found["search_id"]}
    assert found["hits"][0]["heading"] == "Depth over the sill"
    assert found["notices"] == []


def test_the_answer_says_which_version_it_is_from_and_why(harbour):
    found = harbour.ok("/v1/search", q="fees", library=" Harbour ")
    [resolved] = found["resolved"]
    assert resolved["library"] == "harbour"
    assert resolved["version"] == "2.1"
    assert resolved["reason"] == "the newest release"
    assert {hit["version"] for hit in found["hits"]} == {"2.1"}

    anywhere = harbour.ok("/v1/search", q="fees")["resolved"]
    assert {(row["library"], row["version"]) for row in anywhere} == {
        ("harbour", "2.1"),
        ("port/authority", ""),
    }
    every = harbour.ok("/v1/search", q="fees", library="harbour", version="*")
    assert every["resolved"] == []
    assert {hit["version"] for hit in every["hits"]} == {"1.0", "2.1"}

    two = {"library": ["harbour", "port/authority", "harbour"]}
    named = harbour.ok("/v1/search", q="fees", filters=json.dumps(two))["resolved"]
    assert [(row["library"], row["version"]) for row in named] == [
        ("harbour", "2.1"),
        ("port/authority", ""),
    ]
    filters = json.dumps({"library": "harbour", "version": "^1"})
    older = harbour.ok("/v1/search", q="fees", filters=filters)
    assert {hit["version"] for hit in older["hits"]} == {"1.0"}
    assert [row["version"] for row in older["resolved"]] == ["1.0"]


def test_a_dash_stands_for_the_unversioned_documentation(harbour):
    found = harbour.ok("/v1/search", q="Gebühren", library="port/authority", version="-")
    assert found["resolved"][0]["reason"] == "exact"
    assert {hit["version"] for hit in found["hits"]} == {""}


def test_get_and_post_take_the_same_arguments_and_the_database_gets_them(harbour):
    shared = {
        "library": "harbour", "version": "2.1", "top_k": 4, "fusion": "rrf",
        "min_score": 0.0001, "max_per_page": 2, "model": MODEL, "page_evidence": 0.1,
        "candidate_count": 50, "rrf_k": 10, "snippets": True, "explain": True,
        "unit": "document", "aggregate": "max", "hierarchy": "depth", "mmr_lambda": 0.8,
        "query_expansion": "none", "intent": "off", "graph": True, "changed_since": "1.0",
        "history": True,
    }  # fmt: skip
    [seen, *_] = ids(harbour.ok("/v1/search", q="tide", library="harbour", filters='{"level": 2}'))
    lists = {"levels": [1, 2], "rrf_weights": [1.0, 0.5], "exclude": [str(seen), "page:999998"]}
    filters = {"type": "guide"}
    texts = {name: ",".join(map(str, values)) for name, values in lists.items()}
    by_get = harbour.ok(
        "/v1/search", q="tide", filters=json.dumps(filters), mode="hybrid", **texts, **shared
    )
    body = {"query": "tide", "filters": filters, "mode": "hybrid"} | lists | shared
    by_post = harbour.post("/v1/search", body)
    assert by_post.status_code == 200
    assert unrecorded(by_post.json()) == unrecorded(by_get)
    rows = harbour.app.database.call("search", query="tide", filters=filters, **lists, **shared)
    assert unrecorded(by_get)["hits"] == json.loads(to_json(rows))
    assert set(keys(by_get)) == {"navigation/tides.md"}
    assert len(by_get["hits"]) == 2
    assert seen not in ids(by_get)
    assert all(hit["explanation"]["fusion"] == "rrf" for hit in by_get["hits"])
    assert any("**" in hit["snippet"] for hit in by_get["hits"])
    by_post = harbour.post("/v1/search", {"q": "tide"})
    assert unrecorded(by_post.json()) == unrecorded(harbour.ok("/v1/search", q="tide"))


@pytest.mark.parametrize(
    ("mode", "name", "value"),
    [
        ("keyword", "alpha", 0.2),
        ("keyword", "fusion", "rrf"),
        ("keyword", "model", MODEL),
        ("keyword", "query_embedding", [0.5] * 256),
        ("semantic", "alpha", 0.2),
        ("semantic", "page_evidence", 0.2),
        ("semantic", "rrf_weights", [1, 1]),
    ],
)
def test_an_argument_that_a_mode_has_no_use_for_is_refused(harbour, mode, name, value):
    response = harbour.post("/v1/search", {"query": QUERY, "mode": mode, name: value})
    document = problem(response, 422, "invalid-request")
    assert f"mode={mode} has no argument {name}" in document["detail"]


@pytest.mark.parametrize("unit", ["document", "page"])
def test_pages_of_results_follow_each_other(harbour, unit):
    asked = {"q": "harbour tide fees", "library": "harbour", "version": "*", "unit": unit}
    whole = harbour.ok("/v1/search", top_k=100, **asked)
    first = harbour.ok("/v1/search", top_k=3, **asked)
    assert first["next"] == first["hits"][-1]["cursor"]
    rest = harbour.ok("/v1/search", top_k=100, after=first["next"], **asked)
    assert (ids(first) + ids(rest), rest["next"]) == (ids(whole), whole["next"])
    assert whole["next"] is None


def test_a_vector_of_ones_own(harbour, harbour_url):
    with psycopg.connect(harbour_url) as connection:
        row = connection.execute("select pgrag.embed(%s)::text", ["spring tides"]).fetchone()
    arguments = {"query": "irrelevant", "mode": "semantic", "library": "harbour"}
    given = harbour.post("/v1/search", {**arguments, "query_embedding": json.loads(row[0])}).json()
    by_text = harbour.ok("/v1/search", q="spring tides", mode="semantic", library="harbour")
    assert ids(given) == ids(by_text)
    assert ids(given) != ids(harbour.ok("/v1/search", q="irrelevant", mode="semantic"))
    zeros = harbour.post("/v1/search", {**arguments, "query_embedding": [0] * 256})
    assert zeros.status_code == 200
    assert "NaN" not in zeros.text

    short = harbour.post("/v1/search", {**arguments, "query_embedding": [0.5, 0.5]})
    assert "256 dimensions" in problem(short, 422, "dimension-mismatch")["detail"]
    huge = harbour.post("/v1/search", {**arguments, "query_embedding": [1e30] * 256})
    document = problem(huge, 422, "invalid-request")
    assert document["errors"][0]["field"] == "query_embedding.0"
    assert len(document["errors"]) == 20


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Gebühren für Gäste", "gebuehren.md"),
        ("GEBÜHREN", "gebuehren.md"),
        ("у какого причала швартуются гости?", "prichaly.md"),
        ("mooring_card", "services/moorings.md"),
        ('"full moon" 🌕', "navigation/tides.md"),
    ],
)
def test_queries_of_any_script(harbour, query, first):
    assert keys(harbour.ok("/v1/search", q=query))[0] == first
    assert keys(harbour.post("/v1/search", {"query": query}).json())[0] == first


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["query"]),
        ({"query": None}, ["query"]),
        ({"query": ["tide"]}, ["query"]),
        ({"query": "tide\0"}, ["query"]),
        ({"query": "tide", "limits": 3}, ["limits"]),
        ({"query": "tide", "filters": "{}"}, ["filters"]),
        ({"query": "tide", "levels": []}, ["levels"]),
        ({"query": "tide", "levels": [1, 7]}, ["levels.1"]),
        ({"query": "tide", "query_embedding": []}, ["query_embedding"]),
        ({"query": "tide", "query_embedding": ["a"]}, ["query_embedding.0"]),
        ({"query": "tide", "rrf_weights": [1, -1]}, ["rrf_weights.1"]),
        ("tide", [""]),
        ([], [""]),
        (None, [""]),
    ],
)
def test_bodies_that_cannot_be_used_say_where(harbour, body, fields):
    document = problem(harbour.post("/v1/search", body), 422, "invalid-request")
    assert [error["field"] for error in document["errors"]] == fields
    assert {error["in"] for error in document["errors"]} == {"body"}


def test_arguments_in_the_address_of_a_post_are_not_ignored(harbour):
    document = problem(
        harbour.post("/v1/search?top_k=3", {"query": "tide"}), 422, "invalid-request"
    )
    assert document["errors"][0]["in"] == "query"


def test_a_null_in_the_filters_is_not_dropped(harbour):
    strict = harbour.post("/v1/search", {"query": "harbour", "filters": {"type": None}}).json()
    assert strict.get("hits") != harbour.ok("/v1/search", q="harbour")["hits"]


def test_every_search_is_recorded_and_can_be_rated(harbour, harbour_url):
    found = harbour.ok("/v1/search", q=QUERY, library="harbour", mode="keyword", top_k=2)
    with psycopg.connect(harbour_url) as connection:
        [row] = connection.execute(
            "select s.client, s.query, s.hit_count, s.parameters ->> 'mode',"
            " s.timings ?& '{prepare, keyword, fusion}' from pgrag.searches as s"
            " where s.search_id = %s",
            [found["search_id"]],
        ).fetchall()
        scores = connection.execute(
            "select h.score from pgrag.search_hits as h where h.search_id = %s order by h.rank",
            [found["search_id"]],
        ).fetchall()
    assert row == ("rest", QUERY, len(found["hits"]), "keyword", True)
    assert [score for (score,) in scores] == [hit["score"] for hit in found["hits"]]


@pytest.mark.parametrize(
    ("path", "function", "rows"),
    [("/v1/context", "context", "blocks"), ("/v1/search/pages", "search_pages", "pages")],
)
def test_what_is_made_of_hits_is_recorded_too(harbour, harbour_url, path, function, rows):
    found = harbour.ok(path, q=QUERY, library="harbour", top_k=3)
    with psycopg.connect(harbour_url) as connection:
        [row] = connection.execute(
            "select s.parameters ->> 'function', array_agg(h.document_id order by h.rank),"
            " bool_and(h.page_key <> '')"
            " from pgrag.searches as s join pgrag.search_hits as h on h.search_id = s.search_id"
            " where s.search_id = %s group by s.search_id",
            [found["search_id"]],
        ).fetchall()
    hits = [row for row in found[rows] if row.get("relation", "hit") == "hit"]
    assert row == (function, [hit["document_id"] for hit in hits], True)


def test_filters_in_the_query(harbour):
    wrong = harbour.get("/v1/search", q="tide created:>=soon", library="harbour")
    assert problem(wrong, 422, "invalid-filter")["detail"].startswith("Column 16")


def test_reranking_without_a_reranker(harbour):
    answer = harbour.get("/v1/search", q="tide", library="harbour", rerank="true")
    assert "PGRAG_RERANKER_URL" in problem(answer, 501, "not-configured")["hint"]


def test_a_misspelt_word_is_answered_by_what_may_have_been_meant(harbour):
    found = harbour.ok("/v1/search", q="morings", library="harbour", mode="keyword")
    assert found["notices"] == ["Also searched for “moorings” because no passage has “morings”."]
    begun = harbour.ok("/v1/search", q="moori", library="harbour", mode="keyword", prefix="true")
    assert begun["notices"] == []
    for answer in (found, begun):
        assert (
            answer["hits"][0]["title"]
            == harbour.ok("/v1/search", q="moorings", library="harbour", mode="keyword")["hits"][0][
                "title"
            ]
        )
    found = harbour.ok("/v1/search", q="+morings", library="harbour", mode="keyword")
    assert found["hits"] == []
    assert found["notices"] == ["Did you mean '+moorings'?"]
    assert harbour.ok("/v1/search", q="moorings", library="harbour")["notices"] == []


def test_passages_of_a_page_are_one_entry(harbour):
    asked = {"library": "harbour", "q": QUERY, "top_k": 2}
    flat = harbour.ok("/v1/search", **asked | {"top_k": 100})
    assert flat["pages"] == []
    found = harbour.ok("/v1/search", **asked, group="page")
    assert found["hits"] == []
    first, second = found["pages"]
    assert first["key"] != second["key"]
    for page in (first, second):
        assert 1 <= len(page["hits"]) <= 3
        assert {hit["page_id"] for hit in page["hits"]} == {page["page_id"]}
        assert page["score"] == page["hits"][0]["score"] >= page["hits"][-1]["score"]
    assert first["hits"][0]["document_id"] == ids(flat)[0]
    following = harbour.ok("/v1/search", **asked, group="page", after=found["next"])
    listed = [page["key"] for page in found["pages"] + following["pages"]]
    assert len(set(listed)) == len(listed) > 2
    wrong = harbour.get("/v1/search", params=asked | {"group": "pages"})
    assert wrong.status_code == 422


def test_the_versions_that_a_project_pins(harbour):
    assert needs_of("pinned") == needs_of("parse"), "a POST that only reads"
    given = {"harbour": "^1.0", "unknown": "1.0.0"}
    answer = harbour.post("/v1/pinned", {"dependencies": given}).json()
    [pinned] = answer["pinned"]
    assert (pinned["library"], pinned["version"], answer["notices"]) == ("harbour", "1.0", [])
    lock = {
        "package.json": '{"dependencies": {"harbour": "^1.0"}}',
        "go.mod": "{\n",
        "uv.lock": "{\n",
    }
    answer = harbour.post("/v1/pinned", {"dependencies": lock}).json()
    assert answer["pinned"][0]["reason"].endswith("pinned in package.json")
    assert "uv.lock is not read" in answer["notices"][0]
    asked = {"query": "moorings", "library": "harbour", "dependencies": given}
    found = harbour.post("/v1/search", asked).json()
    assert {hit["version"] for hit in found["hits"]} == {"1.0"}
    by_address = f"/v1/search?q=moorings&library=harbour&dependencies={json.dumps(given)}"
    assert harbour.get(by_address).json()["resolved"] == found["resolved"]
    # A caller's file system is not the server's.
    refused = harbour.post("/v1/search", {"query": "fees", "project": "/etc"})
    assert refused.status_code == 422
