"""`/v1/search`: every argument reaches the database, and nothing that is misspelt is ignored."""

import json

import psycopg
import pytest
from api_client import problem

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
    said = "harbour 2.1: 9 is not indexed; the newest version before it"
    scope = {"library": "harbour", "version": "9"}
    for address in ("/v1/search", "/v1/search/pages", "/v1/context", "/v1/facets"):
        assert said in harbour.ok(address, q="fees", **scope)["notices"], address
    batch = harbour.post("/v1/search/batch", {"queries": [{"query": "fees", **scope}]}).json()
    assert batch["notices"] == [said]
    pages = harbour.ok("/v1/libraries/harbour/query", q="LIST", version="9")
    assert pages["notices"] == [said]
    for wish in ("2", "^1", "latest", "*"):
        assert harbour.ok("/v1/search", q="fees", library="harbour", version=wish)["notices"] == []


def test_hits_have_the_columns_and_values_of_the_database(harbour, harbour_url):
    found = harbour.ok("/v1/search", q=QUERY, library="harbour", top_k=3, explain="true")
    with psycopg.connect(harbour_url) as connection:
        cursor = connection.execute(
            "select * from pgrag.search(%s, library => 'harbour', top_k => 3, explain => true)",
            [QUERY],
        )
        columns = [column.name for column in cursor.description]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor]
    assert unrecorded(found)["hits"] == json.loads(json.dumps(rows))
    assert {hit["search_id"] for hit in found["hits"]} == {found["search_id"]}
    assert found["hits"][0]["title"] == "Reading the tide table"
    assert found["hits"][0]["heading"] == "Depth over the sill"
    assert found["hits"][0]["explanation"]["keyword"]["lexemes"]
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

    older = harbour.ok("/v1/search", q="fees", library="harbour", version="^1")
    assert older["resolved"][0]["version"] == "1.0"
    two = {"library": ["harbour", "port/authority", "harbour"]}
    named = harbour.ok("/v1/search", q="fees", filters=json.dumps(two))["resolved"]
    assert [(row["library"], row["version"]) for row in named] == [
        ("harbour", "2.1"),
        ("port/authority", ""),
    ]


def test_the_version_may_stand_in_the_filters(harbour):
    filters = json.dumps({"library": "harbour", "version": "^1"})
    found = harbour.ok("/v1/search", q="fees", filters=filters)
    assert {hit["version"] for hit in found["hits"]} == {"1.0"}
    assert [row["version"] for row in found["resolved"]] == ["1.0"]


def test_a_dash_stands_for_the_unversioned_documentation(harbour):
    found = harbour.ok("/v1/search", q="Gebühren", library="port/authority", version="-")
    assert found["resolved"][0]["reason"] == "exact"
    assert {hit["version"] for hit in found["hits"]} == {""}


def test_get_and_post_take_the_same_arguments(harbour):
    shared = {
        "library": "harbour", "version": "2.1", "top_k": 4, "alpha": 0.5, "fusion": "rrf",
        "min_score": 0.0001, "max_per_page": 2, "model": MODEL, "page_evidence": 0.1,
        "candidate_count": 50, "rrf_k": 10, "snippets": True, "explain": True, "mode": "hybrid",
        "unit": "document", "aggregate": "mean", "hierarchy": "depth", "mmr_lambda": 0.8,
        "query_expansion": "none", "intent": "off",
    }  # fmt: skip
    by_get = harbour.ok(
        "/v1/search",
        q="tide",
        filters='{"type": "guide"}',
        levels="1,2",
        rrf_weights="1,0.5",
        **shared,
    )
    by_post = harbour.post(
        "/v1/search",
        {
            "query": "tide",
            "filters": {"type": "guide"},
            "levels": [1, 2],
            "rrf_weights": [1, 0.5],
            **shared,
        },
    )
    assert by_post.status_code == 200
    assert unrecorded(by_post.json()) == unrecorded(by_get)
    assert set(keys(by_get)) == {"navigation/tides.md"}
    assert len(by_get["hits"]) == 2
    assert all(hit["explanation"]["fusion"] == "rrf" for hit in by_get["hits"])
    assert any("**" in hit["snippet"] for hit in by_get["hits"])
    by_post = harbour.post("/v1/search", {"q": "tide"})
    assert unrecorded(by_post.json()) == unrecorded(harbour.ok("/v1/search", q="tide"))


def test_each_argument_changes_what_it_should(harbour):
    everything = harbour.ok("/v1/search", q="harbour tide fees", library="harbour")
    assert len(everything["hits"]) > 4
    best = everything["hits"][0]["score"]
    above = harbour.ok("/v1/search", q="harbour tide fees", library="harbour", min_score=best)
    assert ids(above) == ids(everything)[:1]
    single = harbour.ok("/v1/search", q="harbour tide fees", library="harbour", max_per_page=1)
    assert len(set(keys(single))) == len(keys(single))
    pages = harbour.ok("/v1/search", q="harbour tide fees", library="harbour", levels="0")
    assert len(set(keys(pages))) == len(keys(pages)) > 1, "a page has one summary"
    words = harbour.ok("/v1/search", q="tide", alpha=0, explain=True, page_evidence=0)
    assert words["hits"][0]["explanation"]["alpha"] == 0
    assert words["hits"][0]["score"] == words["hits"][0]["keyword_score"]
    dated = {"created": {">=": "2025-01-01"}, "not": {"tags": "fees"}}
    assert set(keys(harbour.ok("/v1/search", q="harbour", filters=json.dumps(dated)))) == {
        "navigation/tides.md"
    }
    plain = everything["hits"][0]
    assert plain["snippet"] is None
    assert plain["explanation"] is None


