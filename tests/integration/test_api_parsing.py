"""How a query is read, and what else may have been meant, over HTTP."""

from __future__ import annotations

from api_client import ApiClient, problem


def test_the_words_and_the_filters_of_a_query(harbour: ApiClient) -> None:
    assert harbour.ok("/v1/parse", q="tide type:guide #fees") == {
        "words": "tide",
        "filters": {"type": "guide", "tags": "fees"},
    }
    assert harbour.ok("/v1/parse", q="std::vector key: value") == {
        "words": "std::vector key: value",
        "filters": None,
    }


def test_a_filter_that_cannot_be_meant_names_its_column(harbour: ApiClient) -> None:
    response = harbour.get("/v1/parse", q="tide created:soon")
    assert "Column 14 of the query" in problem(response, 422, "invalid-filter")["detail"]


def test_near_words_for_a_typo(harbour: ApiClient) -> None:
    [first, *_] = harbour.ok("/v1/suggestions", q="pontton fees", library="harbour")["suggestions"]
    assert first["suggestion"] == "pontoon fees"
    assert (first["word"], first["replacement"], first["distance"]) == ("pontton", "pontoon", 1)
    assert first["document_count"] >= 1
    assert harbour.ok("/v1/suggestions", q="pontoon fees", library="harbour") == {"suggestions": []}


def test_suggestions_for_a_library_that_does_not_exist(harbour: ApiClient) -> None:
    problem(harbour.get("/v1/suggestions", q="x", library="nope"), 404, "unknown-library")


def test_arguments_that_cannot_be_used(harbour: ApiClient) -> None:
    for address in ("/v1/parse", "/v1/parse?q=a&x=1", "/v1/suggestions?q=a&top_k=0"):
        assert problem(harbour.get(address), 422, "invalid-request")["errors"]