def test_one_arm_alone(harbour):
    # With levels stated, no summary lends a paragraph its score.
    words = harbour.ok("/v1/search", q=QUERY, mode="keyword", levels=2)
    meaning = harbour.ok("/v1/search", q=QUERY, mode="semantic", levels=2)
    assert {hit["semantic_score"] for hit in words["hits"]} == {None}
    assert {hit["keyword_score"] for hit in meaning["hits"]} == {None}
    assert all(hit["score"] == hit["keyword_score"] for hit in words["hits"])
    assert all(hit["score"] == hit["semantic_score"] for hit in meaning["hits"])


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


def test_pages_of_results_follow_each_other(harbour):
    arguments = {"q": "harbour tide fees pontoon", "library": "harbour", "version": "*"}
    whole = harbour.ok("/v1/search", top_k=100, **arguments)
    assert whole["next"] is None
    found: list[int] = []
    page = harbour.ok("/v1/search", top_k=3, **arguments)
    while page["hits"]:
        found += ids(page)
        if page["next"] is None:
            break
        assert page["next"] == page["hits"][-1]["cursor"]
        page = harbour.ok("/v1/search", top_k=3, after=page["next"], **arguments)
    assert found == ids(whole)


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
    strict = harbour.post("/v1/search", {"query": "harbour", "filters": {"type": None}})
    assert (
        strict.status_code != 200
        or strict.json()["hits"] != harbour.ok("/v1/search", q="harbour")["hits"]
    )


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
    found = harbour.ok("/v1/search", q="tide type:guide", library="harbour", explain="true")
    assert set(keys(found)) == {"navigation/tides.md"}
    assert found["hits"][0]["explanation"]["filters"] == {"type": "guide"}
    wrong = harbour.get("/v1/search", q="tide created:>=soon", library="harbour")
    assert problem(wrong, 422, "invalid-filter")["detail"].startswith("Column 16")


def test_pages_instead_of_documents(harbour):
    found = harbour.ok("/v1/search", q=QUERY, library="harbour", unit="page", top_k=2)
    assert len(set(keys(found))) == 2
    more = harbour.ok(
        "/v1/search", q=QUERY, library="harbour", unit="page", top_k=2, after=found["next"]
    )
    assert not set(keys(more)) & set(keys(found))


def test_reranking_without_a_reranker(harbour):
    answer = harbour.get("/v1/search", q="tide", library="harbour", rerank="true")
    assert "PGRAG_RERANKER_URL" in problem(answer, 501, "not-configured")["hint"]


def test_a_misspelt_word_is_answered_by_what_may_have_been_meant(harbour):
    found = harbour.ok("/v1/search", q="morings", library="harbour", mode="keyword")
    assert found["hits"] == []
    assert found["notices"] == ["Did you mean 'moorings'?"]
    assert harbour.ok("/v1/search", q="moorings", library="harbour")["notices"] == []


def test_what_was_seen_is_left_out(harbour):
    first = harbour.ok("/v1/search", q=QUERY, top_k=4)["hits"]
    seen = f"{first[0]['document_id']},page:{first[1]['page_id']}"
    rest = harbour.ok("/v1/search", q=QUERY, exclude=seen)["hits"]
    assert first[0]["document_id"] not in {hit["document_id"] for hit in rest}
    assert first[1]["page_id"] not in {hit["page_id"] for hit in rest}
    body = {"query": QUERY, "exclude": seen.split(",")}
    posted = harbour.post("/v1/search", body).json()["hits"]
    assert [hit["document_id"] for hit in posted] == [hit["document_id"] for hit in rest]


def test_the_words_and_the_filters_of_a_query(harbour):
    assert harbour.ok("/v1/parse", q="tide type:guide #fees") == {
        "words": "tide",
        "filters": {"type": "guide", "tags": "fees"},
    }
    assert harbour.ok("/v1/parse", q="std::vector key: value") == {
        "words": "std::vector key: value",
        "filters": None,
    }


def test_near_words_for_a_typo(harbour):
    [first, *_] = harbour.ok("/v1/suggestions", q="pontton fees", library="harbour")["suggestions"]
    assert first["suggestion"] == "pontoon fees"
    assert (first["word"], first["replacement"], first["distance"]) == ("pontton", "pontoon", 1)
    assert first["document_count"] >= 1
    assert harbour.ok("/v1/suggestions", q="pontoon fees", library="harbour") == {"suggestions": []}
